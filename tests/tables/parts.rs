//! Index and filter of an open table are kept in a cache, and the table is opened from them again.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use filterblock::table::{Meter, ReadAt, ReadOptions, Table};
use filterblock::{BloomFilterPolicy, Error};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/databases/levels/000005.ldb");

/// A source that counts every call.
struct Counted {
    bytes: Bytes,
    calls: Arc<AtomicU64>,
}

impl ReadAt for Counted {
    fn len(&self) -> io::Result<u64> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        ReadAt::len(&self.bytes)
    }
    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.bytes.read_at(offset, len)
    }
}

#[test]
fn a_table_is_opened_again_without_a_call_to_its_source() {
    let bytes = Bytes::from(std::fs::read(PATH).unwrap());
    let calls = Arc::new(AtomicU64::new(0));
    let source = || Counted { bytes: bytes.clone(), calls: Arc::clone(&calls) };
    let meter = Arc::new(Meter::default());
    let options = ReadOptions::default().internal_keys(true).meter(Arc::clone(&meter));
    let first = Table::open(source(), &options).unwrap();
    let entries: Vec<_> = first.iter().map(Result::unwrap).collect();
    let (index, filter) = (first.index_part(), first.filter_part());
    let said = first.memory_usage();
    let (filter_size, index_size) =
        (first.filter().unwrap().contents().len(), first.data_blocks().count() * 20);
    drop(first);
    let (of_index, of_filter) = (index.memory_usage(), filter.as_ref().unwrap().memory_usage());
    assert!(of_index + of_filter <= said && index.file_size() == bytes.len() as u64);
    assert!(of_filter >= filter_size && of_index >= index_size, "{of_filter} {of_index}");

    calls.store(0, Ordering::Relaxed);
    let again = Table::from_parts(source(), index, filter).unwrap().with_path("again.ldb");
    assert!(again.filter().is_some() && again.filter_error().is_none());
    assert!(!again.may_contain(b"absent\x01\x07\0\0\0\0\0\0").unwrap() && again.filter_name().is_some());
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    // The parts are shared now, and count in addition to the table. Before, they lay in the table itself.
    let expected = size_of_val(&again) + of_index + of_filter + "again.ldb".len();
    assert_eq!(again.memory_usage(), expected);
    assert!(said < expected && said >= size_of_val(&again) + index_size + filter_size);
    let reads = meter.reads();
    assert!(again.iter().map(Result::unwrap).eq(entries.iter().cloned()));
    assert_eq!(meter.reads() - reads, again.data_blocks().count() as u64, "the options came along");
    for (key, value) in &entries {
        assert_eq!(again.get(key).unwrap().as_ref(), Some(value));
    }
}

#[test]
fn without_its_filter_every_key_may_match() {
    let options = ReadOptions::default().internal_keys(true);
    let first = Table::open_path(PATH, &options).unwrap();
    let absent = b"item/0000/1\x01\x07\0\0\0\0\0\0";
    assert!(!first.may_contain(absent).unwrap());
    let again = Table::from_parts(std::fs::File::open(PATH).unwrap(), first.index_part(), None).unwrap();
    assert!(again.may_contain(absent).unwrap());
    assert!(again.filter().is_none() && again.filter_error().is_none() && again.filter_part().is_none());
    assert_eq!(again.get(absent).unwrap(), None);
}

/// Another table's filter could deny keys that are stored here, so it is refused even if both files are equal.
#[test]
fn a_filter_of_another_table_is_refused() {
    let open = || Table::open_path(PATH, &ReadOptions::default().internal_keys(true)).unwrap();
    let (one, other) = (open(), open());
    let result = Table::from_parts(&b""[..], one.index_part(), other.filter_part());
    assert!(matches!(result, Err(Error::InvalidOption { option: "filter", .. })));
    assert!(Table::from_parts(&b""[..], one.index_part(), one.filter_part()).is_ok());
}

/// The reason why filters are not used stays with the part, and so does the file's name.
#[test]
fn what_is_wrong_with_the_filter_is_kept() {
    let options = ReadOptions::default().filter_policy(filterblock::LegacyBloomPolicy::new(10));
    let first = Table::open_path(PATH, &options).unwrap();
    assert_eq!(first.filter_name(), Some(filterblock::FilterPolicy::name(&BloomFilterPolicy::new(10))));
    let shown = first.filter_error().unwrap().to_string();
    assert!(
        shown.starts_with(PATH) && shown.contains("found those of \"leveldb.BuiltinBloomFilter2\""),
        "{shown}"
    );
    let again = Table::from_parts(&b""[..], first.index_part(), first.filter_part()).unwrap();
    assert_eq!(again.filter_error().unwrap().to_string(), shown);
}
