//! Asking filter blocks.

use std::sync::Arc;

use anyhow::{Result, ensure};
use fastbloom::BloomFilter;
use filterblock::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalFilterPolicy,
    SharedPolicy,
};
use filterblock_interop::leveldb::speed::{Loops, Queries, Slices};
use filterblock_interop::random::Random;
use sstable::filter::{BloomPolicy, FilterPolicy as _};

use crate::data::{Asked, RANGE, build, keys, slices};
use crate::timing::{Timing, contender, heading};

const PER_FILTER: usize = 40;
const BATCH: usize = 1000;
/// Internal keys end in a sequence number and a type.
const SUFFIX: [u8; 8] = [1, 7, 0, 0, 0, 0, 0, 0];

fn block(keys: &[Vec<u8>], bits: u32) -> Vec<u8> {
    let mut block = Vec::new();
    build(&mut FilterBlockBuilder::new(BloomFilterPolicy::new(bits)), &slices(keys), PER_FILTER, &mut block);
    block
}

fn single<P: FilterPolicy>(reader: &FilterBlockReader<P, &[u8]>, queries: &[(u64, &[u8])]) -> usize {
    queries.iter().filter(|(offset, key)| reader.key_may_match(*offset, key)).count()
}

fn many<P: FilterPolicy>(
    reader: &FilterBlockReader<P, &[u8]>,
    queries: &[(u64, &[u8])],
    answers: &mut Vec<bool>,
) -> usize {
    let mut ask = |queries| {
        reader.keys_may_match(queries, answers);
        answers.iter().filter(|answer| **answer).count()
    };
    queries.chunks(BATCH).map(&mut ask).sum()
}

pub(crate) fn cached(timing: Timing, count: usize) -> Result<()> {
    heading("Asking, in the cache, for each key");
    for (len, bits) in [
        (Some(0), 10),
        (Some(4), 10),
        (Some(8), 10),
        (Some(16), 10),
        (Some(24), 10),
        (Some(64), 10),
        (None, 10),
    ]
    .into_iter()
    .chain([1, 5, 20, 44].map(|bits| (Some(16), bits)))
    {
        let present = keys(0, count, len, &[]);
        let block = block(&present, bits);
        for (kind, asked) in [("hit", 0), ("miss", 1)] {
            let asked = Asked::shuffled(&keys(asked, count, len, &[]), PER_FILTER);
            let len = len.map_or_else(|| "mixed".to_owned(), |len| format!("{len}-byte"));
            let case = format!("{len} keys, k {}, {kind}", BloomFilterPolicy::new(bits).probes());
            ask(timing, &case, &block, bits, &asked)?;
        }
    }
    Ok(())
}

/// One block of filters, in turns by everyone.
fn ask(timing: Timing, case: &str, block: &[u8], bits: u32, asked: &Asked) -> Result<()> {
    let queries = &asked.queries()[..];
    let of_internal = asked.with_suffix(&SUFFIX);
    let internal_queries = &of_internal.queries()[..];
    let policy = BloomFilterPolicy::new(bits);
    let shared: SharedPolicy = Arc::new(policy);
    let reader = FilterBlockReader::new(policy, block);
    let shared = FilterBlockReader::new(shared, block);
    let internal = FilterBlockReader::new(InternalFilterPolicy::new(policy), block);
    let theirs = BloomPolicy::new(bits);
    let sstable = || {
        // Its reader of whole blocks is private; this one finds the filters as ours does.
        let ask = |(offset, key): &&(u64, &[u8])| {
            reader.filter((offset / RANGE) as usize).is_none_or(|filter| theirs.key_may_match(key, filter))
        };
        queries.iter().filter(ask).count()
    };

    let (loops, internal_loops) = (Loops::new(bits, false), Loops::new(bits, true));
    let (raw, raw_internal) = (Queries::new(queries), Queries::new(internal_queries));
    let (mut expected, mut answers) = (Vec::new(), Vec::new());
    loops.ask(block, &raw, &mut expected);
    let count = expected.iter().filter(|answer| **answer != 0).count();
    for batch in queries.chunks(BATCH).zip(expected.chunks(BATCH)) {
        reader.keys_may_match(batch.0, &mut answers);
        ensure!(answers.iter().map(|&answer| u8::from(answer)).eq(batch.1.iter().copied()), "answers differ");
    }
    ensure!(single(&reader, queries) == count && single(&shared, queries) == count, "answers differ");
    ensure!(single(&internal, internal_queries) == count, "answers for internal keys differ");
    ensure!(many(&internal, internal_queries, &mut answers) == count, "answers for internal keys differ");
    ensure!(sstable() == count, "sstable's answers differ");

    let (mut to, mut internal_to) = (Vec::new(), Vec::new());
    let (mut many_answers, mut shared_answers, mut internal_answers) = (Vec::new(), Vec::new(), Vec::new());
    let contenders = vec![
        contender("LevelDB", || loops.ask(block, &raw, &mut to)),
        contender("sstable", sstable),
        contender("ours", || single(&reader, queries)),
        contender("shared", || single(&shared, queries)),
        contender("many", || many(&reader, queries, &mut many_answers)),
        contender("many, shared", || many(&shared, queries, &mut shared_answers)),
    ];
    timing.line(case, queries.len(), contenders);
    let contenders = vec![
        contender("LevelDB", || internal_loops.ask(block, &raw_internal, &mut internal_to)),
        contender("ours", || single(&internal, internal_queries)),
        contender("many", || many(&internal, internal_queries, &mut internal_answers)),
    ];
    timing.line("  the same, internal keys", queries.len(), contenders);
    Ok(())
}

