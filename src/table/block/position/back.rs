//! Going backwards within a block (`Iter::Prev` and `Iter::SeekToLast` of LevelDB's
//! `table/block.cc`).
//!
//! An entry does not record where the previous entry begins, so for each step LevelDB parses all entries
//! from the restart before. Here these entries are parsed once: [`Back`] keeps the offset of each entry, and
//! the bytes of its key that the next key replaced, so that a step back costs about as much as a step
//! forward.

use super::{Position, State};
use crate::table::block::Block;
use crate::{Error, Result, Structure};

/// The entries from a restart up to the current entry of a [`Position`].
///
/// Each entry takes 4 bytes, and the keys together take at most as many bytes as the block stores for them.
#[derive(Default)]
pub(in crate::table) struct Back {
    restart: usize,
    /// The start of each entry.
    offsets: Vec<u32>,
    /// The end of the last entry.
    end: usize,
    /// For each entry but the last, the bytes of its key that the next key does not share.
    dropped: Vec<u8>,
}

impl Back {
    /// Forgets the block, and keeps the memory.
    pub(in crate::table) fn clear(&mut self) {
        self.offsets.clear();
        self.dropped.clear();
        self.end = 0;
    }
}

impl Position {
    /// Moves to the previous entry. Returns false if there is none, or if the position was at no entry; it is
    /// then at no entry. `back` has to be this position's, and the caller has to clear it when the block
    /// changes.
    pub(in crate::table) fn prev(&mut self, block: &Block, back: &mut Back) -> Result<bool> {
        if !self.valid() {
            return Ok(false);
        }
        let moved = self.try_prev(block, back);
        self.settle_back(moved)
    }

    /// Moves to the last entry. Returns false if there is none.
    pub(in crate::table) fn seek_to_last(&mut self, block: &Block, back: &mut Back) -> Result<bool> {
        let last = block.num_restarts.checked_sub(1).filter(|_| !block.is_empty());
        let moved = last.map_or(Ok(false), |last| self.walk(block, back, last, block.entries_end));
        self.settle_back(moved)
    }

    fn settle_back(&mut self, moved: Result<bool>) -> Result<bool> {
        self.state = if matches!(moved, Ok(true)) { State::Entry } else { State::End };
        moved
    }

    fn try_prev(&mut self, block: &Block, back: &mut Back) -> Result<bool> {
        // The current entry is at this restart or after it.
        let restart = self.next_restart.saturating_sub(1);
        // Entries that are parsed from the same restart all end at different offsets, so the end identifies
        // the entry.
        if back.offsets.is_empty() || back.restart != restart || back.end != self.next {
            self.walk(block, back, restart, self.next)?;
        }
        match (&back.offsets[..], restart.checked_sub(1)) {
            ([.., _, _], _) => self.step_back(block, back).map(|()| true),
            (&[first], Some(before)) => self.walk(block, back, before, first as usize),
            _ => Ok(false),
        }
    }

    /// Moves to the entry that ends at `end`, starting from a restart at or before that entry, and notes
    /// the entries on the way.
    fn walk(&mut self, block: &Block, back: &mut Back, restart: usize, end: usize) -> Result<bool> {
        back.clear();
        self.stand_before(block, restart)?;
        self.state = State::Start;
        (self.key, self.buffered) = (None, 0);
        while self.next < end {
            let at = self.next;
            if self.valid() {
                let shared = block.header(at)?.shared;
                back.dropped.extend_from_slice(self.key(block).get(shared..).unwrap_or_default());
            }
            // Offsets in a sound block have 32 bits, as its restarts do.
            back.offsets.push(at as u32);
            if !self.advance(block)? {
                break;
            }
            self.state = State::Entry;
        }
        if self.next != end || back.offsets.is_empty() {
            let found = format!("one up to byte {}, from restart {restart} on", self.next);
            let expected = format!("an entry that ends at byte {end} of the block");
            back.clear();
            return Err(Error::corrupt(Structure::Entry, block.offset(), expected, found));
        }
        (back.restart, back.end) = (restart, end);
        Ok(true)
    }

    /// Moves to the entry before the last entry of `back`. Both entries have been parsed.
    fn step_back(&mut self, block: &Block, back: &mut Back) -> Result<()> {
        let (Some(from), Some(&to)) = (back.offsets.pop(), back.offsets.last()) else { return Ok(()) };
        let kept = block.header(from as usize)?.shared;
        let header = block.header(to as usize)?;
        let (rest, value) = block.ranges(to as usize, &header)?;
        let len = header.shared.saturating_add(rest.len());
        let dropped = back.dropped.len().saturating_sub(len.saturating_sub(kept));
        if header.shared == 0 {
            self.key = Some(rest);
        } else {
            self.key = None;
            let tail = back.dropped.get(dropped..).unwrap_or_default();
            self.copy_into_key(kept, tail, tail.len());
            self.buffered = len;
        }
        back.dropped.truncate(dropped);
        (self.next, self.value, back.end) = (value.end, value, from as usize);
        Ok(())
    }
}
