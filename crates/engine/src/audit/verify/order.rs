//! The check of the order of keys, and of the index's separators between them.

use std::cmp::Ordering;

use filterblock::quote;

use super::false_negatives::StoredKey;
use crate::audit::{key_encoding::KeyEncoding, order::KeyOrder};
use crate::report::{CheckNote, Code, Problem, Problems};

/// Follows the keys of a table and its index.
pub(super) struct OrderCheck {
    /// `None`: no order is recorded. The check is given up if keys are not in bytewise order.
    comparator: Option<Vec<u8>>,
    /// Of user keys; `None`: unknown, so that nothing is checked.
    order: Option<KeyOrder>,
    /// By possible encoding.
    encodings: Vec<(KeyEncoding, Problems)>,
    last_key: Option<Vec<u8>>,
    /// The last one of the index.
    separator: Vec<u8>,
    /// What came last.
    after: After,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    Key,
    Separator,
}

impl OrderCheck {
    pub(super) fn new(comparator: Option<&[u8]>, encodings: &[KeyEncoding]) -> Self {
        Self {
            order: comparator.map_or(Some(KeyOrder::Bytewise), KeyOrder::of),
            comparator: comparator.map(<[u8]>::to_vec),
            encodings: encodings.iter().map(|&encoding| (encoding, Problems::default())).collect(),
            last_key: None,
            separator: Vec::new(),
            after: After::Nothing,
        }
    }

    pub(super) fn keys(&mut self, keys: &[StoredKey<'_>], offset: u64) {
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return };
        if let Some(order) = self.order {
            self.follow(order, first.key, Code::KeyOrder, offset);
            // With one encoding, ascending user keys are in order, whatever the versions: the quick way for nearly all
            // keys.
            let is_known = self.encodings.len() == 1 && order == KeyOrder::Bytewise;
            for pair in keys.windows(2) {
                let [previous, next] = pair else { continue };
                let ascend = matches!((previous.filtered, next.filtered), (Some(a), Some(b)) if a < b);
                if !(is_known && ascend) {
                    let pair = (previous.key, next.key);
                    compare(&mut self.encodings, order, pair, false, Code::KeyOrder, offset);
                }
            }
        }
        let last_key = self.last_key.get_or_insert_default();
        last_key.clear();
        last_key.extend_from_slice(last.key);
        self.after = After::Key;
    }

    /// Takes the index's key for the data block whose keys came last.
    pub(super) fn separator(&mut self, separator: &[u8], index_offset: u64) {
        if let Some(order) = self.order {
            self.follow(order, separator, Code::IndexOrder, index_offset);
        }
        self.separator.clear();
        self.separator.extend_from_slice(separator);
        self.after = After::Separator;
    }

    fn follow(&mut self, order: KeyOrder, next: &[u8], code: Code, offset: u64) {
        let previous = match self.after {
            After::Nothing => return,
            After::Key => self.last_key.as_deref().unwrap_or_default(),
            After::Separator => &self.separator,
        };
        // A separator may be equal to the last key of its block.
        let may_equal = self.after == After::Key && code == Code::IndexOrder;
        compare(&mut self.encodings, order, (previous, next), may_equal, code, offset);
    }

    pub(super) fn last_key(&self) -> Option<&[u8]> {
        self.last_key.as_deref()
    }

    /// Returns a note if the order is unknown, or if the one that was presumed does not hold.
    pub(super) fn finish(self) -> Result<Problems, CheckNote> {
        let is_presumed = self.comparator.is_none();
        if let (Some(comparator), None) = (self.comparator, self.order) {
            return Err(CheckNote::CustomOrder { comparator });
        }
        debug_assert!(!self.encodings.is_empty(), "keys are in some encoding");
        // The encoding with the fewest problems counts as right.
        let best = self.encodings.into_iter().map(|(_, problems)| problems).min_by_key(Problems::total);
        let problems = best.unwrap_or_default();
        match problems.first() {
            Some(first) if is_presumed => Err(CheckNote::NotBytewise(Box::new(first.clone()))),
            _ => Ok(problems),
        }
    }
}

