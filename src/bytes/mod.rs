//! Integers and checksums in bytes, and bytes shown as text.

pub(crate) mod coding;
pub(crate) mod escape;
