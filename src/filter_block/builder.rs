//! The writer of filter blocks.

mod estimate;

use std::fmt;

use bytes::Bytes;

use super::pending::Pending;
use super::{DEFAULT_BASE_LG, TAIL_LEN, check_base_lg};
use crate::{Error, FilterPolicy, KeyHash, Keys, Result};

/// The default size limit of a filter block, in bytes.
const DEFAULT_MAX_SIZE: u64 = 1 << 30;

/// Writes the filter block of a table (LevelDB's `table/filter_block.cc`).
///
/// The calls come in the order `(start_block add_key*)* finish`. When a data block ends, the last
/// included, call `start_block` with the offset of its end, where the next one starts. Then call
/// `add_key` with each key of the next one. Without the call, lookups can miss the keys of the next
/// block; after the last block, the bytes can differ from LevelDB's.
///
/// A key added before the first `start_block` belongs to offset 0. After [`finish`](Self::finish) the
/// builder starts anew.
///
/// The builder keeps the filters made so far and the keys of the current range, end to end. It replaces
/// 256 keys of several lengths by their [hashes](FilterPolicy::hash_key), eight bytes each, if the
/// policy [takes hashes](FilterPolicy::takes_hashes). A range without keys takes no memory until
/// `finish`, which gives it four bytes of the block.
///
/// ```
/// use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};
/// let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
/// builder.start_block(0)?;
/// builder.add_key(b"apple");
/// builder.start_block(4096)?;
/// builder.add_key(b"pear");
/// builder.start_block(8192)?; // the end of the last data block
/// let block = builder.finish()?;
///
/// let reader = FilterBlockReader::new(BloomFilterPolicy::new(10), block);
/// assert!(reader.key_may_match(0, b"apple"));
/// assert!(!reader.key_may_match(0, b"pear"));
/// # Ok::<(), filterblock::Error>(())
/// ```
#[must_use = "a builder writes its filters when it is finished"]
pub struct FilterBlockBuilder<P: FilterPolicy> {
    policy: P,
    base_lg: u8,
    max_size: u64,
    /// The filters already made, end to end, then possibly one that does not count yet.
    filters: Vec<u8>,
    /// The length of those that count.
    filters_len: usize,
    /// The filters that the policy made, by number and start. All other filters are empty.
    made: Vec<Made>,
    /// The number of filters already made, empty ones included. This is also the number of the current
    /// range.
    count: u64,
    last_offset: u64,
    /// The keys of the current range.
    pending: Pending,
}

#[derive(Clone, Copy)]
struct Made {
    index: u64,
    start: u32,
}

impl<P: FilterPolicy> FilterBlockBuilder<P> {
    /// Returns a builder that makes one filter for every 2 KiB of data blocks, as LevelDB does.
    pub fn new(policy: P) -> Self {
        Self {
            policy,
            base_lg: DEFAULT_BASE_LG,
            max_size: DEFAULT_MAX_SIZE,
            filters: Vec::new(),
            filters_len: 0,
            made: Vec::new(),
            count: 0,
            last_offset: 0,
            pending: Pending::default(),
        }
    }

    /// Returns a builder that makes one filter for every `1 << base_lg` bytes of data blocks. With
    /// 63 there is one filter for the whole table.
    ///
    /// LevelDB reads filter blocks of any `base_lg` up to 63. If data blocks are larger than a range,
    /// some filters are empty and cost only their offsets.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if `base_lg` is above 63.
    pub fn with_base_lg(policy: P, base_lg: u8) -> Result<Self> {
        check_base_lg(base_lg)?;
        Ok(Self { base_lg, ..Self::new(policy) })
    }

    /// Limits the size of the finished block, in bytes. The default is 1 GiB. The 32-bit offsets
    /// allow at most 2^32 - 1 bytes, so a higher limit is lowered to that number.
    pub fn with_max_size(self, bytes: u64) -> Self {
        Self { max_size: bytes.min(u64::from(u32::MAX)), ..self }
    }

