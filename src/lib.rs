//! Placeholder documentation; written once the parts are in place.
#![forbid(unsafe_code)]

mod coding;
#[cfg(feature = "table")]
pub mod database;
mod error;
mod escape;
pub mod filter_block;
pub mod hash;
mod keys;
#[cfg(feature = "table")]
mod open_file;
pub mod policy;
#[cfg(feature = "table")]
pub mod table;

pub use error::{Error, Result, Structure};
pub use escape::{Escaped, escape};
pub use filter_block::{FilterBlockBuilder, FilterBlockReader};
pub use hash::hash;
pub use keys::{KeyBuf, Keys};
pub use policy::{BashoBloom2Policy, BashoInternalFilterPolicy};
pub use policy::{BloomFilterPolicy, FilterPolicy, InternalFilterPolicy, KeyHash, SharedPolicy};
pub use policy::{CassandraBloomPolicy, Murmur3BloomPolicy};
pub use policy::{LegacyBloomPolicy, LegacyHash, OpaquePolicy};
pub use policy::{SharedBloomFilter, expected_false_positive_rate};
