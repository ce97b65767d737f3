//! What whoever asks LevelDB's Bloom filters has to know of their encoding.

/// k above this is reserved for other encodings: such a filter always "may match".
pub(crate) const MAX_PROBES: u8 = 30;
