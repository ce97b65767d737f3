//! Asking LevelDB's Bloom filter: one key, or many at once.

use super::bloom_format::MAX_PROBES;
use super::modulus::Modulus;
use crate::hash::{self, BLOOM_SEED, hash8};
use crate::keys::Alike;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use crate::simd::Avx2;

/// How many filters are prefetched before the first is probed.
pub(crate) const BATCH: usize = 128;

/// So many keys are asked side by side.
const GROUP: usize = 32;

/// Positions are 32-bit hashes modulo the number of bits, so of longer arrays only this much is used.
const MAX_LEN: u64 = 1 << 29;

/// The bits of a filter that a key has to have.
///
/// `bits` is eight times the number of bytes, so `h % bits` is in byte `(h >> 3) % bytes` and is its bit `h & 7`.
#[derive(Clone, Copy)]
struct Bits<'a> {
    /// At least one byte.
    array: &'a [u8],
    /// By the number of bytes that are used.
    modulus: Modulus,
}

impl Bits<'_> {
    /// Returns the byte that holds the bit of `h`, rotated so that it is bit 0. The other bits are garbage.
    #[inline(always)]
    fn one(self, h: u32) -> u8 {
        self.array[self.modulus.of(h >> 3)].rotate_right(h)
    }

    /// Whether three bits are set.
    ///
    /// Each is with a probability of about a half. To branch on each would be to guess wrong often, which costs more than to look.
    #[inline(always)]
    fn three(self, h: u32, delta: u32) -> bool {
        let [second, third] = [h.wrapping_add(delta), h.wrapping_add(delta.wrapping_mul(2))];
        self.one(h) & self.one(second) & self.one(third) & 1 != 0
    }

    /// Whether `count` bits are set.
    #[inline(always)]
    fn all(self, mut h: u32, delta: u32, count: u8) -> bool {
        for _ in 0..count / 3 {
            if !self.three(h, delta) {
                return false;
            }
            h = h.wrapping_add(delta.wrapping_mul(3));
        }
        (0..u32::from(count % 3)).all(|i| self.one(h.wrapping_add(delta.wrapping_mul(i))) & 1 != 0)
    }
}

/// Whether `filter` has all bits of a key with the hash `h`.
#[inline]
pub(super) fn matches(h: u32, filter: &[u8]) -> bool {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if let Some(answer) = Avx2::detect().and_then(|avx2| avx2.matches(h, filter)) {
        return answer;
    }
    matches_portable(h, filter)
}

// Not inlined: its register spills would otherwise land in the path with AVX2 as well.
#[cfg_attr(all(feature = "simd", target_arch = "x86_64"), inline(never))]
#[cfg_attr(not(all(feature = "simd", target_arch = "x86_64")), inline)]
fn matches_portable(h: u32, filter: &[u8]) -> bool {
    has_bits(h, filter, |len| Modulus::of_small(len.min(MAX_LEN)))
}

/// Whether `filter` has all bits of a key with the hash `h`, with the modulus for an array of so many bytes from `modulus`.
#[inline(always)]
fn has_bits(h: u32, filter: &[u8], modulus: impl FnOnce(u64) -> Modulus) -> bool {
    let Some((&probes, array)) = filter.split_last() else { return false };
    if array.is_empty() {
        return false;
    }
    if probes > MAX_PROBES {
        return true;
    }
    if probes == 1
        && let Ok(bits) = u32::try_from(array.len() as u64 * 8)
    {
        // A single division is quicker than all that follows.
        let bit = h % bits;
        return array[(bit / 8) as usize] >> (bit % 8) & 1 != 0;
    }
    let bits = Bits { array, modulus: modulus(array.len() as u64) };
    let delta = h.rotate_right(17);
    match probes {
        // Ten bits a key, as nearly everyone has it, and five, without counting.
        6 => bits.all(h, delta, 6),
        3 => bits.three(h, delta),
        _ => bits.all(h, delta, probes),
    }
}

/// Answers `probes` of (key, filter) by LevelDB's hash.
pub(super) fn matches_many(probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
    // Nothing below may see more answers than probes.
    let len = probes.len().min(answers.len());
    for (probes, answers) in probes[..len].chunks(BATCH).zip(answers[..len].chunks_mut(BATCH)) {
        fetch(probes);
        for (probes, answers) in probes.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            matches_group(probes, answers);
        }
    }
}

/// Has the memory bring the first and the last byte of each filter, all at once.
fn fetch(probes: &[(&[u8], &[u8])]) {
    let ends = probes.iter().filter_map(|&(_, filter)| match filter {
        [first, .., last] => Some([first, last]),
        _ => None,
    });
    crate::fetch::fetch(ends.flatten());
}

/// Answers at most `GROUP` probes; both slices are equally long.
fn matches_group(probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
    debug_assert!(probes.len() == answers.len() && probes.len() <= GROUP, "{} probes", probes.len());
    let mut hashes = [0; GROUP];
    hash_group(probes, &mut hashes);
    let mut modulus = LastModulus::default();
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if let Some(avx2) = Avx2::detect() {
        if let Some(filter) = same_filter(probes)
            && avx2.matches_all(filter, hashes.as_chunks().0, answers)
        {
            return;
        }
        return avx2.matches_each(probes, &hashes, answers, |h, filter| modulus.matches(h, filter));
    }
    for ((&(_, filter), &h), answer) in probes.iter().zip(&hashes).zip(answers) {
        *answer = modulus.matches(h, filter);
    }
}

/// The filter of all `probes` if it is the same, as where a table has one filter.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
#[inline]
fn same_filter<'a>(probes: &[(&[u8], &'a [u8])]) -> Option<&'a [u8]> {
    let (&(_, filter), rest) = probes.split_first()?;
    rest.iter().all(|(_, other)| std::ptr::eq(*other, filter)).then_some(filter)
}

/// The modulus of the array asked last: many are equally long, as those of one block often are, so that one division does for all of them.
#[derive(Default)]
struct LastModulus(Option<(u64, Modulus)>);

impl LastModulus {
    /// Whether `filter` has all bits of a key with the hash `h`.
    #[inline(always)]
    fn matches(&mut self, h: u32, filter: &[u8]) -> bool {
        has_bits(h, filter, |len| match self.0 {
            Some((last, modulus)) if last == len => modulus,
            _ => {
                let modulus = Modulus::new(len.min(MAX_LEN));
                self.0 = Some((len, modulus));
                modulus
            }
        })
    }
}

#[inline]
fn hash_group(probes: &[(&[u8], &[u8])], hashes: &mut [u32; GROUP]) {
    let (hash_eights, _) = hashes.as_chunks_mut::<8>();
    for (probes, hashes) in probes.chunks(8).zip(hash_eights) {
        let eight = probes.first_chunk::<8>().and_then(|probes| Alike::new(probes.map(|(key, _)| key)));
        match eight {
            Some(keys) => hash8(keys, BLOOM_SEED, hashes),
            None => probes.iter().zip(hashes).for_each(|((key, _), h)| *h = hash::leveldb(key, BLOOM_SEED)),
        }
    }
}
