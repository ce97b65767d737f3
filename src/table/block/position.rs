//! Iterating within a block (the iterator of LevelDB's `table/block.cc`).

mod back;
mod seek;
mod together;

use std::ops::Range;

use bytes::Bytes;

use super::Block;
use super::contents::{Contents, Entry};
pub(in crate::table) use back::Back;
pub(in crate::table) use seek::INTERNAL;
pub(in crate::table) use together::{Restarts, TOGETHER};

use crate::table::format::BlockHandle;
use crate::{Error, Result};

/// The length of a short copy, in bytes. Up to this number of bytes are copied by copying exactly this number.
const SHORT: usize = 16;

/// The position of an iteration within a block. Every call has to be given the same block, until
/// [`reset`](Self::reset).
pub(in crate::table) struct Position {
    state: State,
    /// The greatest length of a key that is put together, in bytes.
    max_key: usize,
    /// The offset of the entry after the current one.
    next: usize,
    /// The number of the first restart after the current entry.
    next_restart: usize,
    /// The offset of the first restart after the current entry, or `usize::MAX` if there is none.
    next_restart_at: usize,
    /// The current key's range in the block, if it shares no bytes. Otherwise `None`: the key is
    /// then put together in `buffer`, as its first `buffered` bytes.
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
    /// At no entry: past the last entry or, backwards, the first, or after an error.
    End,
}

impl Default for Position {
    fn default() -> Self {
        Self::with_max_key(usize::MAX)
    }
}

impl Position {
    /// A position before the first entry. A key of more than `max_key` bytes that shares some of
    /// them is an error, since putting it together would take memory.
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

    /// Returns to the start. The next call may be given another block. The buffer is kept.
    pub(in crate::table) fn reset(&mut self) {
        *self = Self { buffer: std::mem::take(&mut self.buffer), ..Self::with_max_key(self.max_key) };
    }

    pub(in crate::table) fn valid(&self) -> bool {
        self.state == State::Entry
    }

    /// The current entry's key, or an empty slice if there is no current entry.
    #[inline]
    pub(in crate::table) fn key<'a>(&'a self, block: &'a Block<impl AsRef<[u8]>>) -> &'a [u8] {
        match &self.key {
            _ if !self.valid() => &[],
            Some(range) => block.bytes(range.clone()),
            None => {
                debug_assert!(self.buffered <= self.buffer.len(), "keys are within the buffer");
                self.buffer.get(..self.buffered).unwrap_or_default()
            }
        }
    }

