//! Sources, policies, what tools ask for, and what the types promise.

use std::fs;
use std::sync::Arc;

use bytes::Bytes;
use filterblock::table::{
    BlockHandle, Cursor, DataBlockTypes, DataBlocks, FetchedRanges, Iter, Lookup, ReadAt, ReadOptions, Table,
    TableBuilder, WriteOptions,
};
use filterblock::{Error, FilterPolicy, Keys, Result};

use crate::tables::{sample, testdata};

#[test]
fn every_kind_of_source_serves() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    fn count<R: ReadAt>(source: R) -> usize {
        Table::open(source, &ReadOptions::default()).unwrap().iter().filter(Result::is_ok).count()
    }
    let path = testdata().join("tables").join(&sample.name);
    let vec = sample.file.to_vec();
    let boxed: Box<dyn ReadAt> = Box::new(vec.clone());
    for entries in [
        count(fs::File::open(path).unwrap()),
        count(&vec[..]),
        count(vec.clone()),
        count(sample.file.clone()),
        count(boxed),
        count(Arc::new(vec)),
    ] {
        assert_eq!(entries, sample.entries.len());
    }
}

#[test]
fn uncompressed_blocks_are_views_of_bytes() {
    let sample = sample("words-4096-unfiltered.ldb");
    let table = sample.open();
    let within = |part: &[u8]| sample.file.as_ptr_range().contains(&part.as_ptr());
    for (key, value) in &sample.entries {
        let found = table.get(key).unwrap().unwrap();
        assert!(value.is_empty() || within(&found));
    }
}

