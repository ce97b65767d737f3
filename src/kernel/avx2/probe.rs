//! Probing filters.
//!
//! An array of up to 128 bytes is held in registers, from which permutations pick the words that
//! hold the bits. From a larger array, plain loads fetch the words of one key, six or eight at a
//! time, which takes less time than a gather. For many keys of one filter, a gather fetches a word
//! for each of eight keys. None of these ways branches on an individual bit.

use std::arch::x86_64::*;

use super::positions::{Positions, multiplier, shift};
use super::registers::{load, rotate_right_17, store_signs};
use crate::kernel::MAX_PROBES;

/// Returns `true` if a filter's array has 8 to 64 bytes.
#[inline]
pub(super) fn fits_two_registers(filter: &[u8]) -> bool {
    matches!(filter.len(), 9..=65)
}

/// Returns `true` if a filter's array has 65 bytes to 64 MiB.
#[inline]
pub(super) fn fits_gather(filter: &[u8]) -> bool {
    (66..=MAX_GATHERED + 1).contains(&filter.len())
}

/// Probes the filter of each probe for the hash with the same number.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn matches_each(
    probes: &[(&[u8], &[u8])],
    hashes: &[u32],
    answers: &mut [bool],
    mut other: impl FnMut(u32, &[u8]) -> bool,
) {
    // Filters of a block often have the same length, so the constants of the last length, which
    // cost a division, are kept for the next filter.
    let mut last = (8, Positions::new(8));
    for ((&(_, filter), &h), answer) in probes.iter().zip(hashes).zip(answers) {
        *answer = if let (34..=65, Some(&probes @ 2..=8)) = (filter.len(), filter.last()) {
            // The usual sizes, without a call.
            has_few_bits(probes, bits_held::<32>(filter, positions_held::<32>(filter).of(self::hashes(h))))
        } else if fits_two_registers(filter) {
            matches(h, filter)
        } else if let (130..=MAX_GATHERED, Some((&probes @ 2..=6, array))) =
            (filter.len(), filter.split_last())
        {
            if array.len() != last.0 {
                last = (array.len(), positions_of(array));
            }
            has_few_bits(probes, Scattered::new(array, last.1).bits_at::<6>(self::hashes(h)))
        } else if fits_gather(filter) {
            matches_larger(h, filter)
        } else {
            other(h, filter)
        };
    }
}

/// The largest array probed here, in bytes. Up to this size, positions of bits and offsets of bytes fit into 32
/// bits.
pub(super) const MAX_GATHERED: usize = 1 << 26;

/// Probes one filter, which has an array of 8 bytes to 64 MiB, for each hash.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn matches_all(filter: &[u8], hashes: &[u32], answers: &mut [bool]) {
    let Some((&probes, array)) = filter.split_last() else { return };
    // Above `MAX_PROBES`, every key matches.
    let probes = if probes > MAX_PROBES { 0 } else { probes };
    match array.len() {
        129.. => gather_all(probes, array, hashes, answers),
        65.. => hold_all::<64>(filter, probes, hashes, answers),
        33.. => hold_all::<32>(filter, probes, hashes, answers),
        17.. => hold_all::<16>(filter, probes, hashes, answers),
        _ => hold_all::<8>(filter, probes, hashes, answers),
    }
}

/// Handles arrays of HALF + 1 to 2 * HALF bytes and, with HALF = 8, also of 8 bytes. Other lengths give wrong
/// answers or panic.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn hold_all<const HALF: usize>(filter: &[u8], probes: u8, hashes: &[u32], answers: &mut [bool]) {
    let positions = positions_held::<HALF>(filter);
    have_bits(probes, hashes, answers, |h| bits_held::<HALF>(filter, positions.of(h)));
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn gather_all(probes: u8, array: &[u8], hashes: &[u32], answers: &mut [bool]) {
    assert!(array.len() >= 4);
    let positions = Positions::new(array.len());
    let last = _mm256_set1_epi32(array.len() as i32 - 4);
    have_bits(probes, hashes, answers, |h| {
        let position = positions.of(h);
        // Four bytes that contain the wanted bit: its byte and the next three, or the last four of
        // the array.
        let at = _mm256_min_epu32(_mm256_srli_epi32::<3>(position), last);
        // SAFETY: each offset is at most `last`, four less than the array's length, which is at least
        // four as asserted above. So the four bytes are within the array.
        let words = unsafe { _mm256_i32gather_epi32::<1>(array.as_ptr().cast(), at) };
        topmost(words, _mm256_sub_epi32(position, _mm256_slli_epi32::<3>(at)))
    });
}

