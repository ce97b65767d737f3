//! Results as text and as JSON.

mod compression;
pub(crate) mod format;
mod json;
mod notes;
pub(crate) mod numbers;
pub(crate) mod renderer;
pub(crate) mod subject;
mod text;
