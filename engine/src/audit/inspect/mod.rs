//! The facts that `inspect` shows of a table, and of all tables of a folder.

pub mod report;
pub mod table;
pub mod totals;

#[cfg(feature = "remote")]
pub use table::table_to_depth;
pub use table::{bare_block, opened, table};
