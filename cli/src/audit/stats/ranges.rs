//! The cost of the ranges that filters cover, and what larger ranges would save.
//!
//! In this model a filter takes 4 bytes in the offset array, empty or not, and 1 byte for k if it
//! is not empty. The number of bits depends on the keys and stays the same. Bit arrays are rounded
//! up to whole bytes, and to 64 bits at least; that is left out, so the saving is an underestimate.
//! The rate of false positives stays the same too: a larger range joins filters, it does not thin
//! them.

use super::offsets::Offsets;

/// The bytes that a filter takes in the offset array.
pub(crate) const OFFSET_ENTRY_LEN: u64 = 4;
/// The greatest base_lg: one filter for the whole table.
const MAX_BASE_LG: u8 = 63;

/// Larger ranges, and what they would save.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LargerRanges {
    pub(crate) base_lg: u8,
    /// In bytes of the filter block.
    pub(crate) saves: u64,
}

/// Finds the least base_lg that saves nine tenths of what one filter for the whole table would
/// save; `None` if there is nothing to save.
///
/// `filters` and `empty` count the filters, and the empty ones among them, with the present
/// `base_lg`.
pub(crate) fn larger_ranges(base_lg: u8, filters: u64, empty: u64, blocks: &Offsets) -> Option<LargerRanges> {
    let now = cost(filters, filters.saturating_sub(empty));
    let saves = |base_lg: u8| now.saturating_sub(cost_with(base_lg, blocks));
    let most = saves(MAX_BASE_LG);
    let enough = |&base_lg: &u8| most > 0 && saves(base_lg).saturating_mul(10) >= most.saturating_mul(9);
    let base_lg = (base_lg.saturating_add(1)..=MAX_BASE_LG).find(enough)?;
    Some(LargerRanges { base_lg, saves: saves(base_lg) })
}

fn cost(filters: u64, used: u64) -> u64 {
    filters.saturating_mul(OFFSET_ENTRY_LEN).saturating_add(used)
}

/// The cost of the filters of these data blocks with another `base_lg`, apart from their bits.
fn cost_with(base_lg: u8, blocks: &Offsets) -> u64 {
    let mut last = None;
    let ranges = blocks.iter().map(|offset| offset >> base_lg.min(MAX_BASE_LG));
    let used = ranges.filter(|&range| last.replace(range) != Some(range)).count() as u64;
    cost(last.map_or(0, |last| last.saturating_add(1)), used)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(step: u64, count: u64) -> Offsets {
        let mut offsets = Offsets::default();
        (0..count).for_each(|i| offsets.insert(i * step));
        offsets
    }

    #[test]
    fn blocks_of_64_kib_waste_most_of_their_ranges() {
        // 100 blocks: with ranges of 2 KiB, one filter in 32 is in use.
        let blocks = offsets(64 << 10, 100);
        let filters = 99 * 32 + 1;
        let now = 4 * filters + 100;
        let larger = larger_ranges(11, filters, filters - 100, &blocks).unwrap();
        // Ranges of 32 KiB: every other filter is empty.
        let (saves, most) = (now - (4 * 199 + 100), now - (4 + 1));
        assert_eq!(larger, LargerRanges { base_lg: 15, saves });
        // With ranges of 16 KiB, three of four would be.
        let less = now - (4 * 397 + 100);
        assert!(10 * saves >= 9 * most && 10 * less < 9 * most);
    }

    #[test]
    fn nothing_is_saved_where_there_is_one_filter() {
        assert_eq!(larger_ranges(11, 1, 0, &offsets(1000, 2)), None);
        assert_eq!(larger_ranges(11, 0, 0, &offsets(1, 0)), None);
        assert_eq!(larger_ranges(63, 1, 0, &offsets(1 << 20, 9)), None);
        assert_eq!(larger_ranges(255, 100, 0, &offsets(1 << 20, 9)), None);
    }
}
