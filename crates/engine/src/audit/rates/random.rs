//! The false-positive rate of random keys.
//!
//! Each filter is checked in proportion to its entries. LevelDB's filters see only a hash of 32 bits, so they are
//! checked for random hashes, without making keys.

use std::ops::RangeInclusive;

use filterblock::{FilterPolicy as _, KeyHash};

use super::rate::Rate;
use super::weights::FilterWeights;
use crate::audit::stats::FilterStats;

/// Keys that have to match: the interval then reaches about a seventh of the rate to either side.
const ENOUGH: u64 = 200;
/// Samples between two checks of the number that match, unless fewer are allowed.
const ROUND: u64 = 4096;
/// Checked for random hashes instead of keys.
const HASHED: [&str; 2] = ["leveldb.BuiltinBloomFilter2", "leveldb.BuiltinBloomFilter"];

/// Checks random keys until enough match, or until another round would exceed `most`. `None`: no filter has a weight,
/// or the policy never looks at keys.
pub(crate) fn random_rate(filters: &FilterStats, weights: &FilterWeights<'_>, most: u64) -> Option<Rate> {
    let reader = filters.reader();
    // Filters of a policy that never looks at keys have no rate.
    reader.policy().hash_key(&[0; 16])?;
    let hashed = HASHED.contains(&reader.policy().name());
    // Differs from table to table: the same samples would be wrong about all tables in the same way.
    let (words, _) = reader.contents().as_chunks::<8>();
    let seed = words.iter().fold(0, |seed, word| mix(seed ^ u64::from_le_bytes(*word)));
    let mut random = SplitMix(seed);
    let mut passes = |offset: u64| {
        let bits = random.next();
        if hashed {
            // A policy with two hashes of 32 bits gets the same for both: a table is written with only one of them.
            let hash = u64::from(bits as u32);
            reader.hash_may_match(offset, KeyHash::new(hash << 32 | hash))
        } else {
            let key = [bits, random.next()].map(u64::to_le_bytes);
            reader.key_may_match(offset, key.as_flattened())
        }
    };
    if weights.sum() <= 0.0 {
        return None;
    }
    let mut choice = SplitMix(!seed);
    let round = ROUND.min(most).max(1);
    let part = weights.sum() / round as f64;
    let (mut passed, mut asked) = (0, 0);
    while asked == 0 || passed < ENOUGH && asked + round <= most {
        // One sample at a random position in each of equal parts of the weight. A fixed step could coincide with a
        // pattern that the table repeats.
        let mut places = weights.iter();
        let (mut current, mut end) = (0, 0.0);
        for number in 0..round {
            let at = (number as f64 + choice.share()) * part;
            // Rounding may leave the last positions without a filter: they go to the last one.
            while end <= at
                && let Some((offset, weight)) = places.next()
            {
                (current, end) = (offset, end + weight);
            }
            passed += u64::from(passes(current));
            asked += 1;
        }
    }
    Rate::of(passed, asked)
}

#[derive(Default, Debug)]
pub(crate) struct SplitMix(pub u64);

impl SplitMix {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns at least 0 and less than 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / 2_f64.powi(53)
    }
}

/// The generator's last step.
pub(crate) const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Random keys for a table.
const RANDOM_KEYS: RangeInclusive<u64> = 20_000..=400_000;
/// Random keys for all tables, approximately.
const RANDOM_KEYS_OF_ALL: u64 = 50_000_000;
/// Neighbours for a data block.
const NEIGHBOURS: RangeInclusive<u64> = 64..=256;
/// Over all tables, the sum of the neighbours for a data block, approximately.
const NEIGHBOURS_OF_ALL: u64 = 160_000;
/// Keys of a table's index to keep.
const MARKS: u64 = 31;
/// Of all tables. With more tables, marks would change little: hardly any table has an end of another in its range.
const MARKS_OF_ALL: u64 = 40_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ProbeBudget {
    pub random_keys: u64,
    /// To make for each sampled data block.
    pub neighbours: usize,
    /// Keys of the table's index to keep, see [`FenceKeys`](super::FenceKeys).
    pub marks: u64,
}

