//! Integers and checksums in bytes, and bytes shown as text.

pub(crate) mod coding;
#[cfg(feature = "table")]
pub(crate) mod crc;
pub(crate) mod escape;
