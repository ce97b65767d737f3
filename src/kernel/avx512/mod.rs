//! Kernels for x86-64 with AVX-512. The portable code gives the same results and is their oracle.
//!
//! Where AVX-512 brings nothing, the kernels for AVX2 do the work: see [`Avx512::avx2`].

#![allow(unsafe_code)]

mod build;
mod hash;
mod positions;
mod registers;

use super::avx2::Avx2;
use crate::key::FixedLenKeys;

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

    /// Hashes as many keys of equal length side by side as come in sixteens. Returns their number.
    /// `start` is the hash of no word.
    #[inline]
    pub(in crate::kernel) fn hash_sixteens(
        self,
        keys: FixedLenKeys<'_>,
        start: u32,
        hashes: &mut [[u32; 8]],
    ) -> usize {
        // SAFETY: `self` proves that the CPU has AVX-512.
        unsafe { hash::hash_sixteens(keys, start, hashes) }
    }

    /// Sets the bits of the keys with these hashes, without the last eight unless `all_of_last`.
    /// Returns `false`, and sets none, unless `area` has 8 to 2^20 bytes, one for each bit.
    #[inline]
    pub(in crate::kernel) fn set_spread(
        self,
        area: &mut [u8],
        probes: u8,
        hashes: &[[u32; 16]],
        all_of_last: bool,
    ) -> bool {
        let fits = (8..=positions::MAX_BITS).contains(&area.len());
        if fits {
            // SAFETY: `self` proves that the CPU has AVX-512.
            unsafe { build::set_spread(area, probes, hashes, all_of_last) };
        }
        fits
    }

    /// Packs bytes, each 0 or 1, into bits, 64 bytes at a time. Returns the number of bytes written.
    #[inline]
    pub(in crate::kernel) fn pack(self, area: &mut [u8]) -> usize {
        // SAFETY: `self` proves that the CPU has AVX-512.
        unsafe { build::pack(area) }
    }
}
