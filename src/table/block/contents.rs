//! A decoded block (LevelDB's `table/block.cc`).
//!
//! The page of `filterblock::table` describes the layout.

use std::ops::Range;

use bytes::{Buf, Bytes};

use crate::bytes::coding::{VarintError, fixed32_at, get_varint32};
use crate::kernel::prefetch;
use crate::table::block::prefix::{Probes, Start};
use crate::table::block::trailer::Layout;
use crate::table::codec::Codec;
use crate::{Error, Result, Structure};

/// In a block with at most this many restarts, the keys at all restarts are prefetched.
const PREFETCHED_RESTARTS: usize = 16;
/// Of entries, at most this many bytes are prefetched: a data block of the default size.
const PREFETCHED_BYTES: usize = 4096;
/// The length of nearly all processors' cache lines, in bytes.
const CACHE_LINE: usize = 64;

/// A block's contents, decompressed and without trailer. The default block is empty.
#[derive(Clone)]
pub(in crate::table) struct Block<B = Bytes> {
    data: B,
    /// The block's offset in the file, for error messages.
    offset: u64,
    /// The end of the entries, which is the start of the restart array.
    pub(in crate::table) entries_end: usize,
    pub(in crate::table) num_restarts: usize,
    /// The codec that the block was stored with.
    codec: Codec,
    /// The greatest length, in bytes, of a key put together from shared and own bytes, which takes memory.
    pub(in crate::table) max_key: usize,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            data: Bytes::new(),
            offset: 0,
            entries_end: 0,
            num_restarts: 0,
            codec: Codec::None,
            max_key: usize::MAX,
        }
    }
}

/// The memory of a block's contents.
pub(in crate::table) trait Contents: AsRef<[u8]> {
    /// Returns the bytes of `range`, which is within the contents, so that they outlive the block.
    fn into_view(self, range: Range<usize>) -> Result<Bytes>;
}

impl Contents for Bytes {
    /// Hands on the block's reference instead of counting another.
    #[inline]
    fn into_view(mut self, range: Range<usize>) -> Result<Bytes> {
        self.truncate(range.end);
        self.advance(range.start.min(range.end));
        Ok(self)
    }
}

/// The three lengths at the start of an entry of a data block, index or metaindex (`DecodeEntry` in LevelDB's
/// `table/block.cc`). The bytes that the key does not share follow, then the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryHeader {
    /// The number of bytes that the key shares with the start of the key before it.
    pub shared: usize,
    /// The number of the key's other bytes.
    pub non_shared: usize,
    /// The length of the value in bytes.
    pub value_len: usize,
    /// The length of the header itself in bytes, 3 to 15.
    pub len: usize,
}

impl EntryHeader {
    /// Reads the header at the start of `bytes`. The key and the value may reach beyond them: that is not checked here.
    ///
    /// # Errors
    ///
    /// Those of [`get_varint32`].
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, VarintError> {
        let mut len = 0;
        let mut next = || {
            let (value, width) = get_varint32(bytes.get(len..).unwrap_or_default())?;
            len = len.saturating_add(width);
            Ok(value as usize)
        };
        let (shared, non_shared, value_len) = (next()?, next()?, next()?);
        Ok(Self { shared, non_shared, value_len, len })
    }
}

/// An entry: the number of bytes that its key shares with the previous key, and the ranges of the
/// key's other bytes and of the value, which are within the block.
pub(in crate::table) struct Entry {
    pub(in crate::table) shared: usize,
    pub(in crate::table) key: Range<usize>,
    pub(in crate::table) value: Range<usize>,
}

impl Block {
    /// Returns a block of these contents. Fails if their layout is not sound.
    #[inline]
    pub(in crate::table) fn new(data: Bytes, offset: u64) -> Result<Self> {
        let layout = Layout::of(&data, offset)?;
        Ok(Self::with_layout(data, offset, layout))
    }

    /// The block's memory, for reuse. An empty buffer if the block was stored uncompressed, or if
    /// its memory is shared.
    pub(in crate::table) fn into_buffer(self) -> Vec<u8> {
        if self.codec != Codec::None && self.data.is_unique() { self.data.into() } else { Vec::new() }
    }

    /// A view of `part`, a slice of the block, that outlives the block.
    pub(in crate::table) fn view(&self, part: &[u8]) -> Bytes {
        self.data.slice_ref(part)
    }
}

impl<B: AsRef<[u8]>> Block<B> {
    /// A block of contents whose layout is known.
    #[inline]
    pub(in crate::table) fn with_layout(data: B, offset: u64, layout: Layout) -> Self {
        let Layout { entries_end, num_restarts } = layout;
        Self { data, offset, entries_end, num_restarts, codec: Codec::None, max_key: usize::MAX }
    }

    pub(in crate::table) fn with_codec(self, codec: Codec) -> Self {
        Self { codec, ..self }
    }

    #[inline]
    pub(in crate::table) fn with_max_key(self, max_key: usize) -> Self {
        Self { max_key, ..self }
    }

