//! Times queries to filter blocks.

use std::sync::Arc;

use anyhow::{Result, ensure};
use filterblock::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalFilterPolicy, KeyHash,
    SharedPolicy,
};
use filterblock_interop::leveldb::speed::{Loops, Queries};
use sstable::filter::{BloomPolicy, FilterPolicy as _};

use super::data::{Asked, Kind, Order, SUFFIX, build, describe, keys, slices};
use super::report::{Row, Section};
use super::timing::{Aims, Measure, Turns, levels, set};

/// The number of queries handed over together.
pub(crate) const BATCH: usize = 1000;

pub(crate) fn block(keys: &[Vec<u8>], bits: u32, per_filter: usize) -> Vec<u8> {
    let mut block = Vec::new();
    build(&mut FilterBlockBuilder::new(BloomFilterPolicy::new(bits)), &slices(keys), per_filter, &mut block);
    block
}

pub(crate) fn single<P: FilterPolicy>(
    reader: &FilterBlockReader<P, &[u8]>,
    queries: &[(u64, &[u8])],
) -> usize {
    queries.iter().filter(|(offset, key)| reader.key_may_match(*offset, key)).count()
}

pub(crate) fn many<P: FilterPolicy>(
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

/// Asks by hashes that were computed beforehand. Returns how many keys may match.
fn by_hash(reader: &FilterBlockReader<BloomFilterPolicy, &[u8]>, hashes: &[(u64, KeyHash)]) -> usize {
    hashes.iter().filter(|(offset, hash)| reader.hash_may_match(*offset, *hash)).count()
}

/// Asks the policy of the crate sstable. The crate's reader of whole blocks is private, so ours finds the filters.
/// Returns how many keys may match.
pub(crate) fn sstable(
    reader: &FilterBlockReader<BloomFilterPolicy, &[u8]>,
    bits: u32,
    queries: &[(u64, &[u8])],
) -> usize {
    let theirs = BloomPolicy::new(bits);
    let ask = |(offset, key): &&(u64, &[u8])| {
        reader
            .filter((offset >> reader.base_lg()) as usize)
            .is_none_or(|filter| theirs.key_may_match(key, filter))
    };
    queries.iter().filter(ask).count()
}

/// Checks that our answers to all queries are LevelDB's. Returns how many of them are "may match".
pub(crate) fn check<P: FilterPolicy>(
    reader: &FilterBlockReader<P, &[u8]>,
    queries: &[(u64, &[u8])],
    expected: &[u8],
) -> Result<usize> {
    let count = expected.iter().filter(|answer| **answer != 0).count();
    let mut answers = Vec::new();
    for level in levels() {
        set(level);
        for batch in queries.chunks(BATCH).zip(expected.chunks(BATCH)) {
            reader.keys_may_match(batch.0, &mut answers);
            let same = answers.iter().map(|&answer| u8::from(answer)).eq(batch.1.iter().copied());
            ensure!(same, "answers differ at {level:?}");
        }
        ensure!(single(reader, queries) == count, "answers to single queries differ at {level:?}");
    }
    Ok(count)
}

/// Aims for keys asked one by one, and for many at once.
type BothAims = [Option<Aims>; 2];

const fn aims(kind: Kind, order: Order) -> BothAims {
    let many = match (kind, order) {
        (Kind::Hit, Order::Sorted) => Some([1.5, 2.3, 3.3]),
        (Kind::Miss, Order::Sorted) => Some([2.2, 3.0, 4.5]),
        (Kind::Hit, Order::Random) => Some([1.3, 1.9, 2.5]),
        (Kind::Miss, Order::Random) => Some([1.9, 2.5, 3.2]),
        (Kind::Mixed, _) => None,
    };
    match kind {
        Kind::Hit => [Some([1.2, 1.4, 1.75]), many],
        Kind::Miss => [Some([1.9, 2.0, 2.3]), many],
        Kind::Mixed => [None, many],
    }
}

pub(crate) fn cached(rounds: usize, count: usize) -> Result<Section> {
    let mut rows = Vec::new();
    let (present, absent) = (keys(0, count, Some(16), &[]), keys(1, count, Some(16), &[]));
    for per_filter in [40, 200] {
        let block = block(&present, 10, per_filter);
        for order in [Order::Sorted, Order::Random] {
            for kind in Kind::ALL {
                let asked = Asked::of(order, kind, &present, &absent, per_filter);
                let case = format!("16 bytes, {per_filter} a filter, {}, {}", order.name(), kind.name());
                rows.extend(ask(rounds, &case, &block, 10, &asked, aims(kind, order), true)?);
            }
        }
    }
    Ok(Section::new("Asking, in the cache", rows))
}

/// Times queries for keys of other lengths than in [`cached`], and to filters of other numbers of bits a key.
pub(crate) fn others(rounds: usize, count: usize) -> Result<Section> {
    let mut rows = Vec::new();
    let lens = [Some(0), Some(4), Some(8), Some(24), Some(64), None].map(|len| (len, 10));
    for (len, bits) in lens.into_iter().chain([1, 5, 20, 44].map(|bits| (Some(16), bits))) {
        let (present, absent) = (keys(0, count, len, &[]), keys(1, count, len, &[]));
        let block = block(&present, bits, 40);
        for kind in [Kind::Hit, Kind::Miss] {
            let asked = Asked::of(Order::Random, kind, &present, &absent, 40);
            let probes = BloomFilterPolicy::new(bits).probes();
            let case = format!("{}, k {probes}, {}", describe(len), kind.name());
            rows.extend(ask(rounds, &case, &block, bits, &asked, [None; 2], false)?);
        }
    }
    Ok(Section::new("Asking, other keys and bits, 40 a filter, random blocks", rows))
}

/// Times queries to a filter that holds all keys of a table.
pub(crate) fn one_filter(rounds: usize, count: usize) -> Result<Section> {
    let (present, absent) = (keys(0, count, Some(16), &[]), keys(1, count, Some(16), &[]));
    let mut builder = FilterBlockBuilder::with_base_lg(BloomFilterPolicy::new(10), 63)?;
    let mut block = Vec::new();
    build(&mut builder, &slices(&present), 40, &mut block);
    // Short rounds: a part of the keys, from all over the filter.
    let asked = |kind| {
        let part = count.min(40_000);
        Asked::of(Order::Random, kind, &present[..part], &absent[..part], 40)
    };
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        let many = (kind != Kind::Mixed).then_some([1.5, 2.0, 3.5]);
        let case = format!("{count} keys of 16 bytes, {}", kind.name());
        rows.extend(ask(rounds, &case, &block, 10, &asked(kind), [None, many], false)?);
    }
    Ok(Section::new("Asking one filter for the table (base_lg 63)", rows))
}

