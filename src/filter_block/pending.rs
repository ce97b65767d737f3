//! The keys of a range whose filter is not made yet.

use crate::{Error, FilterPolicy, KeyBuf, KeyHash, Keys, Result, kernel};

/// The number of keys of several lengths that are kept until they are hashed together.
const KEPT: usize = 256;

/// The keys of the current range, end to end. Those added or kept by hash are in `hashes`.
#[derive(Default)]
pub(super) struct Pending {
    keys: KeyBuf,
    hashes: Vec<KeyHash>,
    /// The number of hashes whose keys were added as keys. Once it is above 0, keys are kept as keys
    /// only until they are hashed together, or for want of a hash.
    hashed: u64,
    /// True once the keys of this range are hashed as they come.
    as_they_come: bool,
    /// True once the policy has accepted hashes.
    takes_hashes: bool,
    /// Whether the policy hashes keys together and accepts their hashes, once it has been asked.
    /// False, too, for a range with a key that has no hash.
    hashes_together: Option<bool>,
}

impl Pending {
    /// Adds a key.
    #[inline]
    pub(super) fn push(&mut self, policy: &impl FilterPolicy, key: &[u8]) {
        if !self.keys.push_same_len(key) {
            self.push_unlike(policy, key);
        }
    }

    /// Adds keys: by one copy, or by their hashes if they are many.
    pub(super) fn push_all(&mut self, policy: &impl FilterPolicy, keys: Keys<'_>) {
        if self.keys.push_fixed_len(keys) {
            return;
        }
        if self.hashes_together(policy) {
            if keys.len() <= KEPT && self.keys.push_run(keys) {
                if self.keys.is_mixed() && self.keys.len() >= KEPT {
                    self.hash_kept(policy);
                }
                return;
            }
            // Keys added before stay before these.
            if self.keys.is_empty() && self.hash_all(policy, keys) {
                return;
            }
        }
        keys.iter().for_each(|key| self.push(policy, key));
    }

    /// Adds the first key of a range, or a key of a range whose keys are not all of one length. The
    /// latter is kept to be hashed together with others, or hashed at once, as is faster with this
    /// policy on this processor. Branches on mixed lengths are mispredicted, so that to copy a key
    /// with some and to hash it later costs more than its hash.
    #[inline(never)]
    fn push_unlike(&mut self, policy: &impl FilterPolicy, key: &[u8]) {
        if self.as_they_come && self.keys.is_empty() {
            if let Some(hash) = policy.hash_key(key) {
                self.hashes.push(hash);
                self.hashed = self.hashed.saturating_add(1);
                return;
            }
        } else if self.keys.push_mixed(key, KEPT) {
            return;
        }
        self.push_other(policy, key);
    }

    /// Adds a key that finds no place yet, or cannot be hashed.
    #[inline(never)]
    fn push_other(&mut self, policy: &impl FilterPolicy, key: &[u8]) {
        if kernel::copies_short_keys() && self.hashes_together(policy) {
            if self.keys.is_mixed() && self.keys.len() >= KEPT {
                self.hash_kept(policy);
            }
        } else if self.hash_pending(policy) {
            self.as_they_come = true;
            return self.push_unlike(policy, key);
        }
        self.keys.push(key);
    }

    /// Returns `true` if the policy hashes keys together and makes filters from hashes.
    #[inline]
    pub(super) fn hashes_together(&mut self, policy: &impl FilterPolicy) -> bool {
        match self.hashes_together {
            Some(together) => together,
            None => {
                let together = policy.hash_keys(KeyBuf::new().as_keys(), &mut Vec::new())
                    && self.try_hashes(policy).is_ok();
                *self.hashes_together.insert(together)
            }
        }
    }

    /// Replaces the keys by their hashes, unless one has none.
    #[cold]
    fn hash_kept(&mut self, policy: &impl FilterPolicy) {
        let keys = std::mem::take(&mut self.keys);
        let hashed = self.hash_all(policy, keys.as_keys());
        self.keys = keys;
        if hashed {
            self.keys.clear();
        } else {
            // A key has no hash. The others are kept, and not tried again and again.
            self.hashes_together = Some(false);
        }
    }

    /// Adds keys by their hashes, hashed together. Returns `false`, and adds none, if that cannot be.
    fn hash_all(&mut self, policy: &impl FilterPolicy, keys: Keys<'_>) -> bool {
        let before = self.hashes.len();
        let done = policy.hash_keys(keys, &mut self.hashes)
            && self.hashes.len().checked_sub(before) == Some(keys.len());
        if done {
            self.hashed = self.hashed.saturating_add(keys.len() as u64);
        } else {
            self.hashes.truncate(before);
        }
        done
    }

    /// Replaces the keys, all of one length so far, by their hashes. Returns `false` if there are
    /// none or they cannot be hashed.
    fn hash_pending(&mut self, policy: &impl FilterPolicy) -> bool {
        let Self { keys, hashes, .. } = self;
        let (pending, added) = (keys.as_keys(), hashes.len());
        if pending.is_empty() || pending.fixed_len().is_none() {
            return false;
        }
        hashes.extend(pending.iter().map_while(|key| policy.hash_key(key)));
        if hashes.len().saturating_sub(added) < pending.len() || self.try_hashes(policy).is_err() {
            self.hashes.truncate(added);
            return false;
        }
        self.hashed = self.hashed.saturating_add(self.keys.len() as u64);
        self.keys.clear_and_mix();
        true
    }

    /// Probes the policy once, with an empty set, for support of `create_filter_from_hashes`.
    fn try_hashes(&mut self, policy: &impl FilterPolicy) -> Result<()> {
        if !self.takes_hashes {
            policy.create_filter_from_hashes(&[], &mut Vec::new())?;
            self.takes_hashes = true;
        }
        Ok(())
    }

    /// Adds a key by its hash. Fails if the policy cannot make filters from hashes.
    #[inline]
    pub(super) fn push_hash(&mut self, policy: &impl FilterPolicy, hash: KeyHash) -> Result<()> {
        self.try_hashes(policy)?;
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

    /// Removes all keys and keeps the memory for the next ones.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.hashes.clear();
        self.hashed = 0;
        self.as_they_come = false;
        self.hashes_together = self.hashes_together.filter(|together| *together);
    }

    /// Has the policy append the filter of the keys to `dst`. The keys stay.
    pub(super) fn make_filter(&mut self, policy: &impl FilterPolicy, dst: &mut Vec<u8>) -> Result<()> {
        let Self { keys, hashes, hashed, .. } = self;
        if hashes.is_empty() {
            return policy.create_filter(keys.as_keys(), dst);
        }
        let added = hashes.len();
        let together =
            policy.hash_keys(keys.as_keys(), hashes) && hashes.len().checked_sub(added) == Some(keys.len());
        if !together {
            hashes.truncate(added);
        }
        for key in keys.as_keys().iter().filter(|_| !together) {
            let Some(hash) = policy.hash_key(key) else {
                hashes.truncate(added);
                // The policy can explain more about such keys. It does not see the keys kept as
                // hashes, so their number is added to its index.
                policy.create_filter(keys.as_keys(), dst).map_err(|error| match error {
                    Error::ShortInternalKey { index, expected, found } => {
                        Error::ShortInternalKey { index: index.saturating_add(*hashed), expected, found }
                    }
                    error => error,
                })?;
                return Err(Error::HashUnsupported { policy: policy.name().to_owned() });
            };
            hashes.push(hash);
        }
        let result = policy.create_filter_from_hashes(hashes, dst);
        hashes.truncate(added);
        result
    }
}
