//! The bit array of LevelDB's Bloom filter, being made.

use byteorder::{ByteOrder, LittleEndian};

use super::modulus::Modulus;
use crate::{Error, Result};

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use crate::simd::Avx2;

/// Up to this many bytes, an array is made with a byte for each bit: stores that need not
/// read first, and the bits packed in the end. Larger ones would leave the fastest cache.
const MAX_SPREAD: usize = 4096;

/// So many hashes are made before their bits are set.
pub(super) const BATCH: usize = 64;

/// A bit array at the end of `dst`.
pub(super) struct BloomArray<'a> {
    dst: &'a mut Vec<u8>,
    start: usize,
    len: usize,
    probes: u8,
}

impl<'a> BloomArray<'a> {
    /// `len` bytes, 1 to 2^29, in which each key sets `probes` bits.
    pub(super) fn new(dst: &'a mut Vec<u8>, len: usize, probes: u8) -> Result<Self> {
        let start = dst.len();
        let room = if len <= MAX_SPREAD { len * 8 } else { len };
        // One more for k, which ends the filter.
        dst.try_reserve(room + 1).map_err(|_| Error::out_of_memory("filter", room + 1))?;
        dst.resize(start + room, 0);
        Ok(Self { dst, start, len, probes })
    }

    /// Sets the bits of keys with the first `count` of these hashes, at least one. The others may be written over.
    #[inline]
    pub(super) fn add(&mut self, hashes: &mut [u32; BATCH], count: usize) {
        let area = &mut self.dst[self.start..];
        if self.len > MAX_SPREAD {
            return set_packed(area, Modulus::new(self.len as u64 * 8), self.probes, &hashes[..count]);
        }
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        if let Some(avx2) = Avx2::detect() {
            // Whole eights: to set the last one's bits once more changes nothing.
            let whole = count.next_multiple_of(8);
            let last = hashes[count - 1];
            hashes[count..whole].fill(last);
            return avx2.set_bits(area, self.probes, hashes[..whole].as_chunks().0);
        }
        let (modulus, hashes) = (Modulus::new(self.len as u64 * 8), &hashes[..count]);
        if self.probes == 6 {
            // Ten bits a key, as nearly everyone has it: a loop of known length is a quarter faster.
            set_spread(area, modulus, 6, hashes);
        } else {
            set_spread(area, modulus, self.probes, hashes);
        }
    }

    /// Ends the array, and the filter with k.
    pub(super) fn finish(self) {
        if self.len <= MAX_SPREAD {
            pack(&mut self.dst[self.start..], self.len);
            self.dst.truncate(self.start + self.len);
        }
        self.dst.push(self.probes);
    }
}

/// The positions of a key's bits.
#[inline(always)]
fn positions(hash: u32, modulus: Modulus, probes: u8) -> impl Iterator<Item = usize> {
    let delta = hash.rotate_right(17);
    (0..u32::from(probes)).map(move |i| modulus.of(hash.wrapping_add(i.wrapping_mul(delta))))
}

/// `area` has a byte for each bit.
#[inline(always)]
fn set_spread(area: &mut [u8], modulus: Modulus, probes: u8, hashes: &[u32]) {
    for &hash in hashes {
        for position in positions(hash, modulus, probes) {
            area[position] = 1;
        }
    }
}

fn set_packed(array: &mut [u8], modulus: Modulus, probes: u8, hashes: &[u32]) {
    for &hash in hashes {
        for position in positions(hash, modulus, probes) {
            array[position / 8] |= 1 << (position % 8);
        }
    }
}

/// Packs `len * 8` bytes, each 0 or 1, into the first `len`.
fn pack(area: &mut [u8], len: usize) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    let packed = Avx2::detect().map_or(0, |avx2| avx2.pack(&mut area[..len * 8]));
    #[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
    let packed = 0;
    for index in packed..len {
        // The product gathers eight bytes in its topmost one, the first as the lowest bit.
        let bits = LittleEndian::read_u64(&area[index * 8..index * 8 + 8]);
        area[index] = (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
}
