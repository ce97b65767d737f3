//! Tables written and read: all entries come back, nothing else does, and the filter block equals
//! the model's.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Unstructured};
use bytes::Bytes;
use filterblock::table::{Compression, Lookup, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, Error};

use filterblock_fuzz::model;

#[derive(Arbitrary, Debug)]
struct Plan<'a> {
    block_size: u16,
    restart_interval: u8,
    snappy: bool,
    bits_per_key: Option<u8>,
    base_lg: u8,
    internal: bool,
    whole_tail: bool,
    entries: Vec<(&'a [u8], u8, &'a [u8])>,
    absent: Vec<&'a [u8]>,
}

/// A user key, and the tag that a database appends to it. Newer versions come first.
type Key = (Vec<u8>, Reverse<u64>);

struct RoundTrip<'p> {
    plan: &'p Plan<'p>,
    entries: BTreeMap<Key, Vec<u8>>,
}

/// Runs an input: options, entries, and keys that may be absent.
pub fn run(data: &[u8]) {
    let Ok(plan) = Plan::arbitrary_take_rest(Unstructured::new(data)) else { return };
    let entry = |&(key, tag, value): &(&[u8], u8, &[u8])| {
        // The lowest bit is the type: a value or a deletion.
        let tag = if plan.internal { u64::from(tag >> 1) << 8 | u64::from(tag & 1) } else { 0 };
        // Repeated, so that values are worth compressing.
        ((key.to_vec(), Reverse(tag)), value.repeat(3))
    };
    let entries = plan.entries.iter().map(entry).collect();
    RoundTrip { plan: &plan, entries }.check();
}

impl RoundTrip<'_> {
    fn stored(&self, (key, Reverse(tag)): &Key) -> Vec<u8> {
        let tag = if self.plan.internal { &tag.to_le_bytes()[..] } else { &[] };
        [&key[..], tag].concat()
    }

    fn check(&self) {
        let Some(file) = self.write() else { return };
        let options = ReadOptions::default()
            .internal_keys(self.plan.internal)
            .tail_size(if self.plan.whole_tail { 64 << 10 } else { 0 });
        let table = Table::open(Bytes::from(file), &options).expect("a table of our own");
        self.check_filter_block(&table);
        self.check_stored(&table);
        for key in &self.plan.absent {
            self.check_any(&table, key);
        }
    }

    fn write(&self) -> Option<Vec<u8>> {
        let Plan { restart_interval, base_lg, bits_per_key, .. } = *self.plan;
        let compression = if self.plan.snappy { Compression::Snappy } else { Compression::None };
        let mut options = WriteOptions::default()
            .block_size(self.plan.block_size.into())
            .restart_interval(restart_interval.into())
            .compression(compression)
            .internal_keys(self.plan.internal)
            .base_lg(base_lg);
        if let Some(bits_per_key) = bits_per_key {
            options = options.filter_policy(BloomFilterPolicy::new(bits_per_key.into()));
        }
        let mut table = TableBuilder::new(Vec::new(), options);
        if restart_interval == 0 || base_lg > 63 {
            assert!(matches!(table.add(b"a key of some length", b""), Err(Error::InvalidOption { .. })));
            assert!(matches!(table.finish().unwrap_err().error(), Error::TableAbandoned { .. }));
            return None;
        }
        for (key, value) in &self.entries {
            let key = self.stored(key);
            table.add(&key, value).expect("keys are in order");
            assert!(matches!(table.add(&key, b""), Err(Error::KeyOrder { .. })), "a key is taken twice");
        }
        if self.plan.internal {
            assert!(matches!(table.add(b"short", b""), Err(Error::ShortInternalKey { .. })));
        }
        let (file, summary) = table.finish().expect("a vector takes everything");
        assert_eq!(summary.file_size, file.len() as u64);
        assert_eq!(summary.num_entries, self.entries.len() as u64);
        Some(file)
    }

    fn check_filter_block(&self, table: &Table<Bytes>) {
        assert!(table.filter_error().is_none());
        let Some(bits_per_key) = self.plan.bits_per_key else {
            assert!(table.filter().is_none());
            return;
        };
        let (mut keys, mut last) = (Vec::new(), 0);
        let mut entries = self.entries.keys();
        for handle in table.data_blocks() {
            let handle = handle.expect("a sound index");
            let mut block = table.block_cursor(handle).expect("a sound block");
            while block.next().expect("a sound entry") {
                let (key, _) = entries.next().expect("no more entries than were added");
                keys.push((handle.offset, &key[..]));
            }
            last = handle.end().expect("a block within the file");
        }
        let expected = model::filter_block(&keys, last, self.plan.base_lg, bits_per_key.into());
        let filter = table.filter().expect("filters were asked for");
        assert_eq!(filter.contents(), expected);
        filter.check().expect("a sound filter block");
    }

    fn check_stored(&self, table: &Table<Bytes>) {
        let mut iter = table.iter();
        for (key, value) in &self.entries {
            let stored = self.stored(key);
            let next = iter.next().expect("as many entries as were added").expect("a sound entry");
            assert_eq!((&next.0[..], &next.1[..]), (&stored[..], &value[..]));
            assert!(table.may_contain(&stored).expect("a sound index"), "a stored key is denied");
            assert_eq!(table.get(&stored).expect("a sound block").as_deref(), Some(&value[..]));
            self.check_any(table, &key.0);
        }
        assert!(iter.next().is_none());
    }

    /// Checks what is found of a key that may or may not be in the table.
    fn check_any(&self, table: &Table<Bytes>, key: &[u8]) {
        let newest = (key.to_vec(), Reverse(u64::MAX));
        if self.plan.internal {
            for sequence in [0, 1, 63, u64::MAX] {
                let tag = sequence.min((1 << 56) - 1) << 8 | 1;
                let found = self.entries.range((key.to_vec(), Reverse(tag))..).next();
                let expected = match found.filter(|((found, _), _)| found == key) {
                    None => Lookup::Absent,
                    Some(((_, Reverse(tag)), _)) if tag & 1 == 0 => Lookup::Deleted,
                    Some((_, value)) => Lookup::Value(value.clone().into()),
                };
                assert_eq!(table.get_at(key, sequence).expect("a sound table"), expected);
            }
            return;
        }
        let expected = self.entries.get(&(key.to_vec(), Reverse(0))).map(|value| &value[..]);
        assert_eq!(table.get(key).expect("a sound table").as_deref(), expected);
        let mut cursor = table.cursor();
        let found = cursor.seek(key).expect("a sound table").then(|| cursor.key().to_vec());
        let expected = self.entries.range(newest..).next();
        assert_eq!(found, expected.map(|((key, _), _)| key.clone()));
    }
}
