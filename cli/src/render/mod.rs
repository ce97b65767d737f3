//! Results as text, as JSON and as a page.

mod compression;
pub(crate) mod fill_bins;
pub(crate) mod format;
mod html;
mod json;
mod notes;
pub(crate) mod numbers;
pub(crate) mod renderer;
pub(crate) mod subject;
mod text;