/// Answers for many hashes, one in each lane. `bits_at` returns the bits of eight hashes as signs.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn have_bits(probes: u8, hashes: &[u32], answers: &mut [bool], bits_at: impl Fn(__m256i) -> __m256) {
    for (hashes, answers) in hashes.chunks(8).zip(answers.chunks_mut(8)) {
        let mut eight = [0; 8];
        let mut h = match hashes.first_chunk::<8>() {
            Some(hashes) => load(hashes),
            None => {
                eight.iter_mut().zip(hashes).for_each(|(to, h)| *to = *h);
                load(&eight)
            }
        };
        let delta = rotate_right_17(h);
        let mut signs = _mm256_set1_epi32(-1);
        for _ in 0..probes {
            signs = _mm256_and_si256(signs, _mm256_castps_si256(bits_at(h)));
            h = _mm256_add_epi32(h, delta);
        }
        if let Some(answers) = answers.first_chunk_mut::<8>() {
            store_signs(answers, signs);
        } else {
            let signs = _mm256_movemask_ps(_mm256_castsi256_ps(signs));
            answers.iter_mut().enumerate().for_each(|(index, answer)| *answer = signs >> index & 1 != 0);
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn lane_numbers() -> __m256i {
    _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
}

/// Returns `true` if `filter`, for which [`fits_two_registers`] has to be true, may have a key with the hash
/// `h`.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) fn matches(h: u32, filter: &[u8]) -> bool {
    let Some((&probes, array)) = filter.split_last() else { return false };
    if probes > MAX_PROBES {
        return true;
    }
    if probes == 1 {
        // A single division beats all that follows.
        let bit = h % (array.len() as u32 * 8);
        return array[(bit / 8) as usize] >> (bit % 8) & 1 != 0;
    }
    match array.len() {
        33.. => has_bits_held::<32>(filter, probes, h),
        17.. => has_bits_held::<16>(filter, probes, h),
        _ => has_bits_held::<8>(filter, probes, h),
    }
}

/// Returns `true` if `filter`, for which [`fits_gather`] has to be true, may have a key with the
/// hash `h`.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn matches_larger(h: u32, filter: &[u8]) -> bool {
    let Some((&probes, array)) = filter.split_last() else { return false };
    if probes > MAX_PROBES {
        return true;
    }
    // Each case is a function of its own: together they would share registers, and run short of
    // them.
    match array.len() {
        ..=128 => in_4_registers(filter, probes, h),
        129..=511 if probes <= 6 => gather6_small(array, probes, h),
        _ if probes <= 6 => gather6(array, probes, h),
        _ => gather8(array, probes, h),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn positions_of(array: &[u8]) -> Positions {
    if array.len() < 512 { Positions::of_small(array.len()) } else { Positions::new(array.len()) }
}

/// Handles arrays of 65 to 128 bytes.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn in_4_registers(filter: &[u8], probes: u8, h: u32) -> bool {
    has_bits_held::<64>(filter, probes, h)
}

/// Handles arrays of 8 to 511 bytes and up to six probes, as at ten bits per key.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn gather6_small(array: &[u8], probes: u8, h: u32) -> bool {
    let scattered = Scattered::new(array, Positions::of_small(array.len()));
    has_few_bits(probes, scattered.bits_at::<6>(hashes(h)))
}

