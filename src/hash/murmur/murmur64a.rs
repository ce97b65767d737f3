//! MurmurHash64A.

use byteorder::{ByteOrder, LittleEndian};

use super::up_to_8_bytes;
use crate::lanes::EqualLenKeys;

/// The multiplier of MurmurHash64A.
const M64: u64 = 0xc6a4_a793_5bd1_e995;

/// Returns the MurmurHash64A of `key`.
pub(crate) fn murmur64a(key: &[u8], seed: u64) -> u64 {
    let (words, tail) = key.as_chunks::<8>();
    finish64(words.iter().fold(start64(key.len(), seed), step64), tail)
}

/// Returns the MurmurHash64A of four keys of the same length, side by side.
pub(crate) fn murmur64a_of_four(keys: EqualLenKeys<'_, 4>, seed: u64) -> [u64; 4] {
    let mut h = [start64(keys.len(), seed); 4];
    let [a, b, c, d] = keys.keys().map(|key| key.as_chunks::<8>().0);
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        for (h, word) in h.iter_mut().zip([a, b, c, d]) {
            *h = step64(*h, word);
        }
    }
    for (h, key) in h.iter_mut().zip(keys.keys()) {
        *h = finish64(*h, key.as_chunks::<8>().1);
    }
    h
}

#[inline(always)]
fn start64(len: usize, seed: u64) -> u64 {
    seed ^ (len as u64).wrapping_mul(M64)
}

#[inline(always)]
fn step64(h: u64, word: &[u8; 8]) -> u64 {
    let k = LittleEndian::read_u64(word).wrapping_mul(M64);
    (h ^ (k ^ (k >> 47)).wrapping_mul(M64)).wrapping_mul(M64)
}

#[inline(always)]
fn finish64(mut h: u64, tail: &[u8]) -> u64 {
    if !tail.is_empty() {
        h = (h ^ up_to_8_bytes(tail)).wrapping_mul(M64);
    }
    h = (h ^ (h >> 47)).wrapping_mul(M64);
    h ^ (h >> 47)
}

#[cfg(test)]
mod tests {
    use super::super::tests::bytes;
    use super::*;

    /// The expected hashes are those of `util/murmurhash.cc` of Basho's LevelDB (revision b91d5ce,
    /// GCC 12 on x86-64).
    #[test]
    fn murmur64a_of_every_tail() {
        let expected: [u64; 21] = [
            0xab4c_3bbe_286b_c621,
            0xc789_7a71_02d0_399a,
            0xaf8a_11b0_02d5_3ac9,
            0xdc0a_9921_379a_b55d,
            0xd146_35ec_e7bf_d00f,
            0x4cc7_788e_83c0_9b21,
            0x7f7c_e295_19a1_9174,
            0xb060_d0ff_fe74_4d57,
            0x7deb_1632_2d00_bc54,
            0x7b91_089a_f171_0988,
            0xeb76_85f7_4387_d50b,
            0xab33_eab8_642c_edb6,
            0x61a8_15ea_b183_b005,
            0x6580_81df_d3c4_e6b0,
            0xfae3_7901_647e_c5ec,
            0xd0e3_5c2d_d31f_dd47,
            0x83e9_b847_cc94_eab3,
            0x6edd_7e7d_ae80_60c6,
            0xe75a_94ec_7c26_6e7a,
            0x142d_d42b_a205_f23e,
            0x7e68_c54a_addf_7025,
        ];
        for (len, expected) in (0..).zip(expected) {
            assert_eq!(murmur64a(&bytes(len), 0x5bd1_e995), expected, "{len} bytes");
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
                murmur64a_of_four(EqualLenKeys::new(keys).unwrap(), 7),
                keys.map(|key| murmur64a(key, 7)),
                "{len} bytes"
            );
        }
    }
}
