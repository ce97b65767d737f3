//! Probing filters.
//!
//! An array of up to [`MAX_HELD`] bytes is held in registers, from which the words that hold the
//! bits are picked without a branch. Gathering them from larger arrays, eight words of 64 bits at
//! once, took 2.4 times as long on a Zen 4 as the gather of AVX2.

use std::arch::x86_64::*;

use super::registers::{madd52hi, madd52lo};
use crate::kernel::encoding::MAX_PROBES;

/// The largest array that fits into registers, in bytes.
pub(super) const MAX_HELD: usize = 4 * 64;

/// The number of neighbouring probes of one filter from which on they are answered together.
const MIN_RUN: usize = 3;

/// The lower half of each lane.
const LOW_HALVES: __mmask16 = 0x5555;

/// Computes positions of eight hashes at once: remainders by the number of bits, as the fractional
/// part of the quotient, times the number of bits.
///
/// This is exact for up to 2^20 bits, as `positions` argues for building. Here each hash has a lane
/// of 64 bits, and reciprocals come from a table.
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

/// The reciprocals of the numbers of bits, by the length of the array.
static RECIPROCALS: [u64; MAX_HELD + 1] = {
    let mut reciprocals = [0; MAX_HELD + 1];
    let mut len = 1;
    while len <= MAX_HELD {
        reciprocals[len] = (1u64 << 52).div_ceil(len as u64 * 8);
        len += 1;
    }
    reciprocals
};

/// An array of `64 * N - 63` to `64 * N` bytes, in registers.
#[derive(Clone, Copy)]
struct Held<const N: usize> {
    registers: [__m512i; N],
    positions: Positions,
}

impl<const N: usize> Held<N> {
    /// Loads an array of `64 * N - 63` to `64 * N` bytes.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn load(array: &[u8]) -> Self {
        let len = array.len();
        assert!(len > 64 * (N - 1) && len <= 64 * N);
        // A load touches all cache lines that its 64 bytes reach, also for bytes that the mask leaves
        // out. Where the array lies in N lines, they are loaded as they are. Where it reaches into one
        // more, then so do N loads from its start on. In neither case is another line touched.
        let in_line = array.as_ptr().addr() % 64;
        let first = if in_line + len <= 64 * N { in_line } else { 0 };
        let end = first + len;
        let start = array.as_ptr().wrapping_sub(first);
        let mut registers = [_mm512_setzero_si512(); N];
        for (number, register) in registers.iter_mut().enumerate() {
            let mut mask = !0;
            if number == 0 {
                mask = !0 << first;
            }
            if number == N - 1 {
                mask &= !0 >> (64 * N - end);
            }
            // SAFETY: only bytes in the mask are read. The first register's are from `first` on, which
            // is where the array begins; the last one's precede `end`, where it ends, which is in that
            // register, as `len` is asserted to be above `64 * (N - 1)`. So all are in the array.
            *register = unsafe { _mm512_maskz_loadu_epi8(mask, start.wrapping_add(64 * number).cast()) };
        }
        Self { registers, positions: Positions::new(len, first * 8) }
    }

    /// Returns a mask of the hashes whose bit is set. Each is in the lower half of a lane.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn set(self, h: __m512i) -> __mmask8 {
        let position = self.positions.of(h);
        let index = _mm512_srli_epi64::<6>(position);
        let registers = &self.registers;
        // The lower three bits of an index choose a word of a register, the fourth one of two.
        let words = match N {
            1 => _mm512_permutexvar_epi64(index, registers[0]),
            2 => _mm512_permutex2var_epi64(registers[0], index, registers[1]),
            _ => {
                let low = _mm512_permutex2var_epi64(registers[0], index, registers[1]);
                let is_high = _mm512_test_epi64_mask(index, _mm512_set1_epi64(16));
                if N == 3 {
                    _mm512_mask_permutexvar_epi64(low, is_high, index, registers[2])
                } else {
                    let high = _mm512_permutex2var_epi64(registers[2], index, registers[N - 1]);
                    _mm512_mask_mov_epi64(low, is_high, high)
                }
            }
        };
        // A rotation takes its count modulo 64, so that this is the wanted bit of each word.
        _mm512_test_epi64_mask(words, _mm512_rolv_epi64(_mm512_set1_epi64(1), position))
    }
}

