//! MurmurHash3 with 128 bits, for 64-bit processors.

use byteorder::{ByteOrder, LittleEndian};

use super::up_to_8_bytes;
use crate::lanes::EqualLenKeys;

/// Returns the MurmurHash3 x64 128 with seed 0 twice, two words each: of `key`, and of `key`
/// followed by a byte 0x01.
///
/// The whole blocks of the key are hashed once for both.
#[inline]
pub(crate) fn murmur3_twice(key: &[u8]) -> [u64; 4] {
    let (blocks, tail) = key.as_chunks::<16>();
    let mut state = Murmur3::default();
    for block in blocks {
        state.add(words(block));
    }
    state.finish_twice(tail, key.len() as u64)
}

/// Like [`murmur3_twice`], but for two keys of the same length, side by side.
pub(crate) fn murmur3_twice_of_two(keys: EqualLenKeys<'_, 2>) -> [[u64; 4]; 2] {
    let [(a, a_tail), (b, b_tail)] = keys.keys().map(<[u8]>::as_chunks::<16>);
    let mut states = [Murmur3::default(); 2];
    let [state_a, state_b] = &mut states;
    for (a, b) in a.iter().zip(b) {
        state_a.add(words(a));
        state_b.add(words(b));
    }
    let len = keys.len() as u64;
    let [a, b] = states;
    [a.finish_twice(a_tail, len), b.finish_twice(b_tail, len)]
}

#[inline(always)]
fn words(block: &[u8; 16]) -> [u64; 2] {
    let (low, high) = block.split_at(8);
    [LittleEndian::read_u64(low), LittleEndian::read_u64(high)]
}

#[derive(Clone, Copy, Default)]
struct Murmur3 {
    h1: u64,
    h2: u64,
}

impl Murmur3 {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;

    /// Returns the contribution of a block to each half of the state.
    #[inline]
    fn halves([low, high]: [u64; 2]) -> (u64, u64) {
        let k1 = low.wrapping_mul(Self::C1).rotate_left(31);
        let k2 = high.wrapping_mul(Self::C2).rotate_left(33);
        (k1.wrapping_mul(Self::C2), k2.wrapping_mul(Self::C1))
    }

    #[inline]
    fn add(&mut self, block: [u64; 2]) {
        let (k1, k2) = Self::halves(block);
        let h1 = (self.h1 ^ k1).rotate_left(27).wrapping_add(self.h2);
        self.h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        let h2 = (self.h2 ^ k2).rotate_left(31).wrapping_add(self.h1);
        self.h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }

    #[inline]
    fn finish(self, rest: [u64; 2], len: u64) -> [u64; 2] {
        let (k1, k2) = Self::halves(rest);
        Self { h1: self.h1 ^ k1, h2: self.h2 ^ k2 }.mix(len)
    }

    /// Adds `tail`, the last bytes of the key, at most 15, and ends two hashes: that of the key, which
    /// has `len` bytes, and that of the key followed by a byte 0x01.
    #[inline(always)]
    fn finish_twice(mut self, tail: &[u8], len: u64) -> [u64; 4] {
        if tail.is_empty() {
            // The extra byte is constant, so its contribution is too.
            const ONE: u64 = 0x87c3_7b91_1142_53d5_u64.rotate_left(31).wrapping_mul(0x4cf5_ad43_2745_937f);
            let [v1, v2] = self.mix(len);
            let [v3, v4] = Self { h1: self.h1 ^ ONE, ..self }.mix(len.wrapping_add(1));
            return [v1, v2, v3, v4];
        }
        // Padding the tail with zeros is harmless: they mix to zero.
        let (low, high) = tail.split_at(tail.len().min(8));
        let mut rest = [up_to_8_bytes(low), up_to_8_bytes(high)];
        let [v1, v2] = self.finish(rest, len);
        let place = 1 << ((tail.len() % 8) as u32).wrapping_mul(8);
        rest = if tail.len() < 8 { [rest[0] | place, rest[1]] } else { [rest[0], rest[1] | place] };
        if tail.len() == 15 {
            self.add(rest);
            rest = [0; 2];
        }
        let [v3, v4] = self.finish(rest, len.wrapping_add(1));
        [v1, v2, v3, v4]
    }

