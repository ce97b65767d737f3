//! Results.

pub mod folder;
pub mod subject;
