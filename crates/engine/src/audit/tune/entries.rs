//! The entries of a table whose filters are tried.

use filterblock::{FilterPolicy as _, KeyBuf, KeyHash, SharedPolicy};

use super::sample_keys::MAX_KEY;
use crate::audit::rates::{SplitMix, hash};
use crate::report::{ErrorKind, TuneFailure};

/// A part of a table ends with the block in which it reaches this number of entries. No more than twice as many entries
/// are held in memory.
const PART_ENTRIES: usize = 4 << 20;
/// If a policy needs the keys, a part ends, at the latest, with the block in which its keys reach this number of bytes.
/// No more than twice as many bytes are held here, and as many again in the builder of a filter block. The buffers of
/// these bytes may be twice as large, since they double as they grow.
const PART_KEY_BYTES: usize = 16 << 20;
/// The maximum number of bytes of keys to hold, as a multiple of the table's size: long keys may be stored in few
/// bytes.
const KEYS_PER_BYTE: u64 = 100;
/// A table of any size may have this number of bytes of keys held.
const LEAST_KEY_BYTES: usize = 1 << 20;
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
    /// The number of bytes of `keys`, and the maximum.
    key_bytes: usize,
    most_key_bytes: usize,
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
    /// No entries of a table of this size in bytes.
    pub(super) fn new(policies: usize, file_size: u64) -> Self {
        let in_proportion = usize::try_from(file_size.saturating_mul(KEYS_PER_BYTE)).unwrap_or(usize::MAX);
        Self::holding(policies, in_proportion.clamp(LEAST_KEY_BYTES, 2 * PART_KEY_BYTES))
    }

    fn holding(policies: usize, most_key_bytes: usize) -> Self {
        Self {
            blocks: Vec::new(),
            hashes: vec![Vec::new(); policies],
            keys: KeyBuf::new(),
            key_bytes: 0,
            most_key_bytes,
            prints: Vec::new(),
            seeds: Vec::new(),
            last_seed: None,
            first: None,
            last: Vec::new(),
        }
    }

    /// Adds an entry.
    ///
    /// # Errors
    ///
    /// If more would be held than may be. The table is then left out.
    pub(super) fn add(
        &mut self,
        key: &[u8],
        policies: &[SharedPolicy],
        random: &mut SplitMix,
    ) -> Result<(), TuneFailure> {
        if self.prints.len() >= 2 * PART_ENTRIES {
            return Err(over_limit("the entries of a data block are more than the limit on what is held"));
        }
        if !push_hashes(key, policies, &mut self.hashes) {
            self.key_bytes = self.key_bytes.saturating_add(key.len());
            if self.key_bytes > self.most_key_bytes {
                return Err(over_limit("the keys of a data block are larger than the limit on what is held"));
            }
            self.keys.push(key);
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
            return Ok(());
        }
        if self.seeds.len() < MAX_SEEDS {
            self.last_seed = Some(self.seeds.len());
            self.seeds.push((key.to_vec(), None));
            return Ok(());
        }
        let at = (random.next() % self.prints.len() as u64) as usize;
        if let Some(seed) = self.seeds.get_mut(at) {
            *seed = (key.to_vec(), None);
            self.last_seed = Some(at);
        }
        Ok(())
    }

    /// Returns true if the filters of these entries are to be tried before further blocks are added.
    pub(super) fn is_full(&self) -> bool {
        self.prints.len() >= PART_ENTRIES || self.key_bytes >= self.most_key_bytes / 2
    }

    pub(super) fn clear(&mut self) {
        *self = Self::holding(self.hashes.len(), self.most_key_bytes);
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

/// The failure of a table that exceeds a limit.
pub(super) fn over_limit(text: &str) -> TuneFailure {
    TuneFailure::new(text, ErrorKind::Unsupported)
}

/// Adds the hash of `key` with each of the policies, each of which has to have hashes for all keys or for none. Returns
/// false if a policy has no hash, but needs the key.
pub(super) fn push_hashes(key: &[u8], policies: &[SharedPolicy], hashes: &mut [Vec<KeyHash>]) -> bool {
    let mut all = true;
    for (hashes, policy) in hashes.iter_mut().zip(policies) {
        let hash = policy.hash_key(key);
        hashes.extend(hash);
        all &= hash.is_some();
    }
    all
}

#[cfg(test)]
mod tests {
    use filterblock::LegacyHash;

    use super::*;
    use crate::audit::policies::Policy;

    /// Adds keys of this length until they are refused, at most `most`. Returns the number of keys, and the reason.
    fn fill(policy: Policy, file_size: u64, key_len: usize, most: usize) -> (usize, Option<TuneFailure>) {
        let policies = [policy.with_bits(10)];
        let mut entries = Entries::new(policies.len(), file_size);
        let key = vec![b'k'; key_len];
        let refused = (0..most).find_map(|_| entries.add(&key, &policies, &mut SplitMix(1)).err());
        (entries.prints.len(), refused)
    }

    /// The blocks of one file may share keys of any length.
    #[test]
    fn keys_are_held_up_to_a_limit_within_a_block() {
        let of_keys = Policy::of("filterblock.Murmur3BloomFilter1", LegacyHash::Unsigned).unwrap();
        const LEN: usize = 64 << 10;
        for (file_size, most_bytes) in [(0, 1 << 20), (40_000, 4_000_000), (u64::MAX, 32 << 20)] {
            let (held, refused) = fill(of_keys, file_size, LEN, 1000);
            assert_eq!(held, most_bytes / LEN);
            let refused = refused.unwrap();
            assert_eq!(refused.kind, Some(ErrorKind::Unsupported));
            assert!(refused.text.contains("limit on what is held"), "{}", refused.text);
        }
        // Hashes take eight bytes, however long the keys are.
        assert_eq!(fill(Policy::Builtin2, 0, LEN, 1000), (1000, None));
    }

    #[test]
    fn a_part_ends_at_half_of_what_may_be_held() {
        let of_keys = Policy::of("filterblock.Murmur3BloomFilter1", LegacyHash::Unsigned).unwrap();
        let policies = [of_keys.with_bits(10)];
        let mut entries = Entries::new(policies.len(), 0);
        for parts in 0..3 {
            for at in 0..=(LEAST_KEY_BYTES / 2 / 1024) {
                assert_eq!(entries.is_full(), at == LEAST_KEY_BYTES / 2 / 1024, "{parts} {at}");
                entries.add(&[7; 1024], &policies, &mut SplitMix(1)).unwrap();
            }
            entries.clear();
        }
    }
}
