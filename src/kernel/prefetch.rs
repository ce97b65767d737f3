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
    super::aarch64::prefetch(bytes.as_ptr().wrapping_add(index));
    // A dummy load: without a prefetch instruction, the only way to overlap the misses.
    #[cfg(not(all(feature = "simd", any(target_arch = "x86_64", all(target_arch = "aarch64", not(miri))))))]
    let _ = std::hint::black_box(bytes.get(index).copied());
}
