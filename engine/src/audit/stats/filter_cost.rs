//! The cost of a filter block for a table that has none.

use super::blocks::Blocks;
use super::key_count::KeyCount;

/// LevelDB's defaults for filters.
pub const USUAL_BITS_PER_KEY: u64 = 10;
const USUAL_BASE_LG: u8 = 11;

/// The cost of a filter block at [`USUAL_BITS_PER_KEY`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FilterCost {
    pub keys: u64,
    /// All keys were counted.
    pub exact: bool,
    pub bytes: u64,
}

impl FilterCost {
    /// The cost for a table with these data blocks and so many keys.
    pub(super) fn of(count: KeyCount, blocks: &Blocks) -> Self {
        let KeyCount { keys, exact, .. } = count;
        let mut last = None;
        let ranges = blocks.offsets.iter().map(|offset| offset >> USUAL_BASE_LG);
        let used = ranges.filter(|&range| last.replace(range) != Some(range)).count() as u64;
        let filters = last.map_or(0, |last| last.saturating_add(1));
        let arrays = keys.saturating_mul(USUAL_BITS_PER_KEY).div_ceil(8).max(8 * used);
        let bytes = arrays.saturating_add(used).saturating_add(filters.saturating_mul(4)).saturating_add(5);
        Self { keys, exact, bytes }
    }
}
