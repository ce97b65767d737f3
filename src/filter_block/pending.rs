//! The keys of a range whose filter is not made yet.

use crate::{Error, FilterPolicy, KeyBuf, KeyHash, Keys, Result, kernel};

/// The number of buffered keys of several lengths at which they are hashed together.
const KEPT: usize = 256;

/// The form in which further keys of a range are taken.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    /// As keys. Keys of several lengths are hashed together, in batches, if the policy can do that.
    #[default]
    BatchedHashes,
    /// As keys: a key of the range has no hash, or the policy does not hash keys together or does not make
    /// filters from hashes.
    Keys,
    /// By their hashes: each key is hashed as it is added, until a key has no hash.
    Hashes,
}

/// The forms of keys that the policy is known to accept. A policy always accepts the same forms, so what is
/// known holds for all later ranges.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Accepts {
    #[default]
    Unknown,
    Hashes,
    BatchedHashes,
}

/// The keys of the current range, end to end. Keys added or kept by hash are in `hashes`.
#[derive(Default)]
pub(super) struct Pending {
    keys: KeyBuf,
    hashes: Vec<KeyHash>,
    /// The number of hashes whose keys were added as keys. All of these keys came before the buffered keys. Once
    /// this number is above 0, new keys are buffered at most until the next batch is hashed, unless some key has
    /// no hash.
    hashed: u64,
    mode: Mode,
    accepts: Accepts,
}

impl Pending {
    /// Adds a key.
    #[inline]
    pub(super) fn push(&mut self, policy: &impl FilterPolicy, key: &[u8]) {
        if !self.keys.push_if_same_len(key) {
            self.push_other_len(policy, key);
        }
    }

    /// Adds keys: all in a single copy, or together by their hashes, if possible; otherwise one by one.
    pub(super) fn push_all(&mut self, policy: &impl FilterPolicy, keys: Keys<'_>) {
        if self.keys.push_all_if_same_len(keys) {
            return;
        }
        if self.hashes_together(policy) {
            if keys.len() <= KEPT && self.keys.push_all_if_run(keys) {
                if self.keys.is_mixed() && self.keys.len() >= KEPT {
                    self.hash_buffered(policy);
                }
                return;
            }
            // Keys added earlier have to stay before these keys, so the buffer has to be empty.
            if self.keys.is_empty() && self.try_hash_run(policy, keys) {
                return;
            }
        }
        keys.iter().for_each(|key| self.push(policy, key));
    }

    /// Adds the first key of a range, or a key of a range whose keys are not all of the same
    /// length. A key of the second kind is kept, to be hashed together with other keys, or hashed
    /// immediately if that is faster with this policy on this processor. Branches on mixed lengths
    /// are mispredicted, so copying a key with such a branch and hashing it later costs more than
    /// its hash.
    #[inline(never)]
    fn push_other_len(&mut self, policy: &impl FilterPolicy, key: &[u8]) {
        if self.mode == Mode::Hashes && self.keys.is_empty() {
            if let Some(hash) = policy.hash_key(key) {
                self.hashes.push(hash);
                self.hashed = self.hashed.saturating_add(1);
                return;
            }
        } else if self.keys.push_if_mixed(key, KEPT) {
            return;
        }
        self.make_room_and_push(policy, key);
    }

    /// Adds a key that [`push_other_len`](Self::push_other_len) could neither buffer nor hash.
    #[inline(never)]
    fn make_room_and_push(&mut self, policy: &impl FilterPolicy, key: &[u8]) {
        if kernel::copies_short_keys() && self.hashes_together(policy) {
            if self.keys.is_mixed() && self.keys.len() >= KEPT {
                self.hash_buffered(policy);
            }
        } else if self.switch_to_hashes(policy) {
            return self.push_other_len(policy, key);
        }
        self.keys.push(key);
    }

    /// Returns `true` if the policy hashes keys together and makes filters from hashes, and if no key of the
    /// range is known to have no hash.
    #[inline]
    pub(super) fn hashes_together(&mut self, policy: &impl FilterPolicy) -> bool {
        match self.accepts {
            Accepts::BatchedHashes => self.mode != Mode::Keys,
            _ => self.mode != Mode::Keys && self.ask_for_batches(policy),
        }
    }

    /// Asks the policy, with empty sets, whether it hashes keys together and makes filters from
    /// hashes.
    fn ask_for_batches(&mut self, policy: &impl FilterPolicy) -> bool {
        let together =
            policy.hash_keys(KeyBuf::new().as_keys(), &mut Vec::new()) && self.try_hashes(policy).is_ok();
        if together {
            self.accepts = Accepts::BatchedHashes;
        } else if self.mode == Mode::BatchedHashes {
            self.mode = Mode::Keys;
        }
        together
    }

    /// Replaces the buffered keys with their hashes, unless a key has no hash.
    #[cold]
    fn hash_buffered(&mut self, policy: &impl FilterPolicy) {
        let keys = std::mem::take(&mut self.keys);
        let hashed = self.try_hash_run(policy, keys.as_keys());
        self.keys = keys;
        if hashed {
            self.keys.clear();
        } else {
            // Some key has no hash. The buffered keys and all further keys stay keys, so that
            // hashing is not tried again and again.
            self.mode = Mode::Keys;
        }
    }

    /// Adds keys by their hashes, hashed together. Returns `false` and adds no key if that is
    /// impossible.
    fn try_hash_run(&mut self, policy: &impl FilterPolicy, keys: Keys<'_>) -> bool {
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

    /// Replaces buffered keys of the same length with their hashes, and has further keys taken by hash.
    /// Returns `false` if no keys are buffered, if their lengths differ, or if they cannot be kept as hashes.
    fn switch_to_hashes(&mut self, policy: &impl FilterPolicy) -> bool {
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
        self.mode = Mode::Hashes;
        true
    }

    /// Asks the policy, with an empty set, whether it makes filters from hashes, unless that is known.
    fn try_hashes(&mut self, policy: &impl FilterPolicy) -> Result<()> {
        if self.accepts == Accepts::Unknown {
            policy.create_filter_from_hashes(&[], &mut Vec::new())?;
            self.accepts = Accepts::Hashes;
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

    /// Removes all keys and hashes, and keeps the memory for later keys.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.hashes.clear();
        self.hashed = 0;
        self.mode = Mode::default();
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
                // The policy's own error explains more about such keys. The policy does not see the
                // keys that were replaced with their hashes, so their number is added to the error's
                // index.
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
