//! Results for programs: one JSON object a line.

pub(crate) mod folder;
pub(crate) mod inspect;
mod totals;
mod unreadable;
