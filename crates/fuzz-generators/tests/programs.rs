//! The examples, run as programs.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use filterblock_fuzz::mutate::Random;

/// An example, which `cargo test` builds before it runs tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples");
    let path = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.exists(), "{} is not built: cargo test -p filterblock-fuzz, without --test", path.display());
    path
}

/// The example `sstable_once`. It prints no backtrace when it crashes, because that would take too
/// long.
fn once() -> Command {
    let mut program = Command::new(example("sstable_once"));
    program.env("RUST_BACKTRACE", "0");
    program
}

#[test]
fn the_known_panics_of_sstable_are_found_within_a_minute() {
    let run = Command::new(example("sstable")).args(["for", "5"]).output().unwrap();
    let said = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{said}");
    assert!(said.lines().last().unwrap().contains(" inputs, crashes at "), "{said}");
    let line = said.lines().find(|line| line.contains("sstable-0.11.1/src/block.rs")).expect("a panic");
    assert!(line.contains("exit status: 101"), "{line}");
    // The seed leads there again.
    let seed = line.split("seed ").nth(1).and_then(|rest| rest.split(':').next()).unwrap();
    let again = Command::new(example("sstable")).args(["seed", seed]).output().unwrap();
    assert_eq!(again.status.code(), Some(101));
    assert!(String::from_utf8(again.stderr).unwrap().contains("sstable-0.11.1/src/block.rs"));
}

/// Damage behind right checksums crashes a reader of whole databases at several places within seconds.
#[test]
fn the_known_panics_of_rusty_leveldb_are_found_within_a_minute() {
    let run = Command::new(example("rusty_leveldb")).args(["for", "5"]).output().unwrap();
    let said = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{said}");
    assert!(said.lines().last().unwrap().contains(" databases, crashes at "), "{said}");
    let line = said.lines().find(|line| line.contains("exit status: 101: rusty-leveldb-4")).expect("a panic");
    let place = line.split(": ").nth(3).and_then(|place| place.split(' ').next()).unwrap();
    let seed = line.split("seed ").nth(1).and_then(|rest| rest.split(':').next()).unwrap();
    let again = Command::new(example("rusty_leveldb")).args(["seed", seed]).output().unwrap();
    assert_eq!(again.status.code(), Some(101));
    assert!(String::from_utf8(again.stderr).unwrap().contains(place), "{line}");
}

#[test]
fn a_fuzzers_program_takes_a_file_or_standard_input_and_ends_by_a_signal() {
    let folder = std::env::temp_dir().join(format!("filterblock-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("input");
    let mut random = Random(1);
    let (mut crashed, mut panicked) = (0, 0);
    for _ in 0..40 {
        let input: Vec<u8> = (0..40).map(|_| random.bits() as u8).collect();
        fs::write(&path, &input).unwrap();
        let run = once().arg(&path).output().unwrap();
        let by_file = run.status;
        let mut child = once().stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&input).unwrap();
        let by_pipe = child.wait().unwrap();
        assert_eq!(by_file, by_pipe);
        if String::from_utf8_lossy(&run.stderr).contains("panicked at") {
            panicked += 1;
            assert!(!by_file.success() && (cfg!(windows) || by_file.code().is_none()), "{by_file}");
        }
        assert!(by_file.code().is_none_or(|code| code == 0 || cfg!(windows)), "{by_file}");
        crashed += usize::from(!by_file.success());
    }
    assert!(
        (1..40).contains(&crashed) && panicked > 0,
        "{crashed} of 40 inputs crash it, {panicked} by a panic"
    );
    let missing = once().arg(folder.join("missing")).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8(missing.stderr).unwrap().contains("missing: "));
    fs::remove_dir_all(&folder).unwrap();
}
