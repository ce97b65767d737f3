//! The encoding of LevelDB's Bloom filters, as far as kernels have to know it.

/// k above this is reserved for other encodings: such a filter always "may match".
pub(crate) const MAX_PROBES: u8 = 30;
