//! A decoded block and the way through its entries (LevelDB's `table/block.cc`).
//!
//! ```text
//! [entry]* [restart: fixed32]* [number of restarts: fixed32]
//!
//! entry:   varint32 shared | varint32 non_shared | varint32 value_len | key rest | value
//! ```
//!
//! An entry's key is the first `shared` bytes of the key before it, followed by the key rest. Each restart is the
//! offset of an entry that shares nothing, so that reading can begin there.

use std::cmp::Ordering;
use std::ops::Range;

use bytes::Bytes;

use super::comparator::Comparator;
use super::format::BlockHandle;
use crate::coding::{VarintError, fixed32_at, get_varint32};
use crate::{Error, Result, Structure};

/// A block's contents, without trailer and decompressed.
#[derive(Clone)]
pub(super) struct Block {
    data: Bytes,
    /// Where the block starts in the file; for messages.
    offset: u64,
    /// Where the entries end and the restart array begins.
    entries_end: usize,
    num_restarts: usize,
}

/// What stands before an entry's key rest.
struct Header {
    shared: usize,
    non_shared: usize,
    value_len: usize,
    /// Its own length.
    len: usize,
}

impl Block {
    /// Checks that the restart array fits and begins at the first entry. Entries and the other
    /// restarts are checked when they are used.
    pub(super) fn new(data: Bytes, offset: u64) -> Result<Self> {
        let bad =
            |expected: String, found: String| Error::corrupt(Structure::Restarts, offset, expected, found);
        let size = data.len();
        let count_at = size.checked_sub(4);
        let Some((count, count_at)) = count_at.and_then(|at| Some((fixed32_at(&data, at)?, at))) else {
            return Err(bad("a block of at least 4 bytes".into(), format!("{size} bytes")));
        };
        let num_restarts = count as usize;
        let Some(entries_end) = num_restarts.checked_mul(4).and_then(|len| count_at.checked_sub(len)) else {
            let expected = format!("at most {} restarts in {size} bytes", count_at / 4);
            return Err(bad(expected, format!("a count of {count}")));
        };
        let block = Self { data, offset, entries_end, num_restarts };
        match block.restart(0) {
            Some(first) if first != 0 => {
                Err(bad("the first restart at byte 0".into(), format!("it at byte {first}")))
            }
            _ => Ok(block),
        }
    }

    /// The size of the contents, in bytes.
    pub(super) fn size(&self) -> usize {
        self.data.len()
    }

    /// Where the block starts in the file.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether there are no entries. Without restarts there are none, whatever bytes precede.
    fn is_empty(&self) -> bool {
        self.num_restarts == 0 || self.entries_end == 0
    }

    fn restart(&self, index: usize) -> Option<usize> {
        if index >= self.num_restarts {
            return None;
        }
        let at = self.entries_end.checked_add(index.checked_mul(4)?)?;
        fixed32_at(&self.data, at).map(|restart| restart as usize)
    }

    /// Where entry number `index` of those that share nothing begins.
    fn restart_entry(&self, index: usize) -> Result<usize> {
        match self.restart(index) {
            Some(restart) if restart < self.entries_end => Ok(restart),
            restart => Err(self.bad_restart(index, restart)),
        }
    }

    /// The key of the entry at restart number `index`.
    fn restart_key(&self, index: usize) -> Result<&[u8]> {
        let at = self.restart_entry(index)?;
        let header = self.header(at)?;
        if header.shared != 0 {
            return Err(self.bad_shared(at, header.shared, 0));
        }
        let (key, _) = self.ranges(at, &header)?;
        Ok(self.bytes(key))
    }

    #[inline]
    fn header(&self, at: usize) -> Result<Header> {
        let bytes = self.bytes(at..self.entries_end);
        // Nearly all entries have lengths of one byte each.
        if let [shared, non_shared, value_len, ..] = *bytes
            && (shared | non_shared | value_len) < 0x80
        {
            let [shared, non_shared, value_len] = [shared, non_shared, value_len].map(usize::from);
            return Ok(Header { shared, non_shared, value_len, len: 3 });
        }
        long_header(bytes)
            .map_err(|error| self.bad_entry(at, "three varints of 32 bits".into(), error.to_string()))
    }

    /// Where the key rest and the value lie of the entry at `at`.
    #[inline]
    fn ranges(&self, at: usize, header: &Header) -> Result<(Range<usize>, Range<usize>)> {
        let ranges = || {
            let key = at.checked_add(header.len)?;
            let value = key.checked_add(header.non_shared)?;
            let end = value.checked_add(header.value_len)?;
            (end <= self.entries_end).then_some((key..value, value..end))
        };
        ranges().ok_or_else(|| {
            let left = self.entries_end.saturating_sub(at).saturating_sub(header.len);
            let found = format!("a key rest of {} and a value of {}", header.non_shared, header.value_len);
            self.bad_entry(at, format!("at most {left} bytes of key and value"), found)
        })
    }

    #[inline]
    fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.data.get(range).unwrap_or_default()
    }

    #[cold]
    fn bad_entry(&self, at: usize, expected: String, found: String) -> Error {
        let found = format!("{found}, in the entry at byte {at} of the block");
        Error::corrupt(Structure::Entry, self.offset, expected, found)
    }

    #[cold]
    fn bad_shared(&self, at: usize, shared: usize, limit: usize) -> Error {
        let expected = match limit {
            0 => "no bytes shared with the key before".to_owned(),
            _ => format!("at most {limit} bytes shared with the key before"),
        };
        self.bad_entry(at, expected, shared.to_string())
    }

    #[cold]
    fn bad_restart(&self, index: usize, restart: Option<usize>) -> Error {
        let expected = format!("restart {index} at the start of an entry below byte {}", self.entries_end);
        let found = match restart {
            Some(restart) => format!("it at byte {restart} of the block"),
            None => format!("{} restarts", self.num_restarts),
        };
        Error::corrupt(Structure::Restarts, self.offset, expected, found)
    }
}

