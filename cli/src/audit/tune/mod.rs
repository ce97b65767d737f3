//! Which filters would serve a database best, found out by making them of its own keys.

pub(crate) mod report;
