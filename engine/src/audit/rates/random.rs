//! The rate of false positives among random keys.
//!
//! Each data block gets the same number of questions, as random lookups spread over data blocks
//! whatever filters cover them. LevelDB's filters look at nothing but a hash of 32 bits, and the
//! hashes of random keys are random numbers: filters are asked for these without making keys.

use std::ops::RangeInclusive;

use filterblock::{FilterPolicy as _, KeyHash};

use super::measured::MeasuredRate;
use crate::audit::stats::{FilterState, FilterStats, Offsets};

/// The number of keys that have to pass: the interval then is about a seventh of the rate to either
/// side.
const ENOUGH: u64 = 200;
/// The approximate number of questions between two checks of the number that passed.
const ROUND: u64 = 4096;
/// Filters under these names are asked for LevelDB's hash of a key.
const HASHED: [&str; 2] = ["leveldb.BuiltinBloomFilter2", "leveldb.BuiltinBloomFilter"];

/// Asks the filters of a table with these data blocks for random keys. `None` if there is nothing to ask.
pub(crate) fn random_rate(filters: &FilterStats, blocks: &Offsets, most: u64) -> Option<MeasuredRate> {
    ask(filters, || blocks.iter(), blocks.len(), most)
}

/// Asks the filters of a filter block without its table for random keys: each that is not empty, equally
/// often. `None` if there is nothing to ask.
pub(crate) fn random_rate_of_filters(filters: &FilterStats, most: u64) -> Option<MeasuredRate> {
    let places = || {
        let used = (0u64..).zip(filters.iter()).filter(|(_, filter)| filter.state != FilterState::Empty);
        used.map(|(index, _)| *filters.range(index).start())
    };
    ask(filters, places, places().count() as u64, most)
}

/// Asks for random keys at each of `count` offsets, until enough have passed or `most` were asked for.
/// `None`: there are no offsets, or the policy never looks at a key.
fn ask<I: Iterator<Item = u64>>(
    filters: &FilterStats,
    places: impl Fn() -> I,
    count: u64,
    most: u64,
) -> Option<MeasuredRate> {
    let reader = filters.reader();
    // Filters whose policy never looks at a key have no rate.
    reader.policy().hash_key(&[0; 16])?;
    let hashed = HASHED.contains(&reader.policy().name());
    let mut random = SplitMix(0);
    let mut passes = |offset: u64| {
        let bits = random.next();
        if hashed {
            // If a policy has two hashes of 32 bits, a table was written with one of them.
            let hash = u64::from(bits as u32);
            reader.hash_may_match(offset, KeyHash::new(hash << 32 | hash))
        } else {
            let key = [bits, random.next()].map(u64::to_le_bytes);
            reader.key_may_match(offset, key.as_flattened())
        }
    };
    if count == 0 {
        return None;
    }
    // If there are very many data blocks, only the filter of one in `stride` is asked. Chance chooses it,
    // as tables may repeat themselves at any interval.
    let stride = count.div_ceil(most.max(1));
    let mut choice = SplitMix(1);
    let visited = count.div_ceil(stride);
    let each = (ROUND.min(most) / visited).max(1);
    let round = visited * each;
    let (mut passed, mut asked) = (0, 0);
    while asked == 0 || passed < ENOUGH && asked + round <= most {
        let mut chosen = 0;
        for (at, offset) in (0u64..).zip(places()) {
            if at % stride == 0 {
                chosen = at + choice.next() % stride;
            }
            if at == chosen {
                passed += (0..each).map(|_| u64::from(passes(offset))).sum::<u64>();
                asked += each;
            }
        }
    }
    MeasuredRate::of(passed, asked)
}

#[derive(Default, Debug)]
pub(crate) struct SplitMix(pub u64);

