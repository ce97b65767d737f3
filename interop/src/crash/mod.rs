//! Crashes of programs that change a database: every state that a crash could leave behind, and whether a database in
//! that state still has all that it had.
//!
//! [`record`] runs a program and writes down what it does to files. From this record, [`filterblock_crash_states`]
//! makes the folders that a crash could leave. [`check`] opens them with LevelDB and with goleveldb, has them repaired,
//! and runs the program on them again.

pub mod case;
pub mod check;
pub mod contents;
pub mod plan;
pub mod record;
pub mod run;

use std::path::{Path, PathBuf};

/// The folder for thousands of small databases, in memory if possible.
pub fn fast_folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}
