//! The facts that `inspect` shows of a table, and of all tables of a folder.

pub(crate) mod report;
pub(crate) mod table;
pub(crate) mod totals;

#[cfg(feature = "remote")]
pub(crate) use table::table_to_depth;
pub(crate) use table::{bare_block, opened, table};
