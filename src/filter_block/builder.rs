//! Writing a filter block.

use std::fmt;

use bytes::Bytes;

use super::format::{DEFAULT_BASE_LG, TAIL_LEN, check_base_lg};
use crate::{Error, FilterPolicy, KeyBuf, KeyHash, Result};

/// What a policy finds in `dst` and must leave as it is: a policy that shortens `dst`
/// or writes at its start is caught, and the filters already made are out of its reach.
const GUARD: &[u8] = &[0xa5, 0x5a, 0xc3, 0x3c];

/// The largest filter block unless the caller sets another limit.
const DEFAULT_MAX_SIZE: u64 = 1 << 30;

/// Writes the filter block of a table (LevelDB's `table/filter_block.cc`).
///
/// The calls come in the order `(start_block add_key*)* finish`: `start_block` with the offset at which the next data
/// block will lie, whenever one ends, then `add_key` with each of its keys. A key added before any `start_block` belongs to
/// offset 0. After [`finish`](Self::finish) the builder starts anew.
///
/// Memory: the filters made so far and the keys of the current range; a range without keys costs nothing until `finish`, and four
/// bytes then. Keys lie end to end. Once their lengths differ, only their [hashes](FilterPolicy::hash_key) are kept, eight bytes each, where the policy
/// goes by hashes.
///
/// ```
/// use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};
/// let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
/// builder.start_block(0)?;
/// builder.add_key(b"apple");
/// builder.start_block(4096)?;
/// builder.add_key(b"pear");
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
    /// The filters already made, end to end.
    filters: Vec<u8>,
    /// Which of them the policy made, and where each starts; all others are empty.
    made: Vec<Made>,
    /// How many filters there are, empty ones included.
    count: u64,
    last_offset: u64,
    /// The keys of the current range, and what was added to it by hash.
    keys: KeyBuf,
    hashes: Vec<KeyHash>,
    /// How many of the hashes are of keys that were added as keys. Once it is above 0, only a key
    /// without a hash is kept as a key.
    hashed: u64,
    /// Whether the policy has been seen to take hashes.
    takes_hashes: bool,
    /// `GUARD`, then the filter being made.
    scratch: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Made {
    index: u64,
    start: u32,
}

impl<P: FilterPolicy> FilterBlockBuilder<P> {
    /// A builder that makes a filter for every 2 KiB of data blocks, as LevelDB does.
    pub fn new(policy: P) -> Self {
        Self {
            policy,
            base_lg: DEFAULT_BASE_LG,
            max_size: DEFAULT_MAX_SIZE,
            filters: Vec::new(),
            made: Vec::new(),
            count: 0,
            last_offset: 0,
            keys: KeyBuf::new(),
            hashes: Vec::new(),
            hashed: 0,
            takes_hashes: false,
            scratch: Vec::new(),
        }
    }

    /// A builder that makes a filter for every `1 << base_lg` bytes of data blocks; 63 makes
    /// one filter for the whole table.
    ///
    /// LevelDB reads any of them. Where data blocks are larger than the range, most filters are empty and only cost their offsets.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if `base_lg` is above 63.
    pub fn with_base_lg(policy: P, base_lg: u8) -> Result<Self> {
        check_base_lg(base_lg)?;
        Ok(Self { base_lg, ..Self::new(policy) })
    }

    /// Limits the finished block to `bytes`, 1 GiB unless set; offsets of 32 bits allow no more than 4 GiB.
    pub fn with_max_size(self, bytes: u64) -> Self {
        Self { max_size: bytes.min(u64::from(u32::MAX)), ..self }
    }

    /// The policy that makes the filters.
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Each filter is for `1 << base_lg` bytes of data blocks.
    pub const fn base_lg(&self) -> u8 {
        self.base_lg
    }

