//! The system around the program: paths and files, the terminal, signals.

pub(crate) mod console;
pub(crate) mod interrupt;
pub(crate) mod progress;
#[cfg(test)]
pub(crate) mod screen;
pub(crate) mod whole_file;
