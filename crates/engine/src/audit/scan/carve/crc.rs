//! CRC-32C a byte at a time, forwards and backwards.
//!
//! A state of the CRC is a polynomial of degree below 32, with the coefficient of x^0 in the highest
//! bit. A byte `b` takes the state `s` to `z(s ^ b)`, where `z` is the multiplication by x^8. That
//! is linear and can be undone. So the state after the bytes from offset `i` to offset `j`, brought
//! back to offset 0, is a sum of two terms: one depends on `i` alone, the other on `j` alone. See
//! [`Offset`].

use filterblock::table::unmask;

const POLYNOMIAL: u32 = 0x82f6_3b78;

/// The state before the first byte.
const START: u32 = u32::MAX;

/// `z` of each byte.
const FORWARD: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut state, mut bit) = (byte as u32, 0);
        while bit < 8 {
            state = times_x(state);
            bit += 1;
        }
        table[byte] = state;
        byte += 1;
    }
    table
};

/// For each value of a highest byte, the byte whose `z` has that highest byte.
const BACKWARD: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[(FORWARD[byte] >> 24) as usize] = byte as u8;
        byte += 1;
    }
    table
};

const fn times_x(state: u32) -> u32 {
    (state >> 1) ^ (POLYNOMIAL & 0u32.wrapping_sub(state & 1))
}

#[inline]
fn z_of(byte: u8) -> u32 {
    FORWARD.get(usize::from(byte)).copied().unwrap_or_default()
}

/// Undoes `z`.
#[inline]
pub(crate) fn back(state: u32) -> u32 {
    let byte = BACKWARD.get((state >> 24) as usize).copied().unwrap_or_default();
    (state ^ z_of(byte)) << 8 | u32::from(byte)
}

/// The first `bits` coefficients of `a`, times `b`.
#[inline]
fn product(mut a: u32, mut b: u32, bits: u32) -> u32 {
    let mut sum = 0;
    for _ in 0..bits {
        sum ^= b & 0u32.wrapping_sub(a >> 31);
        a <<= 1;
        b = times_x(b);
    }
    sum
}

#[derive(Clone, Copy)]
pub(super) struct Crc(u32);

impl Crc {
    pub(super) const fn new() -> Self {
        Self(START)
    }

    #[inline]
    pub(super) fn add(&mut self, byte: u8) {
        self.0 = (self.0 >> 8) ^ z_of(self.0 as u8 ^ byte);
    }

    /// Returns true if a trailer stores this state's checksum, which is inverted and masked, as `stored`.
    #[inline]
    pub(super) const fn is_stored_as(self, stored: [u8; 4]) -> bool {
        self.0 == state_of(stored)
    }
}

/// The state at the end of a block whose trailer stores this checksum.
#[inline]
const fn state_of(stored: [u8; 4]) -> u32 {
    !unmask(u32::from_le_bytes(stored))
}

/// An offset in a file, which moves on with each byte that is added. A block from one offset to another is sound if
/// the [`start`](Self::start) of the first is the [`end`](Self::end) of the second.
pub(super) struct Offset {
    /// All bytes so far, brought back to offset 0.
    sum: u32,
    /// The state before the first byte, brought back from this offset to 0.
    start: u32,
    /// x^0, brought back from this offset to 0.
    one: u32,
    /// x^24, which is the highest bit of a byte, brought back from this offset to 0.
    byte: u32,
}

impl Offset {
    pub(super) const fn new() -> Self {
        Self { sum: 0, start: START, one: 1 << 31, byte: 1 << 7 }
    }

    #[inline]
    pub(super) fn add(&mut self, byte: u8) {
        self.sum ^= product(u32::from(byte) << 24, self.byte, 8);
        self.start = back(self.start);
        self.one = back(self.one);
        self.byte = back(self.byte);
    }

    #[inline]
    pub(super) const fn start(&self) -> u32 {
        self.start ^ self.sum
    }

    /// The [`start`](Self::start) of a sound block that ends here, type included, before this checksum.
    #[inline]
    pub(super) fn end(&self, stored: [u8; 4]) -> u32 {
        product(state_of(stored), self.one, 32) ^ self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(bytes: &[u8]) -> [u8; 4] {
        filterblock::table::mask(crc32c::crc32c(bytes)).to_le_bytes()
    }

    #[test]
    fn the_checksum_is_that_of_the_crate_crc32c() {
        let bytes: Vec<u8> = (0..1000u32).map(|at| ((at * at) >> 3) as u8).collect();
        for len in [0, 1, 2, 3, 255, 1000] {
            let mut crc = Crc::new();
            bytes[..len].iter().for_each(|&byte| crc.add(byte));
            assert!(crc.is_stored_as(stored(&bytes[..len])));
            crc.add(0);
            assert!(!crc.is_stored_as(stored(&bytes[..len])));
        }
    }

    #[test]
    fn a_start_meets_the_ends_of_sound_blocks_and_no_others() {
        let bytes: Vec<u8> = (0..300u32).map(|at| ((at * at * 7) >> 4) as u8).collect();
        let offsets = |at: usize| {
            let mut offset = Offset::new();
            bytes[..at].iter().for_each(|&byte| offset.add(byte));
            offset
        };
        for start in (0..300).step_by(7) {
            for end in (start..300).step_by(5) {
                let sound = stored(&bytes[start..end]);
                assert_eq!(offsets(start).start(), offsets(end).end(sound));
                assert_ne!(
                    offsets(start).start(),
                    offsets(end).end([sound[0] ^ 1, sound[1], sound[2], sound[3]])
                );
                if start > 0 {
                    assert_ne!(offsets(start - 1).start(), offsets(end).end(sound));
                }
            }
        }
    }
}
