//! Entry points for fuzzers that start a program for each input, as AFL does.

use std::io::{self, Read as _};
use std::process::ExitCode;
use std::{env, fs, process};

/// Runs one input: the file that the first argument names, or standard input if there is no
/// argument.
///
/// A panic ends the program by a signal (`SIGABRT` on Unix), which AFL takes as a crash. An input
/// that cannot be read ends the program with status 2.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     filterblock_fuzz::entry::run_once(|data| drop(std::str::from_utf8(data)))
/// }
/// ```
pub fn run_once(target: impl FnOnce(&[u8])) -> ExitCode {
    run_once_at(1, target)
}

/// Does the same as [`run_once`], but the argument of this number names the file.
pub fn run_once_at(argument: usize, target: impl FnOnce(&[u8])) -> ExitCode {
    let input = match env::args_os().nth(argument) {
        Some(path) => fs::read(&path).map_err(|error| format!("{}: {error}", path.display())),
        None => {
            let mut input = Vec::new();
            let read = io::stdin().lock().read_to_end(&mut input);
            read.map(|_| input).map_err(|error| format!("standard input: {error}"))
        }
    };
    match input {
        Ok(input) => {
            run_bytes(target, &input);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Runs one input, and ends the program by a signal if the target panics.
pub fn run_bytes(target: impl FnOnce(&[u8]), input: &[u8]) {
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| target(input))).is_err() {
        process::abort();
    }
}
