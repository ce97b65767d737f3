//! The way through a block's entries (the iterator of LevelDB's `table/block.cc`).

use std::cmp::Ordering;
use std::ops::Range;

use bytes::Bytes;

use super::Block;
use crate::key::comparator::Comparator;
use crate::table::format::BlockHandle;
use crate::{Error, Result};

/// So many bytes are copied at once.
const SHORT: usize = 16;

/// Where in a block an iteration stands. Every call has to be given the same block.
pub(in crate::table) struct Position {
    state: State,
    /// The longest key that is put together.
    max_key: usize,
    /// Where the entry after the current one begins.
    next: usize,
    /// Number and place of the first restart after the current entry; `usize::MAX` if there is none.
    next_restart: usize,
    next_restart_at: usize,
    /// A key that shares nothing stays in the block; others are put together in `buffer`, of which they are the first
    /// `buffered` bytes.
    key: Option<Range<usize>>,
    buffer: Vec<u8>,
    buffered: usize,
    value: Range<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first entry.
    Start,
    /// At an entry.
    Entry,
    /// Past the last entry, or stopped by an error.
    End,
}

impl Default for Position {
    fn default() -> Self {
        Self::with_max_key(usize::MAX)
    }
}

impl Position {
    /// At the start. A key of more than `max_key` bytes is an error, unless it lies whole in the block: putting it together
    /// would take memory.
    pub(in crate::table) fn with_max_key(max_key: usize) -> Self {
        Self {
            state: State::Start,
            max_key,
            next: 0,
            next_restart: 0,
            next_restart_at: 0,
            key: None,
            buffer: Vec::new(),
            buffered: 0,
            value: 0..0,
        }
    }

    /// Back to the start, for any block. The memory is kept.
    pub(in crate::table) fn reset(&mut self) {
        *self = Self { buffer: std::mem::take(&mut self.buffer), ..Self::with_max_key(self.max_key) };
    }

    pub(in crate::table) fn valid(&self) -> bool {
        self.state == State::Entry
    }

    /// The current entry's key; empty where there is none.
    #[inline]
    pub(in crate::table) fn key<'a>(&'a self, block: &'a Block) -> &'a [u8] {
        match &self.key {
            _ if !self.valid() => &[],
            Some(range) => block.bytes(range.clone()),
            None => {
                debug_assert!(self.buffered <= self.buffer.len(), "keys are within the buffer");
                self.buffer.get(..self.buffered).unwrap_or_default()
            }
        }
    }

