//! Random comparisons of the library with LevelDB. Each stops at the first difference with an
//! error that names seed and case; the same seed makes the same cases.

pub mod builder;
mod damage;
pub mod database;
pub mod reader;
mod rows;

use std::fmt::Write as _;

pub use rows::Row;

/// Lowercase hexadecimal, for messages.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("strings take everything");
        text
    })
}