/// Handles arrays of 8 bytes to 64 MiB, and up to six probes.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn gather6(array: &[u8], probes: u8, h: u32) -> bool {
    let scattered = Scattered::new(array, Positions::new(array.len()));
    has_few_bits(probes, scattered.bits_at::<6>(hashes(h)))
}

/// Handles arrays of 8 bytes to 64 MiB, and any number of probes.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn gather8(array: &[u8], probes: u8, h: u32) -> bool {
    let scattered = Scattered::new(array, Positions::new(array.len()));
    has_bits(h, probes, |h| scattered.bits_at::<8>(h))
}

/// Returns the hashes of the first eight probes: `h`, and seven that follow from it.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn hashes(h: u32) -> __m256i {
    let delta = _mm256_set1_epi32(h.rotate_right(17) as i32);
    _mm256_add_epi32(_mm256_set1_epi32(h as i32), _mm256_mullo_epi32(delta, lane_numbers()))
}

/// Returns `true` if all bits of a key are set. `bits_at` returns the bits of eight hashes as signs.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn has_bits(h: u32, probes: u8, bits_at: impl Fn(__m256i) -> __m256) -> bool {
    let delta = _mm256_set1_epi32(h.rotate_right(17) as i32);
    let mut h = hashes(h);
    let mut left = u32::from(probes);
    while left > 8 {
        if _mm256_movemask_ps(bits_at(h)) != 0xff {
            return false;
        }
        left -= 8;
        h = _mm256_add_epi32(h, _mm256_slli_epi32::<3>(delta));
    }
    has_few_bits(left as u8, bits_at(h))
}

/// Returns `true` if the first `count` of eight signs are set. This does not branch on the answer,
/// which would often be mispredicted.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn has_few_bits(count: u8, signs: __m256) -> bool {
    let unset = !_mm256_movemask_ps(signs);
    unset & ((1 << count) - 1) == 0
}

/// Precomputed constants for arrays of 8 to 128 bytes, indexed by the filter's length, which is one
/// byte more. An array is held in two parts: its first HALF bytes and its last HALF bytes. HALF is 8
/// for arrays of up to 16 bytes, 16 up to 32, 32 up to 64, and 64 beyond.
struct Lengths {
    multiplier: [u32; 130],
    bits: [u32; 130],
    /// The first bit of the last HALF bytes.
    beyond: [u32; 130],
}

static LENGTHS: Lengths = {
    let mut lengths = Lengths { multiplier: [0; 130], bits: [0; 130], beyond: [0; 130] };
    let mut len = 8;
    while len <= 128 {
        let half = if len > 64 {
            64
        } else if len > 32 {
            32
        } else if len > 16 {
            16
        } else {
            8
        };
        lengths.multiplier[len + 1] = multiplier(len, shift(half * 2));
        lengths.bits[len + 1] = len as u32 * 8;
        lengths.beyond[len + 1] = (len - half) as u32 * 8;
        len += 1;
    }
    lengths
};

/// Handles arrays of HALF + 1 to 2 * HALF bytes and, with HALF = 8, also of 8 bytes. Other lengths give wrong
/// answers or panic.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn has_bits_held<const HALF: usize>(filter: &[u8], probes: u8, h: u32) -> bool {
    let positions = positions_held::<HALF>(filter);
    has_bits(h, probes, |h| bits_held::<HALF>(filter, positions.of(h)))
}

/// Prepares for an array of HALF + 1 to 2 * HALF bytes or, with HALF = 8, also of 8 bytes.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn positions_held<const HALF: usize>(filter: &[u8]) -> Positions {
    let (multiplier, bits) = (LENGTHS.multiplier[filter.len()], LENGTHS.bits[filter.len()]);
    Positions::by(bits, multiplier, shift(HALF * 2))
}

