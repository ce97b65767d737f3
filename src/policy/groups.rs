//! Lookups of many keys, for policies without kernels of their own.

use crate::kernel;

/// The number of keys that are hashed before the first is looked up.
const GROUP: usize = 32;

/// Answers `probes` of (key, filter) by the hash of each key.
///
/// First the filters of a group are prefetched, then its keys are hashed, then they are looked up.
/// Where a lookup ends is often mispredicted. By then all hashes are done, so that none has to be
/// begun anew.
#[inline]
pub(super) fn in_groups<H: Copy>(
    probes: &[(&[u8], &[u8])],
    answers: &mut [bool],
    hash: impl Fn(&[u8]) -> H,
    matches: impl Fn(H, &[u8]) -> bool,
) {
    let unused = hash(&[]);
    for (probes, answers) in probes.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
        let ends = probes.iter().filter_map(|(_, filter)| Some([filter.first()?, filter.last()?]));
        kernel::prefetch(ends.flatten());
        let mut hashes = [unused; GROUP];
        for (slot, (key, _)) in hashes.iter_mut().zip(probes) {
            *slot = hash(key);
        }
        for ((answer, hash), (_, filter)) in answers.iter_mut().zip(hashes).zip(probes) {
            *answer = matches(hash, filter);
        }
    }
}
