//! Absent keys near stored ones, made by changing a byte of a stored key or by appending bytes.
//!
//! They are made from the first keys of a filter, and struck out if they turn out to be stored: memory does not grow
//! with the filter.

use filterblock::{FilterBlockReader, FilterPolicy, KeyBuf};

use super::random::SplitMix;

/// Stored keys to make absent keys from.
const MAX_SEEDS: usize = 256;
const MAX_SEED_BYTES: usize = 64 << 10;
/// Of keys to make for a filter. If keys are long, few are made.
const MAX_MADE_BYTES: usize = 1 << 20;

#[derive(Default, Debug)]
pub(crate) struct ChangedKeys {
    random: SplitMix,
    /// Keys to make for the current filter.
    count: usize,
    /// Stored keys to make absent keys from. `None`: no filter has begun, or the absent keys have been made.
    seeds: Option<KeyBuf>,
    seed_bytes: usize,
    /// Of the stored keys seen before absent keys were made.
    stored: Vec<u64>,
    made: KeyBuf,
    /// The keys in `made` that may be checked, sorted by hash.
    candidates: Vec<Candidate>,
    within: Option<Within>,
    answers: Vec<bool>,
}

/// A made key that is not known to be stored.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    hash: u64,
    /// In `made`.
    at: usize,
    /// It turned out to be stored.
    struck: bool,
}

#[derive(Default, Debug)]
struct Within {
    first: Option<Vec<u8>>,
    last: Vec<u8>,
    /// A key was less than the one before.
    descends: bool,
}

impl ChangedKeys {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: SplitMix(seed), ..Self::default() }
    }

    /// Begins another filter, for which at most `count` keys will be made.
    ///
    /// `partial`: [`key`](Self::key) is called only for the keys of one data block of the filter. Then only keys within
    /// that block are checked, which no other block holds.
    pub(crate) fn begin(&mut self, count: usize, partial: bool) {
        self.count = count;
        self.seeds = Some(KeyBuf::new());
        self.seed_bytes = 0;
        self.stored.clear();
        self.made.clear();
        self.candidates.clear();
        self.within = partial.then(Within::default);
    }

    /// `key`: one that the filter has.
    #[inline]
    pub(crate) fn key(&mut self, key: &[u8]) {
        if let Some(within) = &mut self.within {
            within.key(key);
        }
        let hash = hash(key);
        if let Some(seeds) = &mut self.seeds {
            self.stored.push(hash);
            if key.len() <= MAX_SEED_BYTES.saturating_sub(self.seed_bytes) {
                self.seed_bytes += key.len();
                seeds.push(key);
            }
            if self.stored.len() == MAX_SEEDS {
                self.make();
            }
        } else if let Ok(at) = self.candidates.binary_search_by_key(&hash, |candidate| candidate.hash)
            && let Some(candidate) = self.candidates.get_mut(at)
        {
            candidate.struck = true;
        }
    }

    fn make(&mut self) {
        let Some(seeds) = self.seeds.take() else { return };
        self.stored.sort_unstable();
        let mut key = Vec::new();
        let mut made_bytes = 0_usize;
        for seed in seeds.as_keys().iter().cycle().take(self.count) {
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
        keep_first_of_each_hash(&mut self.candidates);
    }

    /// Returns how many of the made keys may match, and how many were checked. `offset`: of a data block that the
    /// filter covers.
    pub(crate) fn ask<P: FilterPolicy, B: AsRef<[u8]>>(
        &mut self,
        filters: &FilterBlockReader<P, B>,
        offset: u64,
    ) -> (u64, u64) {
        self.make();
        let made = self.made.as_keys();
        let absent = self.candidates.iter().filter(|candidate| !candidate.struck);
        let keys = absent.filter_map(|candidate| made.get(candidate.at));
        let keys = keys.filter(|key| self.within.as_ref().is_none_or(|within| within.has(key)));
        let queries: Vec<_> = keys.map(|key| (offset, key)).collect();
        filters.keys_may_match(&queries, &mut self.answers);
        let passed = self.answers.iter().filter(|may_match| **may_match).count();
        (passed as u64, queries.len() as u64)
    }
}

