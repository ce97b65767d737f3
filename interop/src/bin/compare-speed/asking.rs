//! Asking filter blocks.

use std::sync::Arc;

use anyhow::{Result, ensure};
use fastbloom::BloomFilter;
use filterblock::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalFilterPolicy, KeyHash,
    SharedPolicy,
};
use filterblock_interop::leveldb::speed::{Loops, Queries, Slices};
use filterblock_interop::random::Random;
use sstable::filter::{BloomPolicy, FilterPolicy as _};

use crate::data::{Asked, RANGE, build, describe, keys, slices};
use crate::timing::{Aim, Table, Timing, base, contender};

const PER_FILTER: usize = 40;
const BATCH: usize = 1000;
/// Blocks up to this size are assumed to stay in the caches.
const CACHED: usize = 64 << 20;
/// Internal keys end in a sequence number and a type.
const SUFFIX: [u8; 8] = [1, 7, 0, 0, 0, 0, 0, 0];

fn block(keys: &[Vec<u8>], bits: u32) -> Vec<u8> {
    let mut block = Vec::new();
    build(&mut FilterBlockBuilder::new(BloomFilterPolicy::new(bits)), &slices(keys), PER_FILTER, &mut block);
    block
}

/// The aims for asking.
#[derive(Clone, Copy, Default)]
struct Aims {
    single: Option<Aim>,
    many: Option<Aim>,
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

/// The time that memory alone takes: reads the offsets and both ends of each query's filter, and
/// asks nothing.
fn touch(reader: &FilterBlockReader<BloomFilterPolicy, &[u8]>, queries: &[(u64, &[u8])]) -> usize {
    let mut filters: [&[u8]; 128] = [&[]; 128];
    let mut sum = 0;
    for queries in queries.chunks(filters.len()) {
        for (filter, (offset, _)) in filters.iter_mut().zip(queries) {
            *filter = reader.filter((offset >> reader.base_lg()) as usize).unwrap_or_default();
        }
        let ends =
            filters[..queries.len()].iter().filter_map(|filter| Some((*filter.first()?, *filter.last()?)));
        sum += ends.map(|(first, last)| usize::from(first) + usize::from(last)).sum::<usize>();
    }
    sum
}

/// Asks by hashes that were made before.
fn by_hash(reader: &FilterBlockReader<BloomFilterPolicy, &[u8]>, hashes: &[(u64, KeyHash)]) -> usize {
    hashes.iter().filter(|(offset, hash)| reader.hash_may_match(*offset, *hash)).count()
}

pub(crate) fn cached(timing: Timing, count: usize) -> Result<()> {
    let mut table = Table::new(timing, "Asking, in the cache");
    let of_lengths = [Some(0), Some(4), Some(8), Some(16), Some(24), Some(64), None].map(|len| (len, 10));
    for (len, bits) in of_lengths.into_iter().chain([1, 5, 20, 44].map(|bits| (Some(16), bits))) {
        let present = keys(0, count, len, &[]);
        let block = block(&present, bits);
        for (kind, asked) in [("hit", 0), ("miss", 1)] {
            let asked = Asked::shuffled(&keys(asked, count, len, &[]), PER_FILTER);
            let case = format!("{}, k {}, {kind}", describe(len), BloomFilterPolicy::new(bits).probes());
            let ratio = |hit, miss| Some(if kind == "hit" { hit } else { miss });
            let aims = Aims {
                single: ratio(Aim { portable: 1.15, avx2: 1.3 }, Aim { portable: 2.3, avx2: 2.4 }),
                many: ratio(Aim { portable: 1.15, avx2: 2.0 }, Aim { portable: 1.9, avx2: 3.3 }),
            };
            let aims = if (len, bits) == (Some(16), 10) { aims } else { Aims::default() };
            ask(&mut table, &case, &block, bits, &asked, aims)?;
        }
    }
    Ok(())
}

/// Asks a table whose keys are all in one filter.
pub(crate) fn one_filter(timing: Timing, count: usize) -> Result<()> {
    let mut table = Table::new(timing, "Asking one filter for the table (base_lg 63)");
    let present = keys(0, count, Some(16), &[]);
    let mut builder = FilterBlockBuilder::with_base_lg(BloomFilterPolicy::new(10), 63)?;
    let mut block = Vec::new();
    build(&mut builder, &slices(&present), PER_FILTER, &mut block);
    for (kind, asked) in [("hit", 0), ("miss", 1)] {
        let asked = Asked::shuffled(&keys(asked, count, Some(16), &[]), PER_FILTER);
        let aims = Aims { single: None, many: Some(Aim::always(3.0)) };
        ask(&mut table, &format!("{count} keys of 16 bytes, {kind}"), &block, 10, &asked, aims)?;
    }
    Ok(())
}

/// One block of filters, asked by all in turns.
fn ask(table: &mut Table, case: &str, block: &[u8], bits: u32, asked: &Asked, aims: Aims) -> Result<()> {
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
        // sstable's reader of whole blocks is private; this one finds the filters as ours does.
        let ask = |(offset, key): &&(u64, &[u8])| {
            reader
                .filter((offset >> reader.base_lg()) as usize)
                .is_none_or(|filter| theirs.key_may_match(key, filter))
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
    let hash = |&(offset, key): &(u64, &[u8])| policy.hash_key(key).map(|hash| (offset, hash));
    let hashes: Vec<_> = queries.iter().filter_map(hash).collect();
    ensure!(by_hash(&reader, &hashes) == count, "answers by hash differ");

    let (mut to, mut internal_to) = (Vec::new(), Vec::new());
    let (mut many_answers, mut shared_answers, mut internal_answers) = (Vec::new(), Vec::new(), Vec::new());
    let mut contenders = vec![
        base("LevelDB", || loops.ask(block, &raw, &mut to)),
        contender("sstable", sstable),
        contender("ours", || single(&reader, queries)).aim(aims.single),
        contender("by hash", || by_hash(&reader, &hashes)),
        contender("through `SharedPolicy`", || single(&shared, queries)),
        contender("many at once", || many(&reader, queries, &mut many_answers)).aim(aims.many),
        contender("many, `SharedPolicy`", || many(&shared, queries, &mut shared_answers)),
        base("LevelDB, internal keys", || internal_loops.ask(block, &raw_internal, &mut internal_to)),
        contender("ours, internal keys", || single(&internal, internal_queries)).aim(aims.single),
        contender("many, internal keys", || many(&internal, internal_queries, &mut internal_answers))
            .aim(aims.many),
    ];
    if block.len() > CACHED {
        // Before the base of internal keys, with which it has nothing to do.
        contenders.insert(7, contender("memory alone", || touch(&reader, queries)));
    }
    table.row(case, queries.len(), contenders);
    Ok(())
}

pub(crate) fn memory(timing: Timing, megabytes: usize) -> Result<()> {
    const DISTINCT: usize = 1000;
    const COUNT: usize = 100_000;
    let mut table = Table::new(timing, &format!("Asking about {megabytes} MB of filters"));
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
        let many = match kind {
            "hit" => Aim { portable: 5.5, avx2: 11.7 },
            _ => Aim { portable: 3.3, avx2: 7.2 },
        };
        let aims = Aims { single: None, many: Some(many) };
        ask(&mut table, &format!("16 bytes, k 6, {kind}"), &block, 10, &asked, aims)?;
    }
    Ok(())
}

/// The work of an LSM tree for a key in one of eight tables: ours hashes it once.
pub(crate) fn eight_tables(timing: Timing, count: usize) -> Result<()> {
    const TABLES: usize = 8;
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
        base("LevelDB", || loops.ask_tables(&raw_blocks, &raw, &mut to)),
        contender("ours by hash", ours).aim(Some(Aim::always(2.0))),
    ];
    let mut table = Table::new(timing, "One key against 8 tables, for each key");
    table.row("24 bytes, 40 a filter", queries.len(), contenders);
    Ok(())
}

/// A reference: fastbloom's filters, in their own format and of the same size.
pub(crate) fn orientation(timing: Timing, count: usize) -> Result<()> {
    let mut table = Table::new(timing, "One filter, by fastbloom in its own format");
    let present = keys(0, count, Some(16), &[]);
    let mut filter = BloomFilter::with_num_bits(count * 10).seed(&1).expected_items(count);
    present.iter().for_each(|key| {
        filter.insert(&key[..]);
    });
    let mut block = Vec::new();
    build(&mut FilterBlockBuilder::new(BloomFilterPolicy::new(10)), &slices(&present), count, &mut block);
    for (kind, asked) in [("hit", 0), ("miss", 1)] {
        let asked = Asked::shuffled(&keys(asked, count, Some(16), &[]), count);
        let queries = asked.queries();
        let (loops, raw, mut to) = (Loops::new(10, false), Queries::new(&queries), Vec::new());
        let contenders = vec![
            base("LevelDB", || loops.ask(&block, &raw, &mut to)),
            contender("fastbloom", || queries.iter().filter(|(_, key)| filter.contains(*key)).count()),
        ];
        table.row(&format!("16 bytes, {kind}"), queries.len(), contenders);
    }
    Ok(())
}
