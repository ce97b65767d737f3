//! The statistics of a table, from its index, metaindex, filter block, trailers, and some or all data blocks.

pub(crate) mod block_clusters;
pub(crate) mod block_keys;
pub(crate) mod blocks;
pub(crate) mod dialect;
pub(crate) mod distinct;
pub(crate) mod filter;
pub(crate) mod filters;
pub(crate) mod key_count;
pub(crate) mod offsets;
pub(crate) mod sample;
#[cfg(test)]
mod simulated;
pub(crate) mod table;

pub(crate) use block_keys::KeyCounter;
pub(crate) use blocks::Blocks;

pub(crate) use dialect::LEGACY_POLICY_NAME;
pub(crate) use distinct::KeySketch;
pub use filter::FilterState;
pub use filters::DEFAULT_BITS_PER_KEY;
pub(crate) use filters::{FilterStats, Summary};
pub(crate) use offsets::Offsets;
pub(crate) use sample::{Sample, encoding_of};
pub(crate) use table::{Metaindex, Reach, TableStats};
