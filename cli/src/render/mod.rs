//! Results as text and as JSON.

pub(crate) mod json;
pub(crate) mod show;
pub(crate) mod text;
