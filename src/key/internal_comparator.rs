//! The order of a database's internal keys (LevelDB's `db/dbformat.h`, `db/dbformat.cc`).

use std::cmp::Ordering;
use std::fmt;

use super::KeyFormat;
use super::comparator::{BytewiseComparator, Comparator, SharedComparator};
use super::parts::{MAX_SEQUENCE, VALUE};
use crate::bytes::coding::put_fixed64;

/// The greatest tag of LevelDB's types. A key with this tag comes before all other keys with the same
/// user key.
const SEEK_TAG: u64 = MAX_SEQUENCE << 8 | VALUE as u64;

/// Orders internal keys by user key, then by sequence and type descending, so that the newest comes
/// first.
///
/// A key of fewer than eight bytes is not an internal key, and no sound table holds one. Such keys
/// come before all others, and byte by byte among themselves.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct InternalKeyComparator<C = BytewiseComparator> {
    user: C,
}

impl<C: Comparator> InternalKeyComparator<C> {
    /// Returns a comparator of internal keys whose user keys are in the order of `user`.
    pub const fn new(user: C) -> Self {
        Self { user }
    }

    /// Replaces the user key of `key` with the result of `shorten`, if that is shorter and comes
    /// later. The greatest tag puts the new key before all other entries of its user key.
    fn shorten(&self, key: &mut Vec<u8>, shorten: impl FnOnce(&mut Vec<u8>)) {
        let Some((user_key, _)) = KeyFormat::LevelDb.split(key) else { return };
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
        KeyFormat::LevelDb.compare(a, b, |a, b| self.user.compare(a, b))
    }

    fn find_shortest_separator(&self, start: &mut Vec<u8>, limit: &[u8]) {
        if let Some((user_limit, _)) = KeyFormat::LevelDb.split(limit) {
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

/// Orders Basho's internal keys by user key, then from the newest to the oldest. Keys that are not
/// internal keys come before all others.
pub(crate) struct BashoKeyComparator {
    user: SharedComparator,
}

impl BashoKeyComparator {
    pub(crate) fn new(user: SharedComparator) -> Self {
        Self { user }
    }
}

impl Comparator for BashoKeyComparator {
    fn name(&self) -> &str {
        "leveldb.InternalKeyComparator"
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        KeyFormat::Basho.compare(a, b, |a, b| self.user.compare(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

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
        // A user key of the same length would be no gain, though it comes later.
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
    }

    /// Basho changed the order and kept the name.
    #[test]
    fn the_order_bears_leveldbs_name() {
        let order = BashoKeyComparator::new(Arc::new(BytewiseComparator));
        assert_eq!(order.name(), InternalKeyComparator::new(BytewiseComparator).name());
    }

    #[test]
    fn what_is_no_internal_key_comes_first_byte_by_byte() {
        let order = BashoKeyComparator::new(Arc::new(BytewiseComparator));
        let tagged = |user_key: &[u8], kind: u8| [user_key, &[kind, 1, 0, 0, 0, 0, 0, 0]].concat();
        let ascending = [
            b"".to_vec(),
            b"1234567".to_vec(),
            // Too short for a time.
            tagged(b"1234567", 2),
            tagged(b"7654321", 3),
            tagged(b"", 1),
            tagged(b"", 0),
            tagged(b"a87654321", 3),
            tagged(b"a12345678", 2),
            tagged(b"a", 1),
            tagged(b"ab", 1),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(order.compare(a, b), i.cmp(&j), "{a:x?} {b:x?}");
            }
        }
    }
}
