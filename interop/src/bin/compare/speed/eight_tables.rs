//! Times one key asked in several tables, and filters of another format.

use anyhow::{Result, ensure};
use fastbloom::BloomFilter;
use filterblock::{BloomFilterPolicy, FilterBlockReader, FilterPolicy as _};
use filterblock_interop::leveldb::speed::{Loops, Queries, Slices};

use super::asking::{block, single};
use super::data::{Asked, Kind, Order, keys, slices};
use super::report::Section;
use super::timing::{Turns, levels, set};

const TABLES: usize = 8;

/// Times what an LSM tree does for a key in one of eight tables: it asks the filters of all tables. Ours hashes
/// the key once.
pub(crate) fn run(rounds: usize, count: usize) -> Result<Section> {
    let policy = BloomFilterPolicy::new(10);
    let mut rows = Vec::new();
    for len in [16, 24] {
        let of_tables: Vec<Vec<Vec<u8>>> =
            (0..TABLES as u64).map(|seed| keys(seed, count, Some(len), &[])).collect();
        let blocks: Vec<Vec<u8>> = of_tables.iter().map(|keys| block(keys, 10, 40)).collect();
        let readers: Vec<_> = blocks.iter().map(|block| FilterBlockReader::new(policy, &block[..])).collect();
        let asked = Asked::of(Order::Random, Kind::Hit, &of_tables[3], &of_tables[3], 40);
        // Short rounds, since each key is asked eight times.
        let queries = &asked.queries()[..count.min(10_000)];

        let block_slices = slices(&blocks);
        let (loops, raw_blocks, raw) =
            (Loops::new(10, false), Slices::new(&block_slices), Queries::new(queries));
        let (mut expected, mut to) = (Vec::new(), Vec::new());
        loops.ask_tables(&raw_blocks, &raw, &mut expected);
        let ours = || {
            let tables = |(offset, key): &(u64, &[u8])| {
                let Some(hash) = policy.hash_key(key) else { return TABLES };
                readers.iter().filter(|reader| reader.hash_may_match(*offset, hash)).count()
            };
            queries.iter().map(tables).sum::<usize>()
        };
        let expected = expected.iter().map(|&tables| usize::from(tables)).sum::<usize>();
        for level in levels() {
            set(level);
            ensure!(ours() == expected, "answers differ at {level:?}");
        }
        let mut turns = Turns::new(&format!("{len} bytes"), queries.len());
        turns.fixed("LevelDB", || loops.ask_tables(&raw_blocks, &raw, &mut to));
        turns.faster("by hash", Some([2.0, 2.1, 2.4]), ours);
        rows.extend(turns.run(rounds));
    }
    Ok(Section::new("One key asked in 8 tables, 40 a filter, for each key", rows))
}

/// Times fastbloom's filters as a reference. They have their own format, and as many bits a key as ours.
pub(crate) fn fastbloom(rounds: usize, count: usize) -> Result<Section> {
    let (present, absent) = (keys(0, count, Some(16), &[]), keys(1, count, Some(16), &[]));
    let mut filter = BloomFilter::with_num_bits(count * 10).seed(&1).expected_items(count);
    present.iter().for_each(|key| {
        filter.insert(&key[..]);
    });
    let block = block(&present, 10, count);
    let reader = FilterBlockReader::new(BloomFilterPolicy::new(10), &block[..]);
    let mut rows = Vec::new();
    for kind in [Kind::Hit, Kind::Miss] {
        let asked = Asked::of(Order::Random, kind, &present, &absent, count);
        let queries = asked.queries();
        let (loops, raw, mut to) = (Loops::new(10, false), Queries::new(&queries), Vec::new());
        let mut turns = Turns::new(&format!("{count} keys of 16 bytes, {}", kind.name()), count);
        turns.fixed("LevelDB", || loops.ask(&block, &raw, &mut to));
        turns.fixed("`fastbloom`", || queries.iter().filter(|(_, key)| filter.contains(*key)).count());
        turns.faster("single", None, || single(&reader, &queries));
        rows.extend(turns.run(rounds));
    }
    Ok(Section::new("One filter, by fastbloom in its own format", rows))
}
