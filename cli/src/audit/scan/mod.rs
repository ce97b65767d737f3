//! The entries of tables, logs and databases.

pub(crate) mod carve;
pub(crate) mod database;
pub(crate) mod log;
pub(crate) mod range;
pub(crate) mod row;
pub(crate) mod table;