/// Adds a problem for each encoding in which `next` must not follow `previous`.
fn compare(
    encodings: &mut [(KeyEncoding, Problems)],
    order: KeyOrder,
    (previous, next): (&[u8], &[u8]),
    may_equal: bool,
    code: Code,
    offset: u64,
) {
    for (encoding, problems) in encodings {
        let found = match order {
            KeyOrder::Bytewise => encoding.compare(previous, next),
            // Only databases name an order, and their keys are internal keys.
            KeyOrder::Idb => order.compare_internal(previous, next),
        };
        match found {
            Ordering::Less => {}
            Ordering::Equal if may_equal => {}
            _ => {
                let how = if may_equal { "at or after" } else { "after" };
                problems.add(code, || {
                    let expected = format!("a key {how} {}", quote(previous));
                    Problem::new(code, offset, expected, quote(next).to_string())
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTEWISE: Option<&[u8]> = Some(b"leveldb.BytewiseComparator");

    /// Checks these keys. Those in capitals are separators of the index.
    fn follow(comparator: Option<&[u8]>, keys: &[&[u8]]) -> Result<Vec<Problem>, CheckNote> {
        let follow = |most| {
            let mut order = OrderCheck::new(comparator, &[KeyEncoding::Whole]);
            let is_separator = |key: &&[u8]| key.iter().any(u8::is_ascii_uppercase);
            for run in keys.chunk_by(|a, b| !is_separator(a) && !is_separator(b)) {
                if run.iter().any(is_separator) {
                    order.separator(&run[0].to_ascii_lowercase(), 1000);
                    continue;
                }
                for keys in run.chunks(most) {
                    let entries: Vec<_> =
                        keys.iter().map(|key| StoredKey { key, filtered: Some(key) }).collect();
                    order.keys(&entries, 10);
                }
            }
            order.finish().map(|problems| problems.to_list())
        };
        // The result does not depend on how many keys come at a time.
        let found = follow(usize::MAX);
        for most in 1..4 {
            assert_eq!(format!("{:?}", follow(most)), format!("{found:?}"));
        }
        found
    }

    fn texts(keys: &[&[u8]]) -> Vec<String> {
        let found = follow(BYTEWISE, keys).unwrap();
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_in_order() {
        assert_eq!(texts(&[]), [""; 0]);
        assert_eq!(texts(&[b"a", b"b", b"B", b"c", b"D"]), [""; 0]);
        assert_eq!(texts(&[b"a", b"C", b"d", b"D"]), [""; 0]);
    }

    #[test]
    fn what_is_not() {
        assert_eq!(texts(&[b"b", b"a"]), [r#"key-order at offset 10: expected a key after "b", found "a""#]);
        assert_eq!(
            texts(&[b"a", b"b", b"a", b"c", b"b", b"d"]),
            [
                r#"key-order at offset 10: expected a key after "b", found "a""#,
                r#"key-order at offset 10: expected a key after "c", found "b""#
            ]
        );
        assert_eq!(texts(&[b"a", b"a"]), [r#"key-order at offset 10: expected a key after "a", found "a""#]);
        assert_eq!(
            texts(&[b"b", b"A"]),
            [r#"index-order at offset 1000: expected a key at or after "b", found "a""#]
        );
        // The separator of one block must come before all keys of the next.
        assert_eq!(
            texts(&[b"a", b"B", b"b"]),
            [r#"key-order at offset 10: expected a key after "b", found "b""#]
        );
        assert_eq!(
            texts(&[b"B", b"B"]),
            [r#"index-order at offset 1000: expected a key after "b", found "b""#]
        );
    }

    #[test]
    fn an_unknown_order_is_not_held_against_a_table() {
        assert!(follow(None, &[b"a", b"b"]).unwrap().is_empty());
        let reason = follow(None, &[b"b", b"a"]).unwrap_err();
        assert!(
            matches!(&reason, CheckNote::NotBytewise(first) if first.code == Code::KeyOrder),
            "{reason:?}"
        );
        let reason = follow(Some(b"x"), &[b"a", b"b"]).unwrap_err();
        assert_eq!(reason, CheckNote::CustomOrder { comparator: b"x".to_vec() });
    }

    #[test]
    fn the_encoding_that_holds_counts() {
        // Byte by byte, the second key comes first; as internal keys, the two are versions of one
        // user key.
        let keys = [b"k\x01\x09\0\0\0\0\0\0", b"k\x01\x08\0\0\0\0\0\0"];
        let mut both = OrderCheck::new(BYTEWISE, &[KeyEncoding::Whole, KeyEncoding::Internal]);
        let entries = keys.map(|key| StoredKey { key, filtered: Some(key) });
        both.keys(&entries, 0);
        assert!(both.finish().unwrap().is_empty());
        let mut whole = OrderCheck::new(BYTEWISE, &[KeyEncoding::Whole]);
        whole.keys(&entries, 0);
        assert_eq!(whole.finish().unwrap().total(), 1);
    }
}
