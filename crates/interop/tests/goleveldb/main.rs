//! goleveldb's tables read by us, and ours by goleveldb. Unlike LevelDB, goleveldb writes filters
//! with any base_lg, and so shows whether ours are right.

mod program;

use std::collections::BTreeMap;
use std::sync::Arc;

use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, FilterBlockBuilder, LegacyBloomPolicy, LegacyHash, SharedPolicy};
use filterblock_interop::counting::CountingPolicy;
use filterblock_interop::leveldb;
use filterblock_interop::random::Random;

use program::{Goleveldb, Options};

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// The values of `base_lg` to try. goleveldb replaces 0 by its default; from 64 on it divides by zero.
const BASE_LGS: [u8; 7] = [1, 8, 11, 14, 19, 30, 63];

fn write_options(options: &Options) -> WriteOptions {
    let write = WriteOptions::default()
        .base_lg(options.base_lg)
        .block_size(options.block_size)
        .restart_interval(options.restart_interval)
        .compression(options.compression);
    match options.bits_per_key {
        0 => write,
        bits => write.filter_policy(LegacyBloomPolicy::new(bits)),
    }
}

fn build(options: WriteOptions, entries: &Entries) -> Vec<u8> {
    let mut table = TableBuilder::new(Vec::new(), options);
    for (key, value) in entries {
        table.add(key, value).unwrap();
    }
    table.finish().unwrap().0
}

fn open(table: &[u8], policy: SharedPolicy) -> Table<&[u8]> {
    Table::open(table, &ReadOptions::default().filter_policies(vec![policy])).unwrap()
}

fn open_legacy(table: &[u8]) -> Table<&[u8]> {
    open(table, Arc::new(LegacyBloomPolicy::new(10)))
}

/// Checks that goleveldb and this library find the same in `table`, and that our filter gives
/// goleveldb's answers. Returns the number of denied keys.
fn compare_readers(goleveldb: &Goleveldb, table: &[u8], entries: &Entries, absent: &[Vec<u8>]) -> u64 {
    let policy = LegacyBloomPolicy::new(10).with_hash(LegacyHash::Unsigned);
    let counting = Arc::new(CountingPolicy::new(policy));
    let ours = open(table, counting.clone());
    let legacy = open_legacy(table);
    assert!(
        ours.iter().map(Result::unwrap).eq(entries.iter().map(|(k, v)| (k.clone().into(), v.clone().into())))
    );

    let keys = entries.keys().chain(absent).map(Vec::as_slice);
    let theirs = goleveldb.read(table, keys.clone());
    assert!(theirs.entries.iter().map(|(key, value)| (key, value)).eq(entries));
    assert!(theirs.lookups.iter().map(|lookup| lookup.key.as_slice()).eq(keys));
    for lookup in &theirs.lookups {
        let key = lookup.key.as_slice();
        let expected = entries.get(key);
        assert_eq!(lookup.plain.as_ref(), expected, "{lookup:?}");
        assert_eq!(lookup.filtered.as_ref(), expected, "{lookup:?}");
        assert_eq!(legacy.get(key).unwrap().as_deref(), expected.map(Vec::as_slice), "{lookup:?}");

        let asked = counting.asked();
        let may_contain = ours.may_contain(key).unwrap();
        assert_eq!(counting.asked() > asked, lookup.answer.is_some(), "{lookup:?}");
        assert!(lookup.answer.is_none_or(|answer| answer == may_contain), "{lookup:?}");
        assert!(expected.is_none() || lookup.answer == Some(true), "{lookup:?}");
    }
    let denied = theirs.lookups.iter().filter(|lookup| lookup.answer == Some(false)).count() as u64;
    assert_eq!(counting.denied(), denied);
    denied
}

