//! Kernels for x86-64 with AVX-512. The portable code gives the same results and is their oracle.
//!
//! The kernels for AVX2 do the work where AVX-512 gains nothing: see [`Avx512::avx2`].

#![allow(unsafe_code)]

mod build;
mod hash;
mod positions;
mod probe;
mod registers;

use super::avx2::Avx2;
use crate::lanes::{FixedLenKeys, KeyPtrs};

/// Proof that the CPU has AVX-512 F, BW, DQ, VL and IFMA, and with them AVX2.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct Avx512(());

impl Avx512 {
    /// Returns `true` if the CPU has AVX-512 F, BW, DQ, VL and IFMA, and what [`Avx2`] needs.
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
        // SAFETY: `is_available` checks AVX2, too.
        unsafe { Avx2::assume_available() }
    }

    /// Hashes the keys that make up whole groups of eight, side by side; all keys have the same length.
    /// Returns the number of keys hashed. `start` is the hash before any word.
    #[inline]
    pub(in crate::kernel) fn hash_eights(
        self,
        keys: FixedLenKeys<'_>,
        start: u32,
        hashes: &mut [[u32; 8]],
    ) -> usize {
        // SAFETY: `self` proves that the CPU has AVX-512.
        unsafe { hash::hash_eights(keys, start, hashes) }
    }

    /// Hashes 32 keys of any lengths.
    #[inline]
    pub(in crate::kernel) fn hash_places(self, keys: &KeyPtrs<'_, 32>, seed: u32) -> [u32; 32] {
        // SAFETY: `self` proves that the CPU has AVX-512.
        unsafe { hash::hash_places(keys, seed) }
    }

    /// Copies `key`, at most 64 bytes, to the start of `room`, and fills the rest with zeros.
    #[inline]
    pub(in crate::kernel) fn copy_short(self, key: &[u8], room: &mut [u8; 64]) {
        // SAFETY: `self` proves that the CPU has AVX-512.
        unsafe { hash::copy_short(key, room) }
    }

    /// Sets the bits of the keys with these hashes, except the last eight unless `all_of_last` is set.
    /// Returns `false`, and sets no bit, unless `area` has 8 to 2^20 bytes, one for each bit.
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

    /// Returns `true` if a filter's array has 8 to 256 bytes, for which there is a kernel of AVX-512.
    #[inline]
    pub(in crate::kernel) fn fits(filter: &[u8]) -> bool {
        probe::fits(filter)
    }

    /// Returns `true` if `filter` may have a key with the hash `h`. `None` unless the filter's array
    /// has 8 bytes to 64 MiB.
    #[inline]
    pub(in crate::kernel) fn matches(self, h: u32, filter: &[u8]) -> Option<bool> {
        if !Self::fits(filter) {
            return self.avx2().matches(h, filter);
        }
        // SAFETY: `self` proves that the CPU has AVX-512.
        Some(unsafe { probe::matches(h, filter) })
    }

    /// Probes the filter of each probe for the hash with the same number. `other` probes the filters whose
    /// array does not have 8 to 256 bytes.
    #[inline]
    pub(in crate::kernel) fn matches_each(
        self,
        probes: &[(&[u8], &[u8])],
        hashes: &[u32],
        answers: &mut [bool],
        other: impl FnMut(u32, &[u8]) -> bool,
    ) {
        // SAFETY: `self` proves that the CPU has AVX-512.
        unsafe { probe::matches_each(probes, hashes, answers, other) }
    }

    /// Probes one filter for the hash of each answer. Returns `false`, and gives no answer, unless
    /// the filter's array has 1 byte to 64 MiB.
    #[inline]
    pub(in crate::kernel) fn matches_all(self, filter: &[u8], hashes: &[u32], answers: &mut [bool]) -> bool {
        debug_assert!(answers.len() == hashes.len());
        if !(2..=probe::MAX_HELD + 1).contains(&filter.len()) {
            return self.avx2().matches_all(filter, hashes, answers);
        }
        // SAFETY: `self` proves that the CPU has AVX-512.
        unsafe { probe::matches_all(filter, hashes, answers) };
        true
    }
}
