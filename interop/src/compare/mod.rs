//! Random comparisons of the library and the program with LevelDB. Most of them stop at the first
//! difference with an error that names seed and case. The same seed makes the same cases.

#[cfg(feature = "tool")]
pub mod at_random;
pub mod builder;
mod damage;
pub mod database;
#[cfg(feature = "tool")]
pub mod idb;
#[cfg(feature = "tool")]
pub mod judges;
pub mod large;
#[cfg(feature = "tool")]
mod odd;
#[cfg(feature = "tool")]
pub mod rates;
pub mod reader;
#[cfg(feature = "tool")]
pub mod rebuild;
pub mod repair;
#[cfg(feature = "tool")]
pub mod repaired;
mod rows;
pub mod table;
mod table_case;
#[cfg(feature = "tool")]
mod tool;
#[cfg(feature = "tool")]
pub mod tune;
pub mod walks;

pub use rows::Row;
