//! The entries of a table whose filters are tried.

use filterblock::{FilterPolicy as _, KeyHash, SharedPolicy};

use super::sample_keys::MAX_KEY;
use crate::audit::rates::{SplitMix, hash};
use crate::report::{ErrorKind, Fault};

/// A part of a table ends with the block that reaches this many entries: memory holds at most twice as many.
const PART_ENTRIES: usize = 4 << 20;
/// The stored keys to make absent keys from.
const MAX_SEEDS: usize = 4096;

#[derive(Default)]
pub(super) struct Entries {
    /// Each data block's offset, and the number of entries before it.
    pub(super) blocks: Vec<(u64, usize)>,
    /// Hashes of the keys, to make filters from.
    hashes: Vec<KeyHash>,
    /// Fingerprints of the keys, which tell whether a made key is stored.
    pub(super) prints: Vec<u64>,
    /// Drawn evenly from all keys that are not too long, each with the next different key if it is known.
    pub(super) seeds: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// Index in `seeds` of the key added last; `None` if it is not there.
    last_seed: Option<usize>,
    pub(super) first: Option<Vec<u8>>,
    pub(super) last: Vec<u8>,
}

impl Entries {
    /// Fails if more would be held than may be. The table is then left out.
    pub(super) fn add(
        &mut self,
        key: &[u8],
        policy: &SharedPolicy,
        random: &mut SplitMix,
    ) -> Result<(), Fault> {
        if self.prints.len() >= 2 * PART_ENTRIES {
            let text = "the entries of a data block are more than the limit on what is held";
            return Err(Fault::new(text, ErrorKind::Unsupported));
        }
        // Versions of one key follow each other.
        let is_version = !self.prints.is_empty() && self.last == key;
        self.hashes.extend(policy.hash_key(key));
        self.prints.push(hash(key));
        self.first.get_or_insert_with(|| key.to_vec());
        self.last.clear();
        self.last.extend_from_slice(key);
        if key.len() > MAX_KEY {
            self.last_seed = None;
            return Ok(());
        }
        if !is_version && let Some((_, next)) = self.last_seed.take().and_then(|at| self.seeds.get_mut(at)) {
            *next = Some(key.to_vec());
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

    /// True: try the filters of these entries before adding blocks.
    pub(super) const fn is_full(&self) -> bool {
        self.prints.len() >= PART_ENTRIES
    }

    /// The hashes of each data block, after its offset.
    pub(super) fn hashes_by_block(&self) -> impl Iterator<Item = (u64, &[KeyHash])> {
        let ends = self.blocks.iter().skip(1).map(|(_, before)| *before).chain([self.hashes.len()]);
        let of_block = |(&(offset, from), to)| (offset, self.hashes.get(from..to).unwrap_or_default());
        self.blocks.iter().zip(ends).map(of_block)
    }

    /// The offset of the data block of the entry with this number.
    pub(super) fn block_of(&self, at: usize) -> Option<u64> {
        let after = self.blocks.partition_point(|(_, before)| *before <= at);
        self.blocks.get(after.checked_sub(1)?).map(|(offset, _)| *offset)
    }

    pub(super) fn holds_block(&self, offset: u64) -> bool {
        self.blocks.binary_search_by_key(&offset, |(offset, _)| *offset).is_ok()
    }
}
