//! Kernels for x86-64 with AVX2, chosen at run time. The portable code gives the same results and is their oracle.
//!
//! The only module with `unsafe`, for two reasons: functions compiled for AVX2 may only be called
//! where there is AVX2, of which [`Avx2`] is the proof; and its loads and stores take pointers.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::keys::Alike;

/// Exists only where the processor has AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

/// What `hash % bits` takes for arrays of up to 2^29 / 8 bytes: `h / bits` is `(h >> 3) / bytes`, which is
/// `(h >> 3) * multiplier >> shift`, exact for 29 bits.
#[derive(Clone, Copy)]
pub(crate) struct Reciprocal {
    multiplier: u32,
    shift: u32,
    bits: u32,
}

impl Reciprocal {
    /// For an array of `len` bytes, 1 to 2^26.
    pub(crate) const fn new(len: usize) -> Self {
        let shift = 29 + len.next_power_of_two().trailing_zeros();
        Self { multiplier: (1u64 << shift).div_ceil(len as u64) as u32, shift, bits: len as u32 * 8 }
    }
}

impl Avx2 {
    /// `None` if the processor lacks AVX2. Costs the load of a flag.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    /// Hashes eight keys of equal length side by side. `start` is the hash of no word.
    #[inline]
    pub(crate) fn hash8(self, keys: Alike<'_, 8>, start: u32, hashes: &mut [u32; 8]) {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { hash8(keys, start, hashes) }
    }

    /// The positions of the bits of eight keys from bit number `from` on: a row for the first one of each key, one for the second.
    #[inline]
    pub(crate) fn positions8(self, by: Reciprocal, hashes: &[u32; 8], from: u8, positions: &mut [[u32; 8]]) {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { positions8(by.multiplier, by.shift, by.bits, hashes, from, positions) }
    }

    /// Packs bytes of which each is 0 or 1 into bits, 32 bytes at a time; returns how many bytes it has written.
    #[inline]
    pub(crate) fn pack(self, area: &mut [u8]) -> usize {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { pack(area) }
    }
}

/// Starts to fetch the cache line of a byte, and does not wait for it.
#[inline(always)]
pub(crate) fn prefetch(byte: &u8) {
    // SAFETY: every x86-64 processor has SSE, and a prefetch of any address has no effect but on speed.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) }
}

const M: i32 = 0xc6a4_a793_u32 as i32;

#[target_feature(enable = "avx2")]
#[inline]
fn step<const SHIFT: i32>(h: __m256i, words: __m256i) -> __m256i {
    let h = _mm256_mullo_epi32(_mm256_add_epi32(h, words), _mm256_set1_epi32(M));
    _mm256_xor_si256(h, _mm256_srli_epi32::<SHIFT>(h))
}

#[target_feature(enable = "avx2")]
fn hash8(keys: Alike<'_, 8>, start: u32, hashes: &mut [u32; 8]) {
    let (keys, len) = (keys.keys(), keys.len());
    let mut h = _mm256_set1_epi32(start as i32);
    let mut at = 0;
    while at + 16 <= len {
        // SAFETY: all keys have `len` bytes, so 16 can be read from `at` on; the loads need no alignment.
        let load = |key: &[u8]| unsafe { _mm_loadu_si128(key.as_ptr().add(at).cast()) };
        // Rows of four words, of a key and of the one four further on, become columns.
        let row = |index: usize| _mm256_set_m128i(load(keys[index + 4]), load(keys[index]));
        let (a, b, c, d) = (row(0), row(1), row(2), row(3));
        let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
        h = step::<16>(h, _mm256_unpacklo_epi64(ab, cd));
        h = step::<16>(h, _mm256_unpackhi_epi64(ab, cd));
        let (ab, cd) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
        h = step::<16>(h, _mm256_unpacklo_epi64(ab, cd));
        h = step::<16>(h, _mm256_unpackhi_epi64(ab, cd));
        at += 16;
    }
    while at + 4 <= len {
        // SAFETY: all keys have `len` bytes, so 4 can be read from `at` on; the loads need no alignment.
        let load = |index: usize| unsafe { keys[index].as_ptr().add(at).cast::<i32>().read_unaligned() };
        h = step::<16>(h, columns(load));
        at += 4;
    }
    if at < len {
        // Little-endian, as what lies above is zero.
        let rest =
            |index: usize| keys[index][at..].iter().rev().fold(0, |rest, &byte| rest << 8 | i32::from(byte));
        h = step::<24>(h, columns(rest));
    }
    store(hashes, h);
}

#[target_feature(enable = "avx2")]
#[inline]
fn columns(word: impl Fn(usize) -> i32) -> __m256i {
    _mm256_setr_epi32(word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7))
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(array: &mut [u32; 8], words: __m256i) {
    // SAFETY: the array has room for 32 bytes, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(array.as_mut_ptr().cast(), words) }
}

/// Not inlined, or the compiler takes the positions out of registers one by one, which is slower than to load them.
#[target_feature(enable = "avx2")]
#[inline(never)]
fn positions8(
    multiplier: u32,
    shift: u32,
    bits: u32,
    hashes: &[u32; 8],
    from: u8,
    positions: &mut [[u32; 8]],
) {
    let multiplier = _mm256_set1_epi64x(i64::from(multiplier));
    let shift = _mm_cvtsi32_si128(shift as i32);
    let bits = _mm256_set1_epi32(bits as i32);
    // SAFETY: the array has 32 bytes, and the load needs no alignment.
    let mut h = unsafe { _mm256_loadu_si256(hashes.as_ptr().cast()) };
    let delta = _mm256_or_si256(_mm256_srli_epi32::<17>(h), _mm256_slli_epi32::<15>(h));
    h = _mm256_add_epi32(h, _mm256_mullo_epi32(delta, _mm256_set1_epi32(i32::from(from))));
    for positions in positions {
        let byte = _mm256_srli_epi32::<3>(h);
        let even = _mm256_srl_epi64(_mm256_mul_epu32(byte, multiplier), shift);
        let odd = _mm256_srl_epi64(_mm256_mul_epu32(_mm256_srli_epi64::<32>(byte), multiplier), shift);
        let quotient = _mm256_blend_epi32::<0b1010_1010>(even, _mm256_slli_epi64::<32>(odd));
        store(positions, _mm256_sub_epi32(h, _mm256_mullo_epi32(quotient, bits)));
        h = _mm256_add_epi32(h, delta);
    }
}

#[target_feature(enable = "avx2")]
fn pack(area: &mut [u8]) -> usize {
    let whole = area.len() / 32;
    for index in 0..whole {
        // SAFETY: `area` has 32 bytes from here on, and the load needs no alignment.
        let bytes = unsafe { _mm256_loadu_si256(area[index * 32..][..32].as_ptr().cast()) };
        // The mask takes the topmost bit of each byte.
        let bits = _mm256_movemask_epi8(_mm256_slli_epi16::<7>(bytes));
        area[index * 4..][..4].copy_from_slice(&bits.to_le_bytes());
    }
    whole * 4
}
