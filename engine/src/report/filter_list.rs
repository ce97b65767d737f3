//! The filters of a table, one by one.

use serde::{Serialize, Serializer};

use crate::audit::stats::filter::State;
use crate::audit::stats::filters::FilterStats;
use crate::audit::stats::offsets::Offsets;

/// The filters of a table, which serialize to the list of [`ListedFilter`]s: there may be millions.
#[derive(Clone, Debug)]
pub struct Filters {
    /// The filters.
    pub stats: FilterStats,
    /// The data blocks that they cover; `None` for a filter block without its table.
    pub(crate) blocks: Option<Offsets>,
}

/// One filter.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedFilter<'a> {
    /// Position of the filter in the block, from 0.
    pub index: u64,
    /// First offset of its range: the filter is for the data blocks that begin in the range.
    pub first_offset: u64,
    /// Last offset of its range, inclusive.
    pub last_offset: u64,
    /// Offsets of these data blocks. Empty for a bare filter block.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u64>"))]
    pub data_blocks: CoveredBlocks<'a>,
    /// Size of the filter in bytes, with the byte for *k*.
    pub bytes: u64,
    /// Bits of the filter. 0: the encoding is not known, or filters of the block share bytes.
    pub bits: u64,
    /// Number of those bits that are 1.
    pub bits_set: u64,
    /// Probes a key, *k*. `None`: the filter is empty or malformed, or has no known bits.
    #[cfg_attr(feature = "schema", schemars(range(max = 255)))]
    pub probes: Option<u32>,
    /// Share of absent keys expected to pass, 0 to 1. An empty filter lets none pass, a malformed one nearly
    /// always all.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub estimated_fpr: f64,
    /// `empty`: no bytes. `malformed`: its offsets contradict each other.
    pub state: State,
}

/// The data blocks that a filter covers.
#[derive(Clone, Copy, Debug)]
pub struct CoveredBlocks<'a> {
    filters: &'a Filters,
    index: u64,
}

impl Filters {
    /// Each filter, in order.
    pub fn iter(&self) -> impl Iterator<Item = ListedFilter<'_>> {
        (0u64..).zip(self.stats.iter()).map(|(index, filter)| {
            let range = self.stats.range(index);
            ListedFilter {
                index,
                first_offset: *range.start(),
                last_offset: *range.end(),
                data_blocks: CoveredBlocks { filters: self, index },
                bytes: filter.bytes,
                bits: filter.bits,
                bits_set: filter.bits_set,
                probes: filter.probes,
                estimated_fpr: filter.rate,
                state: filter.state,
            }
        })
    }

    /// Returns true if the data blocks are known.
    pub const fn has_blocks(&self) -> bool {
        self.blocks.is_some()
    }
}

impl<'a> CoveredBlocks<'a> {
    /// The offsets of the blocks, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<'a> {
        let Filters { stats, blocks } = self.filters;
        let range = stats.range(self.index);
        blocks.iter().flat_map(move |blocks| blocks.range(range.clone()))
    }
}

impl Serialize for Filters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl Serialize for CoveredBlocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
