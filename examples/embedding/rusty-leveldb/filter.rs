//! In place of `rusty-leveldb`'s src/filter.rs.

use std::rc::Rc;
use std::sync::Arc;

use filterblock::{BloomFilterPolicy, Keys, Result, SharedPolicy};

/// The policy in the options: one of `filterblock`'s, which the database shares.
pub trait FilterPolicy {
    fn shared(&self) -> SharedPolicy;

    fn name(&self) -> String {
        self.shared().name().to_owned()
    }
}

pub type BoxedFilterPolicy = Rc<Box<dyn FilterPolicy>>;

impl FilterPolicy for BoxedFilterPolicy {
    fn shared(&self) -> SharedPolicy {
        (***self).shared()
    }
}

/// LevelDB's Bloom filter.
#[derive(Clone)]
pub struct BloomPolicy(SharedPolicy);

impl BloomPolicy {
    pub fn new(bits_per_key: u32) -> Self {
        Self(Arc::new(BloomFilterPolicy::new(bits_per_key)))
    }
}

impl FilterPolicy for BloomPolicy {
    fn shared(&self) -> SharedPolicy {
        self.0.clone()
    }
}

/// Another policy, looking only at the user key of internal keys.
#[derive(Clone)]
pub struct InternalFilterPolicy<P>(P);

impl<P: FilterPolicy> InternalFilterPolicy<P> {
    pub fn new(policy: P) -> Self {
        Self(policy)
    }
}

impl<P: FilterPolicy> FilterPolicy for InternalFilterPolicy<P> {
    fn shared(&self) -> SharedPolicy {
        Arc::new(filterblock::InternalFilterPolicy::new(self.0.shared()))
    }
}

/// Makes empty filters, which deny no key.
#[derive(Clone)]
pub struct NoFilterPolicy;

impl NoFilterPolicy {
    pub fn new() -> Self {
        Self
    }
}

impl FilterPolicy for NoFilterPolicy {
    fn shared(&self) -> SharedPolicy {
        Arc::new(Self)
    }
}

impl filterblock::FilterPolicy for NoFilterPolicy {
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
