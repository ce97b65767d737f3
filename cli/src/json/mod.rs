//! Results for programs: one JSON object a line.

pub(crate) mod folder;
pub(crate) mod inspect;
mod outcome;
pub(crate) mod rebuild;
mod totals;
pub(crate) mod tune;
mod unreadable;
