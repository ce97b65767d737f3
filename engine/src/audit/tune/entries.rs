//! The entries of a table whose filters are tried.

use filterblock::{FilterPolicy as _, KeyBuf, KeyHash, SharedPolicy};

use super::sample_keys::MAX_KEY;
use crate::audit::rates::{SplitMix, hash};

/// The maximum number of stored keys to make absent keys from.
const MAX_SEEDS: usize = 4096;

/// The entries of a table, or of a part of it.
pub(super) struct Entries {
    /// The offset of each data block, and the number of entries before it.
    pub(super) blocks: Vec<(u64, usize)>,
    /// The hashes of the keys, by policy. Empty for a policy that needs the keys.
    pub(super) hashes: Vec<Vec<KeyHash>>,
    /// The keys, if a policy needs them; otherwise empty.
    pub(super) keys: KeyBuf,
    /// The number of bytes of `keys`.
    pub(super) key_bytes: usize,
    pub(super) prints: Vec<u64>,
    /// Keys drawn evenly from all keys seen that are not too long, each with the next different key
    /// if it is known.
    pub(super) seeds: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// The index in `seeds` of the key added last; `None` if that key is not in `seeds`.
    pub(super) last_seed: Option<usize>,
    pub(super) first: Option<Vec<u8>>,
    pub(super) last: Vec<u8>,
}

impl Entries {
    pub(super) fn new(policies: usize) -> Self {
        Self {
            blocks: Vec::new(),
            hashes: vec![Vec::new(); policies],
            keys: KeyBuf::new(),
            key_bytes: 0,
            prints: Vec::new(),
            seeds: Vec::new(),
            last_seed: None,
            first: None,
            last: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, key: &[u8], policies: &[SharedPolicy], random: &mut SplitMix) {
        if !push_hashes(key, policies, &mut self.hashes) {
            self.keys.push(key);
            self.key_bytes = self.key_bytes.saturating_add(key.len());
        }
        self.prints.push(hash(key));
        self.first.get_or_insert_with(|| key.to_vec());
        if key.len() > MAX_KEY {
            self.last_seed = None;
        } else if self.prints.len() == 1 || self.last != key {
            // Versions of one key follow each other.
            if let Some((_, next)) = self.last_seed.take().and_then(|at| self.seeds.get_mut(at)) {
                *next = Some(key.to_vec());
            }
        }
        self.last.clear();
        self.last.extend_from_slice(key);
        if key.len() > MAX_KEY {
            return;
        }
        if self.seeds.len() < MAX_SEEDS {
            self.last_seed = Some(self.seeds.len());
            self.seeds.push((key.to_vec(), None));
            return;
        }
        let at = (random.next() % self.prints.len() as u64) as usize;
        if let Some(seed) = self.seeds.get_mut(at) {
            *seed = (key.to_vec(), None);
            self.last_seed = Some(at);
        }
    }

    pub(super) fn clear(&mut self) {
        let policies = self.hashes.len();
        *self = Self::new(policies);
    }

    /// The offset of the block that holds entry number `at`; `None` if there are no blocks.
    pub(super) fn block_of(&self, at: usize) -> Option<u64> {
        let after = self.blocks.partition_point(|(_, before)| *before <= at);
        self.blocks.get(after.checked_sub(1)?).map(|(offset, _)| *offset)
    }

    pub(super) fn holds_block(&self, offset: u64) -> bool {
        self.blocks.binary_search_by_key(&offset, |(offset, _)| *offset).is_ok()
    }
}

/// Adds the hash of `key` with each of the policies. Returns false if a policy has no hash, but needs the key. A policy
/// has hashes either for all keys or for none.
pub(super) fn push_hashes(key: &[u8], policies: &[SharedPolicy], hashes: &mut [Vec<KeyHash>]) -> bool {
    let mut all = true;
    for (hashes, policy) in hashes.iter_mut().zip(policies) {
        let hash = policy.hash_key(key);
        hashes.extend(hash);
        all &= hash.is_some();
    }
    all
}
