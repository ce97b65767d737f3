//! The request for a scan, with the range of keys to show, in bytewise order, and the outcome.

use crate::report::{ErrorKind, Fault};

/// The bounds of the keys to show. A key has to be within all of them. `None`: there is no such bound.
#[derive(Clone, Debug, Default)]
pub struct KeyRange {
    /// The bytes that all keys begin with.
    pub prefix: Option<Vec<u8>>,
    /// The lower bound of the range, which is part of it.
    pub from: Option<Vec<u8>>,
    /// The upper bound of the range, which is not part of it.
    pub to: Option<Vec<u8>>,
}

impl KeyRange {
    /// The first key that may be in the range. `None`: the range has no lower bound.
    pub fn start(&self) -> Option<&[u8]> {
        self.prefix.as_deref().max(self.from.as_deref())
    }

    /// Returns true if `key` lies in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.prefix.as_ref().is_none_or(|prefix| key.starts_with(prefix))
            && self.from.as_ref().is_none_or(|from| from.as_slice() <= key)
            && !self.is_past_end(key)
    }

    /// Returns true if neither `key` nor any key after it is in the range.
    pub fn is_past(&self, key: &[u8]) -> bool {
        let is_past_prefix = |prefix: &Vec<u8>| prefix.as_slice() < key && !key.starts_with(prefix);
        self.is_past_end(key) || self.prefix.as_ref().is_some_and(is_past_prefix)
    }

    fn is_past_end(&self, key: &[u8]) -> bool {
        self.to.as_ref().is_some_and(|to| to.as_slice() <= key)
    }
}

/// The entries to show.
#[derive(Clone, Debug, Default)]
pub struct ScanRequest {
    /// Shows every version of each key and every deletion. Otherwise, shows the newest version of each key, unless it
    /// is a deletion; a log that is shown by itself leaves out deletions only.
    pub all: bool,
    /// Finds the data blocks of tables by their checksums, without footer and index.
    #[cfg(feature = "fs")]
    pub carve: bool,
    /// Corrects one wrong bit of each block, and of each fragment of logs and MANIFESTs, if the checksum tells which.
    #[cfg(feature = "fs")]
    pub correct: bool,
    /// The range of keys to show.
    pub range: KeyRange,
    /// The greatest number of entries to show; `None`: all entries.
    pub limit: Option<u64>,
    /// True if the keys of tables that are shown one by one are internal keys. `None`: the keys of a database's tables
    /// are internal keys; for other tables, their filters or first keys decide.
    pub internal_keys: Option<bool>,
}

// Without the feature `fs`, nothing is compiled for what cannot be asked for: these functions are constant there.
impl ScanRequest {
    pub(super) const fn carves(&self) -> bool {
        #[cfg(feature = "fs")]
        return self.carve;
        #[cfg(not(feature = "fs"))]
        false
    }

    pub(super) const fn corrects(&self) -> bool {
        #[cfg(feature = "fs")]
        return self.correct;
        #[cfg(not(feature = "fs"))]
        false
    }
}

/// The outcome of a scan.
#[derive(Clone, Copy, Default, Debug)]
pub struct ScanOutcome {
    /// A file is damaged, and the damaged part was skipped.
    pub is_damaged: bool,
    /// An input, a file or a part of it could not be read for a reason other than damage, or a MANIFEST cannot be used.
    pub has_failed: bool,
    /// A list of paths could not be read to its end.
    pub list_failed: bool,
}

impl ScanOutcome {
    pub(super) fn count(&mut self, fault: &Fault) {
        match fault.kind {
            ErrorKind::Damaged => self.is_damaged = true,
            _ => self.has_failed = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: a key is past the range if no key at or after it is in the range.
    #[test]
    fn the_start_and_the_end_of_a_range_agree_with_what_it_contains() {
        let keys: Vec<Vec<u8>> = (0..=3)
            .flat_map(|len| (0..3usize.pow(len)).map(move |n| (0..len).map(move |at| n / 3usize.pow(at) % 3)))
            .map(|digits| digits.map(|digit| [0, b'a', 0xff][digit]).collect())
            .collect();
        let mut sorted = keys.clone();
        sorted.sort();
        let bounds: Vec<Option<Vec<u8>>> = std::iter::once(None).chain(keys.into_iter().map(Some)).collect();
        for prefix in &bounds {
            for from in bounds.iter().step_by(3) {
                for to in bounds.iter().step_by(2) {
                    let range = KeyRange { prefix: prefix.clone(), from: from.clone(), to: to.clone() };
                    let mut may_follow = false;
                    for key in sorted.iter().rev() {
                        let is_in = prefix.as_ref().is_none_or(|prefix| key.starts_with(prefix))
                            && from.as_ref().is_none_or(|from| from <= key)
                            && to.as_ref().is_none_or(|to| key < to);
                        assert_eq!(range.contains(key), is_in);
                        may_follow |= is_in;
                        assert!(!(range.is_past(key) && may_follow), "{range:?} {key:?}");
                        assert!(!(is_in && range.start().is_some_and(|start| key.as_slice() < start)));
                    }
                }
            }
        }
        let range = KeyRange { prefix: Some(b"a".to_vec()), ..KeyRange::default() };
        assert!(range.is_past(b"b") && !range.is_past(b"a\xff\xff") && !range.is_past(b""));
        assert_eq!(range.start(), Some(&b"a"[..]));
        let range = KeyRange { to: Some(b"b".to_vec()), ..range };
        assert!(range.is_past(b"b") && !range.is_past(b"a"));
    }
}
