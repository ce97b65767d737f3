//! Numbers and facts in words, the same on a page and on a terminal.

mod advice;
mod advice_on_page;
mod commands;
mod conditions;
mod estimates;
mod folder;
mod notes;
mod numbers;
mod problems;
mod repair;
mod sentences;
mod shell_word;

pub(crate) use self::sentences::{capitalized, sentence, some_of};
pub use advice::{
    AdviceText, BRING_BACK, DO_NOT_OPEN, FIND_LOG, NEW_DATABASE, SAVE, SHORT_MANIFEST, advice_text,
};
pub(crate) use advice_on_page::before_repair;
pub(crate) use commands::save_remedy;
pub use commands::{rebuild_command, repair_command};
pub(crate) use conditions::programs;
pub use conditions::similar_text;
pub use estimates::{about_count, about_size, estimate, interval, number};
pub use folder::format_details;
pub(crate) use notes::compression_names;
pub use numbers::{
    bits_per_entry, bits_text, blocks, count, counted, counted_as, distinct_keys, entries, entry_sum,
    measured, or_dash, percent, rate_interval, ratio, size,
};
pub use problems::{as_sentence, entries_text, error_text, problem_text};
pub use repair::{RepairText, repair_text};
pub(crate) use repair::{prospect, swap};
pub use shell_word::path_word;
pub(crate) use shell_word::scan_command;
