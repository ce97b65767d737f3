//! Results for programs: one JSON object a line.

pub(crate) mod folder;
pub(crate) mod inspect;
pub(crate) mod scan;
mod totals;
mod unreadable;
