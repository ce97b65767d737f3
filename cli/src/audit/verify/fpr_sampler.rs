//! The rate of false positives, measured by asking filters for keys that are not there.
//!
//! Some of the filters are chosen, evenly spread over the data blocks. From the keys of the first
//! data block that such a filter covers, others are made by changing a byte or appending some.
//! Those of them that are stored, in that block or in another that the filter covers, are struck
//! out, and the filter is asked for the rest. This needs no order of keys, and no more memory the
//! larger a filter is.

use filterblock::{FilterBlockReader, FilterPolicy, KeyBuf};

/// The most filters to ask, and about the number of keys to ask them for in all.
const MAX_FILTERS: u64 = 64;
const MADE_KEYS: u64 = 4096;
/// The limits on the part of a data block that serves to make keys from.
const MAX_SEEDS: usize = 256;
const MAX_SEED_BYTES: usize = 64 << 10;
/// The most bytes of keys to make for a filter. Of long keys, few are made.
const MAX_MADE_BYTES: usize = 1 << 20;

pub(super) struct FprSampler<'a, P: FilterPolicy, B: AsRef<[u8]>> {
    filters: &'a FilterBlockReader<P, B>,
    random: SplitMix,
    /// The number of data blocks from one chosen filter to the next.
    stride: u64,
    keys_a_filter: usize,
    /// The number of data blocks begun, and the number at which the next filter is chosen.
    blocks: u64,
    due: u64,
    /// The first data block of the current filter, and the number of its data blocks so far.
    first_offset: u64,
    filter_blocks: u64,
    phase: Phase,
    seeds: KeyBuf,
    seed_bytes: usize,
    /// Hashes of the keys stored in the first data block.
    stored: Vec<u64>,
    made: KeyBuf,
    /// The keys in `made` that may be asked for, sorted by hash.
    candidates: Vec<Candidate>,
    answers: Vec<bool>,
    passed: f64,
    weight: f64,
}

/// A key that was made, and is not known to be stored.
#[derive(Clone, Copy)]
struct Candidate {
    hash: u64,
    /// Its index in `made`.
    at: usize,
    /// It turned out to be stored.
    struck: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The current filter is not chosen.
    Idle,
    /// In the first data block of a chosen filter.
    First,
    /// In a later data block of it.
    Later,
}

impl<'a, P: FilterPolicy, B: AsRef<[u8]>> FprSampler<'a, P, B> {
    /// A sampler for a table of `blocks` data blocks, which `used_filters` filters cover.
    pub(super) fn new(
        filters: &'a FilterBlockReader<P, B>,
        blocks: u64,
        used_filters: u64,
        seed: u64,
    ) -> Self {
        Self {
            filters,
            random: SplitMix(seed),
            stride: blocks.div_ceil(MAX_FILTERS).max(1),
            keys_a_filter: (MADE_KEYS / used_filters.clamp(1, MAX_FILTERS)) as usize,
            blocks: 0,
            due: 0,
            first_offset: 0,
            filter_blocks: 0,
            phase: Phase::Idle,
            seeds: KeyBuf::new(),
            seed_bytes: 0,
            stored: Vec::new(),
            made: KeyBuf::new(),
            candidates: Vec::new(),
            answers: Vec::new(),
            passed: 0.0,
            weight: 0.0,
        }
    }

    pub(super) fn begin_block(&mut self, offset: u64) {
        let base_lg = u32::from(self.filters.base_lg());
        let is_same =
            self.filter_blocks > 0 && offset.checked_shr(base_lg) == self.first_offset.checked_shr(base_lg);
        if is_same {
            self.filter_blocks += 1;
        } else {
            self.end_filter();
            self.first_offset = offset;
            self.filter_blocks = 1;
            if self.blocks >= self.due {
                self.phase = Phase::First;
                self.due = self.blocks + self.stride;
            }
        }
        self.blocks += 1;
    }

    /// Returns true if [`key`](Self::key) is to be called with the keys of this data block.
    pub(super) fn is_listening(&self) -> bool {
        self.phase != Phase::Idle
    }

    /// Takes note of a stored key, as filters know it.
    #[inline]
    pub(super) fn key(&mut self, key: &[u8]) {
        match self.phase {
            Phase::Idle => {}
            Phase::First => {
                self.stored.push(hash(key));
                let room = MAX_SEED_BYTES.saturating_sub(self.seed_bytes);
                if self.seeds.len() < MAX_SEEDS && key.len() <= room {
                    self.seed_bytes += key.len();
                    self.seeds.push(key);
                }
            }
            Phase::Later => {
                let hash = hash(key);
                if let Ok(at) = self.candidates.binary_search_by_key(&hash, |candidate| candidate.hash)
                    && let Some(candidate) = self.candidates.get_mut(at)
                {
                    candidate.struck = true;
                }
            }
        }
    }

    pub(super) fn end_block(&mut self) {
        if self.phase == Phase::First {
            self.make();
            self.phase = Phase::Later;
        }
    }

    /// Makes keys, none of which is stored in the data block just read.
    fn make(&mut self) {
        self.stored.sort_unstable();
        let mut key = Vec::new();
        let mut made_bytes = 0_usize;
        for seed in self.seeds.as_keys().iter().cycle().take(self.keys_a_filter) {
            change(seed, &mut self.random, &mut key);
            made_bytes = made_bytes.saturating_add(key.len());
            if made_bytes > MAX_MADE_BYTES {
                break;
            }
            let hash = hash(&key);
            if self.stored.binary_search(&hash).is_err() {
                self.candidates.push(Candidate { hash, at: self.made.len(), struck: false });
                self.made.push(&key);
            }
        }
        self.candidates.sort_unstable_by_key(|candidate| candidate.hash);
        self.candidates.dedup_by_key(|candidate| candidate.hash);
        self.stored.clear();
        self.seeds.clear();
        self.seed_bytes = 0;
    }

