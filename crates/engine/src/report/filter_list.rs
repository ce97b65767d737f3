//! The filter block of a table, and its filters one by one.

use std::ops::RangeInclusive;

use serde::{Serialize, Serializer};

use super::strings::words;
use crate::audit::rates::Rate;
use crate::audit::stats::{FilterState, FilterStats, Offsets};

/// The filter block.
#[derive(Clone, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilterBlock {
    /// Name of the filter policy, without `filter.`
    pub policy: String,
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
    /// Number of bits of all filters together. Filters whose bits are not known count as 0.
    pub bits: u64,
    /// Number of 1 bits in all filters.
    pub bits_set: u64,
    /// Number of probes per key, *k*. `None`: the number differs from filter to filter, or is known for no filter.
    #[cfg_attr(feature = "schema", schemars(range(max = 255)))]
    pub probes: Option<u32>,
    /// False-positive rate that the bits set lead to, 0 to 1. Each filter is weighted by its number of
    /// entries, judging by its size, since absent keys reach the filters in that proportion. `None`: there are no data
    /// blocks, a bare filter block has only empty filters, or the encoding cannot be read.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub estimated_fpr: Option<f64>,
    /// Measured false-positive rate of random keys, looked up in each filter in proportion to its entries. `None`:
    /// there is no filter, the encoding cannot be read, or `depth` is `tail`.
    pub random_fpr: Option<Rate>,
    /// False-positive rate of similar keys: absent keys, made from stored ones by changing one byte or appending six.
    /// Measured in up to 17 data blocks, each weighted by its entries. `None`: no such key was looked up, the encoding
    /// cannot be read, or `key_format` is null.
    pub similar_fpr: Option<Rate>,
    /// The filters, in order. Present only with `--filters`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<ListedFilter>"))]
    pub list: Option<Filters>,
}

/// The filters of a table. They serialize to a list of [`ListedFilter`]s, of which there may be millions.
#[derive(Clone, Debug)]
pub struct Filters {
    pub(crate) stats: FilterStats,
    /// `None` for a filter block without its table.
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
    /// False-positive rate that the bits set lead to, 0 to 1. An empty filter rules out every key; with a malformed
    /// one, nearly always all keys may match. A filter whose encoding is not known, or that shares bytes with other filters, counts
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
    /// The data offsets that the last filter covers; without filters, those that a first one would.
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
    #[serde(rename = "riak")]
    Basho,
    /// RocksDB.
    Rocksdb,
}
