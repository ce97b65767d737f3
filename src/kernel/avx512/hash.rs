//! LevelDB's hash, sixteen keys at a time.

use std::arch::x86_64::*;

use super::registers::store_unaligned;
use crate::key::{FixedLenKeys, Places};

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
    let [a, b, c, d] = turn([a, b, c, d]);
    let h = step::<16>(h, a);
    let h = step::<16>(h, b);
    let h = step::<16>(h, c);
    step::<16>(h, d)
}

/// Turns rows into columns, one word of all keys each.
#[target_feature(enable = "avx512f")]
#[inline]
fn turn([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
    let (first, second) = (_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    let (ab, cd) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
    [first, second, _mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd)]
}

/// Reads four rows of sixteen keys, as [`hash_columns`] takes them.
///
/// # Safety
///
/// 16 bytes have to be readable at each pointer that `key` returns for 0 to 15.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn rows(key: impl Fn(usize) -> *const u8) -> [__m512i; 4] {
    // SAFETY: as the caller promises. The loads need no alignment.
    let load = |index| unsafe { _mm_loadu_si128(key(index).cast()) };
    let row = |index| {
        let row = _mm512_castsi128_si512(load(index));
        let row = _mm512_inserti32x4::<1>(row, load(index + 4));
        let row = _mm512_inserti32x4::<2>(row, load(index + 8));
        _mm512_inserti32x4::<3>(row, load(index + 12))
    };
    [row(0), row(1), row(2), row(3)]
}

/// Hashes sixteen keys of any lengths. Words beyond the end of a key are left out by masks.
#[target_feature(enable = "avx512f")]
pub(super) fn hash_places(keys: &Places<'_, 16>, seed: u32) -> [u32; 16] {
    let (first, starts) = (keys.bytes().as_ptr(), keys.starts());
    // SAFETY: the array has 64 bytes, and the load needs no alignment.
    let lens = unsafe { _mm512_loadu_si512(keys.lens().as_ptr().cast()) };
    let words = _mm512_srli_epi32::<2>(lens);
    let factor = _mm512_set1_epi32(M);
    let mut h = _mm512_xor_si512(_mm512_set1_epi32(seed as i32), _mm512_mullo_epi32(lens, factor));
    let mut rest = _mm512_setzero_si512();
    let mut number = _mm512_setzero_si512();
    let mut at = 0;
    while at < keys.longest() {
        // SAFETY: `at` is a multiple of 16 below `longest`, which is one, too, and as many bytes are
        // readable from each start on.
        let rows = unsafe { rows(|index| first.wrapping_add(starts[index] + at)) };
        for column in turn(rows) {
            let next = _mm512_mullo_epi32(_mm512_add_epi32(h, column), factor);
            let has_it = _mm512_cmplt_epu32_mask(number, words);
            h = _mm512_mask_xor_epi32(h, has_it, next, _mm512_srli_epi32::<16>(next));
            rest = _mm512_mask_mov_epi32(rest, _mm512_cmpeq_epi32_mask(number, words), column);
            number = _mm512_add_epi32(number, _mm512_set1_epi32(1));
        }
        at += 16;
    }
    let count = _mm512_and_si512(lens, _mm512_set1_epi32(3));
    // A shift by 32, of a key without last bytes, leaves nothing.
    let bits = _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_slli_epi32::<3>(count));
    let rest = _mm512_and_si512(rest, _mm512_srlv_epi32(_mm512_set1_epi32(-1), bits));
    let next = _mm512_mullo_epi32(_mm512_add_epi32(h, rest), factor);
    let has_rest = _mm512_test_epi32_mask(count, count);
    let h = _mm512_mask_xor_epi32(h, has_rest, next, _mm512_srli_epi32::<24>(next));
    let mut hashes = [0; 16];
    // SAFETY: the array has 64 bytes.
    unsafe { store_unaligned(hashes.as_mut_ptr(), h) };
    hashes
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
    // Every fourth key by a pointer, and those between by their distances, which takes less registers
    // than sixteen pointers.
    let mut fourths = [key(0), key(4), key(8), key(12)];
    while at + 16 <= len {
        // SAFETY: `at + 16` is at most `len`, so 16 bytes can be read from `at` on.
        let [a, b, c, d] = unsafe { rows(|index| fourths[index / 4].wrapping_add(index % 4 * stride)) };
        h = hash_columns(h, a, b, c, d);
        at += 16;
        fourths = fourths.map(|key| key.wrapping_add(16));
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