    /// Asks the current filter, if it is chosen.
    fn end_filter(&mut self) {
        let made = self.made.as_keys();
        let absent = self.candidates.iter().filter(|candidate| !candidate.struck);
        let keys = absent.filter_map(|candidate| made.get(candidate.at));
        let queries: Vec<_> = keys.map(|key| (self.first_offset, key)).collect();
        self.filters.keys_may_match(&queries, &mut self.answers);
        if !queries.is_empty() {
            let passed = self.answers.iter().filter(|may_match| **may_match).count();
            // Weighted by the data blocks that the filter covers: lookups ask it that often.
            let weight = self.filter_blocks as f64;
            self.passed += weight * passed as f64 / queries.len() as f64;
            self.weight += weight;
        }
        self.made.clear();
        self.candidates.clear();
        self.phase = Phase::Idle;
    }

    /// The share of absent keys that passed, in the mean over data blocks; `None` if no filter was
    /// asked.
    pub(super) fn finish(mut self) -> Option<f64> {
        self.end_filter();
        (self.weight > 0.0).then(|| self.passed / self.weight)
    }
}

/// Makes a key other than `seed` from it.
fn change(seed: &[u8], random: &mut SplitMix, key: &mut Vec<u8>) {
    key.clear();
    key.extend_from_slice(seed);
    let bits = random.next();
    let [how, with, rest @ ..] = bits.to_le_bytes();
    let at = (random.next() % (seed.len() as u64).max(1)) as usize;
    match key.get_mut(at) {
        Some(byte) if how % 2 == 0 => *byte ^= with.max(1),
        _ => key.extend_from_slice(&rest),
    }
}

/// A fast hash of low quality. A made key that collides with a stored one is merely not asked for.
#[inline]
fn hash(key: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = key.as_chunks::<8>();
    let hash = words.iter().fold(key.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let last = rest.iter().fold(0, |last, &byte| last << 8 | u64::from(byte));
    let hash = mix(hash, last);
    hash ^ hash >> 32
}

/// The generator SplitMix64: a seed gives the same numbers on every machine.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use filterblock::{FilterBlockBuilder, Keys, Result};

    use super::*;

    /// Records the keys it is asked for, and lets those pass that begin with an even byte.
    #[derive(Default)]
    struct Witness(Mutex<Vec<Vec<u8>>>);

    impl FilterPolicy for Witness {
        fn name(&self) -> &str {
            "witness"
        }
        fn create_filter(&self, _: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
            dst.push(0);
            Ok(())
        }
        fn key_may_match(&self, key: &[u8], _: &[u8]) -> bool {
            self.0.lock().unwrap().push(key.to_vec());
            key.first().is_some_and(|byte| byte % 2 == 0)
        }
    }

    /// A stored key. The keys differ from block to block if the blocks share a filter.
    fn stored_key(base_lg: u8, block: u64, key: u8) -> Vec<u8> {
        vec![if base_lg == 63 { block as u8 } else { 0 }, key]
    }

    /// A hundred data blocks of 200 keys each.
    fn measure(base_lg: u8, seed: u64) -> (Option<f64>, Vec<Vec<u8>>) {
        let mut builder = FilterBlockBuilder::with_base_lg(Witness::default(), base_lg).unwrap();
        for block in 0..100 {
            builder.start_block(block * 4096).unwrap();
            builder.add_key(b"");
        }
        let contents = builder.finish().unwrap();
        let reader = FilterBlockReader::new(Witness::default(), contents.as_ref());
        let used_filters = if base_lg == 63 { 1 } else { 100 };
        let mut sampler = FprSampler::new(&reader, 100, used_filters, seed);
        for block in 0..100 {
            sampler.begin_block(block * 4096);
            (0..200).for_each(|key| sampler.key(&stored_key(base_lg, block, key)));
            sampler.end_block();
        }
        let rate = sampler.finish();
        (rate, std::mem::take(&mut reader.policy().0.lock().unwrap()))
    }

    #[test]
    fn no_key_that_the_filter_has_is_asked_for() {
        for base_lg in [12, 63] {
            let (rate, asked) = measure(base_lg, 1);
            assert!(asked.len() > 1000, "{base_lg}: {}", asked.len());
            let stored = (0..100).flat_map(|block| (0..200).map(move |key| stored_key(base_lg, block, key)));
            let stored: BTreeSet<_> = stored.collect();
            assert!(asked.iter().all(|key| !stored.contains(key)));
            let even = asked.iter().filter(|key| key[0].is_multiple_of(2)).count();
            let expected = even as f64 / asked.len() as f64;
            assert!((rate.unwrap() - expected).abs() < 0.1, "{rate:?} {expected}");
        }
    }

    #[test]
    fn the_seed_decides_what_is_asked() {
        assert_eq!(measure(12, 1).1, measure(12, 1).1);
        assert_ne!(measure(12, 1).1, measure(12, 2).1);
    }

    #[test]
    fn a_changed_key_is_another_one() {
        let mut random = SplitMix(0);
        let mut key = Vec::new();
        for seed in [&b""[..], b"a", b"some key"] {
            for _ in 0..100 {
                change(seed, &mut random, &mut key);
                assert_ne!(key, seed);
            }
        }
    }

    #[test]
    fn nothing_to_ask_is_no_rate() {
        let reader = FilterBlockReader::new(Witness::default(), &[][..]);
        assert_eq!(FprSampler::new(&reader, 0, 0, 0).finish(), None);
    }
}
