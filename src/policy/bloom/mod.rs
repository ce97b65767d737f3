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
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a modulus keeps positions within the array, batches are counted; hot"
)]
mod probe;

pub(super) use array::BATCH;
pub use policy::BloomFilterPolicy;
pub(super) use policy::hash_some;
pub(crate) use probe::PREFETCHED;
pub(super) use probe::matches_hashes;
