//! Lookups in LevelDB's Bloom filter, of one key or of many together.

use super::array::BATCH;
use crate::hash::{self, BLOOM_SEED};
use crate::kernel;
use crate::policy::KeyHash;

/// The number of filters that are prefetched before the first of them is probed.
pub(crate) const PREFETCHED: usize = 128;

/// The number of keys that are hashed and looked up side by side.
const GROUP: usize = 32;

/// Answers (key, filter) pairs, with LevelDB's hash of each key.
pub(in crate::policy) fn matches_many(probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
    // The code below must not see more answers than probes.
    let len = probes.len().min(answers.len());
    for (probes, answers) in probes[..len].chunks(PREFETCHED).zip(answers[..len].chunks_mut(PREFETCHED)) {
        kernel::prefetch_probes(probes);
        for (probes, answers) in probes.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            matches_group(probes, answers);
        }
    }
}

/// Answers for many hashes whether one filter may have their keys. `of`: LevelDB's hash in a policy's hash.
pub(in crate::policy) fn matches_hashes(
    hashes: &[KeyHash],
    filter: &[u8],
    answers: &mut [bool],
    of: impl Fn(KeyHash) -> u32,
) {
    for (hashes, answers) in hashes.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
        let mut some = [0; BATCH];
        let len = hashes.len().min(answers.len());
        some.iter_mut().zip(hashes).for_each(|(h, &hash)| *h = of(hash));
        kernel::matches_all(&some[..len], filter, &mut answers[..len]);
    }
}

/// Answers at most `GROUP` probes. Both slices have to be equally long.
fn matches_group(probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
    debug_assert!(probes.len() == answers.len() && probes.len() <= GROUP, "{} probes", probes.len());
    let mut hashes = [0; GROUP];
    hash_group(probes, &mut hashes);
    kernel::matches_each(probes, &hashes[..probes.len()], answers);
}

#[inline]
fn hash_group(probes: &[(&[u8], &[u8])], hashes: &mut [u32; GROUP]) {
    let (hash_eights, _) = hashes.as_chunks_mut::<8>();
    for (probes, hashes) in probes.chunks(8).zip(hash_eights) {
        let eight = probes.first_chunk::<8>();
        if !eight.is_some_and(|probes| kernel::hash_eight_of(probes, BLOOM_SEED, hashes)) {
            probes.iter().zip(hashes).for_each(|((key, _), h)| *h = hash::leveldb(key, BLOOM_SEED));
        }
    }
}
