//! The order of keys (LevelDB's `include/leveldb/comparator.h`, `util/comparator.cc`), and the comparators
//! whose order is known, found by the names that databases store.

use std::cmp::Ordering;
use std::sync::Arc;

use super::idb_comparator::IdbComparator;

/// A comparator that can be shared between tables and threads.
pub type SharedComparator = Arc<dyn Comparator>;

/// A total order of keys, with ways to shorten keys for the index.
///
/// A table can only be read in the order in which it was written.
pub trait Comparator: Send + Sync {
    /// The name of the order. Databases store it, tables do not. If the order changes, the name has
    /// to change too.
    fn name(&self) -> &str;

    /// Compares `a` to `b`. Every byte string needs a place in the order, since a damaged file can
    /// hold any bytes as a key.
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering;

    /// May shorten `start` to any key that is not before `start` and is before `limit`. If there is
    /// no such key, `start` has to stay as it is: in tables with internal keys, both can be the same
    /// user key.
    ///
    /// The index names each data block but the last by such a key. By default `start` stays as it
    /// is.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn find_shortest_separator(&self, start: &mut Vec<u8>, limit: &[u8]) {}

    /// May shorten `key` to any key that is not before `key`.
    ///
    /// The index names the last data block by such a key. By default `key` stays as it is.
    #[expect(unused_variables, reason = "named for the documentation")]
    fn find_short_successor(&self, key: &mut Vec<u8>) {}
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<C: Comparator + ?Sized> Comparator for $pointer {
            #[inline]
            fn name(&self) -> &str {
                (**self).name()
            }
            #[inline]
            fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
                (**self).compare(a, b)
            }
            #[inline]
            fn find_shortest_separator(&self, start: &mut Vec<u8>, limit: &[u8]) {
                (**self).find_shortest_separator(start, limit);
            }
            #[inline]
            fn find_short_successor(&self, key: &mut Vec<u8>) {
                (**self).find_short_successor(key);
            }
        }
    )*};
}

forward!(&C, Box<C>, Arc<C>);

/// Orders keys byte by byte, as unsigned numbers, and a prefix before its extensions. This is
/// LevelDB's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytewiseComparator;

impl Comparator for BytewiseComparator {
    fn name(&self) -> &str {
        "leveldb.BytewiseComparator"
    }

    #[inline]
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        a.cmp(b)
    }

    /// Adds one to the first byte that differs and cuts `start` after it, if the byte is then still
    /// below that of `limit`.
    fn find_shortest_separator(&self, start: &mut Vec<u8>, limit: &[u8]) {
        let differs = start.iter().zip(limit).enumerate().find(|(_, (a, b))| a != b);
        // If one key is a prefix of the other, no byte differs and nothing is cut.
        if let Some((index, (byte, limit))) = differs
            && let Some(next) = byte.checked_add(1).filter(|next| next < limit)
        {
            start.truncate(index);
            start.push(next);
        }
    }

    /// Adds one to the first byte that is not 0xff and cuts `key` after it.
    fn find_short_successor(&self, key: &mut Vec<u8>) {
        let below_ff = key.iter().enumerate().find_map(|(index, byte)| Some((index, byte.checked_add(1)?)));
        if let Some((index, next)) = below_ff {
            key.truncate(index);
            key.push(next);
        }
    }
}

/// Returns the comparator with this name, if its order is known here: [`BytewiseComparator`] or
/// [`IdbComparator`]. Databases store the name:
/// [`Manifest::comparator`](crate::database::Manifest::comparator).
///
/// ```
/// use filterblock::table::known_comparator;
///
/// assert!(known_comparator(b"idb_cmp1").is_some());
/// assert!(known_comparator(b"rocksdb.ReverseBytewiseComparator").is_none());
/// ```
pub fn known_comparator(name: &[u8]) -> Option<SharedComparator> {
    let known: [SharedComparator; 2] = [Arc::new(BytewiseComparator), Arc::new(IdbComparator)];
    known.into_iter().find(|comparator| comparator.name().as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn separator(start: &[u8], limit: &[u8]) -> Vec<u8> {
        let mut key = start.to_vec();
        BytewiseComparator.find_shortest_separator(&mut key, limit);
        assert!(start <= &key[..], "{start:?}");
        assert!(start >= limit || &key[..] < limit, "{start:?} {limit:?}");
        key
    }

    #[test]
    fn separators_are_cut_behind_the_first_difference() {
        assert_eq!(separator(b"abcdef", b"abzz"), b"abd");
        assert_eq!(separator(b"abc1xyz", b"abc3"), b"abc2");
        assert_eq!(separator(b"a\x00\x00", b"a\x02"), b"a\x01");
        assert_eq!(separator(b"a\xfd\xff", b"a\xff"), b"a\xfe");
    }

    #[test]
    fn separators_stay_where_nothing_shorter_fits() {
        for (start, limit) in [
            (&b"abc1xyz"[..], &b"abc2"[..]), // the next byte is the limit's own
            (b"abc", b"abcd"),               // a prefix
            (b"", b"a"),
            (b"", b""),
            (b"same", b"same"),
            (b"b", b"a"), // descending: left alone, as in the original
            (b"abcd", b"abc"),
            (b"a\xff\xff", b"b"),
        ] {
            assert_eq!(separator(start, limit), start);
        }
    }

    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn all_short_separators_lie_between() {
        let keys: Vec<Vec<u8>> = (0..=3u32)
            .flat_map(|len| (0..4u32.pow(len)).map(move |n| (0..len).map(move |i| n >> (2 * i) & 3)))
            .map(|digits| digits.map(|digit| [0, 1, 0xfe, 0xff][digit as usize]).collect())
            .collect();
        for start in &keys {
            for limit in &keys {
                separator(start, limit);
            }
        }
    }

    #[test]
    fn successors_are_cut_behind_the_first_byte_below_ff() {
        for (key, expected) in [
            (&b"abc"[..], &b"b"[..]),
            (b"\xff\xffabc", b"\xff\xffb"),
            (b"\xfe", b"\xff"),
            (b"\xff\xff", b"\xff\xff"),
            (b"", b""),
        ] {
            let mut key = key.to_vec();
            BytewiseComparator.find_short_successor(&mut key);
            assert_eq!(key, expected);
        }
    }

    #[test]
    fn pointers_forward_every_method() {
        let shared: SharedComparator = Arc::new(BytewiseComparator);
        let boxed: Box<dyn Comparator> = Box::new(&shared);
        let boxed = &boxed;
        assert_eq!(boxed.name(), "leveldb.BytewiseComparator");
        assert_eq!(boxed.compare(b"a", b"\xff"), Ordering::Less);
        let mut key = b"abcdef".to_vec();
        boxed.find_shortest_separator(&mut key, b"abzz");
        assert_eq!(key, b"abd");
        boxed.find_short_successor(&mut key);
        assert_eq!(key, b"b");
    }
}
