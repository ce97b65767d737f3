//! `filterblock`, the program, as a library: for tests, fuzzing and the Python package. Only the program is stable.
#![forbid(unsafe_code)]

mod command;
mod io;
mod text;

use std::{ffi::OsString, io::Write, process::ExitCode, sync::Arc};

use clap::ColorChoice;
use command::Arguments;
use filterblock::table::Meter;
use io::{Console, EXIT_ERROR};

/// Runs the program on the arguments and the terminal of this process.
pub fn main() -> ExitCode {
    let status = match Arguments::of(std::env::args_os()) {
        Ok(arguments) => {
            let mut console = Console::of_process(arguments.color);
            arguments.run(&mut console)
        }
        Err(error) if command::is_recursion(&error) => {
            Console::of_process(ColorChoice::Auto).message(command::NOT_RECURSIVE);
            EXIT_ERROR
        }
        Err(error) => {
            let result = error.print();
            // An error that does not go to standard error is help or the version, which the user has asked for.
            if error.use_stderr() {
                EXIT_ERROR
            } else {
                Console::of_process(ColorChoice::Auto).finish(result.map(|()| 0))
            }
        }
    };
    ExitCode::from(status)
}

/// Runs the program on `arguments`, the first of which is the program's name. Returns the exit status.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    stdout: impl Write + 'static,
    stderr: impl Write + 'static,
) -> u8 {
    run_metered(arguments, stdout, stderr, Arc::default())
}

/// Runs the program as [`run`] does, and counts in `meter` the work of reading tables.
pub fn run_metered(
    arguments: impl IntoIterator<Item = OsString>,
    stdout: impl Write + 'static,
    stderr: impl Write + 'static,
    meter: Arc<Meter>,
) -> u8 {
    let mut console = Console::new(Box::new(stdout), Box::new(stderr));
    console.set_meter(meter);
    match Arguments::of(arguments) {
        Ok(arguments) => arguments.run(&mut console),
        Err(error) if error.use_stderr() => {
            match command::is_recursion(&error) {
                true => console.message(command::NOT_RECURSIVE),
                false => console.message(error),
            }
            EXIT_ERROR
        }
        // Help or the version, which the user has asked for.
        Err(help) => {
            let result = write!(console, "{help}");
            console.finish(result.map(|()| 0))
        }
    }
}
