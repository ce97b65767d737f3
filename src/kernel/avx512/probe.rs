//! Probing filters.
//!
//! An array of up to [`MAX_HELD`] bytes is held in registers, from which the words that hold the
//! bits are picked without a branch. Gathering them from larger arrays, eight words of 64 bits at
//! once, took 2.4 times as long on a Zen 4 as the gather of AVX2.

use std::arch::x86_64::*;

use super::registers::{madd52hi, madd52lo};
use crate::kernel::MAX_PROBES;

/// The smallest array that a builder makes, in bytes. In smaller arrays, the portable code looks up
/// individual hashes.
const MIN_HELD: usize = 8;

/// The largest array that fits into registers, in bytes.
pub(super) const MAX_HELD: usize = 4 * 64;

/// The lower half of each lane.
const LOW_HALVES: __mmask16 = 0x5555;

/// Computes positions of eight hashes at once: remainders by the number of bits, as the fractional
/// part of the quotient, times the number of bits.
///
/// This is exact for up to 2^20 bits: see the module `positions`, which computes the same to build filters.
/// Here each hash has a lane of 64 bits, and reciprocals come from a table.
#[derive(Clone, Copy)]
struct Positions {
    reciprocal: __m512i,
    bits: __m512i,
    /// The position of bit 0.
    first: __m512i,
}

impl Positions {
    /// Prepares for an array of `len` bytes, 1 to [`MAX_HELD`].
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn new(len: usize, first: usize) -> Self {
        Self {
            reciprocal: _mm512_set1_epi64(RECIPROCALS[len] as i64),
            bits: _mm512_set1_epi64(len as i64 * 8),
            first: _mm512_set1_epi64(first as i64),
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn of(self, h: __m512i) -> __m512i {
        let fraction = madd52lo(_mm512_setzero_si512(), h, self.reciprocal);
        madd52hi(self.first, fraction, self.bits)
    }
}

/// The reciprocals of the numbers of bits, indexed by the length of the array.
static RECIPROCALS: [u64; MAX_HELD + 1] = {
    let mut reciprocals = [0; MAX_HELD + 1];
    let mut len = 1;
    while len <= MAX_HELD {
        reciprocals[len] = (1u64 << 52).div_ceil(len as u64 * 8);
        len += 1;
    }
    reciprocals
};

/// An array of `64 * N - 63` to `64 * N` bytes, seen as N registers.
///
/// A load touches all cache lines that its 64 bytes reach, even for bytes that the mask leaves out. If the
/// array is in N cache lines, these are loaded as they are. If it reaches into one more, then so do N loads
/// that begin at its start. In neither case is another cache line touched.
#[derive(Clone, Copy)]
struct Lines<'a, const N: usize> {
    array: &'a [u8],
    /// The start of the array in the first register.
    first: usize,
}

impl<'a, const N: usize> Lines<'a, N> {
    #[inline]
    fn new(array: &'a [u8]) -> Self {
        let len = array.len();
        assert!(len > 64 * (N - 1) && len <= 64 * N);
        let in_line = array.as_ptr().addr() % 64;
        Self { array, first: if in_line + len <= 64 * N { in_line } else { 0 } }
    }

    /// Returns the positions of bits in the registers.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn positions(self) -> Positions {
        Positions::new(self.array.len(), self.first * 8)
    }

    /// Loads register `number`, which is below N, with zeros for all bytes outside the array.
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
    #[inline]
    fn load(self, number: usize) -> __m512i {
        let mut mask = !0;
        if number == 0 {
            mask = !0 << self.first;
        }
        if number == N - 1 {
            mask &= !0 >> (64 * N - (self.first + self.array.len()));
        }
        let register = self.array.as_ptr().wrapping_sub(self.first).wrapping_add(64 * number);
        // SAFETY: only bytes in the mask are read. Those of the first register begin at `first`, which is
        // where the array begins; those of the last one precede the array's end, which is in that register,
        // since its length is above `64 * (N - 1)`. So all are in the array.
        unsafe { _mm512_maskz_loadu_epi8(mask, register.cast()) }
    }
}

/// Returns the words of N registers that are chosen by the lower bits of `index`.
#[target_feature(enable = "avx512f")]
#[inline]
fn words<const N: usize>(register: impl Fn(usize) -> __m512i, index: __m512i) -> __m512i {
    if N == 1 {
        return _mm512_permutexvar_epi64(index, register(0));
    }
    // The lower three bits of an index choose a word of a register, and the fourth bit one of two registers.
    let low = _mm512_permutex2var_epi64(register(0), index, register(1));
    if N == 2 {
        return low;
    }
    let is_high = _mm512_test_epi64_mask(index, _mm512_set1_epi64(16));
    if N == 3 {
        return _mm512_mask_permutexvar_epi64(low, is_high, index, register(2));
    }
    let high = _mm512_permutex2var_epi64(register(2), index, register(3));
    _mm512_mask_mov_epi64(low, is_high, high)
}

/// Returns a mask of the hashes whose bit is set. Each hash is in the lower half of a lane.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn set<const N: usize>(register: impl Fn(usize) -> __m512i, positions: Positions, h: __m512i) -> __mmask8 {
    let position = positions.of(h);
    let words = words::<N>(register, _mm512_srli_epi64::<6>(position));
    // A rotation takes its count modulo 64, so that this is the wanted bit of each word.
    _mm512_test_epi64_mask(words, _mm512_rolv_epi64(_mm512_set1_epi64(1), position))
}

