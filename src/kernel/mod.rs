//! The hot loops: LevelDB's hash over several keys, and the bits of its Bloom filters.
//!
//! Each function with kernels chooses at run time between the kernel for the CPU at hand and the
//! portable code. Both give the same result.

mod any_len;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod avx2;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod avx512;
pub mod level;
mod modulus;
mod portable;
mod prefetch;
#[cfg(test)]
mod tests;

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use std::ops::Range;

use crate::lanes::{EqualLenKeys, FixedLenKeys};

pub(crate) use any_len::{AnyLenKeys, copies_short_keys, copy_short, hash_any_len};
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use avx2::Avx2;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use avx512::Avx512;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use level::Chosen;
pub(crate) use modulus::Modulus;
pub(crate) use prefetch::{prefetch, prefetch_probes};

/// The largest k. Larger values are reserved for other encodings: every key may match a filter with such a k.
pub(crate) const MAX_PROBES: u8 = 30;

/// Hashes eight keys of the same length side by side with LevelDB's hash. Each step of a hash waits
/// for the one before it, so eight hashes at once take little longer than one.
#[inline]
pub(crate) fn hash_eight(keys: EqualLenKeys<'_, 8>, seed: u32, hashes: &mut [u32; 8]) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if let Some(avx2) = avx2() {
        return avx2.hash_eight(keys, crate::hash::start(keys.len(), seed), hashes);
    }
    portable::hash_eight(keys, seed, hashes);
}

/// Hashes the keys of eight (key, filter) pairs side by side if all have the same length. Returns
/// `false` otherwise.
#[inline]
pub(crate) fn hash_eight_of(probes: &[(&[u8], &[u8]); 8], seed: u32, hashes: &mut [u32; 8]) -> bool {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if let Some(avx2) = avx2() {
        return avx2.hash_eight_of(probes, |len| crate::hash::start(len, seed), hashes);
    }
    let keys = EqualLenKeys::new(probes.map(|(key, _)| key));
    keys.inspect(|keys| portable::hash_eight(*keys, seed, hashes)).is_some()
}

/// Hashes keys of the same length side by side, as [`hash_eight`] does. `hashes` has room for as
/// many hashes as there are keys, rounded up to a multiple of eight.
#[inline]
pub(crate) fn hash_fixed_len(keys: FixedLenKeys<'_>, seed: u32, hashes: &mut [[u32; 8]]) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    {
        let start = crate::hash::start(keys.key_len(), seed);
        match level::chosen() {
            Chosen::Portable => {}
            Chosen::Avx2(avx2) => return avx2.hash_fixed_len(keys, start, hashes),
            Chosen::Avx512(avx512) => {
                let done = avx512.hash_eights(keys, start, hashes);
                let rest = keys.part(done, keys.count() - done);
                return avx512.avx2().hash_fixed_len(rest, start, &mut hashes[done / 8..]);
            }
        }
    }
    portable::hash_fixed_len(keys, seed, hashes);
}

/// Sets the bits of the keys with the first `count` of these hashes, at least one. `area` has a
/// byte for each bit, and its length is a multiple of eight, 8 to 2^29. The other hashes may be
/// overwritten.
#[inline]
pub(crate) fn set_spread(area: &mut [u8], probes: u8, hashes: &mut [u32; 64], count: usize) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if let Some(avx2) = avx2() {
        // The last hash pads the others to whole groups of sixteen: setting its bits again changes
        // nothing.
        let last = hashes[count - 1];
        let whole = count.next_multiple_of(16);
        hashes[count..whole].fill(last);
        let all_of_last = count.wrapping_sub(1) % 16 >= 8;
        if let Chosen::Avx512(avx512) = level::chosen()
            && avx512.set_spread(area, probes, &hashes.as_chunks().0[..count.div_ceil(16)], all_of_last)
        {
            return;
        }
        if avx2.set_spread(area, probes, &hashes.as_chunks().0[..count.div_ceil(8)]) {
            return;
        }
    }
    portable::set_spread(area, probes, &hashes[..count]);
}

/// Sets the bits of the keys with these hashes in an array of bits, 1 to 2^29 bytes.
pub(crate) fn set_packed(array: &mut [u8], probes: u8, hashes: &[u32]) {
    portable::set_packed(array, probes, hashes);
}

/// Packs the bytes of `area`, which are 0 or 1 and a multiple of eight in number, into bits at its start.
pub(crate) fn pack(area: &mut [u8]) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    let done = match level::chosen() {
        Chosen::Portable => 0,
        Chosen::Avx2(avx2) => avx2.pack(area),
        Chosen::Avx512(avx512) => avx512.pack(area),
    };
    #[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
    let done = 0;
    portable::pack(area, done);
}

