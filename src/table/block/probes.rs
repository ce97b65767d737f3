//! The keys at a block's restarts, as a search compares them.

use super::prefix::{LongStart, Start};
use crate::kernel::prefetch;

/// The keys at a block's restarts. Only the starts of these keys are looked at.
pub(in crate::table::block) struct Probes<'b> {
    pub(super) data: &'b [u8],
    /// The restarts and their number, as stored.
    pub(super) restarts: &'b [[u8; 4]],
    pub(super) entries_end: usize,
}

impl Probes<'_> {
    /// Prefetches restart `index` itself, not the entry there.
    #[inline(always)]
    pub(in crate::table::block) fn prefetch(&self, index: usize) {
        if let Some([first, ..]) = self.restarts.get(index) {
            prefetch(first);
        }
    }

    /// Returns true if the key of the entry at restart `index`, without its last `SUFFIX` bytes, is before keys that
    /// start like `sought`. `None` if the first 16 bytes do not decide, if the key has fewer than `SUFFIX` bytes, or if
    /// the entry has an unusually long header, is damaged, or lies so close to the block's end that not enough bytes
    /// follow.
    #[inline(always)]
    pub(in crate::table::block) fn is_before<const SUFFIX: usize>(
        &self,
        index: usize,
        sought: LongStart,
    ) -> Option<bool> {
        let at = u32::from_le_bytes(*self.restarts.get(index)?) as usize;
        // The entries are followed by a restart and the number of restarts, so there are 11 bytes even from the start
        // of the shortest entry.
        let bytes = self.data.get(at..at.wrapping_add(11))?;
        let header = u32::from_le_bytes(*bytes.first_chunk()?);
        // In a usual header, nothing is shared, and the other lengths take a byte each.
        if header & 0x80_80ff != 0 {
            return None;
        }
        let (non_shared, value_len) = ((header >> 8 & 0x7f) as usize, (header >> 16 & 0x7f) as usize);
        let end = at.wrapping_add(3).wrapping_add(non_shared).wrapping_add(value_len);
        if end > self.entries_end {
            return None;
        }
        let len = non_shared.checked_sub(SUFFIX)?;
        let start = Start::of_first(*bytes.last_chunk()?, len);
        if start != sought.first {
            return Some(start < sought.first);
        }
        let rest = self.data.get(at.wrapping_add(11)..)?.first_chunk()?;
        let start = Start::of_first(*rest, len.saturating_sub(8));
        (start != sought.second).then_some(start < sought.second)
    }
}