    /// Returns the policy that makes the filters.
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Returns base_lg: each filter covers `1 << base_lg` bytes of data blocks.
    pub const fn base_lg(&self) -> u8 {
        self.base_lg
    }

    /// Starts the data block at `block_offset` of the table. Keys added next belong to it.
    ///
    /// Offsets may not be before the current range; its filter is not made yet. An offset beyond that
    /// range makes the filter.
    ///
    /// # Errors
    ///
    /// On an error the builder is as before, unless the policy has broken its contract.
    ///
    /// - [`Error::BlockOffsetOrder`] if the offset is before the current range.
    /// - [`Error::Limit`] if the block would exceed its limit, even if only by the offsets of empty
    ///   filters.
    /// - [`Error::OutOfMemory`] if there is too little memory.
    /// - Any error of the policy, or [`Error::PolicyContract`] if it has shortened the buffer that it appends to: the
    ///   filters made before are lost, and every later call fails.
    pub fn start_block(&mut self, block_offset: u64) -> Result<()> {
        let index = block_offset >> self.base_lg;
        if index < self.count {
            return Err(Error::BlockOffsetOrder {
                block_offset,
                previous: self.last_offset,
                lowest: self.count << self.base_lg,
            });
        }
        if index > self.count {
            self.make_filter(index)?;
            self.take_filter()?;
            self.count = index;
        }
        self.last_offset = block_offset;
        Ok(())
    }

    /// Adds a key of the current data block. Repeated keys are kept, as in LevelDB, and enlarge the
    /// filter.
    #[inline]
    pub fn add_key(&mut self, key: &[u8]) {
        self.pending.push(&self.policy, key);
    }

    /// Adds keys of the current data block. The filter is the same as if each were added by
    /// [`add_key`](Self::add_key).
    ///
    /// This is faster for callers that have all keys of a data block at hand: the keys are copied in one go.
    ///
    /// ```
    /// use filterblock::{BloomFilterPolicy, FilterBlockBuilder, KeyBuf};
    /// let keys: KeyBuf = ["apple", "pear"].into_iter().collect();
    /// let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
    /// builder.start_block(0)?;
    /// builder.add_keys(keys.as_keys());
    /// let block = builder.finish()?;
    ///
    /// builder.start_block(0)?;
    /// builder.add_key(b"apple");
    /// builder.add_key(b"pear");
    /// assert_eq!(block, builder.finish()?);
    /// # Ok::<(), filterblock::Error>(())
    /// ```
    pub fn add_keys(&mut self, keys: Keys<'_>) {
        self.pending.push_all(&self.policy, keys);
    }

    /// Adds a key of the current data block by its [hash](FilterPolicy::hash_key), which takes
    /// eight bytes for a key of any length.
    ///
    /// The filter is the same as with [`add_key`](Self::add_key). If a range gets both hashes and
    /// keys, the policy makes its filter from hashes only, whose order can differ from that of the calls.
    ///
    /// # Errors
    ///
    /// [`Error::HashUnsupported`], or another error of the policy, if it cannot make filters from
    /// hashes.
    #[inline]
    pub fn add_hash(&mut self, hash: KeyHash) -> Result<()> {
        self.pending.push_hash(&self.policy, hash)
    }

    /// Ends the block and returns it. The builder starts anew and keeps its buffers.
    ///
    /// # Errors
    ///
    /// Those of [`finish_into`](Self::finish_into).
    pub fn finish(&mut self) -> Result<Bytes> {
        let mut block = Vec::new();
        self.finish_into(&mut block).map(|()| block.into())
    }

