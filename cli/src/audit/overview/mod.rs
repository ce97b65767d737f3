//! What is told of a database as a whole: little of each table, so that many fit in memory.

pub(crate) mod database;
pub(crate) mod findings;
pub(crate) mod levels;
pub(crate) mod spans;
pub(crate) mod table;
