//! Positions of bits: remainders without a division.

use std::arch::x86_64::*;

/// Computes `h % bits` for eight hashes at once. `bits` is eight times a number of bytes.
///
/// `h / bits` is `(h >> 3) / bytes`, which is `(h >> 3) * multiplier >> shift`. This is exact for
/// the 29 bits of `h >> 3`, with the multiplier rounded up and a [`shift`] of at least 29 plus the
/// binary logarithm of `bytes`.
#[derive(Clone, Copy)]
pub(super) struct Positions {
    multiplier: __m256i,
    even_shift: __m128i,
    odd_shift: __m128i,
    bits: __m256i,
}

/// Returns the shift for arrays of `len` bytes. It also suits all lengths down to half of `len`.
pub(super) const fn shift(len: usize) -> u32 {
    29 + len.next_power_of_two().trailing_zeros()
}

pub(super) const fn multiplier(len: usize, shift: u32) -> u32 {
    (1u64 << shift).div_ceil(len as u64) as u32
}

/// Precomputed constants for an array's length.
#[derive(Clone, Copy)]
struct Known {
    multiplier: u32,
    bits: u32,
    even_shift: u32,
    odd_shift: u32,
}

/// The constants for arrays of 8 to 511 bytes, indexed by their lengths.
static KNOWN: [Known; 512] = {
    let mut known = [Known { multiplier: 0, bits: 0, even_shift: 0, odd_shift: 0 }; 512];
    let mut len = 8;
    while len < known.len() {
        let shift = shift(len);
        known[len] = Known {
            multiplier: multiplier(len, shift),
            bits: len as u32 * 8,
            even_shift: shift,
            odd_shift: shift - 32,
        };
        len += 1;
    }
    known
};

impl Positions {
    /// Prepares for an array of `len` bytes, 8 to 2^26.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    pub(super) fn new(len: usize) -> Self {
        Self::by(len as u32 * 8, multiplier(len, shift(len)), shift(len))
    }

    /// Like [`new`](Self::new), but for an array of 8 to 511 bytes, without a division.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    pub(super) fn of_small(len: usize) -> Self {
        let known = &KNOWN[len];
        Self {
            multiplier: _mm256_set1_epi32(known.multiplier as i32),
            even_shift: _mm_cvtsi32_si128(known.even_shift as i32),
            odd_shift: _mm_cvtsi32_si128(known.odd_shift as i32),
            bits: _mm256_set1_epi32(known.bits as i32),
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    pub(super) fn by(bits: u32, multiplier: u32, shift: u32) -> Self {
        Self {
            multiplier: _mm256_set1_epi32(multiplier as i32),
            even_shift: _mm_cvtsi32_si128(shift as i32),
            // The quotients of odd lanes belong in the upper half of each pair.
            odd_shift: _mm_cvtsi32_si128(shift as i32 - 32),
            bits: _mm256_set1_epi32(bits as i32),
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    pub(super) fn of(self, h: __m256i) -> __m256i {
        let even = _mm256_mul_epu32(_mm256_srli_epi32::<3>(h), self.multiplier);
        let odd = _mm256_mul_epu32(_mm256_srli_epi64::<35>(h), self.multiplier);
        let quotient = _mm256_blend_epi32::<0b1010_1010>(
            _mm256_srl_epi64(even, self.even_shift),
            _mm256_srl_epi64(odd, self.odd_shift),
        );
        _mm256_sub_epi32(h, _mm256_mullo_epi32(quotient, self.bits))
    }
}
