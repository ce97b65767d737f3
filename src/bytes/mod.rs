//! Integers in bytes, and bytes in text.

pub(crate) mod coding;
#[cfg(feature = "table")]
pub(crate) mod crc;
pub(crate) mod escape;
