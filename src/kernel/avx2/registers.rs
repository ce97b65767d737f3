//! Loads and stores of eight 32-bit words, and a rotation of each.

use std::arch::x86_64::*;

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) fn load(array: &[u32; 8]) -> __m256i {
    // SAFETY: the array has 32 bytes, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(array.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) fn store(array: &mut [u32; 8], words: __m256i) {
    // SAFETY: the array has room for 32 bytes, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(array.as_mut_ptr().cast(), words) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) fn rotate_right_17(h: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_srli_epi32::<17>(h), _mm256_slli_epi32::<15>(h))
}

/// Stores `true` for each word whose sign is set.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) fn store_signs(answers: &mut [bool; 8], words: __m256i) {
    let ones = _mm256_srli_epi32::<31>(words);
    let (low, high) = (_mm256_castsi256_si128(ones), _mm256_extracti128_si256::<1>(ones));
    let ones = _mm_packs_epi32(low, high);
    // SAFETY: the array has room for eight bytes, each of which is 0 or 1.
    unsafe { _mm_storel_epi64(answers.as_mut_ptr().cast(), _mm_packs_epi16(ones, ones)) }
}
