//! Keys and their order for the benchmarks, the same in every run.
#![allow(dead_code)]

/// The random generator SplitMix64.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Makes a generator. The same seed gives the same numbers.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}

/// Makes `count` random keys of `len` bytes. `None`: of 1 to 64 bytes each.
pub(crate) fn keys(count: usize, len: Option<usize>, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|_| {
            let len = len.unwrap_or_else(|| 1 + random.below(64));
            let words = std::iter::repeat_with(|| random.next().to_le_bytes());
            words.flatten().take(len).collect()
        })
        .collect()
}

/// Returns the numbers below `count` in random order.
pub(crate) fn shuffled(count: usize) -> Vec<usize> {
    let mut random = Random::new(7);
    let mut numbers: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        numbers.swap(last, random.below(last + 1));
    }
    numbers
}
