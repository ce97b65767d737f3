//! The reader of filter blocks.

use std::fmt;
use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian};
use bytes::Bytes;

use super::{MAX_BASE_LG, TAIL_LEN};
use crate::bytes::coding::fixed32_at;
use crate::kernel::prefetch;
use crate::policy::PREFETCHED;
use crate::{Error, FilterPolicy, KeyHash, Result, Structure};

/// Looks keys up in the filters of a table (LevelDB's `table/filter_block.cc`).
///
/// Verify a checksum of the block first: wrong bytes can hide stored keys, even where
/// [`check`](Self::check) finds nothing. A block has no checksum of its own. In a table its trailer has
/// one, which opening the table verifies by default.
///
/// Takes any bytes, and answers as LevelDB does. With a bad base_lg every key may match, with bad offsets
/// of a filter every key that it covers. So may every key beyond the last filter. No key matches an empty
/// filter, unless the policy answers otherwise; nor one that is empty beyond the other filters, although
/// `check` reports its offsets.
///
/// Nothing is copied: `contents` can be [`Bytes`], a slice, a `Vec` or a memory map. A lookup
/// allocates nothing.
///
/// [`Bytes`]: https://docs.rs/bytes/1/bytes/struct.Bytes.html
#[derive(Clone)]
pub struct FilterBlockReader<P: FilterPolicy, B: AsRef<[u8]> = Bytes> {
    policy: P,
    contents: B,
    array_offset: usize,
    num_filters: usize,
    base_lg: u8,
}

/// The largest number of offsets that are assumed to be in the cache. They take 128 KiB.
const CACHED_OFFSETS: usize = 32 << 10;

/// The bytes of one filter, according to its entries in the offset array.
enum FilterSlice<'a> {
    At(&'a [u8]),
    /// Empty, at an offset beyond the filters. As in LevelDB, it rules out every key.
    EmptyBeyond,
    Malformed,
}

impl<P: FilterPolicy, B: AsRef<[u8]>> FilterBlockReader<P, B> {
    /// Reads `contents`, the block without its trailer: verify its checksum first. `policy` has to be
    /// the one that made the block's filters.
    ///
    /// Never fails: [`check`](Self::check) reports malformed contents.
    pub fn new(policy: P, contents: B) -> Self {
        let (array_offset, num_filters, base_lg) = decode(contents.as_ref());
        Self { policy, contents, array_offset, num_filters, base_lg }
    }

    /// Returns `true` if `key` may be in the data block at `block_offset` of the table.
    ///
    /// Returns `false` only if that block's filter rules the key out, or is empty.
    #[inline]
    pub fn key_may_match(&self, block_offset: u64, key: &[u8]) -> bool {
        self.ask(block_offset, |filter| self.policy.key_may_match(key, filter))
    }

    /// Returns `true` if the key with this [hash](FilterPolicy::hash_key) may be in the data block
    /// at `block_offset`.
    #[inline]
    pub fn hash_may_match(&self, block_offset: u64, hash: KeyHash) -> bool {
        self.ask(block_offset, |filter| self.policy.hash_may_match(hash, filter))
    }

    /// Answers many (block offset, key) queries. `answers` is cleared, then gets one answer for
    /// each query, in the order of the queries.
    ///
    /// This is faster than one call for each query, especially if the block is too large for the
    /// cache: the cache misses of several queries overlap. Consecutive queries of the same filter
    /// take the least time, so sort queries by block offset if you can.
    pub fn keys_may_match(&self, queries: &[(u64, &[u8])], answers: &mut Vec<bool>) {
        answers.clear();
        // The answer to a query that the policy leaves unanswered stays "may match".
        answers.resize(queries.len(), true);
        // The array is made once, since filling it for each batch would take time.
        let mut probes = [(&[][..], &[][..]); PREFETCHED];
        for (queries, answers) in queries.chunks(PREFETCHED).zip(answers.chunks_mut(PREFETCHED)) {
            self.fetch_offsets(queries);
            self.ask_batch(queries, &mut probes, answers);
        }
    }

    /// Answers at most `N` queries. `answers` has to have an element for each query, all of them `true`.
    #[cfg(feature = "table")]
    pub(crate) fn few_may_match<const N: usize>(&self, queries: &[(u64, &[u8])], answers: &mut [bool]) {
        const { assert!(N <= PREFETCHED) };
        self.fetch_offsets(queries);
        self.ask_batch(queries, &mut [(&[][..], &[][..]); N], answers);
    }

    /// Prefetches the offsets that `queries` need, unless the block has so few offsets that they
    /// are assumed to be in the cache.
    fn fetch_offsets(&self, queries: &[(u64, &[u8])]) {
        if self.num_filters <= CACHED_OFFSETS {
            return;
        }
        let contents = self.contents.as_ref();
        let entry = |block_offset: u64| {
            let index = (block_offset >> (self.base_lg & MAX_BASE_LG)) as usize;
            contents.get(self.array_offset.wrapping_add(index.wrapping_mul(4)))
        };
        queries.iter().filter_map(|&(block_offset, _)| entry(block_offset)).for_each(prefetch);
    }

