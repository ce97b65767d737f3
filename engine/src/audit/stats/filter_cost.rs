//! The cost of a filter block for a table that has none.

use super::blocks::Blocks;
use crate::report::{FilterCost, KeyCount};

/// LevelDB's defaults for filters.
pub const USUAL_BITS_PER_KEY: u64 = 10;
const USUAL_BASE_LG: u8 = 11;

/// The cost at [`USUAL_BITS_PER_KEY`] for a table with these data blocks and so many keys.
pub(super) fn filter_cost(count: KeyCount, blocks: &Blocks) -> FilterCost {
    let KeyCount { keys, exact, .. } = count;
    let mut last = None;
    let ranges = blocks.offsets.iter().map(|offset| offset >> USUAL_BASE_LG);
    let used = ranges.filter(|&range| last.replace(range) != Some(range)).count() as u64;
    let filters = last.map_or(0, |last| last.saturating_add(1));
    let arrays = keys.saturating_mul(USUAL_BITS_PER_KEY).div_ceil(8).max(8 * used);
    let size = arrays.saturating_add(used).saturating_add(filters.saturating_mul(4)).saturating_add(5);
    FilterCost { bits_per_key: USUAL_BITS_PER_KEY, keys, keys_exact: exact, size }
}
