//! The hot loops: LevelDB's hash over several keys, and the bits of its Bloom filters.
//!
//! Each function here chooses, at run time, between the portable code and kernels for what the processor has.
//! Either way the result is the same.

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod avx2;
mod encoding;
mod modulus;
mod portable;
mod prefetch;

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use avx2::Avx2;

use crate::key::{FixedLenKeys, SameLen};

pub(crate) use encoding::MAX_PROBES;
pub(crate) use prefetch::prefetch;

/// Hashes eight keys of one length side by side by LevelDB's hash. Each step of a hash waits for the
/// one before it, so eight at once take little longer than one.
#[inline]
pub(crate) fn hash_eight(keys: SameLen<'_, 8>, seed: u32, hashes: &mut [u32; 8]) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if let Some(avx2) = Avx2::detect() {
        return avx2.hash_eight(keys, crate::hash::start(keys.len(), seed), hashes);
    }
    portable::hash_eight(keys, seed, hashes);
}

/// Hashes keys of one length side by side, as [`hash_eight`]. `hashes` has room for whole eights.
#[inline]
pub(crate) fn hash_fixed_len(keys: FixedLenKeys<'_>, seed: u32, hashes: &mut [[u32; 8]]) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if let Some(avx2) = Avx2::detect() {
        return avx2.hash_fixed_len(keys, crate::hash::start(keys.key_len(), seed), hashes);
    }
    portable::hash_fixed_len(keys, seed, hashes);
}

/// Sets the bits of keys with the first `count` of these hashes, at least one, in `area`, which has a
/// byte for each bit: whole eights, 8 to 2^29 bytes. The other hashes may be written over.
#[inline]
pub(crate) fn set_spread<const N: usize>(area: &mut [u8], probes: u8, hashes: &mut [u32; N], count: usize) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if let Some(avx2) = Avx2::detect() {
        const { assert!(N.is_multiple_of(8)) };
        // Whole eights: setting the bits of the last hash again changes nothing.
        let whole = count.next_multiple_of(8);
        let last = hashes[count - 1];
        hashes[count..whole].fill(last);
        return avx2.set_spread(area, probes, hashes[..whole].as_chunks().0);
    }
    portable::set_spread(area, probes, &hashes[..count]);
}

/// Sets the bits of keys with these hashes in an array of bits, 1 to 2^29 bytes.
pub(crate) fn set_packed(array: &mut [u8], probes: u8, hashes: &[u32]) {
    portable::set_packed(array, probes, hashes);
}

/// Packs the bytes of `area`, each 0 or 1 and whole eights of them, into bits at its start.
pub(crate) fn pack(area: &mut [u8]) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    let done = Avx2::detect().map_or(0, |avx2| avx2.pack(area));
    #[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
    let done = 0;
    portable::pack(area, done);
}

/// Whether `filter` has all bits of a key with the hash `h`.
#[inline]
pub(crate) fn matches(h: u32, filter: &[u8]) -> bool {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if let Some(answer) = Avx2::detect().and_then(|avx2| avx2.matches(h, filter)) {
        return answer;
    }
    portable::matches(h, filter)
}

/// Answers probes of (key, filter), given the hash of each key. There are as many answers as probes,
/// and no fewer hashes: whole eights.
#[inline]
pub(crate) fn matches_each(probes: &[(&[u8], &[u8])], hashes: &[[u32; 8]], answers: &mut [bool]) {
    let mut modulus = portable::LastModulus::default();
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if let Some(avx2) = Avx2::detect() {
        if let Some(filter) = same_filter(probes)
            && avx2.matches_all(filter, hashes, answers)
        {
            return;
        }
        let hashes = hashes.as_flattened();
        return avx2.matches_each(probes, hashes, answers, |h, filter| modulus.matches(h, filter));
    }
    for ((&(_, filter), &h), answer) in probes.iter().zip(hashes.as_flattened()).zip(answers) {
        *answer = modulus.matches(h, filter);
    }
}

/// Returns the filter of all `probes` if it is the same, as in a table with a single filter.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
#[inline]
fn same_filter<'a>(probes: &[(&[u8], &'a [u8])]) -> Option<&'a [u8]> {
    let (&(_, filter), rest) = probes.split_first()?;
    rest.iter().all(|(_, other)| std::ptr::eq(*other, filter)).then_some(filter)
}