    /// The current entry's value; empty where there is none.
    #[inline]
    pub(in crate::table) fn value<'a>(&self, block: &'a Block) -> &'a [u8] {
        if self.valid() { block.bytes(self.value.clone()) } else { &[] }
    }

    /// The key as bytes that outlive the position: a view if it shares nothing, else a copy.
    pub(in crate::table) fn key_bytes(&self, block: &Block) -> Bytes {
        match &self.key {
            Some(_) => block.view(self.key(block)),
            None => Bytes::copy_from_slice(self.key(block)),
        }
    }

    /// Whether the current key was put together, not found whole in the block.
    pub(in crate::table) fn key_is_copied(&self) -> bool {
        self.key.is_none()
    }

    /// The current entry's value as the handle of another block, as in index and metaindex.
    #[inline]
    pub(in crate::table) fn handle(&self, block: &Block) -> Result<BlockHandle> {
        BlockHandle::decode(self.value(block), block.offset()).map(|(handle, _)| handle)
    }

    /// The value as a view of the block.
    pub(in crate::table) fn value_bytes(&self, block: &Block) -> Bytes {
        block.view(self.value(block))
    }

    /// Goes to the next entry; from the start to the first. False, and nowhere, at the end and after an error.
    #[inline]
    pub(in crate::table) fn next(&mut self, block: &Block) -> Result<bool> {
        if self.state == State::End {
            return Ok(false);
        }
        let step = self.advance(block);
        self.state = if matches!(step, Ok(true)) { State::Entry } else { State::End };
        step
    }

    #[inline]
    fn advance(&mut self, block: &Block) -> Result<bool> {
        let at = self.next;
        if at >= block.entries_end {
            return self.finish(block);
        }
        let header = block.header(at)?;
        // Only the first step comes here without a key, and it is at restart 0.
        let mut limit = self.key.as_ref().map_or(self.buffered, Range::len);
        if at >= self.next_restart_at {
            self.pass_restart(block)?;
            limit = 0;
        }
        if header.shared > limit {
            return Err(block.bad_shared(at, header.shared, limit));
        }
        let (key, value) = block.ranges(at, &header)?;
        self.next = value.end;
        self.value = value;
        if header.shared == 0 {
            self.key = Some(key);
            return Ok(true);
        }
        let len = key.len();
        let whole_len = header.shared.saturating_add(len);
        let max_key = self.max_key.min(block.max_key);
        if whole_len > max_key {
            let (limit, found) = (max_key as u64, whole_len as u64);
            return Err(Error::Limit { what: "key that shares bytes", offset: block.offset(), limit, found });
        }
        if let Some(previous) = self.key.take() {
            self.copy_into_key(0, block.bytes(previous.start..block.entries_end), header.shared);
        }
        self.copy_into_key(header.shared, block.bytes(key.start..block.entries_end), len);
        self.buffered = whole_len;
        Ok(true)
    }

    /// Copies the first `len` bytes of `from`, which has more than that or as many, into the buffer, to `at`.
    #[inline]
    fn copy_into_key(&mut self, at: usize, from: &[u8], len: usize) {
        debug_assert!(at <= self.buffer.len() && len <= from.len(), "what was shared is there");
        // A copy of fixed length beats one of variable length.
        let room = self.buffer.get_mut(at..).and_then(|room| room.first_chunk_mut::<SHORT>());
        match (room, from.first_chunk()) {
            (Some(room), Some(from)) if len <= SHORT => *room = *from,
            _ => self.put_long(at, from.get(..len).unwrap_or_default()),
        }
    }

    fn put_long(&mut self, at: usize, from: &[u8]) {
        if let Some(room) = self.buffer.get_mut(at..at.saturating_add(from.len())) {
            return room.copy_from_slice(from);
        }
        self.buffer.truncate(at);
        // Room for the next ones, all allocated at once.
        self.buffer.reserve(from.len().saturating_add(SHORT));
        self.buffer.extend_from_slice(from);
        self.buffer.resize(self.buffer.len().saturating_add(SHORT), 0);
    }

    /// No entries are left; restarts should not be, either.
    fn finish(&self, block: &Block) -> Result<bool> {
        match block.restart(self.next_restart) {
            Some(unused) if !block.is_empty() => Err(block.bad_restart(self.next_restart, Some(unused))),
            _ => Ok(false),
        }
    }

    /// The next entry begins at the next restart, or should have begun at it before.
    fn pass_restart(&mut self, block: &Block) -> Result<()> {
        if self.next > self.next_restart_at {
            return Err(block.bad_restart(self.next_restart, Some(self.next_restart_at)));
        }
        self.set_next_restart(block, self.next_restart.saturating_add(1));
        Ok(())
    }

    fn set_next_restart(&mut self, block: &Block, index: usize) {
        self.next_restart = index;
        self.next_restart_at = block.restart(index).unwrap_or(usize::MAX);
    }

    /// Goes to the first entry whose key is `target` or after it. False if there is none.
    pub(in crate::table) fn seek<C>(&mut self, block: &Block, target: &[u8], comparator: &C) -> Result<bool>
    where
        C: Comparator + ?Sized,
    {
        self.state = State::End;
        if block.is_empty() {
            return Ok(false);
        }
        // The last restart whose key is before the target, or the first of all.
        let (mut left, mut right) = (0, block.num_restarts.saturating_sub(1));
        while left < right {
            let middle = left.saturating_add(right.saturating_sub(left).div_ceil(2));
            if comparator.compare(block.restart_key(middle)?, target) == Ordering::Less {
                left = middle;
            } else {
                right = middle.saturating_sub(1);
            }
        }
        self.next = block.restart_entry(left)?;
        self.set_next_restart(block, left);
        self.state = State::Start;
        while self.next(block)? {
            if comparator.compare(self.key(block), target) != Ordering::Less {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
