//! Results for people.

pub(crate) mod columns;
pub(crate) mod database;
pub(crate) mod detail;
pub(crate) mod filters;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod query;