/// Uncompressed tables are equal in everything: the ends of data blocks, index separators, filters,
/// metaindex. Tables without entries are the exception.
#[test]
fn uncompressed_tables_have_the_same_bytes() {
    let Some(goleveldb) = Goleveldb::get() else { return };
    let mut random = Random::new(1);
    for base_lg in BASE_LGS {
        let mut most_filters = 0;
        for case in 0..5 {
            let mut options = options(&mut random, base_lg, Compression::None);
            if case == 0 {
                options.bits_per_key = 0;
            }
            let entries = entries(&mut random, base_lg);
            let theirs = goleveldb.write(&options, &entries);
            assert!(build(write_options(&options), &entries) == theirs, "case {case}: {options:?}");
            let filters = open_legacy(&theirs).filter().map_or(0, |filter| filter.num_filters());
            assert_eq!(filters == 0, case == 0);
            most_filters = filters.max(most_filters);
        }
        assert_eq!(most_filters > 1, base_lg <= 19, "base_lg {base_lg}: {most_filters} filters");
    }
}

#[test]
fn goleveldb_reads_tables_of_ours() {
    let Some(goleveldb) = Goleveldb::get() else { return };
    let mut random = Random::new(2);
    // goleveldb does not write 0, but reads it.
    for base_lg in [0].into_iter().chain(BASE_LGS) {
        let mut denied = 0;
        for compression in [Compression::None, Compression::Snappy, Compression::Snappy] {
            let options = options(&mut random, base_lg, compression);
            let entries = entries(&mut random, base_lg);
            let absent = absent(&mut random, &entries);
            let table = build(write_options(&options), &entries);
            denied += compare_readers(goleveldb, &table, &entries, &absent);
        }
        assert!(denied > 0, "base_lg {base_lg}");
    }
}

/// With Snappy the bytes differ: the encoders differ, and goleveldb also keeps compressed blocks
/// that save nothing. The filters still match the data blocks at their places.
#[test]
fn we_read_compressed_tables_of_goleveldb() {
    let Some(goleveldb) = Goleveldb::get() else { return };
    let mut random = Random::new(3);
    for base_lg in BASE_LGS {
        let mut denied = 0;
        for _ in 0..3 {
            let options = options(&mut random, base_lg, Compression::Snappy);
            let entries = entries(&mut random, base_lg);
            let absent = absent(&mut random, &entries);
            let bytes = goleveldb.write(&options, &entries);
            denied += compare_readers(goleveldb, &bytes, &entries, &absent);

            let table = open_legacy(&bytes);
            assert_eq!(table.compression_of(table.metaindex_handle()).unwrap(), 1);
            assert!(table.filter().unwrap().contents() == filter_block(&table, &options), "{options:?}");
        }
        assert!(denied > 0, "base_lg {base_lg}");
    }
}

/// Builds the filter block for the data blocks of `table`.
fn filter_block(table: &Table<&[u8]>, options: &Options) -> Vec<u8> {
    let policy = LegacyBloomPolicy::new(options.bits_per_key);
    let mut builder = FilterBlockBuilder::with_base_lg(policy, options.base_lg).unwrap();
    for handle in table.data_blocks() {
        let handle = handle.unwrap();
        let mut block = table.block_cursor(handle).unwrap();
        while block.next().unwrap() {
            builder.add_key(block.key());
        }
        builder.start_block(handle.end().unwrap()).unwrap();
    }
    builder.finish().unwrap().to_vec()
}

#[test]
fn goleveldb_takes_base_lg_0_as_11() {
    let Some(goleveldb) = Goleveldb::get() else { return };
    let mut random = Random::new(4);
    let options = options(&mut random, 0, Compression::None);
    let entries = entries(&mut random, 0);
    let theirs = goleveldb.write(&options, &entries);
    assert_eq!(open_legacy(&theirs).filter().unwrap().base_lg(), 11);
    assert!(theirs == build(write_options(&Options { base_lg: 11, ..options }), &entries));
}

