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

pub use advice::{bits_text, leave_text, ranges_text, rebuild_command, rebuild_text};
pub use compression::compression_names;
pub use estimates::{about_count, about_size, estimate, number, size_interval};
pub use fill_bins::{Fill, FillBin, FillBins};
pub use numbers::{count, counted, counted_as, measured, or_dash, percent, ratio, size};
pub use shell_word::path_word;
