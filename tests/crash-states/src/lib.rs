//! Every folder that a crash could leave of a program that changes files.
//!
//! A recorder gives the [`Operation`]s of the program, and the [`Tree`] before. [`History`] follows the operations
//! and knows what of them was durable at each time. [`sample`] makes the folders that a crash could leave; each can be
//! written to a file system and looked at there.
//!
//! A program that was killed loses nothing, but what it had not synced stays open to a later crash:
//! [`History::continued`] puts the operations of the next run behind those of the first.

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
