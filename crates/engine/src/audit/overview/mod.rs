//! The overview of a database: few facts about each table, so that many tables fit in memory.

pub(crate) mod database;
pub(crate) mod problems;
mod run;
pub(crate) mod spans;
pub(crate) mod sums;

pub(crate) use database::{Kind, Overview};
pub(crate) use problems::OverviewProblems;
