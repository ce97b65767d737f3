//! Signals that end the program while it writes a file.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ChildStdin;

use super::*;

const TERM: i32 = 15;

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
    assert!(sent.success());
}

/// Waits until `is_so` returns true. The time limit only ends a test that hangs, even on a busy machine.
#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(600), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Starts `command`, which builds a table from a pipe, and waits until the temporary file is there.
fn begin(mut command: Command, folder: &Path) -> (Child, ChildStdin) {
    let before = names(folder).len();
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"a\t1\nb\t2\n").unwrap();
    wait_until("a temporary file", || names(folder).len() > before);
    assert!(names(folder).iter().any(|name| name.starts_with(".filterblock-")));
    (child, input)
}

/// Returns true if this process was started with the signal ignored, as by `nohup`. Then the processes that it starts
/// ignore the signal, too.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    mask >> (signal - 1) & 1 == 1
}

#[test]
fn a_file_that_appears_while_a_table_is_built_is_not_replaced() {
    let folder = folder();
    let output = folder.path().join("new.ldb");
    let (child, input) = begin(command(&args!["build", "-", output]), folder.path());
    std::fs::write(&output, "precious").unwrap();
    drop(input);
    let run = finish(child).expect(2);
    assert!(run.err.contains("new.ldb: "), "{run:?}");
    assert_eq!(std::fs::read(&output).unwrap(), b"precious");
    assert_eq!(names(folder.path()), ["new.ldb"]);
}

/// Promise: B1.
#[test]
fn a_signal_leaves_no_temporary_file_and_ends_the_program_as_it_would_have() {
    let signals = [("HUP", 1), ("INT", 2), ("TERM", TERM)];
    for (signal, number) in signals.into_iter().filter(|&(_, number)| !is_ignored(number)) {
        for sorted in [&[][..], &["--sorted"]] {
            let folder = folder();
            let older = file(&folder, "old.ldb", "older");
            let mut arguments = args!["build", "--force", "-", older].to_vec();
            arguments.extend(sorted.iter().map(Into::into));
            let (mut child, input) = begin(command(&arguments), folder.path());
            send(signal, &child);
            let mut status = None;
            wait_until("the end", || {
                status = child.try_wait().unwrap();
                status.is_some()
            });
            // Shells show this as 128 plus the number.
            assert_eq!(status.unwrap().signal(), Some(number), "{signal}");
            assert_eq!(names(folder.path()), ["old.ldb"], "{signal}");
            assert_eq!(std::fs::read(&older).unwrap(), b"older");
            drop(input);
        }
    }
}

/// The program is started with signals ignored, as `nohup` starts programs and a shell those in the background.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let folder = folder();
    let output = folder.path().join("new.ldb");
    let program = env!("CARGO_BIN_EXE_filterblock");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP INT; exec \"$0\" build - \"$1\"", program, output.to_str().unwrap()]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let (child, mut input) = begin(command, folder.path());
    send("HUP", &child);
    send("INT", &child);
    std::thread::sleep(Duration::from_millis(100));
    input.write_all(b"c\t3\n").unwrap();
    drop(input);
    finish(child).expect(0).quiet();
    assert_eq!(names(folder.path()), ["new.ldb"]);
    assert!(run(&args!["verify", output]).expect(0).out.contains("3 entries"));
}

/// A signal does no harm to a file that has its final name.
#[test]
fn what_is_finished_stays() {
    let folder = folder();
    let output = folder.path().join("new.ldb");
    // The program cannot write its summary, because the pipe is full, and nobody reads.
    let (reader, mut writer) = std::io::pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    std::thread::spawn(move || while filler.write_all(&[0; 512]).is_ok() {});
    std::thread::sleep(Duration::from_millis(100));
    let mut child = command(&args!["build", "-", output])
        .stdin(Stdio::piped())
        .stdout(writer.try_clone().unwrap())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"a\t1\n").unwrap();
    wait_until("the table", || names(folder.path()) == ["new.ldb"]);
    std::thread::sleep(Duration::from_millis(50));
    send("TERM", &child);
    assert_eq!(child.wait().unwrap().signal(), Some(TERM));
    assert_eq!(names(folder.path()), ["new.ldb"]);
    run(&args!["verify", output]).expect(0);
    drop(reader);
    writer.flush().unwrap();
}
