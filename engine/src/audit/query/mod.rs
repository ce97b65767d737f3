//! The questions of `query`: which data blocks of a table may hold a key.

pub mod candidates;
mod index;
pub mod keys;
pub mod logs;
pub mod totals;

pub use candidates::table;
