//! What `inspect` shows of a table, and of all tables of a folder.

pub(crate) mod report;
pub(crate) mod totals;
