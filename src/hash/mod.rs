//! LevelDB's hash, and those of its relatives.

#[allow(clippy::arithmetic_side_effects, reason = "shifts and sums over at most three bytes; hot")]
mod leveldb;
mod murmur;

pub use leveldb::{BLOOM_SEED, hash_signed_tail, leveldb};
pub(crate) use leveldb::{finish, start, step, to_signed_tail};
pub(crate) use murmur::{murmur2_cassandra, murmur3_twice, murmur64a};