/// Keeps the candidate that was made first of those with one hash, so that every platform checks the same keys.
fn keep_first_of_each_hash(candidates: &mut Vec<Candidate>) {
    candidates.sort_unstable_by_key(|candidate| (candidate.hash, candidate.at));
    candidates.dedup_by_key(|candidate| candidate.hash);
}

impl Within {
    fn key(&mut self, key: &[u8]) {
        match self.first {
            None => self.first = Some(key.to_vec()),
            Some(_) => self.descends |= key < &self.last[..],
        }
        self.last.clear();
        self.last.extend_from_slice(key);
    }

    /// False for every key if the keys seen were not in order.
    fn has(&self, key: &[u8]) -> bool {
        !self.descends && self.first.as_ref().is_some_and(|first| &first[..] < key && key < &self.last[..])
    }
}

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

/// Fast, of low quality. A made key that collides with a stored one is skipped.
#[inline]
pub(crate) fn hash(key: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = key.as_chunks::<8>();
    let hash = words.iter().fold(key.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let last = rest.iter().fold(0, |last, &byte| last << 8 | u64::from(byte));
    let hash = mix(hash, last);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use filterblock::{Keys, Result};

    use super::*;

    /// A policy that records the keys that its filters are asked for.
    #[derive(Default)]
    struct Witness(Mutex<Vec<Vec<u8>>>);

    impl FilterPolicy for Witness {
        fn name(&self) -> &str {
            "witness"
        }
        fn create_filter(&self, _: Keys<'_>, _: &mut Vec<u8>) -> Result<()> {
            Ok(())
        }
        fn key_may_match(&self, key: &[u8], _: &[u8]) -> bool {
            self.0.lock().unwrap().push(key.to_vec());
            false
        }
    }

    /// The keys that the filter is asked for if its keys are `stored`.
    fn asked(stored: &[&[u8]], partial: bool) -> Vec<Vec<u8>> {
        // One filter of one byte, for all offsets.
        let filters = FilterBlockReader::new(Witness::default(), [1, 0, 0, 0, 0, 1, 0, 0, 0, 63]);
        let mut neighbours = ChangedKeys::new(1);
        neighbours.begin(500, partial);
        stored.iter().for_each(|key| neighbours.key(key));
        let (passed, count) = neighbours.ask(&filters, 0);
        let asked = std::mem::take(&mut *filters.policy().0.lock().unwrap());
        assert_eq!((passed, count), (0, asked.len() as u64));
        asked
    }

    /// Other data blocks may hold keys outside the range of the block that was read.
    #[test]
    fn of_a_part_of_the_keys_only_those_between_are_asked_for() {
        let stored: [&[u8]; 3] = [b"key3", b"key5", b"key7"];
        let all = asked(&stored, false);
        assert!(all.iter().any(|key| &key[..] < stored[0]) && all.iter().any(|key| &key[..] > stored[2]));
        let some = asked(&stored, true);
        assert!(some.len() > 100 && some.len() < all.len(), "{}", some.len());
        assert!(some.iter().all(|key| stored[0] < &key[..] && &key[..] < stored[2]));
        // If the order is not known, no key is known to lie between stored keys.
        assert_eq!(asked(&[b"key7", b"key5", b"key3"], true).len(), 0);
    }

    #[test]
    fn of_keys_with_one_hash_the_one_made_first_is_asked_for() {
        let candidate = |at| Candidate { hash: at as u64 % 7, at, struck: false };
        let mut candidates: Vec<_> = (0..100).map(candidate).collect();
        keep_first_of_each_hash(&mut candidates);
        let kept: Vec<_> = candidates.iter().map(|kept| (kept.hash, kept.at)).collect();
        assert_eq!(kept, (0..7).map(|at| (at as u64, at)).collect::<Vec<_>>());
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
}
