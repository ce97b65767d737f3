//! The generator SplitMix64: a seed gives the same numbers on every machine.

#[derive(Default, Debug)]
pub(crate) struct SplitMix(pub u64);

impl SplitMix {
    /// The next number. There is no end of them.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }
}

/// Mixes the bits of `value`: the generator's last step.
pub(crate) const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
