//! Times the building of filter blocks, and queries to them.

use anyhow::{Result, ensure};
use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, KeyBuf};
use filterblock_interop::leveldb::speed::{self, Queries, Slices};
use filterblock_interop::random::Random;

use super::{Turns, head, keys, levels, set};

/// The number of bytes of data blocks for each filter.
const RANGE: u64 = 2048;
const BITS: u32 = 10;
/// The number of queries handed over together.
const BATCH: usize = 1000;

/// A builder, and the block that it made last.
struct Builder(FilterBlockBuilder<BloomFilterPolicy>, Vec<u8>);

impl Builder {
    fn new() -> Self {
        Self(FilterBlockBuilder::new(BloomFilterPolicy::new(BITS)), Vec::new())
    }

    fn build(&mut self, keys: &[&[u8]], per_filter: usize) {
        self.1.clear();
        for (index, keys) in (0..).zip(keys.chunks(per_filter)) {
            self.0.start_block(index * RANGE).expect("ascending offsets");
            keys.iter().for_each(|key| self.0.add_key(key));
        }
        self.0.finish_into(&mut self.1).expect("a block within the limits");
    }

    /// Builds the same block from runs of keys, each of which holds the keys of one filter.
    fn build_runs(&mut self, runs: &[KeyBuf]) {
        self.1.clear();
        for (index, run) in (0..).zip(runs) {
            self.0.start_block(index * RANGE).expect("ascending offsets");
            self.0.add_keys(run.as_keys());
        }
        self.0.finish_into(&mut self.1).expect("a block within the limits");
    }
}

pub(crate) fn build(rounds: usize, count: usize) -> Result<()> {
    head("Building filter blocks");
    let many = [Some(16), Some(64), None].into_iter().flat_map(|len| [(len, 40, count), (len, 200, count)]);
    // Few keys a filter, as with values of 1 KiB to 4 KiB; and one filter for a table.
    let few = [16, 100].into_iter().flat_map(|len| [1, 2, 3].map(|keys| (Some(len), keys, count / 8)));
    for (len, per_filter, count) in many.chain(few).chain([(Some(16), count, count)]) {
        let owned = keys(0, count, len);
        let keys: Vec<&[u8]> = owned.iter().map(Vec::as_slice).collect();
        let runs: Vec<KeyBuf> = keys.chunks(per_filter).map(|keys| keys.iter().collect()).collect();
        let raw = Slices::new(&keys);
        let [mut one, mut together] = [Builder::new(), Builder::new()];
        let expected = speed::build(BITS, &raw, per_filter);
        for level in levels() {
            set(level);
            one.build(&keys, per_filter);
            together.build_runs(&runs);
            ensure!(one.1 == expected && together.1 == expected, "blocks differ at {level:?}");
        }
        let len = len.map_or_else(|| "1 to 64".to_owned(), |len| len.to_string());
        let case = format!("{len} bytes, {per_filter} a filter");
        Turns::new(count, || speed::build(BITS, &raw, per_filter))
            .ours(&case, || one.build(&keys, per_filter))
            .ours(&format!("{case}: `add_keys`"), || together.build_runs(&runs))
            .print(rounds);
    }
    Ok(())
}

/// The kind of keys that are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Hit,
    Miss,
    Mixed,
}

pub(crate) fn ask(rounds: usize, count: usize) -> Result<()> {
    head("Asking, in the cache, keys of 16 bytes");
    let (present, absent) = (keys(0, count, Some(16)), keys(1, count, Some(16)));
    let stored: Vec<&[u8]> = present.iter().map(Vec::as_slice).collect();
    for per_filter in [40, 200] {
        let mut builder = Builder::new();
        builder.build(&stored, per_filter);
        let reader = FilterBlockReader::new(BloomFilterPolicy::new(BITS), &builder.1[..]);
        for is_sorted in [true, false] {
            let mut numbers: Vec<usize> = (0..count).collect();
            let mut random = Random::new(1);
            for last in (1..count).rev().filter(|_| !is_sorted) {
                numbers.swap(last, random.index(last + 1));
            }
            for (kind, name) in [(Kind::Hit, "hit"), (Kind::Miss, "miss"), (Kind::Mixed, "half and half")] {
                // Keys lie end to end in the order in which they are asked, so that fetching them takes no time.
                let key = |&number: &usize| {
                    let is_hit = kind == Kind::Hit || kind == Kind::Mixed && random.one_in(2);
                    (if is_hit { &present } else { &absent })[number].clone()
                };
                let bytes = numbers.iter().map(key).collect::<Vec<_>>().concat();
                let offsets = numbers.iter().map(|number| (number / per_filter) as u64 * RANGE);
                let queries: Vec<_> = offsets.zip(bytes.chunks(16)).collect();
                let order = if is_sorted { "sorted" } else { "random blocks" };
                let case = format!("{per_filter} a filter, {order}, {name}");
                ask_case(rounds, &case, &reader, &queries)?;
            }
        }
    }
    Ok(())
}

fn ask_case(
    rounds: usize,
    case: &str,
    reader: &FilterBlockReader<BloomFilterPolicy, &[u8]>,
    queries: &[(u64, &[u8])],
) -> Result<()> {
    let single = || queries.iter().filter(|(offset, key)| reader.key_may_match(*offset, key)).count();
    let many = |answers: &mut Vec<bool>| {
        let mut ask = |queries| {
            reader.keys_may_match(queries, answers);
            answers.iter().filter(|answer| **answer).count()
        };
        queries.chunks(BATCH).map(&mut ask).sum::<usize>()
    };
    let (raw, mut expected, mut answers) = (Queries::new(queries), Vec::new(), Vec::new());
    speed::ask(BITS, reader.contents(), &raw, &mut expected);
    let count = expected.iter().filter(|answer| **answer != 0).count();
    for level in levels() {
        set(level);
        for batch in queries.chunks(BATCH).zip(expected.chunks(BATCH)) {
            reader.keys_may_match(batch.0, &mut answers);
            let same = answers.iter().map(|&answer| u8::from(answer)).eq(batch.1.iter().copied());
            ensure!(same, "answers differ at {level:?}");
        }
        ensure!(single() == count, "answers to single queries differ at {level:?}");
    }
    Turns::new(queries.len(), || speed::ask(BITS, reader.contents(), &raw, &mut expected))
        .ours(&format!("{case}: single"), single)
        .ours(&format!("{case}: many"), || many(&mut answers))
        .print(rounds);
    Ok(())
}
