//! Estimates of the size of an unfinished filter block.

use super::FilterBlockBuilder;
use crate::FilterPolicy;
use crate::filter_block::TAIL_LEN;

impl<P: FilterPolicy> FilterBlockBuilder<P> {
    /// Returns the length in bytes that the block would have if it were finished now: the exact
    /// length for ranges that have ended, and the greatest possible one for the current range. This
    /// takes hardly any time, so a writer can check after each key whether its table is large enough.
    ///
    /// `None` if the current range has keys and the policy does not know
    /// [how long](FilterPolicy::filter_len) their filter is.
    ///
    /// ```
    /// use filterblock::{BloomFilterPolicy, FilterBlockBuilder};
    /// let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
    /// builder.start_block(0)?;
    /// (0..1000_u32).for_each(|key| builder.add_key(&key.to_le_bytes()));
    /// builder.start_block(40_000)?;
    /// let estimated = builder.estimated_len();
    /// assert_eq!(estimated, Some(builder.finish()?.len() as u64));
    /// # Ok::<(), filterblock::Error>(())
    /// ```
    pub fn estimated_len(&self) -> Option<u64> {
        self.estimated_len_at(0)
    }

    /// Like [`estimated_len`](Self::estimated_len), but as if `start_block` were called with this offset
    /// before the block is finished.
    pub(crate) fn estimated_len_at(&self, block_offset: u64) -> Option<u64> {
        let pending = self.pending.len();
        let filter = if pending > 0 { self.policy.filter_len(pending)? } else { 0 };
        let count = self.count.saturating_add(u64::from(pending > 0)).max(block_offset >> self.base_lg);
        let filters = (self.filters_len as u64).saturating_add(filter as u64);
        Some(count.saturating_mul(4).saturating_add(TAIL_LEN as u64).saturating_add(filters))
    }
}
