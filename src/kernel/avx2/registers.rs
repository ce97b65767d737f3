//! Eight words of 32 bits at a time, between memory and registers.

use std::arch::x86_64::*;

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load(array: &[u32; 8]) -> __m256i {
    // SAFETY: the array has 32 bytes, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(array.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn store(array: &mut [u32; 8], words: __m256i) {
    // SAFETY: the array has room for 32 bytes, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(array.as_mut_ptr().cast(), words) }
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn rotate_right_17(h: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_srli_epi32::<17>(h), _mm256_slli_epi32::<15>(h))
}
