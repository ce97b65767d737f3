//! The parts of the keys that databases store (`db/dbformat.h` of LevelDB and of Basho's LevelDB).
//!
//! ```text
//! [user key][sequence << 8 | type: fixed64]                    type 0: deletion; 1: value
//! [user key][time: fixed64][sequence << 8 | type: fixed64]     Basho's types 2 and 3: value
//! ```
//!
//! The time is that of writing in keys of type 2, and that of expiry in keys of type 3.

use std::cmp::Ordering;

use crate::{Error, KeyBuf, Keys, Result};

/// The length of the sequence number and the type after the user key, in bytes.
pub(crate) const TAG_LEN: usize = 8;

/// The length in bytes of the time before the sequence number, in Basho's keys of types 2 and 3.
const TIME_LEN: usize = 8;

/// The format of a database's internal keys, which depends on the variant of LevelDB that writes the
/// database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyFormat {
    /// LevelDB's format, with eight bytes after the user key, whatever the type. RocksDB's keys
    /// are split the same way.
    #[default]
    LevelDb,
    /// The format of Basho's LevelDB (Riak), whose keys of types 2 and 3 also have a time of eight
    /// bytes.
    Basho,
}

impl KeyFormat {
    /// Splits an internal key into user key and tag, `sequence << 8 | type` (fixed64, little-endian).
    /// `None` if the key is too short for its type.
    #[inline]
    pub fn split(self, key: &[u8]) -> Option<(&[u8], u64)> {
        let (before, tag) = key.split_last_chunk::<TAG_LEN>()?;
        let tag = u64::from_le_bytes(*tag);
        let user_key = match self {
            Self::Basho if has_time(tag) => before.split_last_chunk::<TIME_LEN>()?.0,
            _ => before,
        };
        Some((user_key, tag))
    }

    /// Returns the user key of an internal key. `None` if the internal key is too short for its type.
    #[inline]
    pub fn user_key(self, key: &[u8]) -> Option<&[u8]> {
        self.split(key).map(|(user_key, _)| user_key)
    }

    /// Returns the number of bytes after the user key of an internal key, according to its type.
    /// For a key too short to have a type, it is eight.
    pub fn suffix_len(self, key: &[u8]) -> usize {
        let tag = key.last_chunk::<TAG_LEN>().map(|tag| u64::from_le_bytes(*tag));
        match self {
            Self::Basho if tag.is_some_and(has_time) => TAG_LEN + TIME_LEN,
            _ => TAG_LEN,
        }
    }

