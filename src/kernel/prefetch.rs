//! Prefetching of memory into the cache.

/// Prefetches the cache lines of `bytes`, so that their misses overlap.
#[inline]
pub(crate) fn prefetch<'a>(bytes: impl Iterator<Item = &'a u8>) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    bytes.for_each(super::avx2::prefetch);
    #[cfg(all(feature = "simd", target_arch = "aarch64", not(miri)))]
    bytes.for_each(super::aarch64::prefetch);
    // Independent dummy loads: without a prefetch instruction, the only way to overlap the misses.
    #[cfg(not(all(
        feature = "simd",
        any(target_arch = "x86_64", all(target_arch = "aarch64", not(miri)))
    )))]
    bytes.for_each(|byte| _ = std::hint::black_box(*byte));
}
