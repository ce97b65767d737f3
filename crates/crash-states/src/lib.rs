//! Folders that a crash could leave while a program changes files.
//!
//! A recorder gives the [`Operation`]s of the program, and the [`Tree`] before them. [`History`] follows the operations
//! and knows what was durable at each time. [`sample`] makes the folders that a crash could leave. Each folder can be
//! written to a file system and looked at there.
//!
//! A kill of the program loses nothing. But a later crash may still lose what the program had not synced:
//! [`History::continued`] puts the operations of the next run after those of the first.

#![cfg(unix)]

pub mod history;
pub mod operation;
pub mod random;
pub mod states;
pub mod tree;

pub use history::History;
pub use operation::Operation;
pub use random::Random;
pub use states::{Model, State, complete, sample};
pub use tree::{Inodes, Tree};
