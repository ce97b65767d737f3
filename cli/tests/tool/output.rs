use std::io::{BufRead as _, BufReader};

use super::*;

#[test]
fn a_closed_pipe_ends_quietly() {
    let path = table("large-65536-bloom10.ldb");
    let mut inspect = args!["inspect", "--filters", "--json"].to_vec();
    inspect.extend(std::iter::repeat_n(path.clone().into_os_string(), 200));
    let query = [args!["query", path].to_vec(), vec!["key".into(); 20_000]].concat();
    // Nothing may be there, but not all tables have been asked: no sound no.
    for (arguments, status) in [(inspect, 0), (query, 2)] {
        let mut child = command(&arguments).spawn().unwrap();
        let mut line = String::new();
        BufReader::with_capacity(1, child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty());
        drop(child.stdout.take());
        child.stdout = Some(empty_output());
        let run = finish(child).expect(status);
        assert_eq!(run.err, "");
    }
}

/// Stands for the output that was closed.
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
    assert!(line.starts_with(r#"{"path":"-","status":"ok""#), "{line}");
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
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut child = command(&arguments).stdout(full).spawn().unwrap();
        child.stdout = Some(empty_output());
        let run = finish(child).expect(2);
        assert!(run.err.starts_with("filterblock: writing the results: No space left"), "{run:?}");
    }
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
    // Without its colours it is the same text.
    let stripped = always.split('\x1b').map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
    assert_eq!(stripped.collect::<String>(), plain);
}

/// On a terminal, of `script`, 80 columns wide.
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
    assert!(plain.contains("(no room for: "), "{plain}");
    assert!(plain.contains("000005.ldb         2    12.1 KiB"), "{plain}");
    let refused = on_a_terminal(&args!["extract", table("single-4096-bloom10.ldb")], "").unwrap();
    assert!(refused.contains("a filter block is no text for a terminal"), "{refused}");
}
