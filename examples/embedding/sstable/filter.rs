//! In place of `sstable`'s src/filter.rs.

use std::sync::Arc;

pub use filterblock::{BloomFilterPolicy as BloomPolicy, FilterPolicy};
use filterblock::{Keys, Result};

pub type BoxedFilterPolicy = Arc<Box<dyn FilterPolicy>>;

/// Makes empty filters, which deny no key.
#[derive(Clone)]
pub struct NoFilterPolicy;

impl NoFilterPolicy {
    pub fn new() -> Self {
        Self
    }
}

impl FilterPolicy for NoFilterPolicy {
    fn name(&self) -> &str {
        "_"
    }
    fn create_filter(&self, _: Keys<'_>, _: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
    fn filter_len(&self, _: usize) -> Option<usize> {
        Some(0)
    }
}
