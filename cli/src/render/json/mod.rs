//! Results for programs: one JSON object a line.

pub(crate) mod inspect;
mod line;
pub(crate) mod query;
pub(crate) mod scan;
mod strings;
pub(crate) mod verify;
