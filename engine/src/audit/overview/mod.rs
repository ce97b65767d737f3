//! What is told of a database as a whole: little of each table, so that many fit in memory.

pub mod database;
pub mod findings;
mod run;
pub mod spans;

pub use database::{Kind, Overview};

pub use findings::Found;
pub use spans::Spans;
