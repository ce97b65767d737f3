//! The order of a database's internal keys (LevelDB's `db/dbformat.h`, `db/dbformat.cc`).
//!
//! ```text
//! [user key][sequence << 8 | type: fixed64]        type 0: deletion, 1: value
//! ```

use std::cmp::Ordering;
use std::fmt;

use super::comparator::{BytewiseComparator, Comparator};
use crate::bytes::coding::put_fixed64;

/// How long sequence and type are behind the user key, in bytes.
pub(crate) const TAG_LEN: usize = 8;

/// The greatest sequence number: 56 bits.
pub(crate) const MAX_SEQUENCE: u64 = (1 << 56) - 1;

/// The greatest tag, which comes first among the entries of its user key.
const SEEK_TAG: u64 = MAX_SEQUENCE << 8 | 1;

/// An internal key as user key and tag, or `None` if it is too short for the tag.
#[inline]
pub(crate) fn split(key: &[u8]) -> Option<(&[u8], u64)> {
    key.split_last_chunk::<TAG_LEN>().map(|(user_key, tag)| (user_key, u64::from_le_bytes(*tag)))
}

/// Internal keys: by user key, then the newest first, that is by sequence and type descending.
///
/// Under eight bytes there is no internal key. Such keys, which no sound table holds, come before
/// all others and byte by byte among themselves.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct InternalKeyComparator<C = BytewiseComparator> {
    user: C,
}

impl<C: Comparator> InternalKeyComparator<C> {
    /// Internal keys whose user keys are in the order of `user`.
    pub const fn new(user: C) -> Self {
        Self { user }
    }

    /// The order of the user keys.
    pub const fn user_comparator(&self) -> &C {
        &self.user
    }

    /// Replaces `key` by what `shorten` makes of its user key, if that is shorter and yet comes later. The
    /// greatest tag puts it before all other entries of the new user key.
    fn shorten(&self, key: &mut Vec<u8>, shorten: impl FnOnce(&mut Vec<u8>)) {
        let Some((user_key, _)) = split(key) else { return };
        let mut shorter = user_key.to_vec();
        shorten(&mut shorter);
        if shorter.len() < user_key.len() && self.user.compare(user_key, &shorter).is_lt() {
            put_fixed64(&mut shorter, SEEK_TAG);
            *key = shorter;
        }
    }
}

impl<C: Comparator> Comparator for InternalKeyComparator<C> {
    fn name(&self) -> &str {
        "leveldb.InternalKeyComparator"
    }

    #[inline]
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match (split(a), split(b)) {
            (Some((a_user, a_tag)), Some((b_user, b_tag))) => {
                self.user.compare(a_user, b_user).then_with(|| b_tag.cmp(&a_tag))
            }
            (None, None) => a.cmp(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        }
    }

    fn find_shortest_separator(&self, start: &mut Vec<u8>, limit: &[u8]) {
        if let Some((user_limit, _)) = split(limit) {
            self.shorten(start, |user_key| self.user.find_shortest_separator(user_key, user_limit));
        }
    }

    fn find_short_successor(&self, key: &mut Vec<u8>) {
        self.shorten(key, |user_key| self.user.find_short_successor(user_key));
    }
}

impl<C: Comparator> fmt::Debug for InternalKeyComparator<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InternalKeyComparator").field(&self.user.name()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERNAL: InternalKeyComparator = InternalKeyComparator::new(BytewiseComparator);

    fn key(user_key: &[u8], sequence: u64, kind: u64) -> Vec<u8> {
        let mut key = user_key.to_vec();
        put_fixed64(&mut key, sequence << 8 | kind);
        key
    }

    fn separator(start: &[u8], limit: &[u8]) -> Vec<u8> {
        let mut key = start.to_vec();
        INTERNAL.find_shortest_separator(&mut key, limit);
        key
    }

    #[test]
    fn the_newest_entry_of_a_user_key_comes_first() {
        let ascending = [
            key(b"", 0, 0),
            key(b"a", MAX_SEQUENCE, 1),
            key(b"a", 300, 1),
            key(b"a", 300, 0),
            key(b"a", 2, 1),
            key(b"a", 0, 0),
            key(b"a\0", 9, 1),
            key(b"b", 1, 1),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(INTERNAL.compare(a, b), i.cmp(&j), "{i} {j}");
            }
        }
    }

    #[test]
    fn keys_too_short_for_a_tag_come_first_byte_by_byte() {
        let ascending = [
            &b""[..],
            b"\0",
            b"\xff",
            b"\xff\xff\xff\xff\xff\xff\xff",
            b"\0\0\0\0\0\0\0\0",
            b"a\0\0\0\0\0\0\0\0",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(INTERNAL.compare(a, b), i.cmp(&j), "{i} {j}");
            }
            assert_eq!(separator(a, b"z\0\0\0\0\0\0\0\0"), *a);
            assert_eq!(separator(b"abcdefghijk", b"\xff"), b"abcdefghijk");
        }
        let mut short = b"abc".to_vec();
        INTERNAL.find_short_successor(&mut short);
        assert_eq!(short, b"abc");
    }

    #[test]
    fn a_shortened_user_key_gets_the_greatest_tag() {
        let shortened = key(b"g", MAX_SEQUENCE, 1);
        assert_eq!(shortened, b"g\x01\xff\xff\xff\xff\xff\xff\xff");
        assert_eq!(separator(&key(b"foo", 100, 1), &key(b"hello", 200, 1)), shortened);
        let mut successor = key(b"foo", 100, 1);
        INTERNAL.find_short_successor(&mut successor);
        assert_eq!(successor, shortened);
    }

    #[test]
    fn what_is_not_shortened_keeps_its_tag() {
        let start = key(b"foo", 100, 1);
        for limit in [
            key(b"foo", 99, 1), // the same user key
            key(b"foo", 101, 0),
            key(b"bar", 99, 1),   // descending
            key(b"foobar", 9, 1), // a prefix
            key(b"fop", 9, 1),
        ] {
            assert_eq!(separator(&start, &limit), start);
        }
        // A user key of the same length that comes later is no gain.
        assert_eq!(separator(&key(b"a", 100, 1), &key(b"c", 9, 1)), key(b"a", 100, 1));
        for user_key in [&b""[..], b"a", b"\xff\xff"] {
            let mut successor = key(user_key, 100, 1);
            INTERNAL.find_short_successor(&mut successor);
            assert_eq!(successor, key(user_key, 100, 1));
        }
    }

    #[test]
    fn a_user_key_that_is_shortened_to_an_earlier_one_stays() {
        struct Cut;
        impl Comparator for Cut {
            fn name(&self) -> &str {
                "test.Cut"
            }
            fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
                a.cmp(b)
            }
            fn find_shortest_separator(&self, start: &mut Vec<u8>, _: &[u8]) {
                start.clear();
            }
        }
        let mut start = key(b"foo", 100, 1);
        InternalKeyComparator::new(Cut).find_shortest_separator(&mut start, &key(b"zoo", 9, 1));
        assert_eq!(start, key(b"foo", 100, 1));
    }

    #[test]
    fn it_shows_the_order_of_the_user_keys() {
        assert_eq!(format!("{INTERNAL:?}"), r#"InternalKeyComparator("leveldb.BytewiseComparator")"#);
        assert_eq!(INTERNAL.name(), "leveldb.InternalKeyComparator");
        assert_eq!(INTERNAL.user_comparator(), &BytewiseComparator);
    }
}
