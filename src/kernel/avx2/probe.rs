//! Probing filters.

use std::arch::x86_64::*;

use super::positions::{Positions, multiplier, shift};
use super::registers::{load, rotate_right_17};
use crate::kernel::encoding::MAX_PROBES;

/// Returns `true` if a filter's array has 8 to 64 bytes.
#[inline]
pub(super) fn two_registers(filter: &[u8]) -> bool {
    matches!(filter.len(), 9..=65)
}

#[target_feature(enable = "avx2")]
pub(super) fn matches_each(
    probes: &[(&[u8], &[u8])],
    hashes: &[u32],
    answers: &mut [bool],
    mut other: impl FnMut(u32, &[u8]) -> bool,
) {
    for ((&(_, filter), &h), answer) in probes.iter().zip(hashes).zip(answers) {
        *answer = if two_registers(filter) { matches(h, filter) } else { other(h, filter) };
    }
}

/// The largest array, in bytes, for which positions of bits and offsets of bytes have 32 bits.
pub(super) const MAX_GATHERED: usize = 1 << 26;

#[target_feature(enable = "avx2")]
pub(super) fn matches_all(probes: u8, array: &[u8], hashes: &[[u32; 8]], answers: &mut [bool]) {
    assert!(array.len() >= 4);
    // Above `MAX_PROBES`, every key matches.
    let count = if probes > MAX_PROBES { 0 } else { probes };
    let positions = Positions::new(array.len());
    let last = _mm256_set1_epi32(array.len() as i32 - 4);
    for (hashes, answers) in hashes.iter().zip(answers.chunks_mut(8)) {
        let mut h = load(hashes);
        let delta = rotate_right_17(h);
        let mut bits = _mm256_set1_epi32(-1);
        for _ in 0..count {
            let position = positions.of(h);
            // Four bytes that contain the wanted bit: from its byte on, or the last four of the
            // array.
            let at = _mm256_min_epu32(_mm256_srli_epi32::<3>(position), last);
            // SAFETY: each offset is at most `last`, four less than the array's length, which is at
            // least four as asserted above. So the four bytes are within the array.
            let words = unsafe { _mm256_i32gather_epi32::<1>(array.as_ptr().cast(), at) };
            let shift = _mm256_sub_epi32(position, _mm256_slli_epi32::<3>(at));
            bits = _mm256_and_si256(bits, _mm256_srlv_epi32(words, shift));
            h = _mm256_add_epi32(h, delta);
        }
        let bits = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32::<31>(bits)));
        for (index, answer) in answers.iter_mut().enumerate() {
            *answer = bits >> index & 1 != 0;
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn lane_numbers() -> __m256i {
    _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
}

#[target_feature(enable = "avx2")]
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
        33.. => has_bits::<32>(filter, probes, h),
        17.. => has_bits::<16>(filter, probes, h),
        _ => has_bits::<8>(filter, probes, h),
    }
}

/// Precomputed constants for arrays of 8 to 64 bytes, indexed by the filter's length, which is one
/// more. Two registers cover an array: one has its first HALF bytes, the other its last. HALF is 8
/// for arrays of up to 16 bytes, 16 up to 32, and 32 beyond.
struct Lengths {
    multiplier: [u32; 66],
    bits: [u32; 66],
    /// The first bit of the last HALF bytes.
    beyond: [u32; 66],
}

static LENGTHS: Lengths = {
    let mut lengths = Lengths { multiplier: [0; 66], bits: [0; 66], beyond: [0; 66] };
    let mut len = 8;
    while len <= 64 {
        let half = if len > 32 {
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

/// Handles arrays of HALF + 1 to 2 * HALF bytes, and of 8 with HALF = 8. Other lengths panic.
#[target_feature(enable = "avx2")]
#[inline]
fn has_bits<const HALF: usize>(filter: &[u8], probes: u8, h: u32) -> bool {
    let (multiplier, bits) = (LENGTHS.multiplier[filter.len()], LENGTHS.bits[filter.len()]);
    let positions = Positions::by(bits, multiplier, shift(HALF * 2));
    let delta = _mm256_set1_epi32(h.rotate_right(17) as i32);
    let mut h = _mm256_add_epi32(_mm256_set1_epi32(h as i32), _mm256_mullo_epi32(delta, lane_numbers()));
    let mut left = u32::from(probes);
    while left > 8 {
        if _mm256_movemask_ps(bits_at::<HALF>(filter, positions.of(h))) != 0xff {
            return false;
        }
        left -= 8;
        h = _mm256_add_epi32(h, _mm256_slli_epi32::<3>(delta));
    }
    // Not a branch on the answer, which is often mispredicted.
    let unset = !_mm256_movemask_ps(bits_at::<HALF>(filter, positions.of(h)));
    unset & ((1 << left) - 1) == 0
}

/// Returns the bits of a filter at eight positions, as signs.
#[target_feature(enable = "avx2")]
#[inline]
fn bits_at<const HALF: usize>(filter: &[u8], position: __m256i) -> __m256 {
    let load = |bytes: &[u8]| {
        let bytes = bytes[..HALF].as_ptr();
        // SAFETY: the slice has HALF bytes. The loads need no alignment.
        unsafe {
            match HALF {
                32 => _mm256_loadu_si256(bytes.cast()),
                16 => _mm256_castsi128_si256(_mm_loadu_si128(bytes.cast())),
                _ => _mm256_castsi128_si256(_mm_loadl_epi64(bytes.cast())),
            }
        }
    };
    let beyond = LENGTHS.beyond[filter.len()];
    let array = &filter[..filter.len() - 1];
    let (low, high) = (load(array), load(&array[array.len() - HALF..]));
    // Negative if `position` precedes `high`. As unsigned it is then huge, so the minimum keeps
    // `position`.
    let in_high = _mm256_sub_epi32(position, _mm256_set1_epi32(beyond as i32));
    let position = _mm256_min_epu32(position, in_high);
    let word = _mm256_srli_epi32::<5>(position);
    let word_of = |half| _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(half, word));
    let words = _mm256_blendv_ps(word_of(high), word_of(low), _mm256_castsi256_ps(in_high));
    // The wanted bit of each word becomes its topmost: the word is shifted left by 31 less the
    // number of the bit.
    let left_by = _mm256_andnot_si256(position, _mm256_set1_epi32(31));
    _mm256_castsi256_ps(_mm256_sllv_epi32(_mm256_castps_si256(words), left_by))
}
