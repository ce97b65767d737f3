//! The entries of tables, logs and databases.

pub mod carve;
pub mod database;
pub mod log;
pub mod range;
pub mod row;
pub mod table;
