//! LevelDB's comparators, and the parts of its internal keys.

use std::cmp::Ordering;

use super::ffi;

/// The order of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOrder {
    /// `BytewiseComparator`.
    Bytewise,
    /// `InternalKeyComparator` over `BytewiseComparator`. Every key must have the 8 bytes that follow a user key.
    Internal,
}

impl KeyOrder {
    /// Compares two keys.
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

/// Returns sequence number and type of an internal key, as LevelDB's `InternalKey::DebugString` prints them. `None`
/// if LevelDB calls the key bad.
///
/// # Panics
///
/// If LevelDB's text has another form.
pub fn parse_internal_key(key: &[u8]) -> Option<(u64, u8)> {
    let said = String::from_utf8_lossy(&ffi::internal_key_debug_string(key)).into_owned();
    if said.starts_with("(bad)") {
        return None;
    }
    // 'USER KEY' @ SEQUENCE : TYPE
    let (_, numbers) = said.rsplit_once("' @ ").unwrap_or_else(|| panic!("{said}"));
    let (sequence, kind) = numbers.split_once(" : ").unwrap_or_else(|| panic!("{said}"));
    Some((sequence.parse().expect("a sequence number"), kind.parse().expect("a type")))
}
