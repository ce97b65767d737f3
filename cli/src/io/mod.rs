//! The system around the program: paths and files, the terminal, signals.

pub(crate) mod console;
pub(crate) mod interrupt;
pub(crate) mod paths;
pub(crate) mod progress;
#[cfg(test)]
pub(crate) mod screen;
pub(crate) mod whole_file;

pub(crate) use console::{Console, Signs, Tone};
pub(crate) use interrupt::Deferred;
pub(crate) use paths::{PathSources, Paths};
pub(crate) use progress::{Progress, WatchedInput};
#[cfg(test)]
pub(crate) use screen::Screen;
pub(crate) use whole_file::WholeFile;
