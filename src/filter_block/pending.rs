//! The keys of a range whose filter is not made yet.

use crate::{Error, FilterPolicy, KeyBuf, KeyHash, Keys, Result, kernel};

/// The number of buffered keys of several lengths from which on they are replaced by their hashes, which take eight
/// bytes each.
const KEPT: usize = 256;

/// The keys of the current range: those that are kept by hash, then the buffered ones.
pub(super) struct Pending {
    keys: KeyBuf,
    hashes: Vec<KeyHash>,
    /// The number of hashes whose keys were added as keys.
    hashed: u64,
    /// The number of buffered keys at which they are replaced.
    most: usize,
}

impl Default for Pending {
    fn default() -> Self {
        Self { keys: KeyBuf::new(), hashes: Vec::new(), hashed: 0, most: KEPT }
    }
}

impl Pending {
    /// Adds a key.
    #[inline]
    pub(super) fn push(&mut self, policy: &impl FilterPolicy, key: &[u8]) {
        if !self.keys.push_if_same_len(key) {
            self.push_other_len(policy, key);
        }
    }

    /// Adds the first key of a range, or a key of a range whose keys are not all of the same length. Branches on mixed
    /// lengths are mispredicted: where they are needed to copy a key, its hash costs less than the copy and a hash later.
    #[inline(never)]
    fn push_other_len(&mut self, policy: &impl FilterPolicy, key: &[u8]) {
        if !kernel::copies_short_keys()
            && self.most == KEPT
            && !self.is_empty()
            && (self.keys.is_empty() || self.hash_buffered(policy))
            && let Some(hash) = policy.hash_key(key)
        {
            self.hashes.push(hash);
            self.hashed = self.hashed.saturating_add(1);
            return;
        }
        self.keys.push_other_len(key);
        self.limit(policy);
    }

    /// Adds keys, if possible in a single copy, or, if they are many of several lengths, without one.
    pub(super) fn push_all(&mut self, policy: &impl FilterPolicy, keys: Keys<'_>) {
        let are_many = keys.len() > KEPT && keys.fixed_len().is_none() && self.keys.is_empty();
        if !are_many || !self.hash(policy, keys) {
            self.keys.push_all(keys);
            self.limit(policy);
        }
    }

    /// Replaces buffered keys of several lengths by their hashes if there are many.
    #[inline]
    fn limit(&mut self, policy: &impl FilterPolicy) {
        if self.keys.len() >= self.most && self.keys.is_mixed() {
            self.hash_buffered(policy);
        }
    }

    /// Replaces the buffered keys by their hashes. Returns `false` and keeps them if one of them has no hash.
    #[cold]
    fn hash_buffered(&mut self, policy: &impl FilterPolicy) -> bool {
        let keys = std::mem::take(&mut self.keys);
        let done = self.hash(policy, keys.as_keys());
        self.keys = keys;
        if done {
            self.keys.clear();
        } else {
            // Trying again after each key would take a time that grows with the square of their number.
            self.most = self.most.saturating_mul(2);
        }
        done
    }

    /// Adds keys by their hashes. Returns `false` and adds none if a key has no hash, or the policy takes none.
    fn hash(&mut self, policy: &impl FilterPolicy, keys: Keys<'_>) -> bool {
        let done = policy.takes_hashes() && append_hashes(policy, keys, &mut self.hashes);
        if done {
            self.hashed = self.hashed.saturating_add(keys.len() as u64);
        }
        done
    }

    /// Adds a key by its hash. Fails if the policy does not make filters from hashes.
    #[inline]
    pub(super) fn push_hash(&mut self, policy: &impl FilterPolicy, hash: KeyHash) -> Result<()> {
        if !policy.takes_hashes() {
            return Err(Error::HashUnsupported { policy: policy.name().to_owned() });
        }
        self.hashes.push(hash);
        Ok(())
    }

    /// Returns the number of keys.
    pub(super) fn len(&self) -> usize {
        self.keys.len().saturating_add(self.hashes.len())
    }

    /// Returns `true` if there are no keys.
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.hashes.is_empty()
    }

    /// Removes all keys and hashes, and keeps the memory for later keys.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.hashes.clear();
        self.hashed = 0;
        self.most = KEPT;
    }

    /// Has the policy append the filter of the keys to `dst`. The keys stay.
    pub(super) fn make_filter(&mut self, policy: &impl FilterPolicy, dst: &mut Vec<u8>) -> Result<()> {
        let Self { keys, hashes, hashed, .. } = self;
        if hashes.is_empty() {
            return policy.create_filter(keys.as_keys(), dst);
        }
        let before = hashes.len();
        if append_hashes(policy, keys.as_keys(), hashes) {
            let result = policy.create_filter_from_hashes(hashes, dst);
            hashes.truncate(before);
            return result;
        }
        // The policy's own error explains more about a key without a hash. The policy does not see the keys that were
        // replaced by their hashes, so their number is added to the error's index.
        policy.create_filter(keys.as_keys(), dst).map_err(|error| match error {
            Error::ShortInternalKey { index, expected, found } => {
                Error::ShortInternalKey { index: index.saturating_add(*hashed), expected, found }
            }
            error => error,
        })?;
        Err(Error::HashUnsupported { policy: policy.name().to_owned() })
    }
}

/// Appends the hash of each key to `hashes`, together if the policy does that. Returns `false` and appends nothing if a
/// key has no hash.
fn append_hashes(policy: &impl FilterPolicy, keys: Keys<'_>, hashes: &mut Vec<KeyHash>) -> bool {
    let before = hashes.len();
    if !policy.hash_keys(keys, hashes) {
        hashes.truncate(before);
        hashes.extend(keys.iter().map_while(|key| policy.hash_key(key)));
    }
    let are_all = hashes.len().checked_sub(before) == Some(keys.len());
    if !are_all {
        hashes.truncate(before);
    }
    are_all
}
