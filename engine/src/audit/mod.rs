//! The facts about a table, whoever asks for them and however they are shown.
//!
//! `inspect::table`, `verify::table` and `query::table` take any source of bytes. If it lacks a
//! range, they return [`filterblock::Error::NeedRange`]: supply the range and call again. Damage is
//! part of the result, and not an error; only `query::table` also fails if the table does not open.

pub mod foreign;
pub mod inspect;
pub mod key_encoding;
pub mod lost_keys;
pub mod overview;
pub mod policies;
pub mod query;
pub mod rates;
pub mod reading;
pub mod scan;
pub mod stats;
pub mod tune;
pub mod verify;

#[cfg(test)]
mod tests;

pub use lost_keys::{CutKey, LostKeys};
pub use policies::Policy;
pub use reading::{decode_limit, decode_limit_text, filter_trouble, read_options};