/// A policy under this name that lets every key pass.
struct Named(&'static str);

impl FilterPolicy for Named {
    fn name(&self) -> &str {
        self.0
    }
    fn create_filter(&self, _: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        dst.push(1);
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

#[test]
fn the_first_given_policy_that_the_table_names_is_used() {
    let mut table = TableBuilder::new(
        Vec::new(),
        WriteOptions::default().filter_policies(vec![
            Arc::new(Named("a")),
            Arc::new(Named("b")),
            Arc::new(Named("bb")),
        ]),
    );
    table.add(b"key", b"value").unwrap();
    let file = Bytes::from(table.finish().unwrap().0);
    for (names, expected) in [
        (&["b"][..], Some("b")),
        (&["b", "a"], Some("b")),
        (&["c", "bb", "a"], Some("bb")),
        (&["bbb", "", "filter.a", "A"], None),
        (&[], None),
    ] {
        let policies = names.iter().map(|&name| Arc::new(Named(name)) as _).collect();
        let table = Table::open(file.clone(), &ReadOptions::default().filter_policies(policies)).unwrap();
        // If policies are given and the table has filters of none of them, the name is the first
        // one in the table.
        let is_unknown = expected.is_none() && !names.is_empty();
        assert_eq!(table.filter_name(), if is_unknown { Some("a") } else { expected });
        assert_eq!(table.filter().map(|filter| filter.policy().name()), expected);
        assert_eq!(table.filter_handle().is_some(), expected.is_some() || is_unknown);
        assert_eq!(table.filter_error().is_some(), is_unknown);
        assert!(table.may_contain(b"absent").unwrap(), "these filters deny nothing");

        let mut metaindex = table.metaindex().unwrap();
        let mut names = Vec::new();
        while metaindex.next().unwrap() {
            names.push(metaindex.key().to_vec());
            assert!(metaindex.handle().unwrap().size > 0);
        }
        assert_eq!(names, [b"filter.a".to_vec(), b"filter.b".to_vec(), b"filter.bb".to_vec()]);
    }
    let table = Table::open(file, &ReadOptions::default().filter_policy(Named("b"))).unwrap();
    assert_eq!(table.filter_name(), Some("b"));
}

#[test]
fn what_tools_ask_for() {
    let sample = sample("large-65536-bloom10-snappy.ldb");
    let table = sample.open();
    assert_eq!(table.file_size(), sample.file.len() as u64);
    assert_eq!(table.filter_name(), Some("leveldb.BuiltinBloomFilter2"));
    assert_eq!(table.filter().unwrap().contents().len() as u64, table.filter_handle().unwrap().size);
    assert!(table.memory_usage() > table.filter().unwrap().contents().len());
    assert!(table.memory_usage() < 64 << 10);

    let mut keys = Vec::new();
    let mut index = table.index();
    for handle in table.data_blocks() {
        let handle = handle.unwrap();
        assert!(index.next().unwrap());
        assert_eq!(index.handle().unwrap(), handle);
        let mut block = table.block_cursor(handle).unwrap();
        let mut size = 0;
        while block.next().unwrap() {
            keys.push(block.key().to_vec());
            size += block.value().len();
        }
        assert!(block.size() > size && block.size() < size + (16 << 10));
        assert!(keys.last().unwrap().as_slice() <= index.key());
    }
    assert!(!index.next().unwrap());
    assert!(keys.iter().eq(sample.entries.iter().map(|(key, _)| key)));

    let beyond = BlockHandle { offset: sample.file.len() as u64, size: 1 };
    assert!(matches!(table.block_cursor(beyond), Err(Error::Corrupt { .. })));
    assert!(matches!(table.compression_of(beyond), Err(Error::Corrupt { .. })));
}

/// One cursor enters all blocks of a table in turn, there and back, in memory that other blocks
/// have used.
#[test]
fn one_block_cursor_enters_many_blocks() {
    let samples =
        ["dense-256-bloom10.ldb", "words-1024-bloom20-snappy.ldb", "large-65536-bloom10-snappy.ldb"];
    for sample in samples.map(sample) {
        let table = sample.open();
        let handles: Vec<_> = table.data_blocks().map(Result::unwrap).collect();
        let mut cursor = table.index();
        // There and back, so that blocks follow on larger ones and on smaller ones.
        for &handle in handles.iter().chain(handles.iter().rev()) {
            cursor.enter(&table, handle).unwrap();
            let mut fresh = table.block_cursor(handle).unwrap();
            assert_eq!((cursor.size(), cursor.codec()), (fresh.size(), fresh.codec()));
            assert!(cursor.key().is_empty());
            while fresh.next().unwrap() {
                assert!(cursor.next().unwrap());
                assert_eq!((cursor.key(), cursor.value()), (fresh.key(), fresh.value()));
            }
            assert!(!cursor.next().unwrap());
        }
        assert_eq!(table.index().size(), sample.open().index().size());

        let beyond = BlockHandle { offset: sample.file.len() as u64, size: 1 };
        assert!(matches!(cursor.enter(&table, beyond), Err(Error::Corrupt { .. })));
        assert!(!cursor.next().unwrap() && cursor.key().is_empty() && cursor.size() == 0);
        cursor.enter(&table, handles[0]).unwrap();
        assert!(cursor.next().unwrap());
    }
}

/// A block is not overwritten while somebody still holds a value in it.
#[test]
fn values_outlive_their_blocks() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    let table = sample.open();
    let mut cursor = table.cursor();
    let mut kept = Vec::new();
    while cursor.next().unwrap() {
        // Of some blocks no value is kept, of others some are.
        let wanted = !cursor.block_handle().unwrap().offset.is_multiple_of(3);
        kept.push(wanted.then(|| cursor.value_bytes()));
    }
    assert!(kept.iter().any(Option::is_none));
    for (kept, (_, value)) in kept.iter().zip(&sample.entries) {
        assert!(kept.as_ref().is_none_or(|kept| kept == value));
    }
}

#[test]
fn views_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Table<fs::File>>();
    shared::<Cursor<'_, fs::File>>();
    shared::<Iter<'_, Bytes>>();
    shared::<DataBlocks<'_>>();
    shared::<DataBlockTypes<'_, fs::File>>();
    shared::<ReadOptions>();
    shared::<FetchedRanges>();
    shared::<Lookup>();

    let sample = sample("dense-256-bloom10.ldb");
    let table = Table::open_path(testdata().join("tables").join(&sample.name), &sample.options).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (table, entries) = (&table, &sample.entries);
            scope.spawn(move || {
                for (key, value) in entries.iter().skip(thread) {
                    assert_eq!(table.get(key).unwrap().unwrap(), value);
                }
                assert_eq!(table.iter().count(), entries.len());
            });
        }
    });
}

#[test]
fn debug_shows_sizes_not_contents() {
    let sample = sample("words-4096-bloom10-snappy.ldb");
    let table = sample.open();
    let mut cursor = table.cursor();
    cursor.next().unwrap();
    let value = table.get_at(b"", 0).map_or(Lookup::Value("secret".into()), |found| found);
    let mut block = table.block_cursor(cursor.block_handle().unwrap()).unwrap();
    block.next().unwrap();
    let shown = [
        format!("{table:?}"),
        format!("{cursor:?}"),
        format!("{block:?}"),
        format!("{:?}", table.iter()),
        format!("{:?}", table.data_blocks()),
        format!("{:?}", sample.options),
        format!("{value:?}"),
    ];
    assert_eq!(shown[6], "Value(6 bytes)");
    assert_eq!(format!("{:?} {:?}", Lookup::Deleted, Lookup::Absent), "Deleted Absent");
    assert!(shown[2].contains(&format!("size: {}", block.size())), "{}", shown[2]);
    let key = String::from_utf8(sample.entries[0].0.clone()).unwrap();
    for text in shown {
        assert!(!text.contains(&key) && (6..700).contains(&text.len()), "{text}");
    }
}
