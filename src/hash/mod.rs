//! LevelDB's hash, and the hashes of other formats.

#[allow(clippy::arithmetic_side_effects, reason = "shifts and sums over at most three bytes; hot")]
mod leveldb;
mod murmur;

pub use leveldb::{BLOOM_SEED, hash_signed_tail, leveldb};
pub(crate) use leveldb::{finish, last_step, leveldb_each, start, step, to_signed_tail};
pub(crate) use murmur::{
    murmur2_twice, murmur2_twice_of_four, murmur3_twice, murmur3_twice_of_two, murmur64a, murmur64a_of_four,
};
