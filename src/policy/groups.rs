//! Hashes and lookups of many keys together, for policies without kernels of their own.

use crate::Keys;
use crate::kernel::{self, Modulus};
use crate::lanes::EqualLenKeys;

/// The number of keys that are hashed before the first is looked up.
const GROUP: usize = 32;

/// Answers (key, filter) pairs by the hash of each key, with N neighbours of the same length hashed
/// side by side.
///
/// First the filters of a group are prefetched, then its keys are hashed, then the keys are looked
/// up. The branch at which a lookup ends is often mispredicted. By then all keys of the group are
/// hashed, so that a misprediction does not throw away a hash in progress.
#[inline]
pub(super) fn in_groups<H: Copy, const N: usize>(
    probes: &[(&[u8], &[u8])],
    answers: &mut [bool],
    one: impl Fn(&[u8]) -> H,
    several: impl Fn(EqualLenKeys<'_, N>) -> [H; N],
    mut matches: impl FnMut(H, &[u8]) -> bool,
) {
    let unused = one(&[]);
    for (probes, answers) in probes.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
        kernel::prefetch_probes(probes);
        let mut hashes = [unused; GROUP];
        for (probes, hashes) in probes.chunks(N).zip(hashes.chunks_mut(N)) {
            let same_len =
                probes.first_chunk().and_then(|probes| EqualLenKeys::new(probes.map(|(key, _)| key)));
            match (same_len, hashes.first_chunk_mut()) {
                (Some(keys), Some(hashes)) => *hashes = several(keys),
                _ => probes.iter().zip(hashes).for_each(|((key, _), hash)| *hash = one(key)),
            }
        }
        for ((answer, hash), (_, filter)) in answers.iter_mut().zip(hashes).zip(probes) {
            *answer = matches(hash, filter);
        }
    }
}

/// The number of keys that are hashed before the bits of the first are set.
const BATCH: usize = 16;

/// Yields the hashes of `keys`, with N neighbours of the same length hashed side by side.
#[inline]
pub(super) fn hashes<'a, H: Copy, const N: usize>(
    keys: Keys<'a>,
    one: impl Fn(&[u8]) -> H,
    several: impl Fn(EqualLenKeys<'_, N>) -> [H; N],
) -> impl Iterator<Item = H> {
    let unused = one(&[]);
    (0..keys.len()).step_by(BATCH).flat_map(move |from| {
        let mut hashes = [unused; BATCH];
        let count = BATCH.min(keys.len().saturating_sub(from));
        for (at, hashes) in (from..).step_by(N).zip(hashes.chunks_mut(N)).take(count.div_ceil(N)) {
            match (keys.same_len::<N>(at), hashes.first_chunk_mut::<N>()) {
                (Some(keys), Some(hashes)) => *hashes = several(keys),
                _ => keys.iter().skip(at).zip(hashes).for_each(|(key, hash)| *hash = one(key)),
            }
        }
        hashes.into_iter().take(count)
    })
}

/// The modulus of the filter queried last. The next filter is often the same one, or of the same
/// size.
pub(super) struct LastModulus(Modulus);

impl Default for LastModulus {
    fn default() -> Self {
        Self(Modulus::of_small(1))
    }
}

impl LastModulus {
    /// Returns the modulus prepared for `divisor`, 1 to 2^32.
    #[inline]
    pub(super) fn by(&mut self, divisor: u64) -> Modulus {
        if self.0.divisor() != divisor {
            self.0 = Modulus::of_small(divisor);
        }
        self.0
    }
}