    /// Returns the bytes of `range`, which has been checked to be within the block, so that they outlive it.
    #[inline]
    pub(in crate::table) fn into_view(self, range: Range<usize>) -> Result<Bytes>
    where
        B: Contents,
    {
        self.data.into_view(range)
    }

    #[inline(always)]
    fn data(&self) -> &[u8] {
        self.data.as_ref()
    }

    /// The codec that the block was stored with.
    pub(in crate::table) fn codec(&self) -> Codec {
        self.codec
    }

    /// The length of the contents, in bytes.
    pub(in crate::table) fn size(&self) -> usize {
        self.data().len()
    }

    /// The block's offset in the file.
    pub(in crate::table) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns true if the block has no entries.
    pub(in crate::table) fn is_empty(&self) -> bool {
        self.entries_end == 0
    }

    /// The offset that restart `index` holds, or `None` if there is no such restart.
    #[inline]
    pub(in crate::table) fn restart(&self, index: usize) -> Option<usize> {
        if index >= self.num_restarts {
            return None;
        }
        // The restart array fits, so the product does not wrap.
        let restart = fixed32_at(self.data(), self.entries_end.checked_add(index.wrapping_mul(4))?);
        debug_assert!(restart.is_some(), "the restart array fits");
        restart.map(|restart| restart as usize)
    }

    /// The offset that restart `index` holds, or an error if no entry can begin there.
    #[inline]
    pub(in crate::table) fn restart_entry(&self, index: usize) -> Result<usize> {
        match self.restart(index) {
            Some(restart) if restart < self.entries_end => Ok(restart),
            restart => Err(self.bad_restart(index, restart)),
        }
    }

    /// The range of the key of the entry at restart `index`. `None` if the entry has an unusually long header
    /// or is damaged: [`long_restart_key`](Self::long_restart_key) decides which.
    #[inline(always)]
    fn restart_key(&self, index: usize) -> Option<Range<usize>> {
        let at = self.restart(index)?;
        let [shared, non_shared, value_len] = *self.data().get(at..)?.first_chunk()?;
        if shared != 0 || (non_shared | value_len) >= 0x80 {
            return self.entry(at).filter(|entry| entry.shared == 0).map(|entry| entry.key);
        }
        // The sums cannot wrap: `at` is within a slice, and no slice takes half of all addresses.
        let start = at.wrapping_add(3);
        let end = start.wrapping_add(non_shared.into());
        (end.wrapping_add(value_len.into()) <= self.entries_end).then_some(start..end)
    }

    /// Prefetches the keys at all restarts, unless there are so many restarts that a search needs few of them.
    #[inline]
    pub(in crate::table) fn prefetch_restarts(&self) {
        if self.num_restarts <= PREFETCHED_RESTARTS {
            let restarts = self.probes().restarts.iter().take(self.num_restarts);
            restarts.filter_map(|at| self.data().get(u32::from_le_bytes(*at) as usize)).for_each(prefetch);
        }
    }

    /// Prefetches the entry at restart `index`.
    #[inline(always)]
    pub(in crate::table::block) fn prefetch_restart(&self, index: usize) {
        if let Some(first) = self.restart(index).and_then(|at| self.data().get(at)) {
            prefetch(first);
        }
    }

    /// Prefetches the entries from restart `index`, which is at offset `at`, to the next restart, up to
    /// [`PREFETCHED_BYTES`]. Each entry determines where the next one begins, so a walk would otherwise wait for each
    /// entry in turn.
    #[inline]
    pub(in crate::table::block) fn prefetch_between(&self, at: usize, index: usize) {
        let end = self.restart(index.saturating_add(1)).unwrap_or(self.entries_end);
        let end = end.min(at.saturating_add(PREFETCHED_BYTES));
        self.data().get(at..end).unwrap_or_default().iter().step_by(CACHE_LINE).for_each(prefetch);
    }

