//! Copying short keys of several lengths.

use std::arch::x86_64::*;

/// Copies `key`, 4 to 64 bytes, to the start of `room`, and may change the rest of `room`. No
/// branch depends on the length.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) fn copy_short(key: &[u8], room: &mut [u8; 64]) {
    assert!((4..=64).contains(&key.len()));
    let words = _mm256_set1_epi32((key.len() / 4) as i32);
    let (from, to) = (key.as_ptr(), room.as_mut_ptr());
    let first = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for half in 0..2 {
        let number = _mm256_add_epi32(first, _mm256_set1_epi32(half * 8));
        let mask = _mm256_cmpgt_epi32(words, number);
        let at = half as usize * 32;
        // SAFETY: words that the mask leaves out are not read, and all others belong to the key.
        let part = unsafe { _mm256_maskload_epi32(from.wrapping_add(at).cast(), mask) };
        // SAFETY: `at` is 0 or 32, and there is room for 64 bytes. The store needs no alignment.
        unsafe { _mm256_storeu_si256(to.add(at).cast(), part) };
    }
    let last = key.len() - 4;
    // SAFETY: the key has at least four bytes, and the room is no shorter than the key.
    unsafe { to.add(last).cast::<u32>().write_unaligned(from.add(last).cast::<u32>().read_unaligned()) };
}