/// Times queries to one filter block, which all implementations answer in turns.
fn ask(
    rounds: usize,
    case: &str,
    block: &[u8],
    bits: u32,
    asked: &Asked,
    aims: BothAims,
    all_ways: bool,
) -> Result<Vec<Row>> {
    let queries = &asked.queries()[..];
    let of_internal = asked.with_suffix(&SUFFIX);
    let internal_queries = &of_internal.queries()[..];
    let policy = BloomFilterPolicy::new(bits);
    let shared: SharedPolicy = Arc::new(policy);
    let reader = FilterBlockReader::new(policy, block);
    let shared = FilterBlockReader::new(shared, block);
    let internal = FilterBlockReader::new(InternalFilterPolicy::new(policy), block);

    let (loops, internal_loops) = (Loops::new(bits, false), Loops::new(bits, true));
    let (raw, raw_internal) = (Queries::new(queries), Queries::new(internal_queries));
    let mut expected = Vec::new();
    loops.ask(block, &raw, &mut expected);
    let count = check(&reader, queries, &expected)?;
    check(&shared, queries, &expected)?;
    check(&internal, internal_queries, &expected)?;
    ensure!(sstable(&reader, bits, queries) == count, "sstable's answers differ");
    let hash = |&(offset, key): &(u64, &[u8])| policy.hash_key(key).map(|hash| (offset, hash));
    let hashes: Vec<_> = queries.iter().filter_map(hash).collect();
    ensure!(by_hash(&reader, &hashes) == count, "answers by hash differ");

    let (mut to, mut internal_to) = (Vec::new(), Vec::new());
    let (mut many_to, mut shared_to, mut many_internal_to) = (Vec::new(), Vec::new(), Vec::new());
    let mut turns = Turns::new(case, queries.len());
    turns.fixed("LevelDB", || loops.ask(block, &raw, &mut to));
    turns.fixed("`sstable`", || sstable(&reader, bits, queries));
    let one = turns.faster("single", aims[0], || single(&reader, queries));
    let together = turns.faster("many", aims[1], || many(&reader, queries, &mut many_to));
    if all_ways {
        turns.faster("by hash", None, || by_hash(&reader, &hashes));
        let through = turns.ours(|| single(&shared, queries));
        turns.row("single, `SharedPolicy`, by ours", through, Measure::FasterThanOurs(one), Some([0.9; 3]));
        let through = turns.ours(|| many(&shared, queries, &mut shared_to));
        turns.row(
            "many, `SharedPolicy`, by ours",
            through,
            Measure::FasterThanOurs(together),
            Some([0.9; 3]),
        );
        let theirs = turns.fixed("LevelDB, internal keys", || {
            internal_loops.ask(block, &raw_internal, &mut internal_to);
        });
        let one = turns.ours(|| single(&internal, internal_queries));
        turns.row("single, internal keys", one, Measure::Faster(theirs), aims[0]);
        let together = turns.ours(|| many(&internal, internal_queries, &mut many_internal_to));
        turns.row("many, internal keys", together, Measure::Faster(theirs), aims[1]);
    }
    Ok(turns.run(rounds))
}
