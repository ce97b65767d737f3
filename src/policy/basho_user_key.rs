//! Filters over the user key of the internal keys of Basho's LevelDB (`db/dbformat.h` there).

use std::fmt;

use super::{FilterPolicy, FilterShape, KeyHash, Origin};
use crate::{KeyFormat, Keys, Result};

/// Makes another policy look at the user key only, in Riak's databases. There, keys of types 2 and
/// 3 have 16 bytes after the user key, not eight.
///
/// The name stays the inner policy's. For keys of LevelDB's own types, 0 and 1,
/// [`InternalFilterPolicy`](crate::policy::InternalFilterPolicy) does the same. If any key of a
/// filter has a time, making the filter copies the user keys.
///
/// A key too short for its suffix is not an internal key. A lookup of such a key returns `true`;
/// making a filter for it fails with [`Error::ShortInternalKey`](crate::Error::ShortInternalKey).
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct BashoInternalFilterPolicy<P> {
    policy: P,
}

impl<P: FilterPolicy> BashoInternalFilterPolicy<P> {
    /// Returns a policy that filters the user key with `policy`.
    pub const fn new(policy: P) -> Self {
        Self { policy }
    }

    /// Returns the policy that sees the user keys.
    pub const fn policy(&self) -> &P {
        &self.policy
    }
}

impl<P: FilterPolicy> FilterPolicy for BashoInternalFilterPolicy<P> {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        KeyFormat::Basho.with_user_keys(keys, |keys| self.policy.create_filter(keys, dst))
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        KeyFormat::Basho.user_key(key).is_none_or(|key| self.policy.key_may_match(key, filter))
    }

    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        self.policy.hash_key(KeyFormat::Basho.user_key(key)?)
    }

    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
        self.policy.create_filter_from_hashes(hashes, dst)
    }

    fn hash_may_match(&self, hash: KeyHash, filter: &[u8]) -> bool {
        self.policy.hash_may_match(hash, filter)
    }

    fn hashes_may_match(&self, hashes: &[KeyHash], filter: &[u8], answers: &mut [bool]) {
        self.policy.hashes_may_match(hashes, filter, answers);
    }

    fn filter_len(&self, num_keys: usize) -> Option<usize> {
        self.policy.filter_len(num_keys)
    }

    fn describe(&self, filter: &[u8]) -> Option<FilterShape> {
        self.policy.describe(filter)
    }

    fn reads_dialect(&self, origin: Origin) -> bool {
        self.policy.reads_dialect(origin)
    }
}

impl<P: FilterPolicy> fmt::Debug for BashoInternalFilterPolicy<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BashoInternalFilterPolicy").field(&self.policy.name()).finish()
    }
}
