use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _};

use super::tables::Crafted;
use super::*;

/// The status that a shell shows for a program that SIGPIPE ends.
const CLOSED: i32 = 141;

/// Runs the program with an output that nobody reads.
#[track_caller]
fn run_unread<A: AsRef<std::ffi::OsStr>>(arguments: &[A]) -> Run {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = command(arguments).stdout(writer).spawn().unwrap();
    child.stdout = Some(empty_output());
    finish(child)
}

/// Runs the program, whose output is more than a pipe holds, reads `len` bytes of it, and closes the pipe.
#[track_caller]
fn run_and_read<A: AsRef<std::ffi::OsStr>>(arguments: &[A], len: usize) -> Run {
    let mut child = command(arguments).spawn().unwrap();
    let mut read = vec![0; len];
    child.stdout.as_mut().unwrap().read_exact(&mut read).unwrap();
    child.stdout = Some(empty_output());
    finish(child)
}

/// Returns arguments of commands that only read, which make them write more than the pipe and the buffer hold.
fn long_outputs(folder: &tempfile::TempDir) -> Vec<Vec<OsString>> {
    let (sound, damaged) = (table("single-4096-bloom10.ldb"), file(folder, "damaged.ldb", "damaged"));
    let many = |count: usize, options: &[&str], first: &PathBuf, rest: &PathBuf| -> Vec<OsString> {
        let options = options.iter().map(OsString::from);
        let rest = std::iter::repeat_n(rest.clone().into_os_string(), count);
        options.chain([first.into()]).chain(rest).collect()
    };
    let keys = |options: &[&str], path: &PathBuf| -> Vec<OsString> {
        let options = options.iter().map(OsString::from);
        options.chain([path.into()]).chain((0..5000).map(|key| format!("{key}").into())).collect()
    };
    let filters = table("large-65536-bloom10.ldb");
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[(b"key", b"value")]);
    let filter = crafted.block(&[0; 1 << 20]);
    let large = crafted.finish(&[(b"key", data)], &[(b"filter.leveldb.BuiltinBloomFilter2", filter)]);
    let large = file(folder, "large.ldb", large);
    // Inputs of every verdict: all are sound, the first is damaged, or the later ones are.
    vec![
        many(2400, &["inspect"], &sound, &sound),
        many(200, &["inspect", "--json"], &damaged, &sound),
        many(30, &["inspect", "--filters"], &filters, &filters),
        many(1200, &["verify", "--verbose"], &sound, &damaged),
        many(400, &["verify", "--json"], &damaged, &sound),
        many(400, &["verify", "--json"], &sound, &sound),
        keys(&["query"], &sound),
        keys(&["query", "--json"], &table("single-4096-unfiltered.ldb")),
        keys(&["query", "--json"], &damaged),
        args!["extract", large].to_vec(),
        args!["scan", "--raw", filters].to_vec(),
    ]
}

#[cfg_attr(windows, ignore = "Windows takes no command lines of 75,000 characters")]
#[test]
fn a_reader_that_goes_away_ends_the_program_quietly_and_without_a_verdict() {
    let folder = folder();
    for arguments in long_outputs(&folder) {
        let complete = run(&arguments);
        assert!(complete.raw.len() > 120_000, "{:?}: {}", &arguments[..2], complete.raw.len());
        for len in [1, 100] {
            let run = run_and_read(&arguments, len);
            assert_eq!(run.status, CLOSED, "{:?}: {}", &arguments[..2], run.err);
            // A complaint about an input may come before any output.
            assert!(complete.err.starts_with(&run.err), "{:?}: {}", &arguments[..2], run.err);
        }
    }
}