/// Returns the bits of a filter at eight positions, as signs.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn bits_held<const HALF: usize>(filter: &[u8], position: __m256i) -> __m256 {
    let beyond = LENGTHS.beyond[filter.len()];
    let array = &filter[..filter.len() - 1];
    let (low, high) = (&array[..HALF], &array[array.len() - HALF..]);
    // Negative if `position` precedes `high`. As unsigned it is then huge, so the minimum keeps
    // `position`.
    let in_high = _mm256_sub_epi32(position, _mm256_set1_epi32(beyond as i32));
    let position = _mm256_min_epu32(position, in_high);
    let words = _mm256_blendv_ps(
        words_of::<HALF>(high, position),
        words_of::<HALF>(low, position),
        _mm256_castsi256_ps(in_high),
    );
    topmost(_mm256_castps_si256(words), position)
}

/// Returns the 32-bit words that hold the bits at eight positions in the first HALF bytes.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn words_of<const HALF: usize>(bytes: &[u8], position: __m256i) -> __m256 {
    let word = _mm256_srli_epi32::<5>(position);
    let pick = |words| _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(words, word));
    let bytes = bytes[..HALF].as_ptr();
    // SAFETY: the slice has HALF bytes, 64 in two registers. The loads need no alignment.
    unsafe {
        match HALF {
            64 => {
                let (first, second) =
                    (_mm256_loadu_si256(bytes.cast()), _mm256_loadu_si256(bytes.add(32).cast()));
                // Bit 8 of a position below 512 is the sign here.
                let in_second = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(position));
                _mm256_blendv_ps(pick(first), pick(second), in_second)
            }
            32 => pick(_mm256_loadu_si256(bytes.cast())),
            16 => pick(_mm256_castsi128_si256(_mm_loadu_si128(bytes.cast()))),
            _ => pick(_mm256_castsi128_si256(_mm_loadl_epi64(bytes.cast()))),
        }
    }
}

/// Shifts each word so that its bit at `position`, modulo 32, is the topmost: to the left by 31 minus that
/// number.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn topmost(words: __m256i, position: __m256i) -> __m256 {
    let left_by = _mm256_andnot_si256(position, _mm256_set1_epi32(31));
    _mm256_castsi256_ps(_mm256_sllv_epi32(words, left_by))
}

/// An array whose words are loaded one by one.
#[derive(Clone, Copy)]
struct Scattered<'a> {
    /// The array, 8 to [`MAX_GATHERED`] bytes.
    array: &'a [u8],
    positions: Positions,
    /// The offset of the last four bytes.
    last: __m256i,
}

impl<'a> Scattered<'a> {
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    fn new(array: &'a [u8], positions: Positions) -> Self {
        assert!(array.len() >= 4);
        Self { array, positions, last: _mm256_set1_epi32(array.len() as i32 - 4) }
    }

    /// Returns the bits at the positions of the first COUNT of eight hashes, as signs. COUNT is 6
    /// or 8.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    fn bits_at<const COUNT: usize>(self, h: __m256i) -> __m256 {
        let position = self.positions.of(h);
        // Four bytes that contain the wanted bit: its byte and the next three, or the last four of
        // the array.
        let at = _mm256_min_epu32(_mm256_srli_epi32::<3>(position), self.last);
        // SAFETY: each offset is at most `last`, four less than the array's length, which is at least
        // four as asserted above. So the four bytes are within the array.
        let word = |at: u32| unsafe { self.array.as_ptr().add(at as usize).cast::<i32>().read_unaligned() };
        let two = |at: i64| {
            let first = _mm_cvtsi32_si128(word(at as u32));
            _mm_insert_epi32::<1>(first, word((at >> 32) as u32))
        };
        let (low_at, high_at) = (_mm256_castsi256_si128(at), _mm256_extracti128_si256::<1>(at));
        let low = _mm_unpacklo_epi64(two(_mm_cvtsi128_si64(low_at)), two(_mm_extract_epi64::<1>(low_at)));
        let mut high = two(_mm_cvtsi128_si64(high_at));
        if COUNT > 6 {
            high = _mm_unpacklo_epi64(high, two(_mm_extract_epi64::<1>(high_at)));
        }
        let bit = _mm256_sub_epi32(position, _mm256_slli_epi32::<3>(at));
        topmost(_mm256_set_m128i(high, low), bit)
    }
}
