//! The system around the program: paths and files, the terminal, signals.

mod console;
mod interrupt;
mod progress;
#[cfg(test)]
mod screen;
mod whole_file;

pub(crate) use console::{Console, EXIT_ERROR, EXIT_OUTPUT_CLOSED, Signs, Tone};
pub(crate) use progress::{Progress, WatchedInput};
#[cfg(test)]
pub(crate) use screen::Screen;
pub(crate) use whole_file::WholeFile;
