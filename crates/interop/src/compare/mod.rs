//! Random comparisons of the library and the program with LevelDB. Most of them stop at the first
//! difference with an error that names seed and case. The same seed makes the same cases.

pub mod at_random;
pub mod builder;
pub mod database;
pub mod idb;
pub mod judges;
pub mod large;
mod odd;
pub mod reader;
pub mod rebuild;
pub mod repair;
pub mod repaired;
mod rows;
pub mod table;
mod table_case;
mod tool;
pub mod tune;
pub mod walks;

pub use rows::Row;