    /// Starts the data block at `block_offset` of the table. Keys added next belong to it.
    ///
    /// Offsets ascend; going back is possible within the range whose filter is not made
    /// yet. Makes the filter of the range that has ended, if any has.
    ///
    /// # Errors
    ///
    /// The builder is then as before.
    ///
    /// - [`Error::BlockOffsetOrder`] if the filter for this offset is already made.
    /// - [`Error::Limit`] if the block would grow over its limit, if only by the offsets of empty filters.
    /// - What the policy reports, or [`Error::PolicyContract`] if it misbehaves.
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
            if self.has_pending() {
                self.make_filter()?;
            }
            self.finished_len(index)?;
            self.take_made_filter()?;
            self.count = index;
        }
        self.last_offset = block_offset;
        Ok(())
    }

    /// Adds a key of the current data block. Repetitions are kept, as LevelDB keeps them: they enlarge the filter.
    #[inline]
    pub fn add_key(&mut self, key: &[u8]) {
        if !self.keys.push_same_len(key) {
            self.add_unlike(key);
        }
    }

    /// Adds the first key of a range, or one where not all are of one length: these are hashed at once if they can be, since
    /// wrong guesses about lengths would cost more in copying them and hashing them later than the hashes do.
    #[inline(never)]
    fn add_unlike(&mut self, key: &[u8]) {
        let hashing = (self.hashed > 0 && self.keys.is_empty()) || self.hash_pending();
        match hashing.then(|| self.policy.hash_key(key)).flatten() {
            Some(hash) => {
                self.hashes.push(hash);
                self.hashed = self.hashed.saturating_add(1);
            }
            None => self.keys.push(key),
        }
    }

    /// Keeps hashes in place of the pending keys, all of one length so far; false if there are none or they cannot be.
    fn hash_pending(&mut self) -> bool {
        let Self { policy, keys, hashes, .. } = self;
        let (pending, added) = (keys.as_keys(), hashes.len());
        if pending.is_empty() || pending.fixed_len().is_none() {
            return false;
        }
        hashes.extend(pending.iter().map_while(|key| policy.hash_key(key)));
        if hashes.len().saturating_sub(added) < pending.len() || self.try_hashes().is_err() {
            self.hashes.truncate(added);
            return false;
        }
        self.hashed = self.hashed.saturating_add(self.keys.len() as u64);
        self.keys.clear_and_mix();
        true
    }

    /// Probes the policy once, with an empty set, for support of `create_filter_from_hashes`.
    fn try_hashes(&mut self) -> Result<()> {
        if !self.takes_hashes {
            self.policy.create_filter_from_hashes(&[], &mut Vec::new())?;
            self.takes_hashes = true;
        }
        Ok(())
    }

    /// Adds a key of the current data block by its [hash](FilterPolicy::hash_key), which takes eight bytes whatever the key's length.
    ///
    /// The filter is the same as with [`add_key`](Self::add_key). Where a range gets both
    /// hashes and keys, the policy sees hashes only, in any order.
    ///
    /// # Errors
    ///
    /// [`Error::HashUnsupported`] or what else the policy reports if it cannot make filters from hashes.
    #[inline]
    pub fn add_hash(&mut self, hash: KeyHash) -> Result<()> {
        self.try_hashes()?;
        self.hashes.push(hash);
        Ok(())
    }

    /// Ends the block and returns it. The builder starts anew and keeps its buffers.
    ///
    /// # Errors
    ///
    /// As [`finish_into`](Self::finish_into).
    pub fn finish(&mut self) -> Result<Bytes> {
        let mut block = Vec::new();
        self.finish_into(&mut block)?;
        Ok(block.into())
    }

    /// Ends the block and appends it to `dst`. The builder starts anew and keeps its buffers.
    ///
    /// # Errors
    ///
    /// Builder and `dst` are then as before.
    ///
    /// - [`Error::Limit`] if the block is larger than its limit.
    /// - What the policy reports, or [`Error::PolicyContract`] if it misbehaves.
    pub fn finish_into(&mut self, dst: &mut Vec<u8>) -> Result<()> {
        let pending = self.has_pending();
        if pending {
            self.make_filter()?;
        }
        let count = self.count.saturating_add(u64::from(pending));
        let len = self.finished_len(count)?;
        dst.try_reserve(len).map_err(|_| Error::out_of_memory("filter block", len))?;

        self.take_made_filter()?;
        self.count = count;
        let (start, array_offset) = (dst.len(), self.filters_end()?);
        dst.extend_from_slice(&self.filters);
        let mut index = 0;
        let last = Made { index: count, start: array_offset };
        for made in self.made.iter().chain([&last]) {
            // An empty filter starts where the next one does; the last turn adds the array's own offset.
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

    fn has_pending(&self) -> bool {
        !self.keys.is_empty() || !self.hashes.is_empty()
    }

    /// Makes the filter of the pending keys, in `scratch` only: whatever fails, nothing is lost.
    fn make_filter(&mut self) -> Result<()> {
        let Self { policy, keys, hashes, hashed, scratch, .. } = self;
        scratch.clear();
        scratch.extend_from_slice(GUARD);
        if hashes.is_empty() {
            policy.create_filter(keys.as_keys(), scratch)?;
        } else {
            let added = hashes.len();
            for key in keys.as_keys().iter() {
                let Some(hash) = policy.hash_key(key) else {
                    hashes.truncate(added);
                    // The policy may say more of such keys, of which it does not see those that are hashed.
                    policy.create_filter(keys.as_keys(), scratch).map_err(|error| match error {
                        Error::ShortInternalKey { index, expected, found } => {
                            Error::ShortInternalKey { index: index.saturating_add(*hashed), expected, found }
                        }
                        error => error,
                    })?;
                    return Err(Error::HashUnsupported { policy: policy.name().to_owned() });
                };
                hashes.push(hash);
            }
            let result = policy.create_filter_from_hashes(hashes, scratch);
            hashes.truncate(added);
            result?;
        }
        made_filter(policy, scratch).map(|_| ())
    }

    /// The block's length with `count` filters, the one in `scratch` among them.
    fn finished_len(&self, count: u64) -> Result<usize> {
        let new = if self.has_pending() { made_filter(&self.policy, &self.scratch)?.len() } else { 0 };
        let len = count
            .saturating_mul(4)
            .saturating_add(TAIL_LEN as u64)
            .saturating_add(self.filters.len() as u64)
            .saturating_add(new as u64);
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

    /// Moves the filter in `scratch`, if keys are pending, behind the others.
    fn take_made_filter(&mut self) -> Result<()> {
        if !self.has_pending() {
            return Ok(());
        }
        let start = self.filters_end()?;
        let filter = made_filter(&self.policy, &self.scratch)?;
        self.filters.try_reserve(filter.len()).map_err(|_| Error::out_of_memory("filter", filter.len()))?;
        self.filters.extend_from_slice(filter);
        self.made.push(Made { index: self.count, start });
        // What is taken twice would be the filter of other keys.
        self.scratch.clear();
        self.keys.clear();
        self.hashes.clear();
        self.hashed = 0;
        Ok(())
    }

    /// Where the next filter starts, and in the end the array. The limit keeps it within 32 bits.
    fn filters_end(&self) -> Result<u32> {
        u32::try_from(self.filters.len()).map_err(|_| {
            debug_assert!(false, "{} bytes of filters", self.filters.len());
            Error::Limit {
                what: "filter block",
                offset: self.last_offset,
                limit: self.max_size,
                found: self.filters.len() as u64,
            }
        })
    }

    fn clear(&mut self) {
        self.filters.clear();
        self.made.clear();
        self.count = 0;
        self.last_offset = 0;
    }
}

/// The filter that `policy` has made, behind the guard that it must have left alone.
///
/// Without the guard it is an error: an empty filter in its place would deny every key.
fn made_filter<'a>(policy: &impl FilterPolicy, scratch: &'a [u8]) -> Result<&'a [u8]> {
    scratch.strip_prefix(GUARD).ok_or_else(|| Error::PolicyContract {
        policy: policy.name().to_owned(),
        expected: "a filter appended to what was there",
        found: format!("{} bytes left of {}, or changed", scratch.len().min(GUARD.len()), GUARD.len()).into(),
    })
}

impl<P: FilterPolicy> fmt::Debug for FilterBlockBuilder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBlockBuilder")
            .field("policy", &self.policy.name())
            .field("base_lg", &self.base_lg)
            .field("filters", &self.count)
            .field("filter_bytes", &self.filters.len())
            .field("pending_keys", &self.keys.len().saturating_add(self.hashes.len()))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BloomFilterPolicy;

    /// Keys stay pending rather than get an empty filter, or the filter of other keys.
    #[test]
    fn keys_without_a_made_filter_get_none() {
        let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
        for _ in 0..2 {
            builder.add_key(b"key");
            for _ in 0..2 {
                assert!(matches!(builder.finished_len(1), Err(Error::PolicyContract { .. })));
                assert!(matches!(builder.take_made_filter(), Err(Error::PolicyContract { .. })));
                assert_eq!((builder.keys.len(), builder.made.len()), (1, 0));
            }
            assert_eq!(builder.finish().unwrap().len(), 9 + 4 + 5);
        }
    }
}