#[test]
fn an_output_that_is_closed_from_the_start_is_no_verdict_either() {
    let folder = folder();
    let mut all = long_outputs(&folder);
    let (filtered, damaged) = (table("words-256-bloom10.ldb"), folder.path().join("damaged.ldb"));
    all.extend([
        args!["inspect", filtered].to_vec(),
        args!["inspect", "--json", damaged].to_vec(),
        args!["inspect", database("levels")].to_vec(),
        args!["query", filtered, "absent"].to_vec(),
        args!["query", database("levels"), "absent"].to_vec(),
        args!["verify", filtered].to_vec(),
        args!["verify", damaged].to_vec(),
        args!["verify", "--json", database("levels")].to_vec(),
        args!["extract", filtered].to_vec(),
        args!["get", database("levels"), "item/0001/919"].to_vec(),
        args!["manifest", database("levels")].to_vec(),
        args!["report", "--no-tune", database("levels"), "-o", "-"].to_vec(),
        args!["completions", "zsh"].to_vec(),
        args!["man"].to_vec(),
        args!["--help"].to_vec(),
        args!["--version"].to_vec(),
        args!["verify", "--help"].to_vec(),
        args!["help", "query"].to_vec(),
    ]);
    for arguments in all {
        let run = run_unread(&arguments);
        assert_eq!(run.status, CLOSED, "{:?}: {}", &arguments[..arguments.len().min(2)], run.err);
    }
}

#[test]
fn what_writes_nothing_needs_no_reader() {
    let folder = folder();
    write_manifest(folder.path(), &[manifest::Edit::default()]);
    run_unread(&args!["extract", table("words-4096-unfiltered.ldb")]).expect(1);
    run_unread(&args!["inspect", folder.path().join("missing")]).expect(2);
    run_unread(&args!["get", database("levels"), "absent"]).expect(1);
}

/// The task of these commands is to write the file, not the summary.
#[test]
fn commands_that_write_finish_though_nobody_reads() {
    let folder = folder();
    let input = file(&folder, "pairs", "a\t1\nb\t2\n");
    let [read, unread] = ["read.ldb", "unread.ldb"].map(|name| folder.path().join(name));
    run(&args!["build", input, read]).expect(0).quiet();
    run_unread(&args!["build", input, unread]).expect(0).quiet();
    let contents = std::fs::read(&read).unwrap();
    assert_eq!(std::fs::read(&unread).unwrap(), contents);
    let block = folder.path().join("block");
    run_unread(&args!["extract", read, "-o", block]).expect(0).quiet();
    assert_eq!(std::fs::read(&block).unwrap(), run(&args!["extract", read]).raw);
}

/// The table is built, even if its summary cannot be written.
#[cfg(target_os = "linux")]
#[test]
fn a_summary_that_cannot_be_written_does_not_deny_the_table() {
    let folder = folder();
    let input = file(&folder, "pairs", "a\t1\nb\t2\n");
    let output = folder.path().join("new.ldb");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut child = command(&args!["build", input, output]).stdout(full).spawn().unwrap();
    child.stdout = Some(empty_output());
    let run_full = finish(child).expect(0);
    let expected =
        format!("filterblock: {}: built; its summary was not written: No space left", output.display());
    assert!(run_full.err.starts_with(&expected), "{run_full:?}");
    run(&args!["verify", output]).expect(0);
}

/// An empty output, in the place of the one that was closed.
fn empty_output() -> std::process::ChildStdout {
    let mut child = command(&["--version"]).spawn().unwrap();
    let output = child.stdout.take().unwrap();
    child.wait().unwrap();
    output
}

