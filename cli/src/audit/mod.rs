//! What is found out about a table, for whoever asks and however it is shown.
//!
//! [`inspect::table`], [`verify::table`] and [`query::table`] take any source of bytes. An error of theirs
//! is [`filterblock::Error::NeedRange`], in [`query::table`] also a table that does not open: supply the
//! range and call again. Damage is not an error but part of the result.

pub(crate) mod inspect;
pub(crate) mod key_encoding;
#[cfg(test)]
mod missing_ranges;
pub(crate) mod query;
pub(crate) mod reading;
pub(crate) mod record;
pub(crate) mod stats;
pub(crate) mod verify;
