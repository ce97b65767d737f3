//! A filter policy that shows whether it was really asked.

use std::sync::atomic::{AtomicU64, Ordering};

use filterblock::{FilterPolicy, Keys, Result};

/// Forwards everything to another policy, and counts.
#[derive(Debug)]
pub struct CountingPolicy<P> {
    policy: P,
    created: AtomicU64,
    asked: AtomicU64,
    denied: AtomicU64,
}

impl<P> CountingPolicy<P> {
    /// Counts the calls to `policy`.
    pub fn new(policy: P) -> Self {
        Self { policy, created: 0.into(), asked: 0.into(), denied: 0.into() }
    }

    /// The number of filters that the policy made.
    pub fn created(&self) -> u64 {
        self.created.load(Ordering::Relaxed)
    }

    /// The number of times that the policy was asked about a key.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// The number of times that the policy denied a key.
    pub fn denied(&self) -> u64 {
        self.denied.load(Ordering::Relaxed)
    }
}

impl<P: FilterPolicy> FilterPolicy for CountingPolicy<P> {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        self.created.fetch_add(1, Ordering::Relaxed);
        self.policy.create_filter(keys, dst)
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        let answer = self.policy.key_may_match(key, filter);
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.denied.fetch_add(u64::from(!answer), Ordering::Relaxed);
        answer
    }
}
