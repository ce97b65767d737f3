//! How to read stored keys: as they are, or as internal keys.

use std::cmp::Ordering;

use filterblock::{InternalKey, KeyFormat};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyEncoding {
    /// Keys as they are.
    Whole,
    /// Filters are made from the user part. Keys of the types 2 and 3 have a time, as Riak's do.
    Internal,
    /// Without a time: RocksDB has other meanings for the types 2 and 3.
    Untimed,
}

/// True if Riak stores a time with keys of this type. Keys of fewer than 8 bytes have no type.
pub(crate) fn has_timed_type(key: &[u8]) -> bool {
    KeyFormat::Basho.suffix_len(key) > KeyFormat::LevelDb.suffix_len(key)
}

/// True if there is room for a sequence number and a type.
pub(crate) fn is_internal(key: &[u8]) -> bool {
    InternalKey::parse(key, KeyFormat::LevelDb).is_some()
}

impl KeyEncoding {
    /// `None` for keys as they are.
    #[inline]
    const fn format(self) -> Option<KeyFormat> {
        match self {
            Self::Whole => None,
            Self::Internal => Some(KeyFormat::Basho),
            Self::Untimed => Some(KeyFormat::LevelDb),
        }
    }

    /// The part that filters are made from. `None`: `key` is too short for an internal key.
    #[inline]
    pub fn filtered(self, key: &[u8]) -> Option<&[u8]> {
        match self.format() {
            None => Some(key),
            Some(format) => format.user_key(key),
        }
    }

    /// Byte by byte. Of internal keys, by user key, the newest version first.
    #[inline]
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self.format() {
            // Keys that are too short for their type have no known order.
            Some(format) if format.split(a).is_some() && format.split(b).is_some() => {
                format.compare(a, b, Ord::cmp)
            }
            _ => a.cmp(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn internal(user_key: &[u8], sequence: u64, kind: u8) -> Vec<u8> {
        [user_key, &(sequence << 8 | u64::from(kind)).to_le_bytes()].concat()
    }

    #[test]
    fn filters_know_the_user_part() {
        assert_eq!(KeyEncoding::Whole.filtered(b"key"), Some(&b"key"[..]));
        for kind in [0, 1, 4, 255] {
            assert_eq!(KeyEncoding::Internal.filtered(&internal(b"key", 7, kind)), Some(&b"key"[..]));
        }
        for kind in [2, 3] {
            let expiring = internal(b"key12345678", 7, kind);
            assert_eq!(KeyEncoding::Internal.filtered(&expiring), Some(&b"key"[..]));
            assert_eq!(KeyEncoding::Internal.filtered(&internal(b"1234567", 7, kind)), None);
        }
        assert_eq!(KeyEncoding::Internal.filtered(b"1234567"), None);
        for kind in 0..=255 {
            let key = internal(b"key12345678", 7, kind);
            assert_eq!(KeyEncoding::Untimed.filtered(&key), Some(&b"key12345678"[..]));
            assert_eq!(has_timed_type(&key), kind == 2 || kind == 3);
        }
        assert_eq!((KeyEncoding::Untimed.filtered(b"1234567"), has_timed_type(b"\x02\x02")), (None, false));
        assert_eq!(KeyEncoding::Internal.filtered(&internal(b"", 7, 1)), Some(&b""[..]));
    }

    #[test]
    fn the_newest_version_comes_first() {
        let compare = |a: &[u8], b: &[u8]| KeyEncoding::Internal.compare(a, b);
        assert_eq!(compare(&internal(b"a", 9, 1), &internal(b"a", 8, 1)), Ordering::Less);
        assert_eq!(compare(&internal(b"a", 8, 1), &internal(b"a", 8, 0)), Ordering::Less);
        assert_eq!(compare(&internal(b"a", 8, 1), &internal(b"a", 8, 1)), Ordering::Equal);
        // Compared byte by byte, the 0xff of the sequence number would come after the "b".
        assert_eq!(compare(&internal(b"a", 0xff, 1), &internal(b"a\x01b", 1, 1)), Ordering::Less);
        assert_eq!(compare(&internal(b"b", 1, 1), &internal(b"a", 9, 1)), Ordering::Greater);
        // A time is not part of the order: a user key precedes the longer user keys that begin with
        // it, whatever the times of these keys are.
        let timed =
            |user_key: &[u8], time: u8, sequence| internal(&[user_key, &[time; 8]].concat(), sequence, 3);
        assert_eq!(compare(&timed(b"a", 1, 9), &timed(b"a", 0, 8)), Ordering::Less);
        assert_eq!(compare(&timed(b"a", 0xff, 9), &internal(b"ab", 9, 1)), Ordering::Less);
        let untimed = |a: &[u8], b: &[u8]| KeyEncoding::Untimed.compare(a, b);
        assert_eq!(untimed(&timed(b"a", 0xff, 9), &internal(b"ab", 9, 1)), Ordering::Greater);
        assert_eq!(untimed(&internal(b"a", 9, 2), &internal(b"a", 8, 2)), Ordering::Less);
    }
}
