//! The entries and the different keys of data blocks that are decoded one by one.

use std::collections::BTreeMap;

use filterblock::table::Table;

use super::distinct::{KeySketch, key_hash};
use crate::audit::key_encoding::{KeyEncoding, has_timed_type, is_internal};

/// Up to this many data blocks, the keys are noted, so that the different keys of several tables can be counted.
const MOST_NOTED: u64 = 65;
/// A deletion and a put.
const TYPES: [u8; 2] = [0, 1];

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct BlockKeys {
    pub(crate) entries: u64,
    /// Entries whose user key differs from that of the entry before, which may be in the block before.
    pub(crate) keys: u64,
}

/// Counts the entries and user keys of single data blocks, or of a whole table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct KeyCounter {
    now: BlockKeys,
    last: Vec<u8>,
    /// All keys could be internal keys, and the versions of each user key are in order.
    looks_internal: bool,
    /// The keys seen, as internal and as whole keys. `None`: keys are not noted.
    seen: Option<[KeySketch; 2]>,
}

impl Default for KeyCounter {
    fn default() -> Self {
        Self { now: BlockKeys::default(), last: Vec::new(), looks_internal: true, seen: None }
    }
}

impl KeyCounter {
    pub(super) fn new(blocks: u64) -> Self {
        Self { seen: (blocks <= MOST_NOTED).then(Default::default), ..Self::default() }
    }

    /// Counts all entries of a table in the order of the file. `notes`: the keys are noted.
    pub(crate) fn of_all(notes: bool) -> Self {
        Self { seen: notes.then(Default::default), ..Self::default() }
    }

    /// Is not called to count all blocks in order: a block's first key is then compared with the last one before.
    pub(super) fn begin(&mut self) {
        self.now = BlockKeys::default();
        self.last.clear();
    }

    /// `before`: the hash of the user key in the index entry of the block before.
    pub(crate) fn add(&mut self, key: &[u8], before: Option<u64>) {
        let user_key = KeyEncoding::Internal.filtered(key).unwrap_or(key);
        let is_first = self.now.entries == 0;
        self.now.entries += 1;
        let is_version = if is_first {
            before == Some(key_hash(user_key))
        } else {
            KeyEncoding::Internal.filtered(&self.last) == Some(user_key)
        };
        self.looks_internal &= ends_like_internal(key)
            && (is_first || !is_version || KeyEncoding::Internal.compare(&self.last, key).is_lt());
        if !is_version {
            self.now.keys += 1;
        }
        if let Some([internal, whole]) = &mut self.seen {
            if !is_version {
                internal.add(user_key);
            }
            whole.add(key);
        }
        self.last.clear();
        self.last.extend_from_slice(key);
    }

    /// Counts the entries since the last `begin`, or all if it was never called.
    pub(crate) const fn end(&self) -> BlockKeys {
        self.now
    }

    pub(crate) const fn looks_internal(&self) -> bool {
        self.looks_internal
    }

    pub(crate) fn into_seen(self, is_internal: bool) -> Option<KeySketch> {
        let [internal, whole] = self.seen?;
        Some(if is_internal { internal } else { whole })
    }
}

fn ends_like_internal(key: &[u8]) -> bool {
    let kind = key.len().checked_sub(8).and_then(|at| key.get(at));
    is_internal(key) && (kind.is_some_and(|kind| TYPES.contains(kind)) || has_timed_type(key))
}

/// Returns, for each of the ascending `offsets`, the hash of the user key in the index entry of the block before.
/// LevelDB puts the last key of a block there if the next block begins with another version of it.
pub(super) fn keys_before<R>(table: &Table<R>, offsets: &[u64]) -> BTreeMap<u64, u64> {
    let mut found = BTreeMap::new();
    let (mut index, mut before) = (table.index(), None);
    while let Ok(true) = index.next() {
        if let (Ok(handle), Some(before)) = (index.handle(), before)
            && offsets.binary_search(&handle.offset).is_ok()
        {
            found.entry(handle.offset).or_insert(before);
        }
        before = KeyEncoding::Internal.filtered(index.key()).map(key_hash);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn internal(user_key: &[u8], sequence: u64, kind: u8) -> Vec<u8> {
        [user_key, &(sequence << 8 | u64::from(kind)).to_le_bytes()].concat()
    }

    fn counted(keys: &[Vec<u8>], before: Option<&[u8]>) -> (BlockKeys, bool) {
        let mut counter = KeyCounter::new(1);
        counter.begin();
        keys.iter().for_each(|key| counter.add(key, before.map(key_hash)));
        (counter.end(), counter.looks_internal())
    }

    #[test]
    fn versions_of_a_key_are_entries_and_one_key() {
        let keys = [internal(b"a", 9, 1), internal(b"a", 3, 0), internal(b"b", 5, 1), internal(b"b", 4, 1)];
        assert_eq!(counted(&keys, None), (BlockKeys { entries: 4, keys: 2 }, true));
        assert_eq!(
            counted(&keys, Some(b"a")).0.keys,
            1,
            "the block before ends with a version of the first key"
        );
        assert_eq!(counted(&keys, Some(b"0")).0.keys, 2);
    }

    /// Numbers of eight bytes, most significant byte first, could be internal keys with an empty user key.
    #[test]
    fn numbers_are_not_versions_of_the_empty_key() {
        let keys: Vec<_> = (0..20_u64).map(|number| number.to_be_bytes().to_vec()).collect();
        assert!(!counted(&keys, None).1);
        assert!(!counted(&[b"short".to_vec()], None).1);
        assert!(!counted(&[internal(b"key", 7, 9)], None).1);
    }
}
