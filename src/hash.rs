//! LevelDB's hash (`util/hash.cc`, since 1.18).

use byteorder::{ByteOrder, LittleEndian};

const M: u32 = 0xc6a4_a793;

/// LevelDB's 32-bit hash of `bytes`. Its Bloom filters use [`BLOOM_SEED`].
///
/// Costs about a nanosecond for every four bytes: each word waits for the one
/// before it. Not for keys chosen by an adversary: collisions are easily made.
///
/// ```
/// assert_eq!(filterblock::hash::hash(&[0xe2, 0x99, 0xa5], 0xbc9f1d34), 0x323c078f);
/// ```
#[inline]
pub fn hash(bytes: &[u8], seed: u32) -> u32 {
    // The length enters modulo 2^32, as in the original.
    let mut h = seed ^ (bytes.len() as u32).wrapping_mul(M);
    let (words, tail) = bytes.as_chunks::<4>();
    for word in words {
        h = h.wrapping_add(LittleEndian::read_u32(word)).wrapping_mul(M);
        h ^= h >> 16;
    }
    match *tail {
        [a] => finish(h.wrapping_add(u32::from(a))),
        [a, b] => finish(h.wrapping_add(u32::from(b) << 8 | u32::from(a))),
        [a, b, c] => finish(h.wrapping_add(u32::from(c) << 16 | u32::from(b) << 8 | u32::from(a))),
        _ => h,
    }
}

#[inline]
fn finish(h: u32) -> u32 {
    let h = h.wrapping_mul(M);
    h ^ (h >> 24)
}

/// The seed of LevelDB's Bloom filters (`util/bloom.cc`).
pub const BLOOM_SEED: u32 = 0xbc9f_1d34;
