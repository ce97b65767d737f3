//! The hash of a key.

use std::fmt;

/// The hash of a key: up to 64 bits that mean something only to the policy that made them.
///
/// An LSM tree looks one key up in many tables. It can hash the key once, with
/// [`hash_key`](super::FilterPolicy::hash_key), and pass the hash to
/// [`hash_may_match`](super::FilterPolicy::hash_may_match) for each table.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(u64);

impl KeyHash {
    /// Wraps the bits that a policy needs of a key. This is for policies.
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the bits given to [`new`](Self::new). This is for policies.
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
