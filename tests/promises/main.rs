//! The promises of SECURITY.md, as far as no other test shows them.
#![cfg(feature = "table")]

mod answers;
#[path = "../common/counting.rs"]
mod counting;
#[path = "../common/filters.rs"]
mod filters;
mod memory;
mod panics;
#[path = "../common/tables.rs"]
mod tables;

use std::sync::Arc;

use filterblock::{
    BashoBloom2Policy, BashoInternalFilterPolicy, BloomFilterPolicy, CassandraBloomPolicy,
    InternalFilterPolicy, LegacyBloomPolicy, LegacyHash, Murmur3BloomPolicy, SharedPolicy,
};

/// Policies of every encoding, two of them for internal keys.
fn policies() -> Vec<SharedPolicy> {
    vec![
        Arc::new(BloomFilterPolicy::new(10)),
        Arc::new(InternalFilterPolicy::new(BloomFilterPolicy::new(10))),
        Arc::new(LegacyBloomPolicy::new(10)),
        Arc::new(LegacyBloomPolicy::new(10).with_hash(LegacyHash::Signed)),
        Arc::new(BashoBloom2Policy::new(16)),
        Arc::new(BashoInternalFilterPolicy::new(BashoBloom2Policy::new(16))),
        Arc::new(CassandraBloomPolicy::new(10)),
        Arc::new(Murmur3BloomPolicy::new(10)),
    ]
}
