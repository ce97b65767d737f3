//! Seeking within a block (`Iter::Seek` of LevelDB's `table/block.cc`).

use std::hint::select_unpredictable;
use std::ops::Range;

use super::{Position, State};
use crate::Result;
use crate::key::comparator::Comparator;
use crate::table::block::Block;
use crate::table::block::prefix::{Start, shared_prefix_len};

/// The key of an entry that was sought bytewise: the first `shared` bytes of the target, then those
/// in the range `rest` of the block.
pub(in crate::table) struct Found {
    shared: usize,
    rest: Range<usize>,
    /// True if the key is the target itself.
    pub(in crate::table) is_equal: bool,
}

impl Position {
    /// Moves to the first entry whose key is at or after `target`. Returns false if there is none.
    pub(in crate::table) fn seek<C>(&mut self, block: &Block, target: &[u8], comparator: &C) -> Result<bool>
    where
        C: Comparator + ?Sized,
    {
        if !self.enter(block, |key| comparator.compare(block.bytes(key), target).is_lt())? {
            return Ok(false);
        }
        self.state = State::Start;
        while self.next(block)? {
            if comparator.compare(self.key(block), target).is_ge() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Does the same for keys in bytewise order, which need not be put together to be compared.
    pub(in crate::table) fn seek_bytewise(&mut self, block: &Block, target: &[u8]) -> Result<bool> {
        let Some(Found { shared, rest, .. }) = self.find_bytewise(block, target)? else { return Ok(false) };
        if shared == 0 {
            self.key = Some(rest);
        } else {
            self.key = None;
            self.copy_into_key(0, target, shared);
            self.append_rest(block, shared, rest);
        }
        self.state = State::Entry;
        Ok(true)
    }

    /// Finds the first entry whose key is at or after `target` in bytewise order, and its value.
    /// The position itself is then at no entry.
    pub(in crate::table) fn find_bytewise(&mut self, block: &Block, target: &[u8]) -> Result<Option<Found>> {
        let start = Start::of(target);
        if !self.enter(block, |key| block.start_of_key(&key).is_before(start, block.bytes(key), target))? {
            return Ok(None);
        }
        // The key of each entry passed is before `target`, which it equals in `matched` bytes.
        let (mut matched, mut len) = (0, 0);
        while let Some((shared, rest)) = self.step(block, len)? {
            len = shared.saturating_add(rest.len());
            if shared > matched {
                // It differs from `target` where the key before does, and in the same way.
                continue;
            }
            let (key, target) = (block.bytes(rest.clone()), target.get(shared..).unwrap_or_default());
            let common = shared_prefix_len(key, target);
            match (key.get(common), target.get(common)) {
                (Some(byte), Some(sought)) if byte < sought => {}
                (None, Some(_)) => {}
                (byte, sought) => {
                    let is_equal = byte.is_none() && sought.is_none();
                    return Ok(Some(Found { shared, rest, is_equal }));
                }
            }
            matched = shared.saturating_add(common);
        }
        Ok(None)
    }

    /// Moves before the last restart whose key `is_before` the one sought, or before the first
    /// restart. Returns false if the block has no entries.
    #[inline]
    fn enter(&mut self, block: &Block, is_before: impl Fn(Range<usize>) -> bool) -> Result<bool> {
        self.state = State::End;
        if block.is_empty() {
            return Ok(false);
        }
        let (mut left, mut right) = (0, block.num_restarts.saturating_sub(1));
        while left < right {
            // Above `left` and at most `right`, so nothing here wraps.
            let middle = left.wrapping_add(right.wrapping_sub(left).wrapping_add(1) / 2);
            let key = match block.restart_key(middle) {
                Some(key) => key,
                None => block.long_restart_key(middle)?,
            };
            let before = is_before(key);
            // Either is as likely, so a branch would often be mispredicted.
            left = select_unpredictable(before, middle, left);
            right = select_unpredictable(before, right, middle.wrapping_sub(1));
        }
        self.next = block.restart_entry(left)?;
        self.set_next_restart(block, left);
        Ok(true)
    }
}