/// Returns `true` if all bits of a key are set: each lane has one of its probes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn has_bits<const N: usize>(array: Held<N>, probes: u8, h: u32) -> bool {
    let delta = _mm512_set1_epi64(h.rotate_right(17).into());
    let by = _mm512_mul_epu32(delta, _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
    let mut h = _mm512_maskz_add_epi32(LOW_HALVES, _mm512_set1_epi64(h.into()), by);
    let mut left = probes;
    while left > 8 {
        if array.set(h) != !0 {
            return false;
        }
        h = _mm512_maskz_add_epi32(LOW_HALVES, h, _mm512_slli_epi64::<3>(delta));
        left -= 8;
    }
    let unset = !array.set(h);
    u32::from(unset) & ((1 << left) - 1) == 0
}

/// Answers for one array and many hashes: each lane has a key.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn has_bits_of_each<const N: usize>(array: Held<N>, probes: u8, hashes: &[u32], answers: &mut [bool]) {
    for (hashes, answers) in hashes.chunks(8).zip(answers.chunks_mut(8)) {
        let asked = !0 >> (8 - hashes.len().min(answers.len()));
        // SAFETY: the mask has no more lanes than there are hashes.
        let h = unsafe { _mm256_maskz_loadu_epi32(asked, hashes.as_ptr().cast()) };
        let delta = _mm512_cvtepu32_epi64(_mm256_ror_epi32::<17>(h));
        let mut h = _mm512_cvtepu32_epi64(h);
        let mut set = !0;
        for _ in 0..probes {
            set &= array.set(h);
            h = _mm512_maskz_add_epi32(LOW_HALVES, h, delta);
        }
        let bools = _mm_maskz_set1_epi8(set.into(), 1);
        // SAFETY: the mask has no more lanes than there are answers, and each byte is 0 or 1.
        unsafe { _mm_mask_storeu_epi8(answers.as_mut_ptr().cast(), asked.into(), bools) };
    }
}

/// Calls `$call` with the array in the form that suits its length, or else runs `$other`.
macro_rules! with_array {
    ($array:expr, $call:expr, $other:expr) => {
        match $array.len() {
            1..=64 => $call(Held::<1>::load($array)),
            65..=128 => $call(Held::<2>::load($array)),
            129..=192 => $call(Held::<3>::load($array)),
            193..=MAX_HELD => $call(Held::<4>::load($array)),
            _ => $other,
        }
    };
}

/// Returns `true` if `filter` may have a key with the hash `h`, or asks `other` if its array has
/// no byte or more than [`MAX_HELD`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
pub(super) fn matches(h: u32, filter: &[u8], other: impl FnOnce(u32, &[u8]) -> bool) -> bool {
    let Some((&probes, array)) = filter.split_last() else { return false };
    if probes > MAX_PROBES {
        return !array.is_empty();
    }
    with_array!(array, |array| has_bits(array, probes, h), other(h, filter))
}

/// Probes the filter of each probe for the hash with the same number, by `one` unless several
/// neighbours have the same filter.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
pub(super) fn matches_each(
    probes: &[(&[u8], &[u8])],
    hashes: &[u32],
    answers: &mut [bool],
    mut one: impl FnMut(u32, &[u8]) -> bool,
) {
    let count = probes.len().min(hashes.len()).min(answers.len());
    let mut from = 0;
    while from < count {
        let (_, filter) = probes[from];
        let is_same = |(_, next): &&(&[u8], &[u8])| std::ptr::eq(*next, filter);
        let run = 1 + probes[from + 1..count].iter().take_while(is_same).count();
        let (hashes, answers) = (&hashes[from..from + run], &mut answers[from..from + run]);
        if run < MIN_RUN || !matches_all(filter, hashes, answers) {
            for (&h, answer) in hashes.iter().zip(answers) {
                *answer = one(h, filter);
            }
        }
        from += run;
    }
}

/// Probes one filter for each hash. Returns `false`, and gives no answer, unless its array has 1 to
/// [`MAX_HELD`] bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn matches_all(filter: &[u8], hashes: &[u32], answers: &mut [bool]) -> bool {
    let Some((&probes, array)) = filter.split_last() else { return false };
    // Above `MAX_PROBES`, every key matches.
    let probes = if probes > MAX_PROBES { 0 } else { probes };
    with_array!(array, |array| has_bits_of_each(array, probes, hashes, answers), return false);
    true
}
