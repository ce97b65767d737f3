//! Results as text.

mod columns;
mod detail;
mod filter_list;
pub(crate) mod inspect;
mod labelled;
mod levels;
mod list;
pub(crate) mod manifest;
mod pictures;
pub(crate) mod query;
pub(crate) mod rebuild;
pub(crate) mod repair;
pub(crate) mod scan;
pub(crate) mod tune;
pub(crate) mod verify;

#[cfg(test)]
mod tests;

pub(crate) use inspect::{ALL_LIVE, TextInspect};
pub(crate) use labelled::{write_line, write_other_format, write_verdict};
pub(crate) use scan::{Entries, ValuePart, write_raw};
