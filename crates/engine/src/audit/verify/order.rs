//! The check of the order of keys, and of the index's separators between them.

use std::cmp::Ordering;

use filterblock::table::{SharedComparator, known_comparator};
use filterblock::{KeyFormat, quote};

use super::false_negatives::StoredKey;
use crate::audit::key_encoding::KeyEncoding;
use crate::report::{Code, Note, Problem, Problems};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ExpectedOrder {
    Bytewise,
    /// No order is recorded. The check is given up if keys are not in bytewise order.
    Presumed,
    /// Of the comparator of this name, known or not.
    Custom(Vec<u8>),
}

/// Follows the keys of a table and its index.
pub(super) struct OrderCheck {
    expected: ExpectedOrder,
    is_checked: bool,
    /// Of user keys; `None`: bytewise, or unknown.
    order: Option<SharedComparator>,
    /// By possible encoding.
    encodings: Vec<(KeyEncoding, Problems)>,
    last_key: Vec<u8>,
    has_last_key: bool,
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
    pub(super) fn new(expected: ExpectedOrder, encodings: &[KeyEncoding]) -> Self {
        let order = match &expected {
            ExpectedOrder::Custom(name) => known_comparator(name),
            _ => None,
        };
        Self {
            is_checked: !matches!(expected, ExpectedOrder::Custom(_)) || order.is_some(),
            order,
            expected,
            encodings: encodings.iter().map(|&encoding| (encoding, Problems::default())).collect(),
            last_key: Vec::new(),
            has_last_key: false,
            separator: Vec::new(),
            after: After::Nothing,
        }
    }

    pub(super) fn keys(&mut self, keys: &[StoredKey<'_>], offset: u64) {
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return };
        if self.is_checked {
            self.follow(first.key, Code::KeyOrder, offset);
            // With one encoding, ascending user keys are in order, whatever the versions: the quick way for nearly all
            // keys.
            let is_known = self.encodings.len() == 1 && self.order.is_none();
            for pair in keys.windows(2) {
                let [previous, next] = pair else { continue };
                let ascend = matches!((previous.filtered, next.filtered), (Some(a), Some(b)) if a < b);
                if !(is_known && ascend) {
                    let (pair, order) = ((previous.key, next.key), self.order.as_ref());
                    compare(&mut self.encodings, order, pair, false, Code::KeyOrder, offset);
                }
            }
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(last.key);
        self.has_last_key = true;
        self.after = After::Key;
    }

    /// Takes the index's key for the data block whose keys came last.
    pub(super) fn separator(&mut self, separator: &[u8], index_offset: u64) {
        if self.is_checked {
            self.follow(separator, Code::IndexOrder, index_offset);
        }
        self.separator.clear();
        self.separator.extend_from_slice(separator);
        self.after = After::Separator;
    }

    fn follow(&mut self, next: &[u8], code: Code, offset: u64) {
        let previous = match self.after {
            After::Nothing => return,
            After::Key => &self.last_key,
            After::Separator => &self.separator,
        };
        // A separator may be equal to the last key of its block.
        let may_equal = self.after == After::Key && code == Code::IndexOrder;
        compare(&mut self.encodings, self.order.as_ref(), (previous, next), may_equal, code, offset);
    }

    pub(super) fn last_key(&self) -> Option<&[u8]> {
        self.has_last_key.then_some(&*self.last_key)
    }

    /// Returns a note if the order is unknown, or if the one that was presumed does not hold.
    pub(super) fn finish(self) -> Result<Problems, Note> {
        if let (ExpectedOrder::Custom(comparator), None) = (&self.expected, &self.order) {
            let comparator = comparator.clone();
            return Err(Note::CustomOrder { comparator });
        }
        debug_assert!(!self.encodings.is_empty(), "keys are in some encoding");
        // The encoding with the fewest problems counts as right.
        let best = self.encodings.into_iter().map(|(_, problems)| problems).min_by_key(Problems::total);
        let problems = best.unwrap_or_default();
        match problems.first() {
            Some(first) if self.expected == ExpectedOrder::Presumed => {
                Err(Note::NotBytewise(Box::new(first.clone())))
            }
            _ => Ok(problems),
        }
    }
}

/// Adds a problem for each encoding in which `next` must not follow `previous`.
fn compare(
    encodings: &mut [(KeyEncoding, Problems)],
    order: Option<&SharedComparator>,
    (previous, next): (&[u8], &[u8]),
    may_equal: bool,
    code: Code,
    offset: u64,
) {
    for (encoding, problems) in encodings {
        let found = match order {
            None => encoding.compare(previous, next),
            // Only databases name an order, and their keys are internal keys.
            Some(order) => KeyFormat::LevelDb.compare(previous, next, |a, b| order.compare(a, b)),
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

    /// Checks these keys. Those in capitals are separators of the index.
    fn follow(expected: ExpectedOrder, keys: &[&[u8]]) -> Result<Vec<Problem>, Note> {
        let follow = |most| {
            let mut order = OrderCheck::new(expected.clone(), &[KeyEncoding::Whole]);
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
        let found = follow(ExpectedOrder::Bytewise, keys).unwrap();
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
        assert!(follow(ExpectedOrder::Presumed, &[b"a", b"b"]).unwrap().is_empty());
        let reason = follow(ExpectedOrder::Presumed, &[b"b", b"a"]).unwrap_err();
        assert!(matches!(&reason, Note::NotBytewise(first) if first.code == Code::KeyOrder), "{reason:?}");
        let reason = follow(ExpectedOrder::Custom(b"x".to_vec()), &[b"a", b"b"]).unwrap_err();
        assert_eq!(reason, Note::CustomOrder { comparator: b"x".to_vec() });
    }

    #[test]
    fn the_encoding_that_holds_counts() {
        // Byte by byte, the second key comes first; as internal keys, the two are versions of one
        // user key.
        let keys = [b"k\x01\x09\0\0\0\0\0\0", b"k\x01\x08\0\0\0\0\0\0"];
        let mut both = OrderCheck::new(ExpectedOrder::Bytewise, &[KeyEncoding::Whole, KeyEncoding::Internal]);
        let entries = keys.map(|key| StoredKey { key, filtered: Some(key) });
        both.keys(&entries, 0);
        assert!(both.finish().unwrap().is_empty());
        let mut whole = OrderCheck::new(ExpectedOrder::Bytewise, &[KeyEncoding::Whole]);
        whole.keys(&entries, 0);
        assert_eq!(whole.finish().unwrap().total(), 1);
    }
}
