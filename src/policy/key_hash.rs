//! What is left of a key once it is hashed.

use std::fmt;

/// What a policy keeps of a key: up to 64 bits that mean something to that policy alone.
///
/// An LSM tree asks many tables about one key. It can hash the key once, with
/// [`hash_key`](super::FilterPolicy::hash_key), and ask each with [`hash_may_match`](super::FilterPolicy::hash_may_match).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(u64);

impl KeyHash {
    /// For policies: wraps what they need to know of a key.
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// For policies: what [`new`](Self::new) was given.
    pub const fn get(self) -> u64 {
        self.0
    }

    pub(super) const fn from_pair(first: u32, second: u32) -> Self {
        Self((second as u64) << 32 | first as u64)
    }

    pub(super) const fn pair(self) -> (u32, u32) {
        (self.0 as u32, (self.0 >> 32) as u32)
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyHash({:#x})", self.0)
    }
}