#[test]
fn results_are_streamed() {
    let path = table("single-4096-bloom10.ldb");
    let block = run(&args!["extract", path]).raw;
    let folder = folder();
    let bare = file(&folder, "filter", &block);
    // While the second input is still open, the first is already reported.
    let mut child =
        command(&args!["inspect", "--json", "--block", bare, "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let report: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(report["path"], bare.to_str().unwrap());
    assert!(child.try_wait().unwrap().is_none());
    child.stdin.take().unwrap().write_all(&block).unwrap();
    line.clear();
    output.read_line(&mut line).unwrap();
    assert!(line.starts_with(r#"{"schema_version":1,"object":"filter_block","input":"-""#), "{line}");
    assert!(child.wait().unwrap().success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let path = table("single-4096-bloom10.ldb");
    let key = "";
    for arguments in [
        args!["inspect", path].to_vec(),
        args!["inspect", "--json", path].to_vec(),
        args!["query", path, key].to_vec(),
        args!["extract", path].to_vec(),
        args!["verify", path].to_vec(),
        args!["man"].to_vec(),
        args!["completions", "bash"].to_vec(),
        args!["--help"].to_vec(),
        args!["--version"].to_vec(),
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut child = command(&arguments).stdout(full).spawn().unwrap();
        child.stdout = Some(empty_output());
        let run = finish(child).expect(2);
        assert!(run.err.starts_with("filterblock: writing the results: No space left"), "{run:?}");
    }
}

#[test]
fn where_both_go_messages_come_behind_the_results_before_them() {
    let path = table("words-4096-unfiltered.ldb");
    let both = tempfile::NamedTempFile::new().unwrap();
    let stream = || Stdio::from(both.as_file().try_clone().unwrap());
    let missing = path.with_extension("missing");
    let arguments = args!["inspect", "--json", missing, path, missing, path];
    let status = command(&arguments).stdout(stream()).stderr(stream()).status().unwrap();
    assert_eq!(status.code(), Some(2));
    let text = std::fs::read_to_string(both.path()).unwrap();
    let is_result: Vec<bool> = text.lines().map(|line| line.starts_with('{')).collect();
    assert_eq!(is_result, [false, true, true, false, true, true], "{text}");
}

#[test]
fn colours_only_where_they_are_wanted() {
    let path = table("words-4096-bloom1.ldb");
    let plain = run(&args!["inspect", path, path]).out;
    assert!(!plain.contains('\x1b'));
    let always = run(&args!["--color", "always", "inspect", path, path]).out;
    assert!(always.contains("\x1b[1m"), "{always}");
    assert!(run(&args!["inspect", "--color=always", path]).out.contains('\x1b'));
    assert!(!run(&args!["inspect", "--json", "--color=always", path]).out.contains('\x1b'));
    let missing = path.with_extension("missing");
    assert!(run(&args!["--color", "always", "inspect", missing]).err.contains('\x1b'));
    assert!(!run(&args!["--color", "never", "inspect", missing]).err.contains('\x1b'));
    // Without the colours, the text is the same.
    let stripped = always.split('\x1b').map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
    assert_eq!(stripped.collect::<String>(), plain);
}

/// Runs the program on a terminal of 80 columns, made by the tool `script`. Returns what the terminal gets, or `None`
/// without that tool.
#[cfg(target_os = "linux")]
fn on_a_terminal(arguments: &[std::ffi::OsString], prefix: &str) -> Option<String> {
    let quoted: Vec<_> = arguments.iter().map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let program = env!("CARGO_BIN_EXE_filterblock");
    let line = format!("stty cols 80 rows 24; {prefix} '{program}' {}", quoted.join(" "));
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").env_remove("NO_COLOR");
    match command.stdin(Stdio::null()).output() {
        Ok(output) => Some(String::from_utf8(output.stdout).unwrap()),
        Err(error) => {
            println!("skipped: script: {error}");
            None
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_colours_and_its_width() {
    let path = database("levels");
    let arguments = args!["inspect", path];
    let Some(coloured) = on_a_terminal(&arguments, "") else { return };
    assert!(coloured.contains("\x1b[1m"), "{coloured:?}");
    let plain = on_a_terminal(&arguments, "NO_COLOR=1").unwrap();
    assert!(!plain.contains('\x1b'), "{plain:?}");
    let long = plain.lines().find(|line| line.trim_end().len() > 80 && line.contains(" KiB"));
    assert_eq!(long, None);
    assert!(plain.contains("      2       1  12.1 KiB"), "{plain}");
    let refused = on_a_terminal(&args!["extract", table("single-4096-bloom10.ldb")], "").unwrap();
    assert!(refused.contains("a filter block is not text"), "{refused}");
}

/// A value may hold control characters, which a terminal would act on.
#[cfg(target_os = "linux")]
#[test]
fn values_are_escaped_on_a_terminal_and_nowhere_else() {
    let folder = folder();
    let pairs = file(&folder, "pairs", "61\t1b5b316d\n");
    let path = folder.path().join("000005.ldb");
    run(&args!["build", "--hex", pairs, path]).expect(0);
    assert_eq!(run(&args!["get", path, "a"]).expect(0).raw, b"\x1b[1m");
    let Some(shown) = on_a_terminal(&args!["get", path, "a"], "") else { return };
    assert_eq!(shown.trim_end(), "\\x1b[1m");
    let refused = on_a_terminal(&args!["scan", "--raw", path], "").unwrap();
    assert!(refused.contains("are not text: redirect them"), "{refused}");
}
