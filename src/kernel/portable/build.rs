//! Setting the bits of filters, and packing them.

use byteorder::{ByteOrder, LittleEndian};

use crate::kernel::modulus::Modulus;

/// Yields the positions of a key's bits, each below the modulus.
#[inline(always)]
fn positions(hash: u32, modulus: Modulus, probes: u8) -> impl Iterator<Item = usize> {
    let delta = hash.rotate_right(17);
    (0..u32::from(probes)).map(move |i| modulus.of(hash.wrapping_add(i.wrapping_mul(delta))))
}

/// Sets the bits of the keys with these hashes in `area`, which has a byte for each bit.
#[inline]
pub(in crate::kernel) fn set_spread(area: &mut [u8], probes: u8, hashes: &[u32]) {
    let modulus = Modulus::new(area.len() as u64);
    if probes == 6 {
        // Ten bits per key, the usual setting. A loop of known length is a quarter faster.
        set_each(area, modulus, 6, hashes);
    } else {
        set_each(area, modulus, probes, hashes);
    }
}

#[inline(always)]
fn set_each(area: &mut [u8], modulus: Modulus, probes: u8, hashes: &[u32]) {
    for &hash in hashes {
        for position in positions(hash, modulus, probes) {
            area[position] = 1;
        }
    }
}

/// Sets the bits of the keys with these hashes in an array of bits.
pub(in crate::kernel) fn set_packed(array: &mut [u8], probes: u8, hashes: &[u32]) {
    let modulus = Modulus::new(array.len() as u64 * 8);
    for &hash in hashes {
        for position in positions(hash, modulus, probes) {
            array[position / 8] |= 1 << (position % 8);
        }
    }
}

/// Packs the bytes of `area`, each 0 or 1, into bits at its start. The first `done` bytes of the
/// result have already been made.
pub(in crate::kernel) fn pack(area: &mut [u8], done: usize) {
    for index in done..area.len() / 8 {
        // The product gathers eight bytes in its topmost byte, the first as the lowest bit.
        let bits = LittleEndian::read_u64(&area[index * 8..index * 8 + 8]);
        area[index] = (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
}
