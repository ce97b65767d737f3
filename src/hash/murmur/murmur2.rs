//! MurmurHash2, as Cassandra has it.

use byteorder::{ByteOrder, LittleEndian};

use crate::lanes::EqualLenKeys;

/// The multiplier of MurmurHash2.
const M2: u32 = 0x5bd1_e995;

/// Returns the two hashes of Cassandra's filters: with seed 0, and with the first hash as seed.
///
/// They are MurmurHash2, except that the bytes after the last whole word are read as signed and in
/// reverse order. For keys of whole words, they equal the original.
pub(crate) fn murmur2_twice(key: &[u8]) -> [u32; 2] {
    let (words, tail) = key.as_chunks::<4>();
    let pass = |seed| {
        let mut h = seed ^ key.len() as u32;
        for word in words {
            h = step2(h, mix2(LittleEndian::read_u32(word)));
        }
        if !tail.is_empty() {
            h = (h ^ tail2(tail)).wrapping_mul(M2);
        }
        finish2(h)
    };
    let first = pass(0);
    [first, pass(first)]
}

/// Like [`murmur2_twice`], but for four keys of the same length, side by side: each step of a hash waits for the one
/// before it, but not for the steps of other keys. The part that does not depend on the seed is computed once for the
/// first 16 words.
pub(crate) fn murmur2_twice_of_four(keys: EqualLenKeys<'_, 4>) -> [[u32; 2]; 4] {
    const KEPT: usize = 16;

    let words = keys.keys().map(|key| key.as_chunks::<4>().0);
    let tails = keys.keys().map(|key| tail2(key.as_chunks::<4>().1));
    let count = keys.len() / 4;
    let mixed =
        |at: usize| words.map(|words| mix2(words.get(at).map_or(0, |word| LittleEndian::read_u32(word))));
    let add = |h: &mut [u32; 4], words: [u32; 4]| {
        for (h, word) in h.iter_mut().zip(words) {
            *h = step2(*h, word);
        }
    };
    let finish = |mut h: [u32; 4]| {
        if !keys.len().is_multiple_of(4) {
            for (h, tail) in h.iter_mut().zip(tails) {
                *h = (*h ^ tail).wrapping_mul(M2);
            }
        }
        h.map(finish2)
    };
    let mut kept = [[0; 4]; KEPT];
    let mut h = [keys.len() as u32; 4];
    for (at, kept) in (0..count).zip(&mut kept) {
        *kept = mixed(at);
        add(&mut h, *kept);
    }
    (KEPT..count).for_each(|at| add(&mut h, mixed(at)));
    let first = finish(h);
    let mut h = first.map(|first| first ^ keys.len() as u32);
    for (_, kept) in (0..count).zip(kept) {
        add(&mut h, kept);
    }
    (KEPT..count).for_each(|at| add(&mut h, mixed(at)));
    let [a, b, c, d] = first;
    let [e, f, g, h] = finish(h);
    [[a, e], [b, f], [c, g], [d, h]]
}

#[inline(always)]
fn mix2(word: u32) -> u32 {
    let k = word.wrapping_mul(M2);
    (k ^ (k >> 24)).wrapping_mul(M2)
}

#[inline(always)]
fn step2(h: u32, word: u32) -> u32 {
    h.wrapping_mul(M2) ^ word
}

/// Returns the contribution of `tail`, the bytes after the last whole word, at most three.
#[inline(always)]
fn tail2(tail: &[u8]) -> u32 {
    let mut sum = 0;
    for (shift, &byte) in [0, 8, 16].into_iter().zip(tail.iter().rev()) {
        sum ^= (i32::from(byte.cast_signed()) << shift).cast_unsigned();
    }
    sum
}

#[inline(always)]
fn finish2(h: u32) -> u32 {
    let h = (h ^ (h >> 13)).wrapping_mul(M2);
    h ^ (h >> 15)
}

#[cfg(test)]
mod tests {
    use super::super::tests::bytes;
    use super::*;

    /// The expected hashes are those of Cassandra 0.3's own `MurmurHash.java` (OpenJDK 17), with
    /// seed 0, and with that hash as seed.
    #[test]
    fn murmur2_of_every_tail() {
        let expected: [(u32, u32); 21] = [
            (0x0000_0000, 0x0000_0000),
            (0x18d3_9580, 0xd3ea_c8c5),
            (0xe04b_6684, 0x12d1_795c),
            (0x0c36_f568, 0x5ccf_298d),
            (0x4c2e_12d7, 0x70d3_7360),
            (0x9d83_bc99, 0x3a80_e2e8),
            (0x54da_9f5b, 0xceb0_814d),
            (0xf7b2_3ec9, 0x886e_8129),
            (0x4c4c_fc1d, 0x048f_1a94),
            (0x7cf7_9141, 0xc53b_41ad),
            (0x9d3e_0fe3, 0xb73c_3ce3),
            (0xaee9_68cb, 0x4da2_48fb),
            (0xfb20_4a22, 0x19b1_011d),
            (0xb5b7_5b04, 0x0f03_c998),
            (0xd873_4ec1, 0x121d_2fab),
            (0x16a5_b712, 0x59a3_6856),
            (0xd0ca_2b72, 0xf88c_1663),
            (0xc7bf_2c65, 0xf312_329a),
            (0xed5f_4d29, 0x7757_cc93),
            (0xbf8a_e587, 0x7f0c_6bff),
            (0x4ab8_6018, 0x77f0_0dbf),
        ];
        for (len, expected) in (0..).zip(expected) {
            assert_eq!(murmur2_twice(&bytes(len)), [expected.0, expected.1], "{len} bytes");
        }
    }

    #[test]
    fn side_by_side() {
        for len in 0..150 {
            // The bytes of each key differ from those of the others.
            let keys: [Vec<u8>; 4] = std::array::from_fn(|at| {
                (0..len).map(|i| (i as u8).wrapping_mul(89).wrapping_add(at as u8 * 71)).collect()
            });
            let keys = keys.each_ref().map(Vec::as_slice);
            assert_eq!(
                murmur2_twice_of_four(EqualLenKeys::new(keys).unwrap()),
                keys.map(murmur2_twice),
                "{len} bytes"
            );
        }
    }
}
