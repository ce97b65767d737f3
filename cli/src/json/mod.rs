//! Results for programs: one JSON object a line.

pub(crate) mod outcome;
pub(crate) mod rebuild;
pub(crate) mod tune;
