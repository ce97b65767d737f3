//! LevelDB's comparators.

use std::cmp::Ordering;

use super::ffi;

/// The order of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOrder {
    /// `BytewiseComparator`.
    Bytewise,
    /// `InternalKeyComparator` over it. Every key must have the 8 bytes behind its user key.
    Internal,
}

impl KeyOrder {
    /// The order of a key and another.
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        self.check(a);
        self.check(b);
        ffi::compare(self.is_internal(), a, b).cmp(&0)
    }

    /// `FindShortestSeparator`.
    pub fn separator(self, start: &[u8], limit: &[u8]) -> Vec<u8> {
        self.check(start);
        self.check(limit);
        ffi::separator(self.is_internal(), start, limit)
    }

    /// `FindShortSuccessor`.
    pub fn successor(self, key: &[u8]) -> Vec<u8> {
        self.check(key);
        ffi::successor(self.is_internal(), key)
    }

    fn is_internal(self) -> bool {
        self == Self::Internal
    }

    fn check(self, key: &[u8]) {
        assert!(!self.is_internal() || key.len() >= 8, "an internal key of {} bytes", key.len());
    }
}
