//! LevelDB's hash, sixteen keys at a time.

use std::arch::x86_64::*;

use super::registers::store_unaligned;
use crate::key::FixedLenKeys;

const M: i32 = 0xc6a4_a793_u32 as i32;

#[target_feature(enable = "avx512f")]
#[inline]
fn step<const SHIFT: u32>(h: __m512i, words: __m512i) -> __m512i {
    let h = _mm512_mullo_epi32(_mm512_add_epi32(h, words), _mm512_set1_epi32(M));
    _mm512_xor_si512(h, _mm512_srli_epi32::<SHIFT>(h))
}

/// Hashes as many keys as come in sixteens, and returns their number.
#[target_feature(enable = "avx512f")]
pub(super) fn hash_sixteens(keys: FixedLenKeys<'_>, start: u32, hashes: &mut [[u32; 8]]) -> usize {
    let (bytes, stride, len) = (keys.bytes(), keys.stride(), keys.key_len());
    let (whole, _) = hashes.as_flattened_mut().as_chunks_mut::<16>();
    let whole = &mut whole[..keys.count() / 16];
    assert!(len <= stride && bytes.len() == stride * keys.count());
    let mut first = bytes.as_ptr();
    for hashes in &mut *whole {
        // SAFETY: sixteen keys, `stride` bytes apart and none longer, begin here, as asserted above.
        let h = unsafe {
            if stride == 16 && len == 16 {
                hash_words(first, start)
            } else {
                hash_at(first, stride, len, start)
            }
        };
        // SAFETY: the array has 64 bytes.
        unsafe { store_unaligned(hashes.as_mut_ptr(), h) };
        first = first.wrapping_add(16 * stride);
    }
    whole.len() * 16
}

/// Hashes sixteen keys of 16 bytes that lie end to end.
///
/// # Safety
///
/// 256 bytes have to be readable at `first`.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn hash_words(first: *const u8, start: u32) -> __m512i {
    // SAFETY: `index` is 0 to 3, so the 64 bytes are within the 256. The load needs no alignment.
    let load = |index: usize| unsafe { _mm512_loadu_si512(first.add(index * 64).cast()) };
    let h = hash_columns(_mm512_set1_epi32(start as i32), load(0), load(1), load(2), load(3));
    // Each row has four neighbours, so that the first column has keys 0, 4, 8, 12, the second 1, 5,
    // and so on.
    let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_permutexvar_epi32(order, h)
}

/// Hashes four words of sixteen keys. Each of the rows has four keys, and each fourth of it the
/// words of one.
#[target_feature(enable = "avx512f")]
#[inline]
fn hash_columns(h: __m512i, a: __m512i, b: __m512i, c: __m512i, d: __m512i) -> __m512i {
    // The unpacking turns rows into columns, one word of all keys each.
    let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
    let h = step::<16>(h, _mm512_unpacklo_epi64(ab, cd));
    let h = step::<16>(h, _mm512_unpackhi_epi64(ab, cd));
    let (ab, cd) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
    let h = step::<16>(h, _mm512_unpacklo_epi64(ab, cd));
    step::<16>(h, _mm512_unpackhi_epi64(ab, cd))
}

/// # Safety
///
/// `len` bytes have to be readable at `first` and at the next fifteen places `stride` bytes apart.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn hash_at(first: *const u8, stride: usize, len: usize, start: u32) -> __m512i {
    let key = |index: usize| first.wrapping_add(index * stride);
    let mut h = _mm512_set1_epi32(start as i32);
    let mut at = 0;
    while at + 16 <= len {
        // SAFETY: `at + 16` is at most `len`, so 16 bytes can be read from `at` on. The loads need
        // no alignment.
        let load = |index| unsafe { _mm_loadu_si128(key(index).add(at).cast()) };
        let row = |index| {
            let row = _mm512_castsi128_si512(load(index));
            let row = _mm512_inserti32x4::<1>(row, load(index + 4));
            let row = _mm512_inserti32x4::<2>(row, load(index + 8));
            _mm512_inserti32x4::<3>(row, load(index + 12))
        };
        h = hash_columns(h, row(0), row(1), row(2), row(3));
        at += 16;
    }
    while at + 4 <= len {
        // SAFETY: `at + 4` is at most `len`, so 4 bytes can be read from `at` on. The loads need no
        // alignment.
        let word = |index| unsafe { key(index).add(at).cast::<u32>().read_unaligned() };
        h = step::<16>(h, columns(word));
        at += 4;
    }
    if at < len {
        // Little-endian, with zeros above the last bytes.
        // SAFETY: `at` is below `len`, and `len` bytes can be read.
        let byte = |index: usize, at: usize| u32::from(unsafe { key(index).add(at).read() });
        let rest = |index| (at..len).rev().fold(0, |rest, at| rest << 8 | byte(index, at));
        h = step::<24>(h, columns(rest));
    }
    h
}

#[target_feature(enable = "avx512f")]
#[inline]
fn columns(word: impl Fn(usize) -> u32) -> __m512i {
    let words: [u32; 16] = std::array::from_fn(word);
    // SAFETY: the array has 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}