/// LevelDB writes no data block into an empty table. goleveldb writes an empty one, with an empty
/// key in the index.
#[test]
fn empty_tables_differ_and_are_read() {
    let Some(goleveldb) = Goleveldb::get() else { return };
    let entries = Entries::new();
    let absent = [b"".to_vec(), b"a".to_vec()];
    let options = options(&mut Random::new(5), 11, Compression::None);
    let ours = build(write_options(&options), &entries);
    let theirs = goleveldb.write(&options, &entries);
    assert_eq!([&ours, &theirs].map(|table| open_legacy(table).data_blocks().count()), [0, 1]);
    for table in [ours, theirs] {
        assert_eq!(compare_readers(goleveldb, &table, &entries, &absent), 0);
    }
}

/// A table with two filter blocks: goleveldb asks the one under LevelDB's old name, LevelDB asks the
/// other one.
#[test]
fn one_table_has_filters_for_goleveldb_and_leveldb() {
    let Some(goleveldb) = Goleveldb::get() else { return };
    let mut random = Random::new(6);
    let options = options(&mut random, 11, Compression::Snappy);
    let entries = entries(&mut random, 11);
    let absent = absent(&mut random, &entries);
    let policies: Vec<SharedPolicy> =
        vec![Arc::new(LegacyBloomPolicy::new(10)), Arc::new(BloomFilterPolicy::new(10))];
    let table = build(write_options(&options).filter_policies(policies), &entries);

    assert!(compare_readers(goleveldb, &table, &entries, &absent) > 0);
    let read = leveldb::TableOptions { bits_per_key: Some(10), ..leveldb::TableOptions::default() };
    let theirs = leveldb::Table::open(&read, &table).unwrap();
    for (key, value) in &entries {
        assert_eq!(theirs.internal_get(key).unwrap(), Some((key.clone(), value.clone())));
    }
    assert_eq!(theirs.filter_counts(), (entries.len() as u64, 0));
    for key in &absent {
        let found = theirs.internal_get(key).unwrap();
        assert!(found.is_none_or(|(found, _)| found != *key));
    }
    assert!(theirs.filter_counts().1 > 0);
}

/// Makes random entries. They are mostly enough for more than one filter, with each `base_lg` up to 19.
pub(crate) fn entries(random: &mut Random, base_lg: u8) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let (count, max_value) = match base_lg {
        0..12 => (random.between(1, 800), 300),
        _ => (random.between(600, 800), 4096),
    };
    (0..count).map(|_| (key(random), value(random, max_value))).collect()
}

/// Makes keys that are not among `entries`: near ones and others.
pub(crate) fn absent(random: &mut Random, entries: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<Vec<u8>> {
    let mut absent = Vec::new();
    for stored in entries.keys() {
        let mut near = stored.clone();
        near.push(random.next_u64() as u8);
        absent.extend([near, key(random)]);
    }
    absent.retain(|key| !entries.contains_key(key));
    absent
}

/// Makes random options, except for the given ones.
pub(crate) fn options(random: &mut Random, base_lg: u8, compression: Compression) -> Options {
    // goleveldb counts probes in eight bits, which shows at 372 bits a key.
    let bits_per_key = if random.one_in(4) { random.between(360, 400) } else { random.between(1, 40) };
    Options {
        bits_per_key: bits_per_key as u32,
        base_lg,
        block_size: 64 << random.below(9),
        restart_interval: random.between(1, 32) as u32,
        compression,
    }
}

/// Makes a key of up to 24 bytes. Half of the keys make separators hard to find, and often end in bytes whose sign
/// matters to the hash.
fn key(random: &mut Random) -> Vec<u8> {
    const BYTES: [u8; 6] = [0, b'a', b'b', 0x80, 0xfe, 0xff];
    let len = random.index(25);
    if random.one_in(2) {
        return random.bytes(len);
    }
    (0..len).map(|_| BYTES[random.index(BYTES.len())]).collect()
}

/// Makes a value. Half of the values can be compressed.
fn value(random: &mut Random, max: usize) -> Vec<u8> {
    let len = random.index(max);
    if random.one_in(2) { random.bytes(len) } else { vec![b'v'; len] }
}
