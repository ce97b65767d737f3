//! What decompressing may take.

use crate::Error;

/// What decompressing one block may take, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The contents.
    pub(crate) contents: u64,
    /// Contents and decoder together, where the decoder needs much.
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "no other decoder does"))]
    pub(crate) memory: u64,
}

/// Contents are longer than is allowed.
pub(super) fn too_long(offset: u64, limit: u64, found: u64) -> Error {
    Error::Limit { what: "decompressed block", offset, limit, found }
}
