//! Individual tables, with `sstable`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use filterblock::BloomFilterPolicy;
use filterblock::table::{ReadOptions, WriteOptions};
use filterblock_interop::counting::CountingPolicy;
use filterblock_interop::leveldb;
use filterblock_interop::random::Random;
use sstable::{CompressionType, Options, SSIterator as _, Table, TableBuilder};

use crate::assert_leveldbs;
use crate::sstable_adapter::Policy;

const BITS_PER_KEY: u32 = 10;
const COMPRESSIONS: [CompressionType; 2] =
    [CompressionType::CompressionNone, CompressionType::CompressionSnappy];

type Counting = Arc<CountingPolicy<BloomFilterPolicy>>;
type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

fn counting() -> Counting {
    Arc::new(CountingPolicy::new(BloomFilterPolicy::new(BITS_PER_KEY)))
}

fn options(policy: &Counting, compression_type: CompressionType, block_size: usize) -> Options {
    Options {
        block_size,
        compression_type,
        filter_policy: Arc::new(Box::new(Policy::new(Arc::clone(policy)))),
        ..Options::default()
    }
}

/// Makes dense sequences of keys as well as random ones: separators of close neighbours cannot be shortened. No key
/// is empty, because the crate's reader does not find an empty key.
fn entries(random: &mut Random) -> Entries {
    let mut entries = Entries::new();
    for number in 0..2_000 {
        let key = match random.one_in(2) {
            true => format!("key{number:04}").into_bytes(),
            false => {
                let len = random.between(1, 20) as usize;
                random.bytes(len)
            }
        };
        let len = random.index(100);
        entries.insert(key, random.bytes(len));
    }
    entries
}

/// Returns an absent neighbour of each key.
fn absent(entries: &Entries) -> impl Iterator<Item = Vec<u8>> {
    let near = entries.keys().map(|key| [key.as_slice(), b"x"].concat());
    near.filter(|key| !entries.contains_key(key))
}

fn write(options: Options, entries: &Entries) -> Vec<u8> {
    let mut file = Vec::new();
    let mut table = TableBuilder::new(options, &mut file);
    for (key, value) in entries {
        table.add(key, value).unwrap();
    }
    table.finish().unwrap();
    file
}

fn open(options: Options, file: Vec<u8>) -> Table {
    let len = file.len();
    Table::new(options, Box::new(file), len).unwrap()
}

#[test]
fn leveldb_reads_what_it_writes() {
    let mut random = Random::new(1);
    for (compression, block_size) in COMPRESSIONS.into_iter().flat_map(|it| [(it, 256), (it, 4096)]) {
        let policy = counting();
        let entries = entries(&mut random);
        let file = write(options(&policy, compression, block_size), &entries);
        assert!(policy.created() > 1);
        assert!(assert_leveldbs(&file, BITS_PER_KEY, false) > 1);

        let read =
            leveldb::TableOptions { bits_per_key: Some(BITS_PER_KEY), ..leveldb::TableOptions::default() };
        let table = leveldb::Table::open(&read, &file).unwrap();
        assert!(table.entries().unwrap().into_iter().eq(entries.clone()));
        for (key, value) in &entries {
            assert_eq!(table.internal_get(key).unwrap(), Some((key.clone(), value.clone())));
        }
        assert_eq!(table.filter_counts(), (entries.len() as u64, 0));
        for key in absent(&entries) {
            assert!(table.internal_get(&key).unwrap().is_none_or(|(found, _)| found != key));
        }
        assert!(table.filter_counts().1 > entries.len() as u64 * 9 / 10, "{:?}", table.filter_counts());
    }
}

#[test]
fn it_asks_our_filters() {
    let mut random = Random::new(2);
    for compression in COMPRESSIONS {
        let policy = counting();
        let options = options(&policy, compression, 1024);
        let entries = entries(&mut random);
        let table = open(options.clone(), write(options, &entries));
        for (key, value) in &entries {
            assert_eq!(table.get(key).unwrap().as_ref(), Some(value));
        }
        assert_eq!((policy.asked(), policy.denied()), (entries.len() as u64, 0));
        for key in absent(&entries) {
            assert_eq!(table.get(&key).unwrap(), None);
        }
        assert!(policy.denied() > entries.len() as u64 * 9 / 10, "{policy:?}");
    }
}

/// The crate's `Table::get` misses a key that the table's index has in full. The crate's own builder avoids such
/// index keys; LevelDB's and ours do not. The crate's iterators find all keys.
#[test]
fn it_reads_tables_of_ours() {
    let entries = entries(&mut Random::new(3));
    let write = WriteOptions::default().filter_policy(BloomFilterPolicy::new(BITS_PER_KEY)).block_size(256);
    let mut table = filterblock::table::TableBuilder::new(Vec::new(), write);
    for (key, value) in &entries {
        table.add(key, value).unwrap();
    }
    let (file, _) = table.finish().unwrap();
    let ours = filterblock::table::Table::open(&file[..], &ReadOptions::default()).unwrap();
    let mut in_index = BTreeSet::new();
    let mut index = ours.index();
    while index.next().unwrap() {
        in_index.insert(index.key().to_vec());
    }

    let policy = counting();
    let table = open(options(&policy, CompressionType::CompressionSnappy, 256), file.clone());
    let mut iter = table.iter();
    for (key, value) in &entries {
        assert_eq!(iter.next().as_ref(), Some(&(key.clone(), value.clone())));
        if !in_index.contains(key) {
            assert_eq!(table.get(key).unwrap().as_ref(), Some(value));
        }
        assert_eq!(ours.get(key).unwrap().as_deref(), Some(value.as_slice()));
    }
    assert!(iter.next().is_none());
    assert_eq!(policy.denied(), 0);
    for key in absent(&entries) {
        assert_eq!(table.get(&key).unwrap(), None);
    }
    assert!(policy.denied() > entries.len() as u64 * 9 / 10, "{policy:?}");
}
