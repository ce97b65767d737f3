//! Positions of bits: remainders without a division.

use std::arch::x86_64::*;

use super::registers::{madd52hi, madd52lo};

/// The largest number of bits. Up to this number, the remainders are exact.
pub(super) const MAX_BITS: usize = 1 << 20;

/// Computes `h % bits` for sixteen hashes at once.
///
/// The product of `h` and 2^52 / `bits`, rounded up, has the fraction of `h / bits` in its lowest 52 bits.
/// That fraction times `bits` is the remainder. Rounding adds less than `h / 2^52`, which is below 2^-20 and
/// so below the distance between two fractions.
#[derive(Clone, Copy)]
pub(super) struct Positions {
    multiplier: __m512i,
    bits: __m512i,
    last: __m512i,
}

impl Positions {
    /// Prepares for 1 to [`MAX_BITS`] bits.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn new(bits: usize) -> Self {
        debug_assert!((1..=MAX_BITS).contains(&bits), "{bits} bits");
        Self {
            multiplier: _mm512_set1_epi64((1_u64 << 52).div_ceil(bits as u64) as i64),
            bits: _mm512_set1_epi64(bits as i64),
            last: _mm512_set1_epi32(bits as i32 - 1),
        }
    }

    /// Returns the positions, each below the number of bits.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn of(self, h: __m512i) -> __m512i {
        let remainder = |h| {
            let zero = _mm512_setzero_si512();
            let fraction = madd52lo(zero, h, self.multiplier);
            madd52hi(zero, fraction, self.bits)
        };
        let even = remainder(_mm512_and_si512(h, _mm512_set1_epi64(0xffff_ffff)));
        let odd = remainder(_mm512_srli_epi64::<32>(h));
        let positions = _mm512_or_si512(even, _mm512_slli_epi64::<32>(odd));
        // This changes no position, but guarantees, whatever the arithmetic, that each position is below the
        // number of bits.
        _mm512_min_epu32(positions, self.last)
    }
}
