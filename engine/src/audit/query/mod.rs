//! The questions that `query` answers: which data blocks of a table may hold a key, and what was
//! last written for it in a log.

mod candidates;
mod index;
mod keys;
mod logs;
mod run;

#[cfg(test)]
pub(super) use candidates::table;
pub use keys::SoughtKeys;
pub use run::{QueryOutcome, Question, Wanted};