    /// Answers at most `PREFETCHED` queries, and at most as many as `probes` has elements. `answers` has
    /// to have an element for each query, all of them `true`.
    #[expect(clippy::indexing_slicing, reason = "there are at most `PREFETCHED` queries")]
    fn ask_batch<'a>(
        &'a self,
        queries: &[(u64, &'a [u8])],
        probes: &mut [(&'a [u8], &'a [u8])],
        answers: &mut [bool],
    ) {
        if self.base_lg > MAX_BASE_LG {
            return;
        }
        // `last` starts with a number that differs from that of the first filter.
        let first = queries.first().map_or(0, |(block_offset, _)| block_offset >> self.base_lg);
        let mut last = (!first, &[][..]);
        for (&(block_offset, key), probe) in queries.iter().zip(&mut *probes) {
            let index = block_offset >> self.base_lg;
            // Neighbouring queries often need the same filter.
            if index != last.0 {
                let slice = usize::try_from(index).ok().and_then(|index| self.slice(index));
                let Some(FilterSlice::At(filter)) = slice else { return self.ask_some(queries, answers) };
                last = (index, filter);
            }
            *probe = (key, last.1);
        }
        self.policy.keys_may_match(&probes[..queries.len()], answers);
    }

    /// Answers at most `PREFETCHED` queries, at least one of which is answered without the policy.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "there are at most `PREFETCHED` queries, each with an answer, and `len` counts some of them"
    )]
    #[cold]
    fn ask_some(&self, queries: &[(u64, &[u8])], answers: &mut [bool]) {
        let mut probes: [(&[u8], &[u8]); PREFETCHED] = [(&[], &[]); PREFETCHED];
        let mut slots = [0; PREFETCHED];
        let mut len = 0;
        for (slot, (&(block_offset, key), answer)) in queries.iter().zip(&mut *answers).enumerate() {
            *answer = self.ask(block_offset, |filter| {
                probes[len] = (key, filter);
                slots[len] = slot as u8;
                len += 1;
                true
            });
        }
        let mut some = [true; PREFETCHED];
        self.policy.keys_may_match(&probes[..len], &mut some[..len]);
        for (&slot, answer) in slots[..len].iter().zip(some) {
            answers[usize::from(slot)] = answer;
        }
    }

    /// Checks the block's tail, then the offsets of its filters in order, and reports the first
    /// damage found. Damage within a filter is not found.
    ///
    /// LevelDB itself never reports damage in a filter block. The check costs one pass over the
    /// offset array.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`], with offsets from the start of the block.
    pub fn check(&self) -> Result<()> {
        let contents = self.contents.as_ref();
        let corrupt = |offset: usize, expected, found| {
            Err(Error::corrupt(Structure::FilterBlock, offset as u64, expected, found))
        };
        let Some((array_end, array_offset, _)) = tail(contents) else {
            return corrupt(0, format!("at least {TAIL_LEN} bytes"), format!("{}", contents.len()));
        };
        let Some(array_len) = array_end.checked_sub(array_offset) else {
            return corrupt(
                array_end,
                format!("the offset array at 0 to {array_end}"),
                format!("it at {array_offset}"),
            );
        };
        if !array_len.is_multiple_of(4) {
            return corrupt(
                array_end,
                "an offset array of 4 bytes for each filter".into(),
                format!("one of {array_len} bytes"),
            );
        }
        if self.base_lg > MAX_BASE_LG {
            return corrupt(
                contents.len().saturating_sub(1),
                format!("base_lg 0 to {MAX_BASE_LG}"),
                self.base_lg.to_string(),
            );
        }
        (0..self.num_filters).try_for_each(|index| self.checked_filter(index).map(|_| ()))
    }

    /// Returns base_lg as stored in the block, or 0 if the block is shorter than its tail. Each
    /// filter covers `1 << base_lg` bytes of data blocks. A value above 63 is malformed.
    pub const fn base_lg(&self) -> u8 {
        self.base_lg
    }

    /// Returns the number of filters, empty ones included.
    pub const fn num_filters(&self) -> usize {
        self.num_filters
    }

    /// Returns the bytes of filter `index`, which are empty if no data block starts in the filter's
    /// range. `None` if there is no filter with this number, or if its offsets are malformed.
    pub fn filter(&self, index: usize) -> Option<&[u8]> {
        match self.slice(index)? {
            FilterSlice::At(filter) => Some(filter),
            FilterSlice::EmptyBeyond | FilterSlice::Malformed => None,
        }
    }

    /// Iterates over all filters in order, each with the range of data-block offsets that it
    /// covers. A filter whose offsets are malformed yields [`Error::Corrupt`] instead of its bytes.
    pub fn iter(&self) -> Filters<'_, P, B> {
        Filters { reader: self, indices: 0..self.num_filters }
    }

    /// Returns the policy.
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Returns the block as it was given.
    pub fn contents(&self) -> &[u8] {
        self.contents.as_ref()
    }

    /// Returns the block and drops the reader.
    pub fn into_inner(self) -> B {
        self.contents
    }

    /// Returns the memory that the reader and its block take, in bytes.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>().saturating_add(self.contents.as_ref().len())
    }

    #[inline]
    fn ask<'a>(&'a self, block_offset: u64, policy: impl FnOnce(&'a [u8]) -> bool) -> bool {
        if self.base_lg > MAX_BASE_LG {
            return true;
        }
        let Ok(index) = usize::try_from(block_offset >> self.base_lg) else { return true };
        match self.slice(index) {
            Some(FilterSlice::At(filter)) => policy(filter),
            Some(FilterSlice::EmptyBeyond) => false,
            Some(FilterSlice::Malformed) | None => true,
        }
    }

    /// Returns the start and the end of filter `index`, as stored in the block.
    #[inline]
    fn offsets(&self, index: usize) -> Option<(usize, usize)> {
        if index >= self.num_filters {
            return None;
        }
        let contents = self.contents.as_ref();
        #[expect(
            clippy::arithmetic_side_effects,
            reason = "`index` is below the number of entries, which lie within the block"
        )]
        let entry = self.array_offset + index * 4;
        let both = LittleEndian::read_u64(contents.get(entry..)?.first_chunk::<8>()?);
        Some((both as u32 as usize, (both >> 32) as usize))
    }

    #[inline]
    fn slice(&self, index: usize) -> Option<FilterSlice<'_>> {
        let (start, end) = self.offsets(index)?;
        let filters = self.contents.as_ref().get(..self.array_offset)?;
        Some(match filters.get(start..end) {
            Some(filter) => FilterSlice::At(filter),
            None if start == end => FilterSlice::EmptyBeyond,
            None => FilterSlice::Malformed,
        })
    }

    fn checked_filter(&self, index: usize) -> Result<&[u8]> {
        self.filter(index).ok_or_else(|| {
            let (start, end) = self.offsets(index).unwrap_or_default();
            Error::corrupt(
                Structure::FilterOffset,
                (self.array_offset as u64).saturating_add((index as u64).saturating_mul(4)),
                format!("filter {index} within 0 to {}", self.array_offset),
                format!("{start} to {end}"),
            )
        })
    }
}

