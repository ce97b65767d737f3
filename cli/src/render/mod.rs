//! Results as text and as JSON.

pub(crate) mod advice;
mod compression;
pub(crate) mod estimates;
pub(crate) mod format;
mod json;
mod notes;
pub(crate) mod numbers;
pub(crate) mod renderer;
pub(crate) mod shell_word;
pub(crate) mod subject;
mod text;
#[cfg(test)]
mod tune_examples;