    /// Ends the block and appends it to `dst`. The builder starts anew and keeps its buffers.
    ///
    /// # Errors
    ///
    /// On an error `dst` is as before, and so is the builder, unless the policy has broken its contract.
    /// Drop the builder then: after a key that the policy refuses, such as a short internal key, every
    /// `finish` fails.
    ///
    /// - [`Error::Limit`] if the block is larger than its limit.
    /// - [`Error::OutOfMemory`] if there is too little memory.
    /// - Those of the policy, as for [`start_block`](Self::start_block).
    pub fn finish_into(&mut self, dst: &mut Vec<u8>) -> Result<()> {
        let count = self.count.saturating_add(u64::from(!self.pending.is_empty()));
        let len = self.make_filter(count)?;
        dst.try_reserve(len).map_err(|_| Error::out_of_memory("filter block", len))?;
        self.take_filter()?;
        self.count = count;
        let (start, array_offset) = (dst.len(), self.filters_end()?);
        dst.extend_from_slice(&self.filters);
        let mut index = 0;
        let last = Made { index: count, start: array_offset };
        for made in self.made.iter().chain([&last]) {
            // An empty filter starts where the next filter does. The last iteration adds the array's
            // own offset.
            for _ in index..=made.index {
                dst.extend_from_slice(&made.start.to_le_bytes());
            }
            index = made.index.saturating_add(1);
        }
        dst.push(self.base_lg);
        debug_assert_eq!(dst.len(), start.saturating_add(len), "one offset for each filter");
        self.clear();
        Ok(())
    }

    /// Makes the filter of the pending keys, after those that count. Returns the length of the block with `count`
    /// filters. The filter does not count, and the keys stay, until [`take_filter`](Self::take_filter).
    fn make_filter(&mut self, count: u64) -> Result<usize> {
        self.check_filters()?;
        // Of an attempt that failed.
        self.filters.truncate(self.filters_len);
        if !self.pending.is_empty() {
            let made = self.pending.make_filter(&self.policy, &mut self.filters);
            self.check_filters()?;
            made?;
        }
        self.finished_len(count)
    }

    /// Counts the filter that was made, if keys are pending.
    fn take_filter(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            self.made.push(Made { index: self.count, start: self.filters_end()? });
            self.filters_len = self.filters.len();
            self.pending.clear();
        }
        Ok(())
    }

    fn check_filters(&self) -> Result<()> {
        if self.filters.len() >= self.filters_len {
            return Ok(());
        }
        Err(Error::PolicyContract {
            policy: self.policy.name().to_owned(),
            expected: "a filter appended to what was there",
            found: format!("{} bytes left of {}", self.filters.len(), self.filters_len).into(),
        })
    }

    /// Returns the length of the block with `count` filters. Fails if it exceeds the limit.
    fn finished_len(&self, count: u64) -> Result<usize> {
        let len =
            count.saturating_mul(4).saturating_add(TAIL_LEN as u64).saturating_add(self.filters.len() as u64);
        if len > self.max_size {
            return Err(Error::Limit {
                what: "filter block",
                offset: self.last_offset,
                limit: self.max_size,
                found: len,
            });
        }
        usize::try_from(len).map_err(|_| Error::OutOfMemory { what: "filter block", bytes: len })
    }

    /// Returns the start of the next filter or, at the end, that of the offset array. The size
    /// limit keeps it within 32 bits.
    fn filters_end(&self) -> Result<u32> {
        u32::try_from(self.filters_len).map_err(|_| {
            debug_assert!(false, "{} bytes of filters", self.filters_len);
            Error::Limit {
                what: "filter block",
                offset: self.last_offset,
                limit: self.max_size,
                found: self.filters_len as u64,
            }
        })
    }

    fn clear(&mut self) {
        self.filters.clear();
        self.filters_len = 0;
        self.made.clear();
        self.count = 0;
        self.last_offset = 0;
    }
}

impl<P: FilterPolicy> fmt::Debug for FilterBlockBuilder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBlockBuilder")
            .field("policy", &self.policy.name())
            .field("base_lg", &self.base_lg)
            .field("filters", &self.count)
            .field("filter_bytes", &self.filters_len)
            .field("pending_keys", &self.pending.len())
            .finish()
    }
}