    /// The keys at restarts. Only the starts of these keys are read.
    #[inline]
    pub(in crate::table::block) fn probes(&self) -> Probes<'_> {
        let restarts = self.data().get(self.entries_end..).unwrap_or_default().as_chunks().0;
        Probes { data: self.data(), restarts, entries_end: self.entries_end }
    }

    /// The range of the key of the entry at restart `index`, however long the entry's header is.
    #[inline]
    pub(in crate::table::block) fn any_restart_key(&self, index: usize) -> Result<Range<usize>> {
        match self.restart_key(index) {
            Some(key) => Ok(key),
            None => self.long_restart_key(index),
        }
    }

    #[inline(never)]
    fn long_restart_key(&self, index: usize) -> Result<Range<usize>> {
        let at = self.restart_entry(index)?;
        let header = self.header(at)?;
        if header.shared != 0 {
            return Err(self.bad_shared(at, header.shared, 0));
        }
        Ok(self.ranges(at, &header)?.0)
    }

    /// Decodes the entry at offset `at` of the block. `None` if the entry has an unusually long
    /// header or is damaged: [`header`](Self::header) and [`ranges`](Self::ranges) decide which.
    ///
    /// A `Result` would be returned through memory, and take longer.
    #[inline(always)]
    pub(in crate::table) fn entry(&self, at: usize) -> Option<Entry> {
        // The entries are followed by a restart and the number of restarts, so there are four
        // bytes even if the entry has only three.
        let [shared, non_shared, low, high] = *self.data().get(at..)?.first_chunk()?;
        // The length of the value takes one byte or two.
        let is_long = low >> 7;
        if (shared | non_shared | (high & is_long.wrapping_neg())) >= 0x80 {
            return None;
        }
        let value_len =
            usize::from(low & 0x7f) | usize::from(high) << 7 & usize::from(is_long).wrapping_neg();
        // The sums cannot wrap: `at` is within a slice, and no slice takes half of all addresses.
        let start = at.wrapping_add(3).wrapping_add(is_long.into());
        let value = start.wrapping_add(non_shared.into());
        let end = value.wrapping_add(value_len);
        (end <= self.entries_end).then_some(Entry {
            shared: shared.into(),
            key: start..value,
            value: value..end,
        })
    }

    /// Decodes an entry as [`entry`](Self::entry) does, and returns it with the start of the key's own bytes. `None`
    /// also if fewer than eight bytes follow the header in the block.
    #[inline(always)]
    pub(in crate::table::block) fn entry_start(&self, at: usize) -> Option<(Entry, Start)> {
        let entry = self.entry(at)?;
        let first = self.data().get(entry.key.start..entry.key.start.wrapping_add(8))?.first_chunk()?;
        let start = Start::of_first(*first, entry.key.len());
        Some((entry, start))
    }

    /// Decodes the header of the entry at offset `at` of the block.
    pub(in crate::table) fn header(&self, at: usize) -> Result<EntryHeader> {
        EntryHeader::decode(self.bytes(at..self.entries_end))
            .map_err(|error| self.bad_entry(at, "three varints of 32 bits".into(), error.to_string()))
    }

    /// The ranges of the key rest and the value of the entry at `at`.
    pub(in crate::table) fn ranges(
        &self,
        at: usize,
        header: &EntryHeader,
    ) -> Result<(Range<usize>, Range<usize>)> {
        let ranges = || {
            let key = at.checked_add(header.len)?;
            let value = key.checked_add(header.non_shared)?;
            let end = value.checked_add(header.value_len)?;
            (end <= self.entries_end).then_some((key..value, value..end))
        };
        ranges().ok_or_else(|| self.bad_ranges(at, header))
    }

    /// The bytes of `range`, which has been checked to be within the block.
    #[inline]
    pub(in crate::table) fn bytes(&self, range: Range<usize>) -> &[u8] {
        debug_assert!(
            range.start <= range.end && range.end <= self.data().len(),
            "{range:?} is within the block"
        );
        self.data().get(range).unwrap_or_default()
    }

    /// The block's bytes from `at` to its end.
    #[inline]
    pub(in crate::table) fn from(&self, at: usize) -> &[u8] {
        self.data().get(at..).unwrap_or_default()
    }

    #[cold]
    fn bad_ranges(&self, at: usize, header: &EntryHeader) -> Error {
        let left = self.entries_end.saturating_sub(at).saturating_sub(header.len);
        let found = format!("a key rest of {} and a value of {}", header.non_shared, header.value_len);
        self.bad_entry(at, format!("at most {left} bytes of key and value"), found)
    }

    #[cold]
    fn bad_entry(&self, at: usize, expected: String, found: String) -> Error {
        let found = format!("{found}, in the entry at byte {at} of the block");
        Error::corrupt(Structure::Entry, self.offset, expected, found)
    }

    #[cold]
    pub(in crate::table) fn bad_shared(&self, at: usize, shared: usize, limit: usize) -> Error {
        let expected = match limit {
            0 => "no bytes shared with the key before".to_owned(),
            _ => format!("at most {limit} bytes shared with the key before"),
        };
        self.bad_entry(at, expected, shared.to_string())
    }

    #[cold]
    pub(in crate::table) fn bad_restart(&self, index: usize, restart: Option<usize>) -> Error {
        let expected = format!("restart {index} at the start of an entry below byte {}", self.entries_end);
        let found = match restart {
            Some(restart) => format!("it at byte {restart} of the block"),
            None => format!("{} restarts", self.num_restarts),
        };
        Error::corrupt(Structure::Restarts, self.offset, expected, found)
    }
}

#[cfg(test)]
pub(in crate::table) mod testing {
    use super::*;
    use crate::bytes::coding::{put_fixed32, put_varint32};

    /// An entry of any parts, sound or not.
    pub(in crate::table) fn entry(shared: u32, rest: &[u8], value: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_varint32(&mut bytes, shared);
        put_varint32(&mut bytes, rest.len() as u32);
        put_varint32(&mut bytes, value.len() as u32);
        [&bytes, rest, value].concat()
    }

    /// A block of any entries and restarts, sound or not.
    pub(in crate::table) fn raw_block(entries: &[Vec<u8>], restarts: &[u32]) -> Bytes {
        let mut bytes = entries.concat();
        restarts.iter().for_each(|&restart| put_fixed32(&mut bytes, restart));
        put_fixed32(&mut bytes, restarts.len() as u32);
        bytes.into()
    }
}

#[cfg(test)]
mod tests;