impl ProbeBudget {
    pub(crate) fn for_each_of(tables: usize) -> Self {
        let share = |all: u64, limits: RangeInclusive<u64>| {
            (all / (tables as u64).max(1)).clamp(*limits.start(), *limits.end())
        };
        Self {
            random_keys: share(RANDOM_KEYS_OF_ALL, RANDOM_KEYS),
            neighbours: share(NEIGHBOURS_OF_ALL, NEIGHBOURS) as usize,
            marks: share(MARKS_OF_ALL, 0..=MARKS),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use filterblock::{
        BloomFilterPolicy, CassandraBloomPolicy, FilterBlockBuilder, FilterBlockReader, LegacyBloomPolicy,
        OpaquePolicy, SharedPolicy,
    };

    use super::*;
    use crate::audit::stats::Offsets;

    fn rate_of(filters: &FilterStats, blocks: Option<&Offsets>, most: u64) -> Option<Rate> {
        random_rate(filters, &FilterWeights::new(filters, blocks), most)
    }

    /// The offsets of data blocks, one in every eighth range of 2 KiB, and their filters, of 20 keys each.
    fn filters(policy: SharedPolicy) -> (Offsets, FilterStats) {
        let mut builder = FilterBlockBuilder::new(Arc::clone(&policy));
        let mut blocks = Offsets::default();
        for block in 0..1000_u64 {
            let offset = block << 14;
            blocks.insert(offset);
            builder.start_block(offset).unwrap();
            (0..20).for_each(|key| builder.add_key(format!("{block} {key}").as_bytes()));
        }
        let contents = builder.finish().unwrap();
        (blocks, FilterStats::new(FilterBlockReader::new(policy, contents)))
    }

    /// The share of absent keys that the filters let pass, with a hundred keys for each data block.
    fn asked_plainly(blocks: &Offsets, filters: &FilterStats) -> f64 {
        let passed = blocks.iter().flat_map(|offset| (0..100).map(move |number| (offset, number)));
        let passed = passed.filter(|(offset, number)| {
            filters.reader().key_may_match(*offset, format!("absent {offset} {number}").as_bytes())
        });
        passed.count() as f64 / (100 * blocks.len()) as f64
    }

    #[test]
    fn the_rate_is_that_of_keys_by_every_policy() {
        let policies: [SharedPolicy; 3] = [
            Arc::new(BloomFilterPolicy::new(8)),
            // This policy passes a key if either of its hashes does, but a table is written with only one, so random
            // keys must be asked for with equal hashes.
            Arc::new(LegacyBloomPolicy::new(8)),
            Arc::new(CassandraBloomPolicy::new(8)),
        ];
        for policy in policies {
            let (blocks, filters) = filters(policy);
            let rate = rate_of(&filters, Some(&blocks), 400_000).unwrap();
            let plain = asked_plainly(&blocks, &filters);
            assert!((rate.rate / plain - 1.0).abs() < 0.25, "{rate:?} {plain}");
            let alone = rate_of(&filters, None, 400_000).unwrap();
            assert!((alone.rate / plain - 1.0).abs() < 0.25, "{alone:?} {plain}");
            assert!(rate.low < rate.rate && rate.rate < rate.high && rate.asked < 400_000, "{rate:?}");
        }
        let opaque = FilterStats::new(FilterBlockReader::new(
            Arc::new(OpaquePolicy::new("rocksdb.BuiltinBloomFilter")) as SharedPolicy,
            filters(Arc::new(BloomFilterPolicy::new(8))).1.reader().contents().to_vec().into(),
        ));
        assert_eq!(rate_of(&opaque, None, 1000), None);
        assert_eq!(
            rate_of(&filters(Arc::new(BloomFilterPolicy::new(8))).1, Some(&Offsets::default()), 9),
            None
        );
    }

    #[test]
    fn no_more_keys_are_asked_for_than_allowed() {
        // So few keys pass that the limit is reached.
        let (blocks, filters) = filters(Arc::new(BloomFilterPolicy::new(30)));
        for most in [1, 10, 300, 999, 1000, 1001, 20_000] {
            let rate = rate_of(&filters, Some(&blocks), most).unwrap();
            assert!(rate.asked <= most && 2 * rate.asked >= most, "{most}: {rate:?}");
        }
    }

    /// One filter in ten has twenty times the entries of each of the others, and more of its bits are set: two of
    /// three absent keys reach such filters.
    #[test]
    fn filters_are_asked_by_their_entries() {
        let policy: SharedPolicy = Arc::new(BloomFilterPolicy::new(4));
        let mut builder = FilterBlockBuilder::new(Arc::clone(&policy));
        let mut blocks = Offsets::default();
        let (mut expected, mut entries) = (0.0, 0.0);
        for block in 0..500_u64 {
            blocks.insert(block << 11);
            builder.start_block(block << 11).unwrap();
            let keys = if block % 10 == 0 { 400 } else { 20 };
            // Versions of one key set the same bits, but each is an entry.
            let versions = if block % 10 == 0 { 1 } else { 20 };
            (0..keys).for_each(|key| builder.add_key(format!("{block} {}", key / versions).as_bytes()));
            entries += f64::from(keys);
        }
        let filters = FilterStats::new(FilterBlockReader::new(policy, builder.finish().unwrap()));
        for block in 0..500_u64 {
            let keys = if block % 10 == 0 { 400.0 } else { 20.0 };
            expected += keys * filters.filter(block).unwrap().rate / entries;
        }
        let rate = rate_of(&filters, Some(&blocks), 400_000).unwrap();
        assert!((rate.rate / expected - 1.0).abs() < 0.2, "{rate:?} {expected}");
        let by_blocks = (0..500).map(|block| filters.filter(block).unwrap().rate).sum::<f64>() / 500.0;
        assert!(expected > 2.0 * by_blocks, "{expected} {by_blocks}");
    }

    /// A data block with an empty filter has the mean weight of the other blocks.
    #[test]
    fn blocks_with_an_empty_filter_count_too() {
        let (mut blocks, filters) = filters(Arc::new(BloomFilterPolicy::new(1)));
        let plain = asked_plainly(&blocks, &filters);
        assert!(plain > 0.2, "{plain}");
        for most in [500, 400_000] {
            (0..1000).for_each(|block| blocks.insert((block << 14) + 2048));
            let rate = rate_of(&filters, Some(&blocks), most).unwrap();
            assert!((rate.rate / (plain / 2.0) - 1.0).abs() < 0.25, "{most}: {rate:?} {plain}");
        }
    }

    #[test]
    fn the_more_tables_the_fewer_questions_to_each() {
        let effort = |tables| {
            let ProbeBudget { random_keys, neighbours, marks } = ProbeBudget::for_each_of(tables);
            (random_keys, neighbours, marks)
        };
        assert_eq!([0, 1, 125].map(effort), [(400_000, 256, 31); 3]);
        assert_eq!(effort(250), (200_000, 256, 31));
        assert_eq!([2500, 1_000_000].map(effort), [(20_000, 64, 16), (20_000, 64, 0)]);
    }
}