/// Returns `true` if `filter` may have a key with the hash `h`.
// Inlined: a second call would add half a nanosecond.
#[inline(always)]
pub(crate) fn matches(h: u32, filter: &[u8]) -> bool {
    matches_or(h, filter, portable::matches)
}

/// Like [`matches()`], but for a key whose hash has just been made. The portable code is inlined here, where few
/// registers are in use.
#[inline(always)]
pub(crate) fn matches_key(h: u32, filter: &[u8]) -> bool {
    matches_or(h, filter, portable::matches_inlined)
}

#[inline(always)]
fn matches_or(h: u32, filter: &[u8], portable: impl FnOnce(u32, &[u8]) -> bool) -> bool {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    {
        let answer = match level::chosen() {
            Chosen::Avx512(avx512) => avx512.matches(h, filter),
            Chosen::Avx2(avx2) => avx2.matches(h, filter),
            Chosen::Portable => None,
        };
        if let Some(answer) = answer {
            return answer;
        }
    }
    portable(h, filter)
}

/// Answers (key, filter) pairs, given the hash of each key. There have to be as many answers and hashes as
/// pairs.
#[inline]
pub(crate) fn matches_each(probes: &[(&[u8], &[u8])], hashes: &[u32], answers: &mut [bool]) {
    let mut modulus = portable::LastModulus::default();
    let mut portable = |h, filter: &_| modulus.matches(h, filter);
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    {
        let chosen = level::chosen();
        if let Some(avx2) = avx2()
            && !has_runs(probes)
        {
            // The size of the first filter hints at the sizes of the others.
            if let Chosen::Avx512(avx512) = chosen
                && probes.first().is_some_and(|(_, filter)| Avx512::fits(filter))
            {
                let other = |h, filter: &_| matches(h, filter);
                return avx512.matches_each(probes, hashes, answers, other);
            }
            return avx2.matches_each(probes, hashes, answers, portable);
        }
        if !matches!(chosen, Chosen::Portable) {
            return runs(probes, |run, filter| {
                matches_all(&hashes[run.clone()], filter, &mut answers[run]);
            });
        }
    }
    for ((&(_, filter), &h), answer) in probes.iter().zip(hashes).zip(answers) {
        *answer = portable(h, filter);
    }
}

/// Answers for each of these hashes whether `filter` may have its key. There have to be as many answers as hashes.
#[inline]
pub(crate) fn matches_all(hashes: &[u32], filter: &[u8], answers: &mut [bool]) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if answers.len() >= MIN_RUN
        && match level::chosen() {
            Chosen::Avx512(avx512) => avx512.matches_all(filter, hashes, answers),
            Chosen::Avx2(avx2) => avx2.matches_all(filter, hashes, answers),
            Chosen::Portable => false,
        }
    {
        return;
    }
    for (&h, answer) in hashes.iter().zip(answers) {
        *answer = matches(h, filter);
    }
}

/// The smallest number of neighbouring probes of one filter that are answered together.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
const MIN_RUN: usize = 3;

/// Calls `each` with every run of neighbours that have the same filter.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
#[inline]
fn runs<'a>(probes: &[(&[u8], &'a [u8])], mut each: impl FnMut(Range<usize>, &'a [u8])) {
    let mut from = 0;
    while let Some((_, filter)) = probes.get(from) {
        let is_same = |(_, next): &&(&[u8], &[u8])| std::ptr::eq(*next, *filter);
        let end = from + 1 + probes[from + 1..].iter().take_while(is_same).count();
        each(from..end, filter);
        from = end;
    }
}

/// Looks at three of the probes, and returns `true` if at least two of them have the filter of the
/// probe before. That is usual if keys are looked up in ascending order. The answers do not depend
/// on this.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
#[inline]
fn has_runs(probes: &[(&[u8], &[u8])]) -> bool {
    let Some(last) = probes.len().checked_sub(1).filter(|last| *last > 0) else { return false };
    let is_same = |at: usize| std::ptr::eq(probes[at - 1].1, probes[at].1);
    [1, last.div_ceil(2), last].into_iter().filter(|at| is_same(*at)).count() >= 2
}

/// Returns the kernels for AVX2 if this level or a higher one is in use.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
#[inline]
fn avx2() -> Option<Avx2> {
    match level::chosen() {
        Chosen::Portable => None,
        Chosen::Avx2(avx2) => Some(avx2),
        Chosen::Avx512(avx512) => Some(avx512.avx2()),
    }
}
