//! Numbers and facts in words, the same on a page and on a terminal.

pub mod advice;
pub mod compression;
pub mod estimates;
pub mod fill_bins;
mod notes;
pub mod numbers;
pub mod shell_word;
#[cfg(any(test, feature = "examples"))]
pub mod tune_examples;
