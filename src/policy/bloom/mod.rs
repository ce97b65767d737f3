//! LevelDB's Bloom filter.

#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a modulus keeps positions within the array; hot"
)]
mod array;
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "batches of hashes are counted; hot"
)]
mod policy;

pub(crate) use array::PREFETCHED;
pub(super) use array::{BATCH, matches_hashes};
pub use policy::BloomFilterPolicy;
pub(super) use policy::hash_some;
