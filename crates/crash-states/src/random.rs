//! Pseudo-random numbers that never change, since files in `testdata/` and seeds in reports depend on them.

/// The random generator SplitMix64: small, fast, and good enough to choose test cases.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Makes a generator. The same seed gives the same numbers, on every machine and in every version.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Makes a generator for case number `index`. Its numbers do not depend on how many numbers other cases took.
    pub fn for_case(seed: u64, index: u64) -> Self {
        Self(Self(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95)).next_u64())
    }

    /// Returns the next number, of 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// A length or index below `limit`, which must not be 0.
    pub fn index(&mut self, limit: usize) -> usize {
        self.below(limit as u64) as usize
    }

    /// Returns true with a probability of 1/`n`.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A random number below 2^n, where n is a random number from 0 to `bits`: numbers of few bits are about as
    /// frequent as numbers of many bits.
    pub fn skewed(&mut self, bits: u32) -> u64 {
        let used = self.between(0, u64::from(bits)) as u32;
        self.next_u64().checked_shr(64 - used).unwrap_or(0)
    }

    /// Appends `len` random bytes.
    pub fn fill(&mut self, len: usize, to: &mut Vec<u8>) {
        let end = to.len() + len;
        while to.len() < end {
            to.extend_from_slice(&self.next_u64().to_le_bytes());
        }
        to.truncate(end);
    }

    /// `len` random bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len + 7);
        self.fill(len, &mut bytes);
        bytes
    }
}
