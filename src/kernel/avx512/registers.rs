//! Loads, stores and arithmetic of sixteen 32-bit words or eight 64-bit words.

use std::arch::x86_64::*;

/// # Safety
///
/// 64 bytes have to be writable at `to`, which needs no alignment.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn store_unaligned(to: *mut u32, words: __m512i) {
    // SAFETY: as the caller promises.
    unsafe { _mm512_storeu_si512(to.cast(), words) }
}

/// Adds to `sum` the lower 52 bits of the product of the lower 52 bits of `a` and `b`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn madd52lo(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    #[cfg(not(miri))]
    return _mm512_madd52lo_epu64(sum, a, b);
    #[cfg(miri)]
    plain::madd52(sum, a, b, |product| product as u64 & plain::MASK)
}

/// Adds to `sum` the upper 52 bits of the product of the lower 52 bits of `a` and `b`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn madd52hi(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    #[cfg(not(miri))]
    return _mm512_madd52hi_epu64(sum, a, b);
    #[cfg(miri)]
    plain::madd52(sum, a, b, |product| (product >> 52) as u64)
}

/// Plain forms of instructions that Miri does not know.
#[cfg(miri)]
mod plain {
    use std::arch::x86_64::__m512i;
    use std::mem::transmute;

    pub(super) const MASK: u64 = (1 << 52) - 1;

    pub(super) fn madd52(sum: __m512i, a: __m512i, b: __m512i, part: impl Fn(u128) -> u64) -> __m512i {
        // SAFETY: a register has the size of eight words, and both may hold any bits.
        let [sum, a, b] = [sum, a, b].map(|words| unsafe { transmute::<__m512i, [u64; 8]>(words) });
        let word = |i: usize| sum[i].wrapping_add(part(u128::from(a[i] & MASK) * u128::from(b[i] & MASK)));
        // SAFETY: as above.
        unsafe { transmute::<[u64; 8], __m512i>(std::array::from_fn(word)) }
    }
}
