//! Limits on decompression.

use crate::Error;

/// The memory that decompressing one block may take, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The limit for the contents.
    pub(crate) contents: u64,
    /// The limit for contents, window and decoder together, if the decoder needs much memory.
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "no other decoder does"))]
    pub(crate) memory: u64,
}

/// The error for contents that are longer than allowed.
pub(super) fn too_long(offset: u64, limit: u64, found: u64) -> Error {
    Error::Limit { what: "decompressed block", offset, limit, found }
}
