//! The promises of SECURITY.md, as far as no other test shows them, and README.md and the crate's page themselves.
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

use std::fs;
use std::path::Path;
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

/// The Rust examples of a page.
fn examples(page: &str) -> Vec<String> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page)).unwrap();
    let code = page.split("```rust").skip(1).map(|code| code.split("```").next().unwrap().to_owned());
    code.collect()
}

/// The crate's page begins with the examples of README.md. Its doctests compile them.
#[test]
fn both_pages_have_the_same_examples() {
    let (readme, page) = (examples("README.md"), examples("docs/crate.md"));
    assert_eq!(readme.len(), 2);
    assert!(page.starts_with(&readme), "{page:?}");
}