/// Returns the array's offset, the number of its entries, and base_lg. There are no entries if the
/// block is shorter than its tail, or if the array would begin inside the tail or beyond it.
fn decode(contents: &[u8]) -> (usize, usize, u8) {
    let Some((array_end, array_offset, base_lg)) = tail(contents) else { return (0, 0, 0) };
    match array_end.checked_sub(array_offset) {
        Some(len) => (array_offset, len / 4, base_lg),
        None => (0, 0, base_lg),
    }
}

/// Returns the end of the array, and the array's offset and base_lg as stored in the block's tail.
/// `None` if the block is shorter than its tail.
fn tail(contents: &[u8]) -> Option<(usize, usize, u8)> {
    let array_end = contents.len().checked_sub(TAIL_LEN)?;
    Some((array_end, fixed32_at(contents, array_end)? as usize, *contents.last()?))
}

/// An iterator over the filters of a block, in order: see [`FilterBlockReader::iter`].
///
/// Ranges beyond `u64::MAX` are empty, and so are all ranges if base_lg is malformed.
pub struct Filters<'a, P: FilterPolicy, B: AsRef<[u8]>> {
    reader: &'a FilterBlockReader<P, B>,
    indices: Range<usize>,
}

impl<'a, P: FilterPolicy, B: AsRef<[u8]>> Iterator for Filters<'a, P, B> {
    type Item = (Range<u64>, Result<&'a [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        let index = self.indices.next()?;
        Some((range_of(index as u64, self.reader.base_lg), self.reader.checked_filter(index)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indices.size_hint()
    }
}

impl<P: FilterPolicy, B: AsRef<[u8]>> ExactSizeIterator for Filters<'_, P, B> {}

impl<'a, P: FilterPolicy, B: AsRef<[u8]>> IntoIterator for &'a FilterBlockReader<P, B> {
    type Item = (Range<u64>, Result<&'a [u8]>);
    type IntoIter = Filters<'a, P, B>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Returns the data-block offsets that filter `index` covers.
fn range_of(index: u64, base_lg: u8) -> Range<u64> {
    let shift = |index: u64| {
        let widened = u128::from(index).checked_shl(u32::from(base_lg)).filter(|_| base_lg <= MAX_BASE_LG);
        widened.map_or(u64::MAX, |offset| u64::try_from(offset).unwrap_or(u64::MAX))
    };
    shift(index)..shift(index.saturating_add(1))
}

impl<P: FilterPolicy, B: AsRef<[u8]>> fmt::Debug for FilterBlockReader<P, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBlockReader")
            .field("policy", &self.policy.name())
            .field("len", &self.contents.as_ref().len())
            .field("base_lg", &self.base_lg)
            .field("filters", &self.num_filters)
            .finish()
    }
}

impl<P: FilterPolicy, B: AsRef<[u8]>> fmt::Debug for Filters<'_, P, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filters").field("left", &self.indices.len()).finish()
    }
}
