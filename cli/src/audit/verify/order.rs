//! The order of keys, and of the index around them.

use std::cmp::Ordering;

use filterblock::quote;

use super::batch::Entry;
use super::finding::{Code, Finding, Findings};
use crate::audit::key_encoding::Reading;

/// What is known of the order of the keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expectation {
    /// User keys are in bytewise order.
    Bytewise,
    /// No order is recorded. Bytewise is assumed, and the check given up where that does not hold.
    Presumed,
    /// An order of this name, which is not known here.
    Custom(String),
}

/// Follows a table's keys and index in their order.
pub(crate) struct Order {
    expectation: Expectation,
    /// Whether the order is one that is known here.
    is_checked: bool,
    /// What speaks against each way to read the keys.
    readings: Vec<(Reading, Findings)>,
    /// The last key of those that came, if there was one.
    last_key: Vec<u8>,
    has_last_key: bool,
    /// The index's key for the data block before.
    separator: Vec<u8>,
    /// Which of the two came last.
    after: After,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    Key,
    Separator,
}

impl Order {
    pub(crate) fn new(expectation: Expectation, readings: &[Reading]) -> Self {
        Self {
            is_checked: !matches!(expectation, Expectation::Custom(_)),
            expectation,
            readings: readings.iter().map(|&reading| (reading, Findings::default())).collect(),
            last_key: Vec::new(),
            has_last_key: false,
            separator: Vec::new(),
            after: After::Nothing,
        }
    }

    /// The next keys, of the data block at `offset`.
    pub(crate) fn keys(&mut self, entries: &[Entry<'_>], offset: u64) {
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return };
        if self.is_checked {
            self.follow(first.key, Code::KeyOrder, offset);
            // With one reading, user keys that ascend, as nearly all do, need no other look.
            let is_known = self.readings.len() == 1;
            for pair in entries.windows(2) {
                let [previous, next] = pair else { continue };
                let ascend = matches!((previous.filtered, next.filtered), (Some(a), Some(b)) if a < b);
                if !(is_known && ascend) {
                    compare(&mut self.readings, previous.key, next.key, false, Code::KeyOrder, offset);
                }
            }
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(last.key);
        self.has_last_key = true;
        self.after = After::Key;
    }

    /// The index's key for the data block whose keys came last.
    pub(crate) fn separator(&mut self, separator: &[u8], index_offset: u64) {
        if self.is_checked {
            self.follow(separator, Code::IndexOrder, index_offset);
        }
        self.separator.clear();
        self.separator.extend_from_slice(separator);
        self.after = After::Separator;
    }

    /// Compares `next` with whatever came before it.
    fn follow(&mut self, next: &[u8], code: Code, offset: u64) {
        let previous = match self.after {
            After::Nothing => return,
            After::Key => &self.last_key,
            After::Separator => &self.separator,
        };
        // A separator may be equal to the last key of its block.
        let may_equal = self.after == After::Key && code == Code::IndexOrder;
        compare(&mut self.readings, previous, next, may_equal, code, offset);
    }

    /// The last key of all.
    pub(crate) fn last_key(&self) -> Option<&[u8]> {
        self.has_last_key.then_some(&*self.last_key)
    }

    /// What is wrong with the order, or why it was not checked.
    pub(crate) fn finish(self) -> Result<Findings, String> {
        if let Expectation::Custom(name) = self.expectation {
            return Err(format!("the order of the keys is {name}'s, and was not checked"));
        }
        debug_assert!(!self.readings.is_empty(), "keys are read in some way");
        // Whichever reading has least against it.
        let best = self.readings.into_iter().map(|(_, findings)| findings).min_by_key(Findings::total);
        let findings = best.unwrap_or_default();
        match findings.first() {
            Some(first) if self.expectation == Expectation::Presumed => Err(format!(
                "the order of the keys is not bytewise and was not checked ({first}); if it should be, say so with \
                 --comparator bytewise"
            )),
            _ => Ok(findings),
        }
    }
}

/// Notes what by each reading is wrong with `next` behind `previous`.
fn compare(
    readings: &mut [(Reading, Findings)],
    previous: &[u8],
    next: &[u8],
    may_equal: bool,
    code: Code,
    offset: u64,
) {
    for (reading, findings) in readings {
        match reading.compare(previous, next) {
            Ordering::Less => {}
            Ordering::Equal if may_equal => {}
            _ => {
                let how = if may_equal { "at or after" } else { "after" };
                findings.add(code, || {
                    let expected = format!("a key {how} {}", quote(previous));
                    Finding::new(code, offset, expected, quote(next).to_string())
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In capitals: the index.
    fn follow(expectation: Expectation, keys: &[&[u8]]) -> Result<Vec<Finding>, String> {
        let follow = |most| {
            let mut order = Order::new(expectation.clone(), &[Reading::Whole]);
            let is_separator = |key: &&[u8]| key.iter().any(u8::is_ascii_uppercase);
            for run in keys.chunk_by(|a, b| !is_separator(a) && !is_separator(b)) {
                if run.iter().any(is_separator) {
                    order.separator(&run[0].to_ascii_lowercase(), 1000);
                    continue;
                }
                for keys in run.chunks(most) {
                    let entries: Vec<_> = keys.iter().map(|key| Entry { key, filtered: Some(key) }).collect();
                    order.keys(&entries, 10);
                }
            }
            order.finish().map(Findings::into_list)
        };
        // However many come at once.
        let found = follow(usize::MAX);
        for most in 1..4 {
            assert_eq!(format!("{:?}", follow(most)), format!("{found:?}"));
        }
        found
    }

    fn texts(keys: &[&[u8]]) -> Vec<String> {
        let found = follow(Expectation::Bytewise, keys).unwrap();
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
        // The separator of one block is before all keys of the next.
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
        assert!(follow(Expectation::Presumed, &[b"a", b"b"]).unwrap().is_empty());
        let reason = follow(Expectation::Presumed, &[b"b", b"a"]).unwrap_err();
        assert!(reason.starts_with("the order of the keys is not bytewise and was not checked (key-order"));
        let reason = follow(Expectation::Custom("\"x\"".into()), &[b"a", b"b"]).unwrap_err();
        assert_eq!(reason, "the order of the keys is \"x\"'s, and was not checked");
    }

    #[test]
    fn the_reading_that_holds_counts() {
        // Byte by byte the second key comes first; as internal keys they are two versions.
        let keys = [b"k\x01\x09\0\0\0\0\0\0", b"k\x01\x08\0\0\0\0\0\0"];
        let mut both = Order::new(Expectation::Bytewise, &[Reading::Whole, Reading::Internal]);
        let entries = keys.map(|key| Entry { key, filtered: Some(key) });
        both.keys(&entries, 0);
        assert!(both.finish().unwrap().is_empty());
        let mut whole = Order::new(Expectation::Bytewise, &[Reading::Whole]);
        whole.keys(&entries, 0);
        assert_eq!(whole.finish().unwrap().total(), 1);
    }
}
