//! Instructions that Miri does not know, each with a plain form for it.

use std::arch::x86_64::*;

/// Multiplies 52 bits of each lane of `a` and `b`, and adds the lower 52 bits of the product to
/// `sum`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn madd52lo(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    #[cfg(not(miri))]
    return _mm512_madd52lo_epu64(sum, a, b);
    #[cfg(miri)]
    return multiply_add(sum, a, b, |product| product as u64 & LOW_52);
}

/// Does the same with the upper 52 bits of the product.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn madd52hi(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    #[cfg(not(miri))]
    return _mm512_madd52hi_epu64(sum, a, b);
    #[cfg(miri)]
    return multiply_add(sum, a, b, |product| (product >> 52) as u64);
}

#[cfg(miri)]
const LOW_52: u64 = (1 << 52) - 1;

#[cfg(miri)]
fn multiply_add(sum: __m512i, a: __m512i, b: __m512i, part: impl Fn(u128) -> u64) -> __m512i {
    let ([sum, a, b], mut result) = ([sum, a, b].map(lanes), [0; 8]);
    for (lane, result) in result.iter_mut().enumerate() {
        let product = u128::from(a[lane] & LOW_52) * u128::from(b[lane] & LOW_52);
        *result = sum[lane].wrapping_add(part(product));
    }
    from_lanes(result)
}

#[cfg(miri)]
fn lanes(register: __m512i) -> [u64; 8] {
    // SAFETY: both are 64 bytes, and any bytes make integers.
    unsafe { std::mem::transmute(register) }
}

#[cfg(miri)]
fn from_lanes(lanes: [u64; 8]) -> __m512i {
    // SAFETY: both are 64 bytes, and any bytes make integers.
    unsafe { std::mem::transmute(lanes) }
}
