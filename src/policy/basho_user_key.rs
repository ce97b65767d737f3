//! Filters over the user key of the internal keys of Basho's LevelDB (`db/dbformat.h` there).

use std::fmt;

use super::{FilterPolicy, KeyHash};
use crate::{Error, KeyBuf, Keys, Result};

/// Length of `sequence << 8 | type`, fixed64: all there is behind most user keys.
const SUFFIX: usize = 8;

/// With the time of expiry, fixed64, before that.
const EXPIRY_SUFFIX: usize = 16;

/// Types of the entries that expire: after the time written, or at a time of their own.
const EXPIRY_TYPES: [u8; 2] = [2, 3];

/// [`InternalFilterPolicy`](crate::policy::InternalFilterPolicy) for Riak's databases, whose keys of types 2 and 3 have 16
/// bytes behind the user key, not eight.
///
/// The name stays the inner policy's. For keys of LevelDB's own types, 0 and 1, both wrappers do the same. If a filter
/// has any expiring key, making it copies the user keys.
///
/// A key that is too short for its suffix is no internal key. Asked for, it "may match"; in a filter
/// to be made, it is [`Error::ShortInternalKey`](crate::Error::ShortInternalKey).
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct BashoInternalFilterPolicy<P> {
    policy: P,
}

impl<P: FilterPolicy> BashoInternalFilterPolicy<P> {
    /// Filters the user key by `policy`.
    pub const fn new(policy: P) -> Self {
        Self { policy }
    }

    /// The policy that sees the user keys.
    pub const fn policy(&self) -> &P {
        &self.policy
    }
}

fn suffix_len(key: &[u8]) -> usize {
    let kind = key.len().checked_sub(SUFFIX).and_then(|at| key.get(at));
    if kind.is_some_and(|kind| EXPIRY_TYPES.contains(kind)) { EXPIRY_SUFFIX } else { SUFFIX }
}

fn user_key(key: &[u8]) -> Option<&[u8]> {
    key.len().checked_sub(suffix_len(key)).and_then(|len| key.get(..len))
}

impl<P: FilterPolicy> FilterPolicy for BashoInternalFilterPolicy<P> {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        if keys.iter().all(|key| suffix_len(key) == SUFFIX) {
            return self.policy.create_filter(keys.strip_suffix(SUFFIX)?, dst);
        }
        let mut user_keys = KeyBuf::new();
        for (index, key) in (0..).zip(keys.iter()) {
            user_keys.push(user_key(key).ok_or_else(|| Error::ShortInternalKey {
                index,
                expected: suffix_len(key),
                found: key.len(),
            })?);
        }
        self.policy.create_filter(user_keys.as_keys(), dst)
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        user_key(key).is_none_or(|key| self.policy.key_may_match(key, filter))
    }

    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        self.policy.hash_key(user_key(key)?)
    }

    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
        self.policy.create_filter_from_hashes(hashes, dst)
    }

    fn hash_may_match(&self, hash: KeyHash, filter: &[u8]) -> bool {
        self.policy.hash_may_match(hash, filter)
    }

    fn reads_basho(&self) -> bool {
        self.policy.reads_basho()
    }
}

impl<P: FilterPolicy> fmt::Debug for BashoInternalFilterPolicy<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BashoInternalFilterPolicy").field(&self.policy.name()).finish()
    }
}