    /// Ends the hash if nothing is left to be added.
    #[inline]
    fn mix(self, len: u64) -> [u64; 2] {
        let h1 = self.h1 ^ len;
        let h2 = self.h2 ^ len;
        let h1 = h1.wrapping_add(h2);
        let h2 = h2.wrapping_add(h1);
        let h1 = avalanche(h1);
        let h2 = avalanche(h2);
        let h1 = h1.wrapping_add(h2);
        [h1, h2.wrapping_add(h1)]
    }
}

#[inline]
fn avalanche(h: u64) -> u64 {
    let h = (h ^ (h >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let h = (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ (h >> 33)
}

#[cfg(test)]
mod tests {
    use super::super::tests::bytes;
    use super::*;

    /// The expected hashes are those of the Python package mmh3 5.3.1:
    /// `hash64(key, 0, True, False)`, then `hash64(key + b"\1", 0, True, False)`.
    #[test]
    fn murmur3_of_every_tail() {
        let expected: [[u64; 4]; 34] = [
            [0x0000_0000_0000_0000, 0x0000_0000_0000_0000, 0x7ace_5c90_8374_fe16, 0x7788_67e4_430e_6785],
            [0xa46b_d162_48e5_51c3, 0x0576_fa7f_1e47_c1f6, 0x7cf6_0889_4752_8a35, 0x3871_6319_38a7_4dff],
            [0x63e3_3cb9_6106_f8a8, 0xf9ea_25ea_9d88_77ed, 0xfbda_e19d_6b09_4381, 0x9ddb_2297_7837_0c72],
            [0x1548_1151_569e_a55c, 0x7b74_5054_af17_db8e, 0xe4c2_5991_dd90_1bab, 0xabde_b73f_ceae_2e4a],
            [0xf421_457d_d612_0c8c, 0x1151_d8ff_14d3_bb7e, 0xba5b_1ef5_04ae_879e, 0xcbdc_d075_1b2c_5e88],
            [0x6266_78b1_b48a_f793, 0xf1ad_7a6c_350b_e428, 0xa8c9_3978_addf_9133, 0x72a0_5505_180a_cf0b],
            [0x6c5f_c8f5_2d30_6aeb, 0x8537_8c19_153b_14c2, 0xe06c_db9e_2b77_8cca, 0xd772_306c_ce26_e9ea],
            [0x2f98_8445_ea4f_0073, 0xae18_252c_d0d3_cc10, 0xa117_280a_c947_8ddc, 0x1ee9_17af_32f3_e578],
            [0x5361_56af_ef70_6b9f, 0xa8f7_0ade_40bf_f2a3, 0x2258_7e70_1212_9682, 0x1387_4a92_4497_4b63],
            [0x7566_ba39_1b70_8017, 0x8b10_cf8f_24ce_7610, 0x7fa6_27db_d56c_d7ef, 0xb25e_d147_642e_2d30],
            [0xae1e_e3f7_41ea_1cbc, 0x78a6_5de1_db77_405c, 0x7759_565f_0562_de05, 0xfabf_c1a0_d30f_2d8f],
            [0x1cfd_1865_809d_a45e, 0x7eda_87dc_fef8_454c, 0x8218_ffd1_5c3b_2479, 0xdac6_8921_185d_94f6],
            [0x5d35_69e4_5305_6425, 0x788c_a0da_d5f0_71e7, 0x6262_8452_a425_fc6a, 0x1ab0_367c_4779_54cb],
            [0xad58_e313_2891_592c, 0x3826_f962_728e_b02b, 0x4ecc_12da_00c0_2d04, 0xa385_52d5_7fce_c557],
            [0xb03f_aa13_bd0d_c3df, 0x7a70_c6a8_674c_8cb2, 0x2670_9bd7_73a3_9e93, 0xc823_3853_68d4_47ce],
            [0x7f6e_ee24_d5c4_1124, 0x5013_b4a6_93a3_90ec, 0x841a_a1ad_a582_6f79, 0xaee7_0b3c_aab3_5522],
            [0xd42a_b946_d4ed_a46c, 0x68e7_72b9_cca3_25e8, 0x1252_342f_63d6_1932, 0xf021_a6cc_8a2d_5207],
            [0x192c_8102_b239_0e27, 0x5368_7d1a_bdb1_3bad, 0x6be8_ca7f_78ed_32c6, 0x7cd5_dc60_537e_c4a6],
            [0x2b3e_11d0_0ade_2166, 0x2a30_e1f2_81fa_f8d1, 0xbe49_dab1_1aba_0a45, 0xf62a_e8e1_c710_cf23],
            [0x6d27_c2e9_d398_836c, 0x687c_0f38_5ae5_af17, 0x2e59_f262_690c_286d, 0xb663_6367_ef97_cd69],
            [0xbecf_9402_3460_8a9a, 0x1b8e_4baa_942a_bf68, 0xd42a_7966_19ef_8ecf, 0x4e18_5348_9313_b02e],
            [0x6deb_3213_2fa8_433d, 0x97b2_ca63_1d34_753d, 0x6fa6_1ef9_077a_40c4, 0x1440_25c1_9f2f_de8a],
            [0x1841_60db_a103_79a5, 0xd37f_aca2_f5cb_ba80, 0x74f3_15ca_6065_b5f3, 0xc1f8_2b56_da95_75c6],
            [0x2349_527a_192f_2004, 0xd880_8979_5af2_f04a, 0x507a_378b_88e2_4bef, 0x39e2_ffa2_1a32_4de9],
            [0x5414_e2fa_3ed4_af0b, 0x6e7a_60d1_1def_13d5, 0x0bdb_f065_7851_ed3d, 0x4452_5665_1783_f088],
            [0x1540_0297_cff1_c8f7, 0x1288_1bb1_e23d_2fe0, 0xc1d6_01ad_4874_94b7, 0xda0d_0ea4_a23e_7db0],
            [0x1a4e_8758_4441_8d75, 0x7b0c_e29e_b351_bfed, 0x2a7d_1062_efa6_c2f3, 0xeb8d_c3d7_363f_4aee],
            [0xaa25_44ac_2ae5_d012, 0x42a1_8eaa_dd09_78d0, 0xbf31_a269_7e05_a42f, 0xb8b4_90d8_d40e_bfdf],
            [0xe6c0_2407_9880_d3aa, 0x4136_5ec6_a031_4ef7, 0x1e5a_cbc4_3936_fa0a, 0xd189_2ea1_147e_eb48],
            [0xea23_1dbf_2985_f803, 0xd5ff_8b6a_5aea_77f2, 0xa37c_500b_67d9_4d34, 0x9e02_55fc_5026_e28c],
            [0x55d3_5f94_96dd_ae3e, 0x4d6a_a0a8_3fa8_7395, 0x883b_e783_ba3a_70c7, 0xd59b_8149_ab94_fab3],
            [0x166e_f2bb_9b67_3f06, 0xaff6_7b97_bfce_2b6b, 0x050a_37ec_ae56_3d6a, 0xed57_6491_8887_2b5a],
            [0xf0e1_ca2d_3c93_467d, 0x9048_43b2_c183_f4da, 0x5c16_5b6d_7f24_dad5, 0x6b19_01dc_5218_7a6d],
            [0x8e73_08d2_efa5_d41d, 0x736c_7f16_c4d6_4543, 0x9faf_e877_0856_1952, 0x38b8_6e6b_e728_98b0],
        ];
        for (len, expected) in (0..).zip(expected) {
            assert_eq!(murmur3_twice(&bytes(len)), expected, "{len} bytes");
        }
    }

    #[test]
    fn side_by_side() {
        for len in 0..150 {
            // The bytes of each key differ from those of the others.
            let keys: [Vec<u8>; 2] = std::array::from_fn(|at| {
                (0..len).map(|i| (i as u8).wrapping_mul(89).wrapping_add(at as u8 * 71)).collect()
            });
            let keys = keys.each_ref().map(Vec::as_slice);
            assert_eq!(
                murmur3_twice_of_two(EqualLenKeys::new(keys).unwrap()),
                keys.map(murmur3_twice),
                "{len} bytes"
            );
        }
    }
}