pub(crate) fn memory(timing: Timing, megabytes: usize) -> Result<()> {
    const DISTINCT: usize = 1000;
    const COUNT: usize = 100_000;
    heading(&format!("Asking about {megabytes} MB of filters, for each key"));
    let present = keys(0, DISTINCT * PER_FILTER, Some(16), &[]);
    let few = block(&present, 10);
    let few = FilterBlockReader::new(BloomFilterPolicy::new(10), &few[..]);
    let filters: Vec<&[u8]> = (0..DISTINCT).filter_map(|index| few.filter(index)).collect();
    // The same filters again and again, in other memory.
    let number = megabytes * 1_000_000 / 56;
    let mut block = Vec::with_capacity(number * 56);
    let mut offsets = Vec::with_capacity(number + 1);
    for index in 0..number {
        offsets.push(block.len() as u32);
        block.extend_from_slice(filters[index % DISTINCT]);
    }
    offsets.push(block.len() as u32);
    offsets.iter().for_each(|offset| block.extend_from_slice(&offset.to_le_bytes()));
    block.push(11);

    let absent = keys(1, COUNT, Some(16), &[]);
    for kind in ["hit", "miss"] {
        let mut random = Random::new(2);
        let query = |index: usize| {
            let filter = random.index(number);
            let key = if kind == "hit" {
                &present[filter % DISTINCT * PER_FILTER + index % PER_FILTER]
            } else {
                &absent[index]
            };
            (filter as u64 * RANGE, &key[..])
        };
        let asked = Asked::new((0..COUNT).map(query));
        ask(timing, &format!("16-byte keys, k 6, {kind}"), &block, 10, &asked)?;
    }
    Ok(())
}

/// What an LSM tree does for a key that is in one of eight tables: ours hashes it once.
pub(crate) fn eight_tables(timing: Timing, count: usize) -> Result<()> {
    const TABLES: usize = 8;
    heading("One 24-byte key against 8 tables, for each key");
    let policy = BloomFilterPolicy::new(10);
    let of_tables: Vec<Vec<Vec<u8>>> =
        (0..TABLES as u64).map(|seed| keys(seed, count, Some(24), &[])).collect();
    let blocks: Vec<Vec<u8>> = of_tables.iter().map(|keys| block(keys, 10)).collect();
    let readers: Vec<_> = blocks.iter().map(|block| FilterBlockReader::new(policy, &block[..])).collect();
    let asked = Asked::shuffled(&of_tables[3], PER_FILTER);
    let queries = asked.queries();

    let block_slices = slices(&blocks);
    let (loops, raw_blocks, raw) =
        (Loops::new(10, false), Slices::new(&block_slices), Queries::new(&queries));
    let (mut expected, mut to) = (Vec::new(), Vec::new());
    loops.ask_tables(&raw_blocks, &raw, &mut expected);
    let ours = || {
        let tables = |(offset, key): &(u64, &[u8])| {
            let Some(hash) = policy.hash_key(key) else { return TABLES };
            readers.iter().filter(|reader| reader.hash_may_match(*offset, hash)).count()
        };
        queries.iter().map(tables).sum::<usize>()
    };
    ensure!(ours() == expected.iter().map(|&tables| usize::from(tables)).sum::<usize>(), "answers differ");
    let contenders = vec![
        contender("LevelDB", || loops.ask_tables(&raw_blocks, &raw, &mut to)),
        contender("ours by hash", ours),
    ];
    timing.line("40 keys a filter", queries.len(), contenders);

    // For orientation: a filter in another format, of the same size.
    let mut filter = BloomFilter::with_num_bits(count * 10).seed(&1).expected_items(count);
    for key in &of_tables[3] {
        filter.insert(&key[..]);
    }
    let one = Queries::new(&queries);
    let mut answers = Vec::new();
    let contenders = vec![
        contender("LevelDB", || loops.ask(&blocks[3], &one, &mut answers)),
        contender("fastbloom", || queries.iter().filter(|(_, key)| filter.contains(*key)).count()),
    ];
    timing.line("against one, hit (orientation)", queries.len(), contenders);
    Ok(())
}
