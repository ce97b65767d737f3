//! Filters over the user key of a database's internal keys (LevelDB's `db/dbformat.cc`), and of those of
//! Basho's LevelDB (`db/dbformat.h` there).

use std::fmt;

use super::{FilterPolicy, FilterShape, KeyHash, Origin, PREFETCHED};
use crate::key::parts::TAG_LEN;
use crate::{KeyFormat, Keys, Result};

/// Gives another policy the user key only: the internal key without its last eight bytes.
///
/// LevelDB wraps the policy of every database this way. The name stays the inner policy's.
///
/// Takes no user keys: one of eight bytes or more loses its end, and the filter can hide it. A shorter one may match
/// in a lookup; making a filter for it fails with
/// [`Error::ShortInternalKey`](crate::Error::ShortInternalKey).
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct InternalFilterPolicy<P> {
    policy: P,
}

impl<P: FilterPolicy> InternalFilterPolicy<P> {
    /// Returns a policy that filters the user key with `policy`.
    pub const fn new(policy: P) -> Self {
        Self { policy }
    }

    /// Returns the policy that sees the user keys.
    pub const fn policy(&self) -> &P {
        &self.policy
    }
}

impl<P: FilterPolicy> FilterPolicy for InternalFilterPolicy<P> {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        KeyFormat::LevelDb.with_user_keys(keys, |keys| self.policy.create_filter(keys, dst))
    }

    #[inline]
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        KeyFormat::LevelDb.user_key(key).is_none_or(|key| self.policy.key_may_match(key, filter))
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "no chunk is longer than the array, nor `len` than either slice"
    )]
    fn keys_may_match(&self, probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
        let len = probes.len().min(answers.len());
        let mut stripped: [(&[u8], &[u8]); PREFETCHED] = [(&[], &[]); PREFETCHED];
        for (probes, answers) in probes[..len].chunks(PREFETCHED).zip(answers[..len].chunks_mut(PREFETCHED)) {
            let mut shortest = usize::MAX;
            for (stripped, &(key, filter)) in stripped.iter_mut().zip(probes) {
                shortest = shortest.min(key.len());
                *stripped = (key.get(..key.len().wrapping_sub(TAG_LEN)).unwrap_or_default(), filter);
            }
            self.policy.keys_may_match(&stripped[..probes.len()], answers);
            if shortest < TAG_LEN {
                for (&(key, _), answer) in probes.iter().zip(answers) {
                    *answer |= key.len() < TAG_LEN;
                }
            }
        }
    }

    fn takes_hashes(&self) -> bool {
        self.policy.takes_hashes()
    }

    #[inline]
    fn hash_key(&self, key: &[u8]) -> Option<KeyHash> {
        self.policy.hash_key(KeyFormat::LevelDb.user_key(key)?)
    }

    fn hash_keys(&self, keys: Keys<'_>, hashes: &mut Vec<KeyHash>) -> bool {
        keys.strip_suffix(TAG_LEN).is_ok_and(|keys| self.policy.hash_keys(keys, hashes))
    }

    fn create_filter_from_hashes(&self, hashes: &[KeyHash], dst: &mut Vec<u8>) -> Result<()> {
        self.policy.create_filter_from_hashes(hashes, dst)
    }

    #[inline]
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

impl<P: FilterPolicy> fmt::Debug for InternalFilterPolicy<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InternalFilterPolicy").field(&self.policy.name()).finish()
    }
}

/// Gives another policy the user key only, in Riak's databases. There, keys of types 2 and 3 have 16
/// bytes after the user key, not eight.
///
/// The name stays the inner policy's. For keys of LevelDB's own types, 0 and 1,
/// [`InternalFilterPolicy`](crate::policy::InternalFilterPolicy) does the same. If any key of a
/// filter has a time, making the filter copies the user keys.
///
/// Takes no user keys: one that is long enough for a suffix loses its end, and the filter can hide it. A shorter one
/// may match in a lookup; making a filter for it fails with
/// [`Error::ShortInternalKey`](crate::Error::ShortInternalKey).
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

    fn takes_hashes(&self) -> bool {
        self.policy.takes_hashes()
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
