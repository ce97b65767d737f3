//! Copying short keys of several lengths.

use std::arch::x86_64::*;

/// Copies `key`, at most 64 bytes, to the start of `room`, and fills the rest with zeros. No branch
/// depends on the length.
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
#[inline]
pub(super) fn copy_short(key: &[u8], room: &mut [u8; 64]) {
    debug_assert!(key.len() <= room.len(), "a key of {} bytes", key.len());
    // As many of the lowest bits are set as the key has bytes: all bits for a key of 64 bytes or more.
    let mask = u64::MAX.checked_shr(64_u32.saturating_sub(key.len() as u32)).unwrap_or(0);
    // SAFETY: bytes that the mask leaves out are not read, and all others belong to the key. The
    // load needs no alignment.
    let bytes = unsafe { _mm512_maskz_loadu_epi8(mask, key.as_ptr().cast()) };
    // SAFETY: there is room for 64 bytes, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), bytes) };
}
