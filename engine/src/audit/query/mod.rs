//! The questions of `query`: the data blocks of a table that may hold a key, and the writes of logs
//! for it.

mod candidates;
mod index;
mod keys;
mod logs;
mod run;

#[cfg(test)]
pub(super) use candidates::table;
pub use keys::SoughtKeys;
pub use run::{QueryOutcome, Question, Wanted};
