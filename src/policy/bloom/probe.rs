//! Asking LevelDB's Bloom filter: one key, or many at once.

use crate::hash::{self, BLOOM_SEED};
use crate::kernel;
use crate::key::SameLen;

/// How many filters are prefetched before the first is probed.
pub(crate) const PREFETCHED: usize = 128;

/// How many keys are hashed and asked side by side.
const GROUP: usize = 32;

/// Answers `probes` of (key, filter) by LevelDB's hash.
pub(in crate::policy) fn matches_many(probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
    // Nothing below may see more answers than probes.
    let len = probes.len().min(answers.len());
    for (probes, answers) in probes[..len].chunks(PREFETCHED).zip(answers[..len].chunks_mut(PREFETCHED)) {
        prefetch(probes);
        for (probes, answers) in probes.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            matches_group(probes, answers);
        }
    }
}

/// Prefetches the first and the last byte of each filter.
fn prefetch(probes: &[(&[u8], &[u8])]) {
    let ends = probes.iter().filter_map(|&(_, filter)| match filter {
        [first, .., last] => Some([first, last]),
        _ => None,
    });
    kernel::prefetch(ends.flatten());
}

/// Answers at most `GROUP` probes; both slices are equally long.
fn matches_group(probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
    debug_assert!(probes.len() == answers.len() && probes.len() <= GROUP, "{} probes", probes.len());
    let mut hashes = [0; GROUP];
    hash_group(probes, &mut hashes);
    kernel::matches_each(probes, hashes.as_chunks().0, answers);
}

#[inline]
fn hash_group(probes: &[(&[u8], &[u8])], hashes: &mut [u32; GROUP]) {
    let (hash_eights, _) = hashes.as_chunks_mut::<8>();
    for (probes, hashes) in probes.chunks(8).zip(hash_eights) {
        let eight = probes.first_chunk::<8>().and_then(|probes| SameLen::new(probes.map(|(key, _)| key)));
        match eight {
            Some(keys) => kernel::hash_eight(keys, BLOOM_SEED, hashes),
            None => probes.iter().zip(hashes).for_each(|((key, _), h)| *h = hash::leveldb(key, BLOOM_SEED)),
        }
    }
}
