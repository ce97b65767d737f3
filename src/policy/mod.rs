//! Filter policies make filters for sets of keys and look keys up in them.
//!
//! Each policy implements [`FilterPolicy`]:
//!
//! | policy | name in the table | Bloom filters |
//! |---|---|---|
//! | [`BloomFilterPolicy`] | `leveldb.BuiltinBloomFilter2` | LevelDB's, the usual choice |
//! | [`LegacyBloomPolicy`] | `leveldb.BuiltinBloomFilter` | of LevelDB up to 1.17 and goleveldb |
//! | [`BashoBloom2Policy`] | `leveldb.BuiltinBloomFilter2` | Riak's second kind |
//! | [`CassandraBloomPolicy`] | `filterblock.CassandraBloomFilter1` | of early Cassandra |
//! | [`Murmur3BloomPolicy`] | `filterblock.Murmur3BloomFilter1` | of Go's `bloom` libraries |
//! | [`OpaquePolicy`] | given by the caller | of encodings that cannot be read: rules out no key |
//!
//! The first and the third have the same name, by Basho's choice. [`Origin::Basho`], the mark in the
//! tables of Basho's LevelDB, distinguishes them.
//!
//! Three policies wrap another policy, and choose the part of a key that the other policy sees:
//!
//! | policy | name in the table | part of the key |
//! |---|---|---|
//! | [`InternalFilterPolicy`] | the other policy's | the user key of LevelDB's internal keys |
//! | [`BashoInternalFilterPolicy`] | the other policy's | the user key of Riak's internal keys |
//! | [`PrefixPolicy`] | given by the caller | a prefix, cut by the caller's function |
//!
//! [`default_read_policies`] returns the policies with which tables are read unless the caller
//! names others. [`AtomicBloomFilter`] is a filter in memory that many threads can fill at the same
//! time.
//!
//! # Contract
//!
//! A policy must find every key that it made a filter for:
//! [`key_may_match`](FilterPolicy::key_may_match) returns `true` for each key given to
//! [`create_filter`](FilterPolicy::create_filter). The answer depends on nothing but the key and
//! the filter. The call must not panic, since a damaged file can hold any bytes as a filter; when
//! in doubt, it returns `true`. A new filter is appended to the buffer, whose previous bytes stay
//! as they are, even on an error. The name stands for the encoding: if old readers would misread
//! new filters, the name has to change. A policy that returns the hashes of keys gives the same
//! filters and answers by hash as by key.
//!
//! # Encoding
//!
//! All Bloom filters here have the same layout, LevelDB's:
//!
//! ```text
//! [bit array][k: 1 byte]
//! ```
//!
//! Bit p of the array is bit p % 8 of byte p / 8, counted from the lowest. k is the number of bits
//! that each key sets. The policies differ in the length of the array and in the positions of a
//! key's bits, which each policy's page describes.

mod atomic;
mod basho;
mod bit_array;
mod bloom;
mod cassandra;
mod filter_policy;
mod groups;
mod key_hash;
mod known;
mod legacy;
mod murmur3;
mod prefix;
mod rate;
mod user_key;

pub(crate) use bloom::PREFETCHED;

pub use atomic::AtomicBloomFilter;
pub use basho::BashoBloom2Policy;
pub use bloom::BloomFilterPolicy;
pub use cassandra::CassandraBloomPolicy;
pub use filter_policy::{FilterPolicy, FilterShape, SharedPolicy};
pub use key_hash::KeyHash;
pub use known::{OWN_POLICIES, OpaquePolicy, Origin, OwnPolicy, default_read_policies};
pub use legacy::{LegacyBloomPolicy, LegacyHash};
pub use murmur3::Murmur3BloomPolicy;
pub use prefix::PrefixPolicy;
pub use rate::expected_false_positive_rate;
pub use user_key::{BashoInternalFilterPolicy, InternalFilterPolicy};
