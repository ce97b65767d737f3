//! The questions of `query`.

pub(crate) mod candidates;
