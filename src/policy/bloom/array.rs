//! The bit array of LevelDB's Bloom filter under construction.

use crate::{Error, Result, kernel};

/// The length in bytes up to which an array is first made with a byte for each bit. Setting such a
/// bit needs no read, and the bytes are packed into bits at the end. A larger array would not fit
/// in the fastest cache.
const MAX_SPREAD: usize = 4096;

/// The number of hashes made before their bits are set.
pub(in crate::policy) const BATCH: usize = 64;

/// A bit array at the end of `dst`.
pub(in crate::policy) struct BloomArray<'a> {
    dst: &'a mut Vec<u8>,
    start: usize,
    len: usize,
    probes: u8,
}

impl<'a> BloomArray<'a> {
    /// Appends an array of `len` bytes, 1 to 2^29, in which each key is to set `probes` bits.
    pub(in crate::policy) fn new(dst: &'a mut Vec<u8>, len: usize, probes: u8) -> Result<Self> {
        let start = dst.len();
        let room = if len <= MAX_SPREAD { len * 8 } else { len };
        // One more byte is for k, which ends the filter.
        dst.try_reserve(room + 1).map_err(|_| Error::out_of_memory("filter", room + 1))?;
        dst.resize(start + room, 0);
        Ok(Self { dst, start, len, probes })
    }

    /// Sets the bits of the keys with the first `count` of these hashes, at least one. The other
    /// hashes may be overwritten.
    #[inline]
    pub(in crate::policy) fn add(&mut self, hashes: &mut [u32; BATCH], count: usize) {
        let area = &mut self.dst[self.start..];
        if self.len > MAX_SPREAD {
            kernel::set_packed(area, self.probes, &hashes[..count]);
        } else {
            kernel::set_spread(area, self.probes, hashes, count);
        }
    }

    /// Ends the array, and appends k.
    pub(in crate::policy) fn finish(self) {
        if self.len <= MAX_SPREAD {
            kernel::pack(&mut self.dst[self.start..]);
            self.dst.truncate(self.start + self.len);
        }
        self.dst.push(self.probes);
    }
}
