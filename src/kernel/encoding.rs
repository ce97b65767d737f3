//! The part of the encoding of LevelDB's Bloom filters that the kernels need.

/// The largest k. Larger values are reserved for other encodings: every key may match a filter with such a k.
pub(crate) const MAX_PROBES: u8 = 30;
