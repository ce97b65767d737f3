//! What is told of a database as a whole: little of each table, so that many fit in memory.

pub(crate) mod database;
pub(crate) mod findings;
mod run;
pub(crate) mod spans;

pub use database::{Kind, Overview};

pub(crate) use findings::OverviewFindings;
