//! Results as text.

mod advice;
mod answer;
mod columns;
mod detail;
mod filter_list;
pub(crate) mod inspect;
mod labelled;
mod levels;
mod list;
pub(crate) mod manifest;
pub(crate) mod query;
pub(crate) mod rebuild;
pub(crate) mod repair;
pub(crate) mod scan;
pub(crate) mod tune;
mod verify;

#[cfg(test)]
mod tests;

pub(crate) use advice::write_page;
pub(crate) use inspect::{ALL_LIVE, InspectStyle, TextInspect};
pub(crate) use labelled::write_headline;
pub(crate) use scan::{Entries, ValuePart, write_raw};
pub(crate) use verify::TextVerify;
