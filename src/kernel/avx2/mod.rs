//! Kernels for x86-64 with AVX2. The portable code gives the same results and is their oracle.
//!
//! The kernels need `unsafe` for two reasons. Functions compiled for AVX2 may only be called on a
//! CPU that has it, of which [`Avx2`] is the proof. And loads and stores take pointers.

#![allow(unsafe_code)]

mod build;
mod hash;
mod positions;
mod probe;
mod registers;

use std::arch::x86_64::*;

use crate::lanes::{EqualLenKeys, FixedLenKeys, KeyPtrs};

pub(super) use build::Rows;

/// Proof that the CPU has AVX2, BMI1 and BMI2. CPUs with AVX2 have the other two in practice.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct Avx2(());

impl Avx2 {
    /// Returns `true` if the CPU has AVX2, BMI1 and BMI2.
    pub(in crate::kernel) fn is_available() -> bool {
        std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
    }

    /// # Safety
    ///
    /// [`is_available`](Self::is_available) has to have returned `true`.
    #[inline]
    pub(in crate::kernel) const unsafe fn assume_available() -> Self {
        Self(())
    }

    /// Hashes eight keys of equal length side by side. `start` is the hash before any word.
    #[inline]
    pub(in crate::kernel) fn hash_eight(self, keys: EqualLenKeys<'_, 8>, start: u32, hashes: &mut [u32; 8]) {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { hash::hash_eight(keys, start, hashes) }
    }

    /// Like [`hash_eight`](Self::hash_eight), but for the keys of eight (key, filter) pairs, if all keys have the
    /// same length. Returns `false` otherwise. `start` gives the hash before any word for that length.
    #[inline]
    pub(in crate::kernel) fn hash_eight_of(
        self,
        probes: &[(&[u8], &[u8]); 8],
        start: impl FnOnce(usize) -> u32,
        hashes: &mut [u32; 8],
    ) -> bool {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { hash::hash_eight_of(probes, start, hashes) }
    }

    /// Hashes keys of equal length side by side. `hashes` has room for as many hashes as there are keys,
    /// rounded up to a multiple of eight.
    #[inline]
    pub(in crate::kernel) fn hash_fixed_len(
        self,
        keys: FixedLenKeys<'_>,
        start: u32,
        hashes: &mut [[u32; 8]],
    ) {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { hash::hash_fixed_len(keys, start, hashes) }
    }

    /// Hashes sixteen keys of any lengths.
    #[inline]
    pub(in crate::kernel) fn hash_places(self, keys: &KeyPtrs<'_, 16>, seed: u32) -> [u32; 16] {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { hash::hash_places(keys, seed) }
    }

    /// Copies `key`, 4 to 64 bytes, to the start of `room`, and may change the rest of `room`.
    #[inline]
    pub(in crate::kernel) fn copy_short(self, key: &[u8], room: &mut [u8; 64]) {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { hash::copy_short(key, room) }
    }

    /// Sets the bits of the keys with these hashes. `area` has a byte for each bit, and its length is a
    /// multiple of eight. Returns `false`, and sets no bit, unless `area` has 64 to 2^29 bytes.
    #[inline]
    pub(in crate::kernel) fn set_spread(self, area: &mut [u8], probes: u8, hashes: &[[u32; 8]]) -> bool {
        let fits = (64..=1 << 29).contains(&area.len());
        if fits {
            // SAFETY: `self` proves that the CPU has AVX2.
            unsafe { build::set_spread(area, probes, hashes) };
        }
        fits
    }

    /// Returns `true` if `filter` may have a key with the hash `h`. `None` unless the filter's array
    /// has 8 bytes to 64 MiB.
    #[inline]
    pub(in crate::kernel) fn matches(self, h: u32, filter: &[u8]) -> Option<bool> {
        if probe::fits_two_registers(filter) {
            // SAFETY: `self` proves that the CPU has AVX2.
            return Some(unsafe { probe::matches(h, filter) });
        }
        // SAFETY: as above.
        probe::fits_gather(filter).then(|| unsafe { probe::matches_larger(h, filter) })
    }

    /// Probes the filter of each probe for the hash with the same number. `other` probes the filters whose
    /// size has no kernel here. There have to be as many answers as probes, and at least as many hashes.
    #[inline]
    pub(in crate::kernel) fn matches_each(
        self,
        probes: &[(&[u8], &[u8])],
        hashes: &[u32],
        answers: &mut [bool],
        other: impl FnMut(u32, &[u8]) -> bool,
    ) {
        debug_assert!(answers.len() == probes.len() && answers.len() <= hashes.len());
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { probe::matches_each(probes, hashes, answers, other) }
    }

    /// Probes one filter for the hash of each answer. Returns `false`, and gives no answer, unless
    /// the filter's array has 8 bytes to 64 MiB.
    #[inline]
    pub(in crate::kernel) fn matches_all(self, filter: &[u8], hashes: &[u32], answers: &mut [bool]) -> bool {
        debug_assert!(answers.len() == hashes.len());
        let fits = probe::fits_two_registers(filter) || probe::fits_gather(filter);
        if fits {
            // SAFETY: `self` proves that the CPU has AVX2.
            unsafe { probe::matches_all(filter, hashes, answers) };
        }
        fits
    }

    /// Packs bytes, each 0 or 1, into bits, 32 bytes at a time. Returns the number of bytes
    /// written.
    #[inline]
    pub(in crate::kernel) fn pack(self, area: &mut [u8]) -> usize {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { build::pack(area) }
    }
}

/// Prefetches the cache line at any address, without waiting for it.
#[inline(always)]
pub(in crate::kernel) fn prefetch(address: *const u8) {
    // SAFETY: every x86-64 CPU has SSE, and a prefetch of any address affects nothing but speed.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}