impl SplitMix {
    /// The next number. The sequence does not end.
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

/// The limits on the number of random keys for a table, and the approximate number for all tables.
const RANDOM_KEYS: RangeInclusive<u64> = 20_000..=400_000;
const RANDOM_KEYS_OF_ALL: u64 = 50_000_000;
/// The limits on the number of neighbours for a data block, and the approximate sum of these numbers over all
/// tables.
const NEIGHBOURS: RangeInclusive<u64> = 64..=256;
const NEIGHBOURS_OF_ALL: u64 = 160_000;

/// The most questions to ask of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ProbeBudget {
    pub random_keys: u64,
    /// The number of neighbours in each sampled data block.
    pub neighbours: usize,
}

impl ProbeBudget {
    /// The budget for each of `tables` tables.
    pub(crate) fn for_each_of(tables: usize) -> Self {
        let share = |all: u64, limits: RangeInclusive<u64>| {
            (all / (tables as u64).max(1)).clamp(*limits.start(), *limits.end())
        };
        Self {
            random_keys: share(RANDOM_KEYS_OF_ALL, RANDOM_KEYS),
            neighbours: share(NEIGHBOURS_OF_ALL, NEIGHBOURS) as usize,
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

    /// Filters of 20 keys in every eighth range of 2 KiB: the data blocks, and their filters.
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

    /// The share of a hundred keys for each data block that the filters let pass.
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
            // It reads with both hashes; a table was written with one.
            Arc::new(LegacyBloomPolicy::new(8)),
            Arc::new(CassandraBloomPolicy::new(8)),
        ];
        for policy in policies {
            let (blocks, filters) = filters(policy);
            let rate = random_rate(&filters, &blocks, 400_000).unwrap();
            let plain = asked_plainly(&blocks, &filters);
            assert!((rate.rate / plain - 1.0).abs() < 0.25, "{rate:?} {plain}");
            let alone = random_rate_of_filters(&filters, 400_000).unwrap();
            assert!((alone.rate / plain - 1.0).abs() < 0.25, "{alone:?} {plain}");
            assert!(rate.low < rate.rate && rate.rate < rate.high && rate.asked < 400_000, "{rate:?}");
        }
        let opaque = FilterStats::new(FilterBlockReader::new(
            Arc::new(OpaquePolicy::new("rocksdb.BuiltinBloomFilter")) as SharedPolicy,
            filters(Arc::new(BloomFilterPolicy::new(8))).1.reader().contents().to_vec().into(),
        ));
        assert_eq!(random_rate_of_filters(&opaque, 1000), None);
        assert_eq!(
            random_rate(&filters(Arc::new(BloomFilterPolicy::new(8))).1, &Offsets::default(), 9),
            None
        );
    }

    #[test]
    fn no_more_keys_are_asked_for_than_allowed() {
        // So few pass that the limit is reached.
        let (blocks, filters) = filters(Arc::new(BloomFilterPolicy::new(30)));
        for most in [1, 10, 300, 999, 1000, 1001, 20_000] {
            let rate = random_rate(&filters, &blocks, most).unwrap();
            assert!(rate.asked <= most && 2 * rate.asked >= most, "{most}: {rate:?}");
        }
    }

    /// Every data block has the same weight, even with an empty filter.
    #[test]
    fn questions_are_spread_over_data_blocks() {
        let (mut blocks, filters) = filters(Arc::new(BloomFilterPolicy::new(1)));
        let plain = asked_plainly(&blocks, &filters);
        assert!(plain > 0.2, "{plain}");
        for most in [500, 400_000] {
            (0..1000).for_each(|block| blocks.insert((block << 14) + 2048));
            let rate = random_rate(&filters, &blocks, most).unwrap();
            assert!((rate.rate / (plain / 2.0) - 1.0).abs() < 0.25, "{most}: {rate:?} {plain}");
        }
    }

    #[test]
    fn the_more_tables_the_fewer_questions_to_each() {
        let effort = |tables| {
            let ProbeBudget { random_keys, neighbours } = ProbeBudget::for_each_of(tables);
            (random_keys, neighbours)
        };
        assert_eq!([0, 1, 125].map(effort), [(400_000, 256); 3]);
        assert_eq!(effort(250), (200_000, 256));
        assert_eq!([2500, 1_000_000].map(effort), [(20_000, 64); 2]);
    }
}
