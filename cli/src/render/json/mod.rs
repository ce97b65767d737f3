//! Results for programs: one JSON object a line.

pub(crate) mod inspect;
pub(crate) mod line;
