//! Results for programs: one JSON object a line.

mod folder;
pub(crate) mod inspect;
mod outcome;
pub(crate) mod query;
pub(crate) mod rebuild;
pub(crate) mod scan;
mod totals;
pub(crate) mod tune;
mod unreadable;
