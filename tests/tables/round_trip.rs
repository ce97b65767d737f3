//! Written tables are read again: all entries, every lookup, in random combinations of options.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use filterblock::table::{Compression, Lookup, ReadOptions, Table, TableBuilder, TableSummary, WriteOptions};
use filterblock::{BloomFilterPolicy, FilterPolicy, Keys, SharedPolicy};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

fn write(options: WriteOptions, entries: &Entries) -> (Vec<u8>, TableSummary) {
    let mut table = TableBuilder::new(Vec::new(), options);
    for (key, value) in entries {
        table.add(key, value).unwrap();
    }
    table.finish().unwrap()
}

/// Generates keys. Most have few different bytes, so that keys share prefixes, are prefixes of others, and end in 0x00
/// and 0xff.
fn keys() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop::sample::select(vec![0u8, 1, b'a', 0xfe, 0xff]);
    prop_oneof![4 => vec(byte, 0..12), 1 => vec(any::<u8>(), 0..200)]
}

fn values() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 0..20), (any::<u8>(), 0..2000usize).prop_map(|(byte, len)| vec![byte; len])]
}

prop_compose! {
    fn options()(
        block_size in prop_oneof![Just(0), 1..300usize, 300..8192usize],
        restart_interval in 1..40u32,
        snappy: bool,
        base_lg in prop_oneof![Just(11), 0..20u8, Just(63)],
        bits in prop::option::of(1..30u32),
    ) -> WriteOptions {
        let compression = if snappy { Compression::Snappy } else { Compression::None };
        let options = WriteOptions::default()
            .block_size(block_size)
            .restart_interval(restart_interval)
            .compression(compression)
            .base_lg(base_lg);
        match bits {
            Some(bits) => options.filter_policy(BloomFilterPolicy::new(bits)),
            None => options,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn plain_tables_come_back(
        options in options(),
        entries in btree_map(keys(), values(), 0..200),
        absent in vec(keys(), 20),
    ) {
        let (bytes, summary) = write(options.clone(), &entries);
        let table = Table::open(bytes, &ReadOptions::default()).unwrap();
        prop_assert!(table.filter_error().is_none());
        prop_assert_eq!(table.filter().is_some(), !summary.filters.is_empty());
        if let (Some(filter), [written]) = (table.filter(), &summary.filters[..]) {
            filter.check().unwrap();
            prop_assert_eq!(filter.num_filters() as u64, written.filters);
            prop_assert_eq!(filter.contents().len() as u64, written.size);
        }
        prop_assert_eq!(table.file_size(), summary.file_size);
        prop_assert_eq!(table.data_blocks().count() as u64, summary.data_blocks);

        let read = table.iter().map(|entry| entry.map(|(key, value)| (key.to_vec(), value.to_vec())));
        let read = read.collect::<filterblock::Result<Vec<_>>>().unwrap();
        prop_assert_eq!(read.len() as u64, summary.num_entries);
        prop_assert!(read.iter().map(|(key, value)| (key, value)).eq(&entries));

        let range = entries.keys().next().zip(entries.keys().next_back());
        let written = summary.key_range.as_ref().map(|(smallest, largest)| (&smallest[..], &largest[..]));
        prop_assert_eq!(written, range.map(|(first, last)| (&first[..], &last[..])));

        for key in entries.keys().chain(&absent) {
            let stored = entries.get(key);
            let found = table.get(key).unwrap();
            prop_assert_eq!(found.as_deref(), stored.map(|value| &value[..]));
            prop_assert!(table.may_contain(key).unwrap() || stored.is_none());
            let mut cursor = table.cursor();
            let at = cursor.seek(key).unwrap().then(|| (cursor.key().to_vec(), cursor.value().to_vec()));
            let next = entries.range(key.clone()..).next();
            prop_assert_eq!(at, next.map(|(key, value)| (key.clone(), value.clone())));
        }
    }

    #[test]
    fn database_tables_come_back(
        options in options(),
        history in btree_map(keys(), btree_map(1..100u64, prop::option::of(values()), 1..5), 0..60),
        absent in vec(keys(), 20),
    ) {
        let mut table = TableBuilder::new(Vec::new(), options.internal_keys(true));
        for (user_key, versions) in &history {
            for (sequence, value) in versions.iter().rev() {
                let tag = sequence << 8 | u64::from(value.is_some());
                let key = [user_key, &tag.to_le_bytes()[..]].concat();
                table.add(&key, value.as_deref().unwrap_or_default()).unwrap();
            }
        }
        let (bytes, _) = table.finish().unwrap();
        let table = Table::open(bytes, &ReadOptions::default().internal_keys(true)).unwrap();
        let none = BTreeMap::new();
        for user_key in history.keys().chain(&absent) {
            let versions = history.get(user_key).unwrap_or(&none);
            for sequence in versions.keys().flat_map(|&at| [at - 1, at, at + 1]).chain([0, u64::MAX]) {
                let expected = match versions.range(..=sequence).next_back() {
                    Some((_, Some(value))) => Lookup::Value(value.clone().into()),
                    Some((_, None)) => Lookup::Deleted,
                    None => Lookup::Absent,
                };
                prop_assert!(table.get_at(user_key, sequence).unwrap() == expected, "{:?} {}", user_key, sequence);
            }
        }
    }

    #[test]
    fn the_same_entries_give_the_same_bytes(options in options(), entries in btree_map(keys(), values(), 0..50)) {
        prop_assert_eq!(write(options.clone(), &entries).0, write(options, &entries).0);
    }
}

/// A policy of another name, whose filters hold only the number of keys. Counts how often it is asked.
struct Counting {
    name: &'static str,
    asked: AtomicU64,
}

impl FilterPolicy for Counting {
    fn name(&self) -> &str {
        self.name
    }
    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> filterblock::Result<()> {
        dst.extend((keys.len() as u64).to_le_bytes());
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], filter: &[u8]) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        filter.len() == 8
    }
}

