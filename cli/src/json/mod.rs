//! Results for programs: one JSON object a line.

mod folder;
pub(crate) mod inspect;
pub(crate) mod query;
pub(crate) mod scan;
mod totals;
mod unreadable;
pub(crate) mod verify;
