//! The rate of false positives among neighbours of stored keys.
//!
//! Up to 64 filters, evenly spread over the data blocks, are asked for
//! [neighbours](crate::audit::rates::neighbours) of their keys. Each filter is weighted by its number of entries.

use filterblock::{FilterBlockReader, FilterPolicy, LegacyBloomPolicy, LegacyHash};

use crate::audit::rates::{Clusters, MeasuredRate, Neighbours};
use crate::audit::stats::OLD_NAME;

/// The maximum number of filters to ask.
const MAX_FILTERS: u64 = 64;
/// The approximate number of keys to ask for in all.
const MADE_KEYS: u64 = 4096;

pub(super) struct FprSampler<'a, P: FilterPolicy, B: AsRef<[u8]>> {
    filters: &'a FilterBlockReader<P, B>,
    /// The same filters, read with the signed hash, if they may have been made with it.
    signed: Option<FilterBlockReader<LegacyBloomPolicy, &'a [u8]>>,
    neighbours: Neighbours,
    /// The minimum number of data blocks from one chosen filter to the next.
    stride: u64,
    keys_a_filter: usize,
    /// The number of data blocks begun.
    blocks: u64,
    /// The number of data blocks begun after which the next filter is chosen.
    due: u64,
    /// The offset of the first data block of the current filter.
    first_offset: u64,
    /// The number of data blocks of the current filter so far.
    filter_blocks: u64,
    /// The number of entries in the data blocks of the current filter so far.
    entries: u64,
    /// The current filter is chosen.
    is_chosen: bool,
    /// Some filter was not chosen.
    is_partial: bool,
    answers: Clusters,
    answers_signed: Clusters,
}

impl<'a, P: FilterPolicy, B: AsRef<[u8]>> FprSampler<'a, P, B> {
    /// A sampler for a table of `blocks` data blocks, which `used_filters` filters cover.
    pub(super) fn new(
        filters: &'a FilterBlockReader<P, B>,
        blocks: u64,
        used_filters: u64,
        seed: u64,
    ) -> Self {
        let signed = LegacyBloomPolicy::new(10).with_hash(LegacyHash::Signed);
        let is_old = filters.policy().name() == OLD_NAME;
        Self {
            filters,
            signed: is_old.then(|| FilterBlockReader::new(signed, filters.contents())),
            neighbours: Neighbours::new(seed),
            stride: blocks.div_ceil(MAX_FILTERS).max(1),
            keys_a_filter: (MADE_KEYS / used_filters.clamp(1, MAX_FILTERS)) as usize,
            blocks: 0,
            due: 0,
            first_offset: 0,
            filter_blocks: 0,
            entries: 0,
            is_chosen: false,
            is_partial: false,
            answers: Clusters::default(),
            answers_signed: Clusters::default(),
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
            self.entries = 0;
            self.is_chosen = self.blocks >= self.due;
            if self.is_chosen {
                self.neighbours.begin(self.keys_a_filter, false);
                self.due = self.blocks + self.stride;
            } else {
                self.is_partial = true;
            }
        }
        self.blocks += 1;
    }

    /// Returns true if [`key`](Self::key) has to be called with the keys of this data block.
    pub(super) const fn is_listening(&self) -> bool {
        self.is_chosen
    }

    /// Takes note of the part of a stored key that filters are made from.
    #[inline]
    pub(super) fn key(&mut self, key: &[u8]) {
        self.entries += 1;
        self.neighbours.key(key);
    }

    /// Asks the current filter, if it is chosen.
    fn end_filter(&mut self) {
        if !self.is_chosen {
            return;
        }
        // Lookups reach a filter in proportion to the entries of its data blocks.
        let weight = self.entries as f64;
        match &self.signed {
            None => {
                let (passed, asked) = self.neighbours.ask(self.filters, self.first_offset);
                self.answers.add(passed, asked, weight);
            }
            Some(signed) => {
                let unsigned = LegacyBloomPolicy::new(10).with_hash(LegacyHash::Unsigned);
                let unsigned = FilterBlockReader::new(unsigned, self.filters.contents());
                let (passed, asked) = self.neighbours.ask(&unsigned, self.first_offset);
                self.answers.add(passed, asked, weight);
                let (passed, asked) = self.neighbours.ask(signed, self.first_offset);
                self.answers_signed.add(passed, asked, weight);
            }
        }
        self.is_chosen = false;
    }

    /// The share of absent keys that passed, with each filter weighted by its number of entries; `None` if no key
    /// was asked for. `hash`: the hash that fits the stored keys, if the policy's name leaves it open.
    pub(super) fn finish(mut self, hash: Option<LegacyHash>) -> Option<MeasuredRate> {
        self.end_filter();
        let answers = if hash == Some(LegacyHash::Signed) { self.answers_signed } else { self.answers };
        answers.rate(!self.is_partial)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use filterblock::{FilterBlockBuilder, Keys, Result};

    use super::*;

    /// A policy that records the keys that its filters are asked for, and passes those that begin with an even byte.
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

    /// Returns the rate for a hundred data blocks of 200 keys each, and the keys that were asked for.
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
            if sampler.is_listening() {
                (0..200).for_each(|key| sampler.key(&stored_key(base_lg, block, key)));
            }
        }
        let rate = sampler.finish(None).map(|measured| measured.rate);
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
    fn nothing_to_ask_is_no_rate() {
        let reader = FilterBlockReader::new(Witness::default(), &[][..]);
        assert_eq!(FprSampler::new(&reader, 0, 0, 0).finish(None), None);
    }
}
