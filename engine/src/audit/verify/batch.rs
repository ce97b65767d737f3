//! Batches of stored keys.

use filterblock::KeyBuf;

/// The maximum number of keys to look at together.
pub(super) const BATCH_KEYS: usize = 64;
/// The approximate maximum number of bytes of the keys to look at together.
const BATCH_BYTES: u64 = 64 << 10;

/// Keys of one data block, which are looked at together. They take at most 64 KiB more than the
/// longest of them, however many keys the block has.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) keys: KeyBuf,
    pub(super) bytes: usize,
}

impl Batch {
    #[inline]
    pub(super) fn push(&mut self, key: &[u8]) {
        self.bytes = self.bytes.saturating_add(key.len());
        self.keys.push(key);
    }

    /// Returns true if there are enough keys or bytes, or more than `max_bytes` bytes.
    #[inline]
    pub(super) fn is_full(&self, max_bytes: u64) -> bool {
        self.keys.len() >= BATCH_KEYS || self.bytes as u64 > max_bytes.min(BATCH_BYTES)
    }

    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.bytes = 0;
    }
}

/// A stored key, and the part of it that the filters are asked for.
#[derive(Clone, Copy, Default)]
pub(super) struct StoredKey<'k> {
    pub(super) key: &'k [u8],
    /// The part that filters are made from, in the first of the encodings; `None` if the key is too
    /// short for that encoding.
    pub(super) filtered: Option<&'k [u8]>,
}
