//! The system around the program: paths and files, the terminal, signals.

pub(crate) mod console;
pub(crate) mod folder;
pub(crate) mod folder_cache;
pub(crate) mod input;
pub(crate) mod interrupt;
pub(crate) mod paths;
pub(crate) mod progress;
pub(crate) mod read_ahead;
#[cfg(test)]
pub(crate) mod screen;
pub(crate) mod shell_word;
pub(crate) mod sources;
pub(crate) mod url;
pub(crate) mod whole_file;
