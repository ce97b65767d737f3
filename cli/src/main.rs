//! The program. What it does is in the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    filterblock_cli::main()
}
