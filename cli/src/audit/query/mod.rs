//! The questions of `query`: which data blocks of a table may hold a key.

pub(crate) mod candidates;
mod index;
pub(crate) mod keys;
pub(crate) mod logs;
pub(crate) mod totals;

pub(crate) use candidates::table;
