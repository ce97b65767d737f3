//! Numbers and facts in words, the same on a page and on a terminal.

mod advice;
mod estimates;
mod fill_bins;
mod folder;
mod notes;
mod numbers;
mod shell_word;
#[cfg(any(test, feature = "examples"))]
pub mod tune_examples;

pub use advice::{
    DECIDE, LEAST_GAIN, RENEW, SAVE, ask_for_lookups, bits_text, denied_text, leave_text, loss_by_level,
    near_text, ranges_text, rebuild_command, rebuild_text, renew_text, repair_command, small_text,
};
pub(crate) use advice::{
    RESTORE, UNDECODABLE, USUAL_BITS_TEXT, equality_text, hash_if_asked_text, hash_text,
    several_policies_text,
};
pub use estimates::{about_count, about_size, estimate, interval, number, size_interval};
pub use fill_bins::{Fill, FillBin, FillBins, versions_text};
pub use folder::format_details;
pub(crate) use folder::remedy_of_current;
pub(crate) use notes::compression_names;
pub use numbers::{
    bits_per_entry, count, counted, counted_as, distinct_keys, entries, entries_of_keys, measured, or_dash,
    percent, rate_interval, ratio, size,
};
pub use shell_word::path_word;
pub(crate) use shell_word::scan_command;
