//! The results: what is found out, as types that serialize to the objects of `docs/json.md`.

pub mod error_kind;
pub mod fetched;
pub mod filter_list;
pub mod folder;
pub mod frame;
pub mod inspect;
pub mod line;
pub mod outcome;
pub mod query;
#[cfg(feature = "fs")]
pub mod rebuild;
pub mod scan;
pub mod strings;
pub mod subject;
#[cfg(test)]
mod tests;
pub mod totals;
pub mod tune;
pub mod verify;
pub(crate) mod words;
