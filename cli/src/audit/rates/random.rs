//! The rate of false positives among random keys.
//!
//! Each data block gets the same number of questions, as random lookups spread over data blocks
//! whatever filters cover them. LevelDB's filters look at nothing but a hash of 32 bits, and the
//! hashes of random keys are random numbers: they are asked for without making keys.

use filterblock::{FilterPolicy as _, KeyHash};

use super::measured::MeasuredRate;
use super::split_mix::SplitMix;
use crate::audit::stats::filter::State;
use crate::audit::stats::filters::FilterStats;
use crate::audit::stats::offsets::Offsets;

/// The number of keys that have to pass: the interval then is about a seventh of the rate to either
/// side.
const ENOUGH: u64 = 200;
/// About the number of questions between two looks at how many have passed.
const ROUND: u64 = 4096;
/// Filters under these names are asked by LevelDB's hash.
const HASHED: [&str; 2] = ["leveldb.BuiltinBloomFilter2", "leveldb.BuiltinBloomFilter"];

/// Asks the filters of a table with these data blocks. `None` if there is nothing to ask.
pub(crate) fn random_rate(filters: &FilterStats, blocks: &Offsets, most: u64) -> Option<MeasuredRate> {
    ask(filters, || blocks.iter(), blocks.len(), most)
}

/// Asks all filters alike that are not empty, of a filter block without its table.
pub(crate) fn random_rate_of_filters(filters: &FilterStats, most: u64) -> Option<MeasuredRate> {
    let places = || {
        let used = (0u64..).zip(filters.iter()).filter(|(_, filter)| filter.state != State::Empty);
        used.map(|(index, _)| *filters.range(index).start())
    };
    ask(filters, places, places().count() as u64, most)
}

/// Asks for random keys at each of `count` places, until enough have passed or `most` were asked.
fn ask<I: Iterator<Item = u64>>(
    filters: &FilterStats,
    places: impl Fn() -> I,
    count: u64,
    most: u64,
) -> Option<MeasuredRate> {
    let reader = filters.reader();
    // A policy that never looks at a key has nothing to tell.
    reader.policy().hash_key(&[0; 16])?;
    let hashed = HASHED.contains(&reader.policy().name());
    let mut random = SplitMix(0);
    let mut passes = |offset: u64| {
        let bits = random.next();
        if hashed {
            // Where a key has two hashes of 32 bits, tables were written by either.
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
    // Of very many data blocks, every second or third is asked, and so on.
    let stride = count.div_ceil(most.max(1));
    let each = (ROUND / count).max(1);
    let round = count.div_ceil(stride) * each;
    let (mut passed, mut asked) = (0, 0);
    while asked == 0 || passed < ENOUGH && asked + round <= most {
        for offset in places().skip((stride / 2) as usize).step_by(stride as usize) {
            passed += (0..each).map(|_| u64::from(passes(offset))).sum::<u64>();
            asked += each;
        }
    }
    MeasuredRate::of(passed, asked)
}
