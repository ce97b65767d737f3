//! Prefetching of memory into the cache.

/// Prefetches the cache line of a byte, so that the cache miss overlaps with others.
#[inline(always)]
pub(crate) fn prefetch(byte: &u8) {
    prefetch_at(std::slice::from_ref(byte), 0);
}

/// Prefetches the first byte of each key, and the first and the last byte of each filter, once for
/// neighbours that have the same filter.
// This takes a dozen instructions a probe. It compares no lengths, since it does not matter if a
// filter of another length is at the same address, and it checks no length before a prefetch.
#[inline]
pub(crate) fn prefetch_probes(probes: &[(&[u8], &[u8])]) {
    let mut last = std::ptr::null();
    for &(key, filter) in probes {
        prefetch_at(key, 0);
        if filter.as_ptr() != last {
            last = filter.as_ptr();
            prefetch_at(filter, 0);
            prefetch_at(filter, filter.len().wrapping_sub(1));
        }
    }
}

/// Prefetches the byte at `index`. An index beyond the bytes does no harm.
#[inline(always)]
fn prefetch_at(bytes: &[u8], index: usize) {
    // A prefetch instruction may be given any address, which saves a comparison of the index.
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    super::avx2::prefetch(bytes.as_ptr().wrapping_add(index));
    #[cfg(all(feature = "simd", target_arch = "aarch64", not(miri)))]
    prefetch_line(bytes.as_ptr().wrapping_add(index));
    // A dummy load: without a prefetch instruction, the only way to overlap the misses.
    #[cfg(not(all(feature = "simd", any(target_arch = "x86_64", all(target_arch = "aarch64", not(miri))))))]
    let _ = std::hint::black_box(bytes.get(index).copied());
}

// There is no NEON kernel. Every aarch64 CPU has NEON, so the compiler uses it for the portable code. Counted by qemu,
// handwritten kernels built a filter of 200 keys of 16 bytes with 49 instructions a key instead of 55, about 10 %
// fewer. In rounded figures, hashing took 8 instead of 11, packing 3 instead of 5, and setting bits 39 in both cases,
// since each bit takes a store of its own. For lookups, NEON has no gather instruction.

/// Prefetches the cache line at any address, without waiting for it.
///
/// This uses the instruction itself, since `core::arch::aarch64::_prefetch` is unstable.
#[cfg(all(feature = "simd", target_arch = "aarch64", not(miri)))]
#[allow(unsafe_code)]
#[inline(always)]
fn prefetch_line(address: *const u8) {
    // SAFETY: a prefetch of any address affects nothing but speed: it writes no register, flag or memory.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
}
