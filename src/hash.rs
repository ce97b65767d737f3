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
    let (words, tail) = bytes.as_chunks::<4>();
    let mut h = start(bytes.len(), seed);
    for word in words {
        h = step(h, LittleEndian::read_u32(word));
    }
    finish(h, tail)
}

/// The hashes of four keys of equal length, side by side: each step waits for the one before
/// it, so four at once take little longer than one.
#[inline]
pub(crate) fn hash4(keys: [&[u8]; 4], seed: u32) -> [u32; 4] {
    let len = keys[0].len();
    let [(a, at), (b, bt), (c, ct), (d, dt)] = keys.map(|key| key.as_chunks::<4>());
    let mut h = [start(len, seed); 4];
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        h[0] = step(h[0], LittleEndian::read_u32(a));
        h[1] = step(h[1], LittleEndian::read_u32(b));
        h[2] = step(h[2], LittleEndian::read_u32(c));
        h[3] = step(h[3], LittleEndian::read_u32(d));
    }
    if at.is_empty() {
        return h;
    }
    [finish(h[0], at), finish(h[1], bt), finish(h[2], ct), finish(h[3], dt)]
}

/// The length enters modulo 2^32, as in the original.
#[inline(always)]
fn start(len: usize, seed: u32) -> u32 {
    seed ^ (len as u32).wrapping_mul(M)
}

#[inline(always)]
fn step(h: u32, word: u32) -> u32 {
    let h = h.wrapping_add(word).wrapping_mul(M);
    h ^ (h >> 16)
}

#[inline(always)]
fn finish(h: u32, tail: &[u8]) -> u32 {
    let rest = match *tail {
        [a] => u32::from(a),
        [a, b] => u32::from(b) << 8 | u32::from(a),
        [a, b, c] => u32::from(c) << 16 | u32::from(b) << 8 | u32::from(a),
        _ => return h,
    };
    let h = h.wrapping_add(rest).wrapping_mul(M);
    h ^ (h >> 24)
}

/// The seed of LevelDB's Bloom filters (`util/bloom.cc`).
pub const BLOOM_SEED: u32 = 0xbc9f_1d34;

/// The hash of LevelDB up to 1.17 on x86, where the one to three bytes behind the last whole word of four are
/// signed. Equal to [`hash`] where these are below 0x80, and as cheap.
///
/// ```
/// use filterblock::hash::{BLOOM_SEED, hash, hash_signed_tail};
/// assert_eq!(hash_signed_tail(b"\xc3\x97 and", BLOOM_SEED), hash(b"\xc3\x97 and", BLOOM_SEED));
/// assert_ne!(hash_signed_tail(b"and \xc3\x97", BLOOM_SEED), hash(b"and \xc3\x97", BLOOM_SEED));
/// ```
pub fn hash_signed_tail(bytes: &[u8], seed: u32) -> u32 {
    to_signed_tail(hash(bytes, seed), bytes)
}

/// Turns the [`hash`] of `bytes` into their [`hash_signed_tail`], without hashing them again.
///
/// A signed byte from 0x80 on counts 0x100 less. So the hash's last step is undone, the difference
/// taken off, and the step done again.
#[inline]
pub(crate) fn to_signed_tail(h: u32, bytes: &[u8]) -> u32 {
    const M_INVERSE: u32 = 0xd819_8e9b;
    const { assert!(M.wrapping_mul(M_INVERSE) == 1) };

    let (_, tail) = bytes.as_chunks::<4>();
    let excess = tail.iter().rev().fold(0, |excess, byte| excess << 8 | u32::from(byte >> 7) << 8);
    if excess == 0 {
        return h;
    }
    // `x ^ x >> 24` is its own inverse: the top byte of x stays as it is.
    let sum = (h ^ (h >> 24)).wrapping_mul(M_INVERSE).wrapping_sub(excess).wrapping_mul(M);
    sum ^ (sum >> 24)
}
