//! Results as text, as JSON and as a page.

pub(crate) mod advice;
mod compression;
pub(crate) mod estimates;
pub(crate) mod fill_bins;
pub(crate) mod format;
pub(crate) mod html;
mod json;
mod notes;
pub(crate) mod numbers;
pub(crate) mod renderer;
pub(crate) mod subject;
mod text;
#[cfg(test)]
mod tune_examples;
