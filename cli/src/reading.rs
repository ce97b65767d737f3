//! How stored keys can be read: as they are, or as a database's internal keys.

use std::cmp::Ordering;

/// Sequence number and type, behind the user key.
const SUFFIX: usize = 8;
/// A time of expiry before them, in Riak's keys of the types 2 and 3.
const EXPIRY: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reading {
    /// Keys as they are.
    Whole,
    /// Internal keys, of which filters know the user part.
    Internal,
}

impl Reading {
    /// What filters are made of; `None` if this is no internal key.
    #[inline]
    pub(crate) fn filtered(self, key: &[u8]) -> Option<&[u8]> {
        match self {
            Self::Whole => Some(key),
            Self::Internal => match key.split_last_chunk::<SUFFIX>()? {
                (before, [2 | 3, ..]) => before.split_last_chunk::<EXPIRY>().map(|(user_key, _)| user_key),
                (user_key, _) => Some(user_key),
            },
        }
    }

    /// The order of keys where user keys are ordered byte by byte: of one user key's versions the newest comes first.
    #[inline]
    pub(crate) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match (self.filtered(a), self.filtered(b)) {
            (Some(user_a), Some(user_b)) if self == Self::Internal => {
                user_a.cmp(user_b).then_with(|| tag(b).cmp(&tag(a)))
            }
            _ => a.cmp(b),
        }
    }
}

fn tag(key: &[u8]) -> Option<u64> {
    key.last_chunk().map(|tag| u64::from_le_bytes(*tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn internal(user_key: &[u8], sequence: u64, kind: u8) -> Vec<u8> {
        [user_key, &(sequence << 8 | u64::from(kind)).to_le_bytes()].concat()
    }

    #[test]
    fn filters_know_the_user_part() {
        assert_eq!(Reading::Whole.filtered(b"key"), Some(&b"key"[..]));
        for kind in [0, 1, 4, 255] {
            assert_eq!(Reading::Internal.filtered(&internal(b"key", 7, kind)), Some(&b"key"[..]));
        }
        for kind in [2, 3] {
            let expiring = internal(b"key12345678", 7, kind);
            assert_eq!(Reading::Internal.filtered(&expiring), Some(&b"key"[..]));
            assert_eq!(Reading::Internal.filtered(&internal(b"1234567", 7, kind)), None);
        }
        assert_eq!(Reading::Internal.filtered(b"1234567"), None);
        assert_eq!(Reading::Internal.filtered(&internal(b"", 7, 1)), Some(&b""[..]));
    }

    #[test]
    fn the_newest_version_comes_first() {
        let compare = |a: &[u8], b: &[u8]| Reading::Internal.compare(a, b);
        assert_eq!(compare(&internal(b"a", 9, 1), &internal(b"a", 8, 1)), Ordering::Less);
        assert_eq!(compare(&internal(b"a", 8, 1), &internal(b"a", 8, 0)), Ordering::Less);
        assert_eq!(compare(&internal(b"a", 8, 1), &internal(b"a", 8, 1)), Ordering::Equal);
        // Byte by byte, the sequence number would come before the "b".
        assert_eq!(compare(&internal(b"a", 0xff, 1), &internal(b"a\x01b", 1, 1)), Ordering::Less);
        assert_eq!(compare(&internal(b"b", 1, 1), &internal(b"a", 9, 1)), Ordering::Greater);
    }
}
