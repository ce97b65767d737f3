//! Results for programs: one JSON object a line.

pub(crate) mod inspect;
mod line;
pub(crate) mod query;
mod rate;
mod strings;
pub(crate) mod verify;