    /// The current entry's value, or an empty slice if there is no current entry.
    #[inline]
    pub(in crate::table) fn value<'a>(&self, block: &'a Block<impl AsRef<[u8]>>) -> &'a [u8] {
        if self.valid() { block.bytes(self.value.clone()) } else { &[] }
    }

    /// The current key as bytes that outlive the position: a view if it shares nothing, else a copy.
    pub(in crate::table) fn key_bytes(&self, block: &Block) -> Bytes {
        match &self.key {
            Some(_) => block.view(self.key(block)),
            None => Bytes::copy_from_slice(self.key(block)),
        }
    }

    /// The length of the current key if it was put together. `None` if the block stores it in one
    /// piece.
    #[inline]
    pub(in crate::table) fn copied_key_len(&self) -> Option<usize> {
        if self.key.is_none() { Some(self.buffered) } else { None }
    }

    /// Decodes the current entry's value as the handle of another block, as in index and metaindex.
    #[inline]
    pub(in crate::table) fn handle(&self, block: &Block<impl AsRef<[u8]>>) -> Result<BlockHandle> {
        // The value and the bytes after it are nearly always enough to read offset and size without branches.
        let short = BlockHandle::decode_short(block.from(self.value.start));
        if let Some((handle, len)) = short
            && self.valid()
            && len <= self.value.len()
        {
            return Ok(handle);
        }
        BlockHandle::decode(self.value(block), block.offset()).map(|(handle, _)| handle)
    }

    /// The value found last, even if by [`find_bytewise`](Self::find_bytewise), as bytes that outlive the block.
    #[inline]
    pub(in crate::table) fn into_value(self, block: Block<impl Contents>) -> Result<Bytes> {
        block.into_view(self.value)
    }

    /// The value as a view of the block.
    pub(in crate::table) fn value_bytes(&self, block: &Block) -> Bytes {
        block.view(self.value(block))
    }

    /// Moves to the next entry or, from the start, to the first. Returns false at the end and after
    /// an error; there is then no current entry.
    #[inline]
    pub(in crate::table) fn next(&mut self, block: &Block<impl AsRef<[u8]>>) -> Result<bool> {
        if self.state == State::End {
            return Ok(false);
        }
        match self.advance(block) {
            Ok(true) => {
                self.state = State::Entry;
                Ok(true)
            }
            ended => {
                self.state = State::End;
                ended
            }
        }
    }

    #[inline]
    fn advance(&mut self, block: &Block<impl AsRef<[u8]>>) -> Result<bool> {
        // The length of the previous key. There is no previous key for the first step, nor for the
        // first step after a seek. Both steps are at a restart, where nothing is shared.
        let previous = self.key.as_ref().map_or(self.buffered, Range::len);
        let Some((shared, rest)) = self.step(block, previous)? else { return Ok(false) };
        if shared == 0 {
            self.key = Some(rest);
            return Ok(true);
        }
        if let Some(previous) = self.key.take() {
            self.copy_into_key(0, block.bytes(previous.start..block.entries_end), shared);
        }
        self.append_rest(block, shared, rest);
        Ok(true)
    }

    /// Reads the entry at `next` and steps past it. Returns the number of bytes that its key shares
    /// with the previous key, which has `previous` bytes, and the range of the key's other bytes.
    /// `None` at the end. The current key stays as it was.
    #[inline(always)]
    fn step(
        &mut self,
        block: &Block<impl AsRef<[u8]>>,
        previous: usize,
    ) -> Result<Option<(usize, Range<usize>)>> {
        let at = self.next;
        if at >= block.entries_end {
            self.finish(block)?;
            return Ok(None);
        }
        let (entry, limit) = match block.entry(at) {
            Some(entry) => {
                let limit = self.limit(block, previous)?;
                (entry, limit)
            }
            None => self.long_entry(block, previous)?,
        };
        let Entry { shared, key, value } = entry;
        if shared > limit {
            return Err(block.bad_shared(at, shared, limit));
        }
        self.next = value.end;
        self.value = value;
        let len = shared.saturating_add(key.len());
        let max_key = self.max_key.min(block.max_key);
        if shared > 0 && len > max_key {
            let (limit, found) = (max_key as u64, len as u64);
            return Err(Error::Limit { what: "key that shares bytes", offset: block.offset(), limit, found });
        }
        Ok(Some((shared, key)))
    }

    /// Returns the number of bytes that the entry at `next` may share. Passes the next restart if the entry
    /// begins there.
    #[inline]
    fn limit(&mut self, block: &Block<impl AsRef<[u8]>>, previous: usize) -> Result<usize> {
        if self.next < self.next_restart_at {
            return Ok(previous);
        }
        self.pass_restart(block)?;
        Ok(0)
    }

    /// Decodes the entry at `next`, however long its header is. Returns it with the number of bytes
    /// that it may share.
    #[inline(never)]
    fn long_entry(&mut self, block: &Block<impl AsRef<[u8]>>, previous: usize) -> Result<(Entry, usize)> {
        let at = self.next;
        let header = block.header(at)?;
        let limit = self.limit(block, previous)?;
        if header.shared > limit {
            return Err(block.bad_shared(at, header.shared, limit));
        }
        let (key, value) = block.ranges(at, &header)?;
        Ok((Entry { shared: header.shared, key, value }, limit))
    }

    /// Completes the key whose first `shared` bytes are in the buffer.
    #[inline]
    fn append_rest(&mut self, block: &Block<impl AsRef<[u8]>>, shared: usize, rest: Range<usize>) {
        let len = rest.len();
        self.copy_into_key(shared, block.bytes(rest.start..block.entries_end), len);
        self.buffered = shared.saturating_add(len);
    }

    /// Copies the first `len` bytes of `from` to `at` in the buffer. `from` has at least `len`
    /// bytes.
    #[inline]
    fn copy_into_key(&mut self, at: usize, from: &[u8], len: usize) {
        debug_assert!(at <= self.buffer.len() && len <= from.len(), "what was shared is there");
        // A fixed 16-byte copy beats a variable-length one. The excess lands after the key's end,
        // which `buffered` marks.
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
        // Adds slack after the key, in one allocation, so that short copies of the next keys fit.
        self.buffer.reserve(from.len().saturating_add(SHORT));
        self.buffer.extend_from_slice(from);
        self.buffer.resize(self.buffer.len().saturating_add(SHORT), 0);
    }

    /// Checks at the end of a walk that no restart is left: a further restart would point at no entry.
    fn finish(&self, block: &Block<impl AsRef<[u8]>>) -> Result<()> {
        match block.restart(self.next_restart) {
            Some(unused) if !block.is_empty() => Err(block.bad_restart(self.next_restart, Some(unused))),
            _ => Ok(()),
        }
    }

    /// Passes the next restart. Fails if the entry at `next` begins after that restart.
    fn pass_restart(&mut self, block: &Block<impl AsRef<[u8]>>) -> Result<()> {
        if self.next > self.next_restart_at {
            return Err(block.bad_restart(self.next_restart, Some(self.next_restart_at)));
        }
        self.set_next_restart(block, self.next_restart.saturating_add(1));
        Ok(())
    }

    fn set_next_restart(&mut self, block: &Block<impl AsRef<[u8]>>, index: usize) {
        self.next_restart = index;
        self.next_restart_at = block.restart(index).unwrap_or(usize::MAX);
    }
}

#[cfg(test)]
mod tests;
