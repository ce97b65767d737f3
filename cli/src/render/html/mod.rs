//! Results as a page.

pub(crate) mod pictures;
