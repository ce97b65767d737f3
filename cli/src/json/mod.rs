//! Results for programs: one JSON object a line.

mod fetched;
mod folder;
mod frame;
pub(crate) mod inspect;
mod line;
mod lost_keys;
mod outcome;
pub(crate) mod query;
mod rate;
pub(crate) mod rebuild;
pub(crate) mod scan;
mod strings;
mod totals;
pub(crate) mod tune;
mod unreadable;
pub(crate) mod verify;
