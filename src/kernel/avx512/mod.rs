//! Kernels for x86-64 with AVX-512. The portable code gives the same results and is their oracle.
//!
//! Where AVX-512 brings nothing, the kernels for AVX2 do the work: see [`Avx512::avx2`].

#![allow(unsafe_code)]

use super::avx2::Avx2;

/// Proof that the CPU has AVX-512 F, BW, DQ, VL and IFMA, and with them AVX2.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct Avx512(());

impl Avx512 {
    /// Returns `true` if the CPU has all of it.
    pub(in crate::kernel) fn is_available() -> bool {
        Avx2::is_available()
            && std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("avx512ifma")
    }

    /// # Safety
    ///
    /// [`is_available`](Self::is_available) has to have returned `true`.
    #[inline]
    pub(in crate::kernel) const unsafe fn assume_available() -> Self {
        Self(())
    }

    /// Returns the proof that the CPU has AVX2.
    #[inline]
    pub(in crate::kernel) const fn avx2(self) -> Avx2 {
        // SAFETY: `is_available` asks for AVX2, too.
        unsafe { Avx2::assume_available() }
    }
}
