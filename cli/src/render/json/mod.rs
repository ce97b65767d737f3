//! Results for programs: one JSON object a line.

pub(crate) mod inspect;
mod line;
mod lost_keys;
pub(crate) mod query;
pub(crate) mod scan;
mod strings;
pub(crate) mod verify;