#[test]
fn each_of_several_policies_finds_its_own_filters() {
    let counting = |name| Arc::new(Counting { name, asked: AtomicU64::new(0) });
    let (old, new) = (counting("test.Old"), counting("test.New"));
    let bloom = BloomFilterPolicy::new(10);
    let policies: Vec<SharedPolicy> = vec![old.clone(), Arc::new(bloom), new.clone()];
    let entries: Entries = (0..500u32).map(|i| (i.to_be_bytes().to_vec(), vec![0; 50])).collect();
    let (bytes, summary) = write(WriteOptions::default().filter_policies(policies.clone()), &entries);
    assert_eq!(
        summary.filters.iter().map(|filter| &filter.policy[..]).collect::<Vec<_>>(),
        ["leveldb.BuiltinBloomFilter2", "test.New", "test.Old"]
    );

    for policy in policies {
        let name = policy.name().to_owned();
        let table = Table::open(&bytes[..], &ReadOptions::default().filter_policies(vec![policy])).unwrap();
        assert_eq!(table.filter_name(), Some(&name[..]));
        table.filter().unwrap().check().unwrap();
        for (key, value) in &entries {
            assert_eq!(table.get(key).unwrap().as_deref(), Some(&value[..]));
        }
    }
    assert_eq!((old.asked.load(Ordering::Relaxed), new.asked.load(Ordering::Relaxed)), (500, 500));

    let (alone, _) = write(WriteOptions::default().filter_policy(bloom), &entries);
    let alone = Table::open(alone, &ReadOptions::default()).unwrap();
    let among = Table::open(bytes, &ReadOptions::default()).unwrap();
    assert_eq!(alone.filter().unwrap().contents(), among.filter().unwrap().contents());
}

#[test]
fn a_table_of_a_million_entries_comes_back() {
    let entry = |i: u32| ((i * 3).to_be_bytes(), i.to_le_bytes());
    let mut table =
        TableBuilder::new(Vec::new(), WriteOptions::default().filter_policy(BloomFilterPolicy::new(10)));
    for i in 0..1_000_000 {
        let (key, value) = entry(i);
        table.add(&key, &value).unwrap();
    }
    let (bytes, summary) = table.finish().unwrap();
    assert_eq!(summary.num_entries, 1_000_000);
    let table = Table::open(bytes, &ReadOptions::default()).unwrap();
    let mut cursor = table.cursor();
    for i in 0..1_000_000 {
        let (key, value) = entry(i);
        assert!(cursor.next().unwrap());
        assert_eq!((cursor.key(), cursor.value()), (&key[..], &value[..]));
    }
    assert!(!cursor.next().unwrap());
    let denied = (0..10_000u32).filter(|i| !table.may_contain(&(i * 297 + 1).to_be_bytes()).unwrap()).count();
    // Not 9,900: LevelDB's hash spreads keys that differ in so few bits less well.
    assert!(denied > 9_500, "only {denied} of 10000 absent keys denied");
}