/// Returns `true` if all bits of a key are set. Each lane has the hash of one probe of the key.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi1,bmi2")]
#[inline]
fn has_bits<const N: usize>(array: &[u8], probes: u8, h: u32) -> bool {
    let lines = Lines::<N>::new(array);
    let positions = lines.positions();
    let delta = _mm512_set1_epi64(h.rotate_right(17).into());
    let mut h = hashes(h);
    let mut left = probes;
    while left > 8 {
        if set::<N>(|number| lines.load(number), positions, h) != !0 {
            return false;
        }
        h = _mm512_maskz_add_epi32(LOW_HALVES, h, _mm512_slli_epi64::<3>(delta));
        left -= 8;
    }
    has_lanes(left, set::<N>(|number| lines.load(number), positions, h))
}

/// Like [`has_bits`], but for up to eight probes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi1,bmi2")]
#[inline]
fn has_few_bits<const N: usize>(array: &[u8], probes: u8, h: u32) -> bool {
    let lines = Lines::<N>::new(array);
    has_lanes(probes, set::<N>(|number| lines.load(number), lines.positions(), hashes(h)))
}

/// Returns the hashes of the first eight probes: `h`, and seven that follow from it, each in the
/// lower half of a lane.
#[target_feature(enable = "avx512f")]
#[inline]
fn hashes(h: u32) -> __m512i {
    let delta = _mm512_set1_epi64(h.rotate_right(17).into());
    let by = _mm512_mul_epu32(delta, _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
    _mm512_maskz_add_epi32(LOW_HALVES, _mm512_set1_epi64(h.into()), by)
}

/// Returns `true` if the first `count` lanes are in the mask. This does not branch on the answer,
/// which would often be mispredicted.
#[target_feature(enable = "bmi2")]
#[inline]
fn has_lanes(count: u8, mask: __mmask8) -> bool {
    u32::from(!mask) & ((1 << count) - 1) == 0
}

/// Answers for one array and many hashes, one in each lane.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi1,bmi2")]
#[inline(never)]
fn has_bits_of_each<const N: usize>(array: &[u8], probes: u8, hashes: &[u32], answers: &mut [bool]) {
    let lines = Lines::<N>::new(array);
    let positions = lines.positions();
    let mut registers = [_mm512_setzero_si512(); N];
    for (number, register) in registers.iter_mut().enumerate() {
        *register = lines.load(number);
    }
    for (hashes, answers) in hashes.chunks(8).zip(answers.chunks_mut(8)) {
        let asked = !0 >> (8 - hashes.len().min(answers.len()));
        // SAFETY: the mask has no more lanes than there are hashes.
        let h = unsafe { _mm256_maskz_loadu_epi32(asked, hashes.as_ptr().cast()) };
        let delta = _mm512_cvtepu32_epi64(_mm256_ror_epi32::<17>(h));
        let mut h = _mm512_cvtepu32_epi64(h);
        let mut all_set = !0;
        for _ in 0..probes {
            all_set &= set::<N>(|number| registers[number], positions, h);
            h = _mm512_maskz_add_epi32(LOW_HALVES, h, delta);
        }
        let bools = _mm_maskz_set1_epi8(all_set.into(), 1);
        // SAFETY: the mask has no more lanes than there are answers, and each byte is 0 or 1.
        unsafe { _mm_mask_storeu_epi8(answers.as_mut_ptr().cast(), asked.into(), bools) };
    }
}

/// Returns `true` if a filter's array has [`MIN_HELD`] to [`MAX_HELD`] bytes.
#[inline]
pub(super) fn fits(filter: &[u8]) -> bool {
    (MIN_HELD + 1..=MAX_HELD + 1).contains(&filter.len())
}

/// Returns `true` if `filter`, which has to [fit](fits), may have a key with the hash `h`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi1,bmi2")]
#[inline]
pub(super) fn matches(h: u32, filter: &[u8]) -> bool {
    let Some((&probes, array)) = filter.split_last() else { return false };
    if probes > MAX_PROBES {
        return true;
    }
    match array.len() {
        193.. => has_bits::<4>(array, probes, h),
        129.. => has_bits::<3>(array, probes, h),
        65.. => has_bits::<2>(array, probes, h),
        _ => has_bits::<1>(array, probes, h),
    }
}

/// Probes one filter, whose array has 1 to [`MAX_HELD`] bytes, for each hash.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi1,bmi2")]
pub(super) fn matches_all(filter: &[u8], hashes: &[u32], answers: &mut [bool]) {
    let Some((&probes, array)) = filter.split_last() else { return };
    // Above `MAX_PROBES`, every key matches.
    let probes = if probes > MAX_PROBES { 0 } else { probes };
    match array.len() {
        1..=64 => has_bits_of_each::<1>(array, probes, hashes, answers),
        65..=128 => has_bits_of_each::<2>(array, probes, hashes, answers),
        129..=192 => has_bits_of_each::<3>(array, probes, hashes, answers),
        193..=MAX_HELD => has_bits_of_each::<4>(array, probes, hashes, answers),
        // The callers exclude all other lengths.
        _ => {}
    }
}

/// Probes the filter of each probe for the hash with the same number. `other` probes the filters that do not
/// [fit](fits).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi1,bmi2")]
pub(super) fn matches_each(
    probes: &[(&[u8], &[u8])],
    hashes: &[u32],
    answers: &mut [bool],
    mut other: impl FnMut(u32, &[u8]) -> bool,
) {
    for ((&(_, filter), &h), answer) in probes.iter().zip(hashes).zip(answers) {
        *answer = match filter.split_last() {
            _ if !fits(filter) => other(h, filter),
            // The usual lengths of arrays and numbers of probes, without a call.
            Some((&probes @ ..=8, array)) if array.len() <= 64 => has_few_bits::<1>(array, probes, h),
            Some((&probes @ ..=8, array)) if array.len() > 192 => has_few_bits::<4>(array, probes, h),
            _ => matches(h, filter),
        };
    }
}
