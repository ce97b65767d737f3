//! The program. Its work is done by the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    filterblock_cli::main()
}