fn long_header(bytes: &[u8]) -> std::result::Result<Header, VarintError> {
    let mut len = 0;
    let mut next = || {
        let (value, width) = get_varint32(bytes.get(len..).unwrap_or_default())?;
        len = len.saturating_add(width);
        Ok(value as usize)
    };
    let (shared, non_shared, value_len) = (next()?, next()?, next()?);
    Ok(Header { shared, non_shared, value_len, len })
}

/// Where in a block an iteration stands. Every call has to be given the same block.
#[derive(Default)]
pub(super) struct Position {
    state: State,
    /// Where the entry after the current one begins.
    next: usize,
    /// Number and place of the first restart after the current entry; `usize::MAX` if there is none.
    next_restart: usize,
    next_restart_at: usize,
    /// A key that shares nothing stays in the block; others are put together in `buffer`.
    key: Option<Range<usize>>,
    buffer: Vec<u8>,
    value: Range<usize>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first entry.
    #[default]
    Start,
    /// At an entry.
    Entry,
    /// Past the last entry, or stopped by an error.
    End,
}

impl Position {
    /// Back to the start, for any block. The memory is kept.
    pub(super) fn reset(&mut self) {
        *self = Self { buffer: std::mem::take(&mut self.buffer), ..Self::default() };
    }

    pub(super) fn valid(&self) -> bool {
        self.state == State::Entry
    }

    /// The current entry's key; empty where there is none.
    #[inline]
    pub(super) fn key<'a>(&'a self, block: &'a Block) -> &'a [u8] {
        match &self.key {
            _ if !self.valid() => &[],
            Some(range) => block.bytes(range.clone()),
            None => &self.buffer,
        }
    }

    /// The current entry's value; empty where there is none.
    #[inline]
    pub(super) fn value<'a>(&self, block: &'a Block) -> &'a [u8] {
        if self.valid() { block.bytes(self.value.clone()) } else { &[] }
    }

    /// The key as bytes that outlive the position: a view if it shares nothing, else a copy.
    pub(super) fn key_bytes(&self, block: &Block) -> Bytes {
        match &self.key {
            Some(_) => block.data.slice_ref(self.key(block)),
            None => Bytes::copy_from_slice(self.key(block)),
        }
    }

    /// Whether the current key was put together, not found whole in the block.
    pub(super) fn shares(&self) -> bool {
        self.key.is_none()
    }

    /// The current entry's value as the handle of another block, as in index and metaindex.
    #[inline]
    pub(super) fn handle(&self, block: &Block) -> Result<BlockHandle> {
        BlockHandle::decode(self.value(block), block.offset).map(|(handle, _)| handle)
    }

    /// The value as a view of the block.
    pub(super) fn value_bytes(&self, block: &Block) -> Bytes {
        block.data.slice_ref(self.value(block))
    }

    /// Goes to the next entry; from the start to the first. False, and nowhere, at the end and after an error.
    #[inline]
    pub(super) fn next(&mut self, block: &Block) -> Result<bool> {
        if self.state == State::End {
            return Ok(false);
        }
        let step = self.step(block);
        self.state = if matches!(step, Ok(true)) { State::Entry } else { State::End };
        step
    }

    #[inline]
    fn step(&mut self, block: &Block) -> Result<bool> {
        let at = self.next;
        if block.is_empty() {
            return Ok(false);
        }
        if at >= block.entries_end {
            return match block.restart(self.next_restart) {
                None => Ok(false),
                unused => Err(block.bad_restart(self.next_restart, unused)),
            };
        }
        let header = block.header(at)?;
        // Only the first step comes here without a key, and it is at restart 0.
        let mut limit = self.key.as_ref().map_or(self.buffer.len(), Range::len);
        if at >= self.next_restart_at {
            if at > self.next_restart_at {
                return Err(block.bad_restart(self.next_restart, Some(self.next_restart_at)));
            }
            limit = 0;
            self.set_next_restart(block, self.next_restart.saturating_add(1));
        }
        if header.shared > limit {
            return Err(block.bad_shared(at, header.shared, limit));
        }
        let (key, value) = block.ranges(at, &header)?;
        if header.shared == 0 {
            self.key = Some(key);
        } else {
            match self.key.take() {
                Some(previous) => {
                    self.buffer.clear();
                    let shared = block.bytes(previous).get(..header.shared).unwrap_or_default();
                    self.buffer.extend_from_slice(shared);
                }
                None => self.buffer.truncate(header.shared),
            }
            self.buffer.extend_from_slice(block.bytes(key));
        }
        self.next = value.end;
        self.value = value;
        Ok(true)
    }

    fn set_next_restart(&mut self, block: &Block, index: usize) {
        self.next_restart = index;
        self.next_restart_at = block.restart(index).unwrap_or(usize::MAX);
    }

    /// Goes to the first entry whose key is `target` or after it. False if there is none.
    pub(super) fn seek<C>(&mut self, block: &Block, target: &[u8], comparator: &C) -> Result<bool>
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
