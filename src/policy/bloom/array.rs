//! The bit array of LevelDB's Bloom filter, being made.

use crate::{Error, Result, kernel};

/// Up to this many bytes, an array is made with a byte for each bit: stores that need not
/// read first, and the bits packed in the end. Larger ones would leave the fastest cache.
const MAX_SPREAD: usize = 4096;

/// So many hashes are made before their bits are set.
pub(in crate::policy) const BATCH: usize = 64;

/// A bit array at the end of `dst`.
pub(in crate::policy) struct BloomArray<'a> {
    dst: &'a mut Vec<u8>,
    start: usize,
    len: usize,
    probes: u8,
}

impl<'a> BloomArray<'a> {
    /// `len` bytes, 1 to 2^29, in which each key sets `probes` bits.
    pub(in crate::policy) fn new(dst: &'a mut Vec<u8>, len: usize, probes: u8) -> Result<Self> {
        let start = dst.len();
        let room = if len <= MAX_SPREAD { len * 8 } else { len };
        // One more for k, which ends the filter.
        dst.try_reserve(room + 1).map_err(|_| Error::out_of_memory("filter", room + 1))?;
        dst.resize(start + room, 0);
        Ok(Self { dst, start, len, probes })
    }

    /// Sets the bits of keys with the first `count` of these hashes, at least one. The others may be written over.
    #[inline]
    pub(in crate::policy) fn add(&mut self, hashes: &mut [u32; BATCH], count: usize) {
        let area = &mut self.dst[self.start..];
        if self.len > MAX_SPREAD {
            kernel::set_packed(area, self.probes, &hashes[..count]);
        } else {
            kernel::set_spread(area, self.probes, hashes, count);
        }
    }

    /// Ends the array, and the filter with k.
    pub(in crate::policy) fn finish(self) {
        if self.len <= MAX_SPREAD {
            kernel::pack(&mut self.dst[self.start..]);
            self.dst.truncate(self.start + self.len);
        }
        self.dst.push(self.probes);
    }
}
