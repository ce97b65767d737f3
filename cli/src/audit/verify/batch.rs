//! Stored keys, some at a time.

use filterblock::KeyBuf;

/// How many keys are looked at together at most, and about how many bytes of them.
pub(crate) const BATCH: usize = 64;
const BATCH_BYTES: u64 = 64 << 10;

/// Keys of one data block, which are looked at together. However many it has, and however long they are, they take little memory.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) keys: KeyBuf,
    pub(crate) bytes: usize,
}

impl Batch {
    #[inline]
    pub(crate) fn push(&mut self, key: &[u8]) {
        self.bytes = self.bytes.saturating_add(key.len());
        self.keys.push(key);
    }

    /// Whether there are enough keys, or more bytes of them than there may be.
    #[inline]
    pub(crate) fn is_full(&self, most: u64) -> bool {
        self.keys.len() >= BATCH || self.bytes as u64 > most.min(BATCH_BYTES)
    }

    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.bytes = 0;
    }
}

/// A stored key.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entry<'k> {
    pub(crate) key: &'k [u8],
    /// What the first of the readings makes of it.
    pub(crate) filtered: Option<&'k [u8]>,
}
