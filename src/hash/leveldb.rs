//! LevelDB's hash (`util/hash.cc`, since 1.18).

use byteorder::{ByteOrder, LittleEndian};

const M: u32 = 0xc6a4_a793;

/// Returns LevelDB's 32-bit hash of `bytes`. LevelDB's Bloom filters use the seed [`BLOOM_SEED`].
///
/// This costs about a nanosecond for every four bytes, since each word waits for the one before it.
/// The hash is not meant for keys chosen by an adversary: collisions are easily made.
///
/// ```
/// assert_eq!(filterblock::hash::leveldb(&[0xe2, 0x99, 0xa5], 0xbc9f1d34), 0x323c078f);
/// ```
#[inline]
pub fn leveldb(bytes: &[u8], seed: u32) -> u32 {
    let (words, _) = bytes.as_chunks::<4>();
    let mut h = start(bytes.len(), seed);
    for word in words {
        h = step(h, LittleEndian::read_u32(word));
    }
    finish(h, bytes)
}

/// Hashes a few keys, side by side if they have the same length: the steps of one key do not wait for
/// those of another.
#[inline]
pub(crate) fn leveldb_each<const N: usize>(keys: [&[u8]; N], seed: u32) -> [u32; N] {
    let len = keys.first().map_or(0, |key| key.len());
    if keys.iter().any(|key| key.len() != len) {
        return keys.map(|key| leveldb(key, seed));
    }
    let words = keys.map(|key| key.as_chunks::<4>().0);
    let mut hashes = [start(len, seed); N];
    for number in 0..len / 4 {
        for (h, words) in hashes.iter_mut().zip(words) {
            *h = words.get(number).map_or(*h, |word| step(*h, LittleEndian::read_u32(word)));
        }
    }
    hashes.iter_mut().zip(keys).for_each(|(h, key)| *h = finish(*h, key));
    hashes
}

/// Returns the hash before any word is mixed in. The length is taken modulo 2^32, as in LevelDB.
#[inline(always)]
pub(crate) fn start(len: usize, seed: u32) -> u32 {
    seed ^ (len as u32).wrapping_mul(M)
}

#[inline(always)]
pub(crate) fn step(h: u32, word: u32) -> u32 {
    let h = h.wrapping_add(word).wrapping_mul(M);
    h ^ (h >> 16)
}

/// Mixes in the bytes after the last whole word of `bytes`, at most three. Without such bytes, `h`
/// stays as it is.
#[inline(always)]
pub(crate) fn finish(h: u32, bytes: &[u8]) -> u32 {
    let count = bytes.len() % 4;
    if count == 0 {
        return h;
    }
    let rest = match bytes.last_chunk::<4>() {
        // The `count` topmost bytes of the last four are the tail. This takes less time than a branch
        // on `count`.
        Some(last) => LittleEndian::read_u32(last) >> (32 - 8 * count),
        None => bytes.iter().rev().fold(0, |rest, &byte| rest * 0x100 + u32::from(byte)),
    };
    last_step(h, rest)
}

/// Mixes in the value of the last one to three bytes.
#[inline(always)]
pub(crate) fn last_step(h: u32, rest: u32) -> u32 {
    let h = h.wrapping_add(rest).wrapping_mul(M);
    h ^ (h >> 24)
}

/// The seed of LevelDB's Bloom filters (`util/bloom.cc`).
pub const BLOOM_SEED: u32 = 0xbc9f_1d34;

/// Returns the hash of LevelDB up to 1.17 on x86, which reads the one to three bytes after the last
/// whole four-byte word as signed. It equals [`leveldb`] if these bytes are below 0x80, and takes
/// hardly longer.
///
/// ```
/// use filterblock::hash::{BLOOM_SEED, hash_signed_tail, leveldb};
/// assert_eq!(hash_signed_tail(b"\xc3\x97 and", BLOOM_SEED), leveldb(b"\xc3\x97 and", BLOOM_SEED));
/// assert_ne!(hash_signed_tail(b"and \xc3\x97", BLOOM_SEED), leveldb(b"and \xc3\x97", BLOOM_SEED));
/// ```
pub fn hash_signed_tail(bytes: &[u8], seed: u32) -> u32 {
    to_signed_tail(leveldb(bytes, seed), bytes)
}

/// Turns the [`leveldb`] of `bytes` into their [`hash_signed_tail`], without hashing them again.
///
/// As a signed number, a byte of 0x80 or above counts 0x100 less. So the last step of the hash is
/// undone, the difference is subtracted, and the step is done again.
#[inline]
pub(crate) fn to_signed_tail(h: u32, bytes: &[u8]) -> u32 {
    const M_INVERSE: u32 = 0xd819_8e9b;
    const { assert!(M.wrapping_mul(M_INVERSE) == 1) };

    let (_, tail) = bytes.as_chunks::<4>();
    let excess = tail.iter().rev().fold(0, |excess, byte| (excess + u32::from(byte >> 7)) << 8);
    if excess == 0 {
        return h;
    }
    // `x ^ (x >> 24)` is its own inverse, since the top byte of x stays as it is.
    let sum = (h ^ (h >> 24)).wrapping_mul(M_INVERSE).wrapping_sub(excess).wrapping_mul(M);
    sum ^ (sum >> 24)
}
