//! The filter block of a table, and its filters one by one.

use std::ops::RangeInclusive;

use serde::{Serialize, Serializer};

use super::count::EntryCount;
use super::strings::words;
use crate::audit::rates::MeasuredRate;
use crate::audit::stats::{FilterState, FilterStats, Offsets};

/// The filter block.
#[derive(Clone, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilterBlock {
    /// Name of the filter policy, without `filter.`
    pub policy: String,
    /// True for a bare filter block (`--block`) without `--policy`: the policy is a guess.
    pub policy_assumed: bool,
    /// Offset of the filter block in the file, in bytes.
    pub offset: u64,
    /// Size of the filter block in bytes, without its trailer.
    pub size: u64,
    /// Binary logarithm of the length of the range of offsets that one filter covers. A block with a value
    /// above 63 is malformed.
    pub base_lg: u8,
    /// Number of filters, empty ones included.
    pub filters: u64,
    /// Number of empty filters: those without bytes, as for ranges in which no data block begins.
    pub empty_filters: u64,
    /// Number of bytes of the filter block that hold the offsets of the filters.
    pub offset_array_bytes: u64,
    /// The part of `offset_array_bytes` that is for empty filters.
    pub empty_filter_bytes: u64,
    /// Larger ranges that would make the block smaller. `None`: nothing would be saved, the block is malformed, the
    /// data blocks are not known, or `depth` is `tail`.
    pub larger_ranges: Option<LargerRanges>,
    /// Number of bits of all filters together. Filters whose bits are not known count as 0.
    pub bits: u64,
    /// Number of 1 bits in all filters.
    pub bits_set: u64,
    /// Number of probes per key, *k*. `None`: the number differs from filter to filter, or is known for no filter.
    #[cfg_attr(feature = "schema", schemars(range(max = 255)))]
    pub probes: Option<u32>,
    /// Share of absent keys expected to pass, 0 to 1, going by the bits set. Each filter is weighted by its number of
    /// entries, judging by its size, since absent keys reach the filters in that proportion. `None`: there are no data
    /// blocks, a bare filter block has only empty filters, or the encoding cannot be read.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub estimated_fpr: Option<f64>,
    /// Measured share of random keys that pass. Each filter is asked for keys in proportion to its entries. `None`:
    /// there was no filter to ask, the encoding cannot be read, or `depth` is `tail`.
    pub random_fpr: Option<MeasuredRate>,
    /// Share of neighbours that pass. Neighbours are keys that are not stored, made from stored ones by changing one
    /// byte or appending six. Measured in up to 17 data blocks, each weighted by its entries. `None`: no such key was
    /// asked for, the encoding cannot be read, or `key_format` is null.
    pub neighbour_fpr: Option<MeasuredRate>,
    /// First contradiction in the structure of the filter block, with offsets within the block. `None`: the
    /// block is well formed.
    pub malformed: Option<String>,
    /// Message with the number of stored keys that the filters deny, out of those tried. `None`: they deny none of the
    /// keys tried.
    pub unsound: Option<String>,
    /// The filters, in order. Present only with `--filters`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<ListedFilter>"))]
    pub list: Option<Filters>,
}

/// Larger ranges, and the bytes that they would save.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LargerRanges {
    /// The smallest `base_lg` that saves at least nine tenths of the bytes that one filter for the whole
    /// table would save.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 63)))]
    pub base_lg: u8,
    /// Number of bytes by which the filter block would be smaller with `base_lg`, estimated from the sizes of
    /// the filters.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub saves: u64,
    /// Share of random absent keys expected to pass with `base_lg`, 0 to 1. A greater share may pass if
    /// absent keys are consecutive numbers. `None`: it does not follow from the filters' sizes.
    #[serde(rename = "estimated_fpr")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub rate: Option<f64>,
}

/// The cost of a filter block for a table without a filter block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilterCost {
    /// Bits a key that the estimate assumes, with LevelDB's range of 2 KiB for each filter.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub bits_per_key: u64,
    /// Entries of the table, each of which takes `bits_per_key` bits.
    pub entries: EntryCount,
    /// Size of the filter block in bytes.
    pub size: u64,
}

/// The filters of a table. They serialize to a list of [`ListedFilter`]s, of which there may be millions.
#[derive(Clone, Debug)]
pub struct Filters {
    pub(crate) stats: FilterStats,
    /// The data blocks that the filters cover; `None` for a filter block without its table.
    pub(crate) blocks: Option<Offsets>,
}

/// One filter.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedFilter<'a> {
    /// Position of the filter in the block, counted from 0.
    pub index: u64,
    /// First offset of the filter's range: the filter is for the data blocks that begin in that range.
    pub first_offset: u64,
    /// Last offset of the filter's range, inclusive.
    pub last_offset: u64,
    /// Offsets of the data blocks that the filter is for. Empty for a bare filter block.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u64>"))]
    pub data_blocks: CoveredBlocks<'a>,
    /// Size of the filter in bytes, including the byte for *k*. 0: the filter is empty or malformed.
    pub bytes: u64,
    /// Number of bits of the filter. 0: the filter is empty or malformed, or has only the byte for *k*; its encoding is
    /// not known; or filters of the block share bytes.
    pub bits: u64,
    /// Number of 1 bits in the filter.
    pub bits_set: u64,
    /// Number of probes per key, *k*. `None`: the filter is empty or malformed, its encoding is not known, or filters
    /// of the block share bytes.
    #[cfg_attr(feature = "schema", schemars(range(max = 255)))]
    pub probes: Option<u32>,
    /// Share of absent keys expected to pass, 0 to 1. An empty filter lets no key pass; a malformed filter nearly
    /// always lets all keys pass. A filter whose encoding is not known, or that shares bytes with other filters, counts
    /// as 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub estimated_fpr: f64,
    /// `ok`: the filter has bytes. `empty`: it has no bytes. `malformed`: its offsets contradict each other, or
    /// `base_lg` is above 63.
    pub state: FilterState,
}

/// The data blocks that a filter covers.
#[derive(Clone, Copy, Debug)]
pub struct CoveredBlocks<'a> {
    filters: &'a Filters,
    index: u64,
}

impl Filters {
    /// The range of data offsets that the last filter covers; without filters, the range that a first filter would
    /// cover.
    pub fn last_range(&self) -> RangeInclusive<u64> {
        self.stats.range((self.stats.reader().num_filters() as u64).saturating_sub(1))
    }

    /// Returns the filters, in order.
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
    /// The offsets of the blocks, in ascending order.
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

words! {
    /// The part of keys that a table's filters are made from.
    KeyFormat {
        /// The user part of internal keys, as databases write them.
        Internal = "internal",
        /// Whole keys.
        User = "user",
    }
}

/// The encoding that a policy's name leaves open: the hash with which stored keys pass, or the relative of
/// LevelDB that wrote the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// LevelDB's old hash in the variant that treats the last bytes of a key as unsigned.
    Unsigned,
    /// LevelDB's old hash in the variant that treats the last bytes of a key as signed.
    Signed,
    /// All keys tried pass with both hashes.
    Either,
    /// Basho's LevelDB, which Riak uses.
    Basho,
    /// RocksDB.
    Rocksdb,
}
