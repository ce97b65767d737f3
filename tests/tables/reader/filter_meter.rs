//! Counts the filters' answers, and what came of them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use filterblock::table::{FilterMeter, Lookup, ReadAt, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, InternalKey, KeyFormat};

use super::absent;
use crate::tables::samples;

/// The numbers of keys asked for, of keys denied, of true positives and of false positives.
fn counts(meter: &FilterMeter) -> [u64; 4] {
    [meter.checks(), meter.negatives(), meter.true_positives(), meter.false_positives()]
}

/// The counts that lookups of these keys have to give. They are found by the index, the filter and the entries of the
/// data block, each asked by itself.
fn expected(table: &Table<Bytes>, keys: &[Vec<u8>], format: Option<KeyFormat>) -> [u64; 4] {
    let part = |key: &[u8]| format.map_or(key, |format| format.user_key(key).unwrap()).to_vec();
    let mut counts = [0; 4];
    let Some(filter) = table.filter() else { return counts };
    for key in keys {
        let mut index = table.index();
        // The first separator that is not before the key. All samples are in bytewise order, by user key if they have
        // one.
        let found =
            std::iter::from_fn(|| index.next().unwrap().then(|| (index.key().to_vec(), index.handle())));
        let not_before = |separator: &[u8]| match format {
            None => separator >= &key[..],
            Some(format) => format.compare(separator, key, Ord::cmp).is_ge(),
        };
        let block = found.into_iter().find(|(separator, _)| not_before(separator));
        let Some(handle) = block.map(|(_, handle)| handle.unwrap()) else { continue };
        counts[0] += 1;
        if !filter.key_may_match(handle.offset, key) {
            counts[1] += 1;
            continue;
        }
        let mut entries = table.block_cursor(handle).unwrap();
        let mut stored = BTreeSet::new();
        while entries.next().unwrap() {
            stored.insert(part(entries.key()));
        }
        counts[if stored.contains(&part(key)) { 2 } else { 3 }] += 1;
    }
    counts
}

#[test]
fn lookups_with_a_meter_find_the_same_and_count_what_filters_do() {
    let sum = FilterMeter::default();
    for sample in samples() {
        let table = sample.open();
        let format = sample.name.starts_with("versions").then_some(KeyFormat::LevelDb);
        let mut keys = absent(&sample);
        keys.extend(sample.entries.iter().map(|(key, _)| key.clone()));
        let meter = FilterMeter::default();
        for key in &keys {
            assert_eq!(table.get_metered(key, &meter).unwrap(), table.get(key).unwrap());
        }
        assert_eq!(counts(&meter), expected(&table, &keys, format), "{}", sample.name);
        sum.add(&meter);
        if format.is_none() {
            continue;
        }
        // By user key, as of each sequence number there is, and of one before all.
        let meter = FilterMeter::default();
        let mut sought = Vec::new();
        for key in &keys {
            let parsed = InternalKey::parse(key, KeyFormat::LevelDb).unwrap();
            for sequence in [0, parsed.sequence] {
                let found = table.get_at_metered(parsed.user_key, sequence, &meter);
                assert_eq!(found.unwrap(), table.get_at(parsed.user_key, sequence).unwrap());
                sought.push([parsed.user_key, &(sequence << 8 | 1).to_le_bytes()].concat());
            }
        }
        assert_eq!(counts(&meter), expected(&table, &sought, format), "{}", sample.name);
    }
    let [asked, denied, right, wrong] = counts(&sum);
    assert_eq!(asked, denied + right + wrong);
    assert!(denied > 1000 && right > 1000 && wrong > 10, "{:?}", counts(&sum));
    let rate = wrong as f64 / (wrong + denied) as f64;
    assert!((sum.false_positive_rate().unwrap() - rate).abs() < 1e-12);
    assert_eq!(FilterMeter::default().false_positive_rate(), None);
}

/// A filter knows nothing of sequence numbers. So it is right to let a key pass even if all its entries are newer than
/// the one sought.
#[test]
fn a_key_with_newer_entries_only_is_no_false_positive() {
    let options = WriteOptions::default().internal_keys(true).filter_policy(BloomFilterPolicy::new(10));
    let mut builder = TableBuilder::new(Vec::new(), options);
    for key in [b"a", b"b"] {
        builder.add(&[&key[..], &(9_u64 << 8 | 1).to_le_bytes()].concat(), b"value").unwrap();
    }
    let (file, _) = builder.finish().unwrap();
    let table = Table::open(file, &ReadOptions::default().internal_keys(true)).unwrap();
    let meter = FilterMeter::default();
    assert_eq!(table.get_at_metered(b"a", 8, &meter).unwrap(), Lookup::Absent);
    assert_eq!(counts(&meter), [1, 0, 1, 0]);
    // The last key of the index is "c" with the greatest sequence number, which comes before "c" with 9, so the filter
    // is not asked.
    assert_eq!(table.get_at_metered(b"c", 9, &meter).unwrap(), Lookup::Absent);
    assert_eq!(counts(&meter), [1, 0, 1, 0]);
    assert_eq!(table.get_at_metered(b"b", 9, &meter).unwrap(), Lookup::Value(Bytes::from_static(b"value")));
    assert_eq!(counts(&meter), [2, 0, 2, 0]);
}

/// A file whose data blocks can be made unreadable.
struct Failing(Bytes, AtomicBool);

impl ReadAt for Failing {
    fn len(&self) -> std::io::Result<u64> {
        Ok(self.0.len() as u64)
    }
    fn read_at(&self, offset: u64, len: usize) -> std::io::Result<Bytes> {
        match self.1.load(Ordering::Relaxed) {
            true => Err(std::io::Error::other("gone")),
            false => self.0.read_at(offset, len),
        }
    }
}

#[test]
fn a_lookup_that_fails_counts_as_asked_only() {
    let mut builder =
        TableBuilder::new(Vec::new(), WriteOptions::default().filter_policy(BloomFilterPolicy::new(10)));
    builder.add(b"key", b"value").unwrap();
    let source = Failing(builder.finish().unwrap().0.into(), AtomicBool::new(false));
    let table = Table::open(source, &ReadOptions::default()).unwrap();
    table.source().1.store(true, Ordering::Relaxed);
    let meter = FilterMeter::default();
    table.get_metered(b"key", &meter).unwrap_err();
    assert_eq!(counts(&meter), [1, 0, 0, 0]);
    assert_eq!(meter.false_positive_rate(), None);
}
