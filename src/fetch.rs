//! Bringing memory into the cache before it is needed.

/// Has the memory bring the cache lines of these bytes, all at once rather than one after the other.
#[inline]
pub(crate) fn fetch<'a>(bytes: impl Iterator<Item = &'a u8>) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    bytes.for_each(crate::simd::prefetch);
    // Loads that do not depend on each other, made although nobody wants what they give.
    #[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
    bytes.for_each(|byte| _ = std::hint::black_box(*byte));
}
