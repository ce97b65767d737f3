//! Runs one input of a target, from a file or standard input, and ends by a signal if it panics: for AFL and other
//! fuzzers that start a program for each input.
//!
//! ```text
//! once TARGET [FILE]
//! ```

use std::process::ExitCode;

use filterblock_fuzz::entry;
use filterblock_fuzz_targets::TARGETS;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some((_, target)) = TARGETS.iter().find(|(known, _)| *known == name) else {
        eprintln!("usage: once TARGET [FILE]\ntargets: {}", TARGETS.map(|(name, _)| name).join(" "));
        return ExitCode::from(2);
    };
    entry::run_once_at(2, target)
}