    /// Orders internal keys by user key according to `user_order`, then by sequence and type
    /// descending, so that the newest entry of a user key comes first. The time in a key does not
    /// affect the order. Keys that are not internal keys come before all that are, ordered byte by byte.
    #[inline]
    pub fn compare(self, a: &[u8], b: &[u8], user_order: impl FnOnce(&[u8], &[u8]) -> Ordering) -> Ordering {
        match (self.split(a), self.split(b)) {
            (Some((a_user, a_tag)), Some((b_user, b_tag))) => {
                user_order(a_user, b_user).then_with(|| b_tag.cmp(&a_tag))
            }
            (None, None) => a.cmp(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        }
    }

    /// Passes the user keys of `keys` to `make`. They are copied only if some keys have a time.
    ///
    /// # Errors
    ///
    /// [`Error::ShortInternalKey`] if a key is too short, and the errors of `make`.
    #[inline]
    pub(crate) fn with_user_keys(
        self,
        keys: Keys<'_>,
        make: impl FnOnce(Keys<'_>) -> Result<()>,
    ) -> Result<()> {
        if self == Self::LevelDb || keys.iter().all(|key| self.suffix_len(key) == TAG_LEN) {
            return make(keys.strip_suffix(TAG_LEN)?);
        }
        let mut user_keys = KeyBuf::new();
        for (index, key) in (0..).zip(keys) {
            let user_key = self.user_key(key).ok_or_else(|| Error::ShortInternalKey {
                index,
                expected: self.suffix_len(key),
                found: key.len(),
            });
            user_keys.push(user_key?);
        }
        make(user_keys.as_keys())
    }
}

/// The parts of an internal key: the user key, then `sequence << 8 | type` as eight bytes, the lowest first.
///
/// Newer entries of a user key come first. To seek to its newest, take the sequence number 2^56 - 1 and type 1, or type
/// 3 and a time of 0 in Basho's format.
///
/// ```
/// use filterblock::{InternalKey, KeyFormat};
/// let key = InternalKey::parse(b"apple\x01\x07\0\0\0\0\0\0", KeyFormat::LevelDb).unwrap();
/// assert_eq!((key.user_key, key.sequence, key.kind, key.time), (&b"apple"[..], 7, 1, None));
/// assert!(InternalKey::parse(b"apple", KeyFormat::LevelDb).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct InternalKey<'a> {
    /// The key as the user of the database gave it.
    pub user_key: &'a [u8],
    /// The time at which the value was written or expires, in microseconds since 1970, in Basho's
    /// keys of types 2 and 3. `None` in all other keys.
    pub time: Option<u64>,
    /// The sequence number of the write, 56 bits.
    pub sequence: u64,
    /// The type: 0 for a deletion, 1 for a value. Other types belong to other formats.
    pub kind: u8,
}

impl<'a> InternalKey<'a> {
    /// Splits `key` into its parts. `None` if `key` is too short for its type.
    pub fn parse(key: &'a [u8], format: KeyFormat) -> Option<Self> {
        let (user_key, tag) = format.split(key)?;
        let time = key.get(user_key.len()..)?.first_chunk::<TIME_LEN>();
        let time = time.filter(|_| format.suffix_len(key) > TAG_LEN).map(|time| u64::from_le_bytes(*time));
        Some(Self { user_key, time, sequence: tag >> 8, kind: kind(tag) })
    }
}

/// Returns the type in a tag.
#[inline]
pub(crate) const fn kind(tag: u64) -> u8 {
    (tag & 0xff) as u8
}

/// Returns `true` if Basho's keys of this type have a time.
#[inline]
pub(crate) const fn has_time(tag: u64) -> bool {
    matches!(kind(tag), TIMED | EXPIRING)
}

/// The greatest sequence number, which has 56 bits.
#[cfg(feature = "table")]
pub(crate) const MAX_SEQUENCE: u64 = (1 << 56) - 1;

/// The type of deletions.
#[cfg(feature = "table")]
pub(crate) const DELETION: u8 = 0;

/// The type of values.
#[cfg(feature = "table")]
pub(crate) const VALUE: u8 = 1;

/// Basho's type for values with their time of writing.
pub(crate) const TIMED: u8 = 2;

/// Basho's type for values with their time of expiry: the greatest of Basho's types.
pub(crate) const EXPIRING: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn internal(user_key: &[u8], sequence: u64, kind: u8) -> Vec<u8> {
        [user_key, &(sequence << 8 | u64::from(kind)).to_le_bytes()].concat()
    }

    #[test]
    fn the_type_says_how_much_stands_behind_the_user_key() {
        for kind in 0..=255 {
            let key = internal(b"key\x01\0\0\0\0\0\0\x80", 7, kind);
            let whole = InternalKey { user_key: &key[..11], time: None, sequence: 7, kind };
            assert_eq!(InternalKey::parse(&key, KeyFormat::LevelDb), Some(whole));
            let timed = InternalKey { user_key: b"key", time: Some(1 << 63 | 1), ..whole };
            let expected = if [2, 3].contains(&kind) { timed } else { whole };
            assert_eq!(InternalKey::parse(&key, KeyFormat::Basho), Some(expected), "{kind}");
            assert_eq!(KeyFormat::Basho.suffix_len(&key), key.len() - expected.user_key.len());
        }
        let greatest = internal(b"", u64::MAX >> 8, 255);
        assert_eq!(
            InternalKey::parse(&greatest, KeyFormat::Basho).map(|key| key.sequence),
            Some((1 << 56) - 1)
        );
    }

    #[test]
    fn a_key_too_short_for_its_type_has_no_parts() {
        for len in 0..TAG_LEN {
            for format in [KeyFormat::LevelDb, KeyFormat::Basho] {
                assert_eq!((format.split(&[2; 7][..len]), format.suffix_len(&[2; 7][..len])), (None, 8));
            }
        }
        for len in 8..16 {
            let key = internal(&b"12345678"[..len - 8], 7, 3);
            assert_eq!((KeyFormat::Basho.split(&key), KeyFormat::Basho.suffix_len(&key)), (None, 16));
            assert!(KeyFormat::LevelDb.split(&key).is_some());
        }
        let empty = internal(b"12345678", 7, 3);
        assert_eq!(KeyFormat::Basho.user_key(&empty), Some(&b""[..]));
    }
}
