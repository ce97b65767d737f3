//! The sequence numbers of a table or a log, in stretches of keys.

use std::cmp::Ordering;

use super::false_negatives::StoredKey;
use crate::audit::order::KeyOrder;

/// Stretches of a table.
const MAX_STRETCHES: u64 = 64;
/// Bytes of the keys at the ends of a table's stretches.
const MAX_BYTES: usize = 16 << 10;

/// The keys that follow each other in a table, or all keys of a log, with the range of their sequence numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stretch {
    /// The first and the last user key.
    pub(super) ends: [Vec<u8>; 2],
    pub(super) least: u64,
    pub(super) greatest: u64,
}

impl Stretch {
    pub(super) fn new(key: &[u8], number: u64) -> Self {
        Self { ends: [key.to_vec(), key.to_vec()], least: number, greatest: number }
    }

    /// The key may be anywhere.
    pub(super) fn add_unsorted(&mut self, key: &[u8], number: u64, order: KeyOrder) {
        let [first, last] = &mut self.ends;
        for (end, beyond) in [(first, Ordering::Less), (last, Ordering::Greater)] {
            if order.compare(key, end) == beyond {
                end.clear();
                end.extend_from_slice(key);
            }
        }
        self.add_number(number);
    }

    fn add_number(&mut self, number: u64) {
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
    }

    pub(super) fn memory(&self) -> usize {
        self.ends.iter().map(Vec::len).sum::<usize>().saturating_add(size_of::<Self>())
    }
}

/// Into stretches of about the same number of bytes.
pub(super) struct TableStretches {
    pub(super) list: Vec<Stretch>,
    /// Bytes of data blocks in a stretch.
    step: u64,
    /// Where the next stretch begins: the offset of a data block.
    next: u64,
    /// Bytes of keys that further ends may take.
    left: usize,
}

impl TableStretches {
    pub(super) fn new(file_size: u64) -> Self {
        Self { list: Vec::new(), step: file_size / MAX_STRETCHES, next: 0, left: MAX_BYTES }
    }

    /// `keys`: some of the data block at `offset`. Those without a sequence number are left out.
    pub(super) fn add(&mut self, keys: &[StoredKey<'_>], offset: u64) {
        let mut known = keys.iter().filter_map(|stored| {
            let (_, tag) = stored.key.split_last_chunk::<8>()?;
            Some((stored.filtered?, u64::from_le_bytes(*tag) >> 8))
        });
        let Some((first, number)) = known.next() else { return };
        // A stretch never ends between two versions of a key.
        let is_new = |last: &Stretch| last.ends.iter().all(|end| end != first);
        let room = first.len().saturating_mul(2);
        if self.list.last().is_none_or(|last| offset >= self.next && room <= self.left && is_new(last)) {
            self.next = offset.saturating_add(self.step);
            self.left = self.left.saturating_sub(room);
            self.list.push(Stretch::new(first, number));
        }
        let Some(stretch) = self.list.last_mut() else { return };
        let mut last = first;
        stretch.add_number(number);
        for (key, number) in known {
            last = key;
            stretch.add_number(number);
        }
        let [_, end] = &mut stretch.ends;
        end.clear();
        end.extend_from_slice(last);
    }
}
