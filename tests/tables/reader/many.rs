//! Many keys at once, compared with the same keys one by one.

use std::ops::Range;
use std::sync::Mutex;
use std::{fmt, fs, io};

use bytes::Bytes;
use filterblock::table::{
    BytewiseComparator, Comparator, Compression, FetchedRanges, ReadAt, ReadOptions, Table, TableBuilder,
    WriteOptions,
};
use filterblock::{BloomFilterPolicy, Error, Result};

use super::absent;
use crate::interpreted::fewer;
use crate::tables::{Crafted, Recording, Reversed, handle, listing, sample, samples, testdata, unhex};

/// The numbers of keys that are asked for at once: few, around half a group and around a whole group of 32, and several
/// groups.
const COUNTS: [usize; 8] = [0, 1, 15, 16, 31, 32, 33, 100];

/// The result for each key as text, to be compared.
fn told<T: fmt::Debug>(results: &[Result<T>]) -> Vec<String> {
    let tell = |result: &Result<T>| match result {
        Ok(found) => format!("{found:?}"),
        Err(error) => format!("error: {error}"),
    };
    results.iter().map(tell).collect()
}

/// Checks that a table answers for these keys together what it answers for each.
fn check<R: ReadAt>(name: &str, table: &Table<R>, keys: &[&[u8]]) {
    let (mut values, mut lookups) = (vec![Ok(None)], Vec::new());
    table.get_many(keys, &mut values);
    let one_by_one: Vec<_> = keys.iter().map(|key| table.get(key)).collect();
    assert_eq!(told(&values), told(&one_by_one), "{name}");
    for sequence in [0, 100, u64::MAX] {
        table.get_many_at(keys, sequence, &mut lookups);
        let one_by_one: Vec<_> = keys.iter().map(|key| table.get_at(key, sequence)).collect();
        assert_eq!(told(&lookups), told(&one_by_one), "{name} {sequence}");
    }
}

/// The keys in another order, which depends on `turn`.
fn mixed<'k>(keys: &[&'k [u8]], turn: usize) -> Vec<&'k [u8]> {
    let mut keys = keys.to_vec();
    match turn % 3 {
        0 => keys.sort_unstable(),
        1 => keys.reverse(),
        _ => keys.sort_by_key(|key| crc32c::crc32c(key)),
    }
    keys
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn many_keys_have_the_values_of_each() {
    for sample in samples() {
        let absent = absent(&sample);
        let mut keys: Vec<&[u8]> = sample.entries.iter().map(|(key, _)| &key[..]).collect();
        keys.extend(absent.iter().map(|key| &key[..]));
        keys.extend([&b""[..], b"\0", &[0xff; 300]]);
        // User keys of internal ones, and keys too short to be internal.
        keys.extend(sample.entries.iter().step_by(3).map(|(key, _)| &key[..key.len().saturating_sub(8)]));
        let order = |options: ReadOptions, turn| match turn {
            0 => options,
            // The same order, through a comparator that the library does not know.
            _ => options.comparator(Bytewise),
        };
        for turn in 0..2 {
            let table = Table::open(sample.file.clone(), &order(sample.options.clone(), turn)).unwrap();
            for mix in 0..3 {
                check(&sample.name, &table, &mixed(&keys, mix));
            }
            let mut keys = mixed(&keys, 2);
            for count in COUNTS {
                let len = keys.len();
                keys.rotate_left(7 % len);
                check(&sample.name, &table, &keys[..count.min(keys.len())]);
            }
        }
    }
}

/// The order of [`BytewiseComparator`], under a type that the library does not recognize.
struct Bytewise;

impl Comparator for Bytewise {
    fn name(&self) -> &str {
        BytewiseComparator.name()
    }
    fn compare(&self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
        a.cmp(b)
    }
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn many_user_keys_are_looked_up_in_databases_of_all_kinds() {
    for database in ["levels", "unfiltered", "reversed"] {
        let options = ReadOptions::default().internal_keys(true);
        let options = if database == "reversed" { options.comparator(Reversed) } else { options };
        let entries = listing(format!("databases/{database}.entries"));
        let mut names: Vec<&str> = entries.iter().map(|fields| &fields[0][..]).collect();
        names.dedup();
        let mut keys: Vec<Vec<u8>> = entries.iter().map(|fields| unhex(&fields[1])).collect();
        keys.extend(keys.clone().into_iter().map(|key| [&key[..], b"!"].concat()));
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        for name in names {
            let path = testdata().join("databases").join(database).join(name);
            check(name, &Table::open_path(path, &options).unwrap(), &mixed(&keys, 2));
        }
    }
}

/// Basho's tables are compressed with LZ4.
#[cfg(feature = "lz4")]
#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn many_user_keys_are_looked_up_in_bashos_tables() {
    use filterblock::{KeyFormat, Origin};

    for name in ["numbers-bloom2.ldb", "versions-bloom.ldb", "versions-bloom2.ldb"] {
        let path = testdata().join("basho").join(name);
        let table = Table::open_path(path, &ReadOptions::default().internal_keys(true)).unwrap();
        assert_eq!(table.origin(), Some(Origin::Basho));
        let stored: Vec<_> = table.iter().map(|entry| entry.unwrap().0).collect();
        let keys: Vec<_> = stored.iter().filter_map(|key| KeyFormat::Basho.user_key(key)).collect();
        check(name, &table, &keys);
    }
}

/// A table of entries in several blocks, with filters. It is small enough to be damaged in every bit. Returns the keys,
/// too.
fn small_table(compression: Compression) -> (Vec<u8>, Vec<Vec<u8>>) {
    let policy = BloomFilterPolicy::new(10);
    let options = WriteOptions::default()
        .block_size(48)
        .restart_interval(3)
        .compression(compression)
        .filter_policy(policy);
    let mut table = TableBuilder::new(Vec::new(), options);
    let keys: Vec<_> = (0..14u8).map(|i| vec![b'k', i / 4, i]).collect();
    keys.iter().for_each(|key| table.add(key, &[key[2]; 40][..usize::from(key[2]) * 2]).unwrap());
    (table.finish().unwrap().0, keys)
}

#[test]
fn damage_is_told_for_each_key_as_it_is_for_one() {
    let (mut opened, mut failed) = (0, 0);
    for compression in [Compression::None, Compression::Snappy] {
        let (file, mut keys) = small_table(compression);
        keys.extend((0..6).map(|i| vec![b'k', i]));
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        for bit in (0..file.len() * 8).step_by(fewer(97)) {
            let mut file = file.clone();
            file[bit / 8] ^= 1 << (bit % 8);
            for internal in [false, true] {
                let options = ReadOptions::default().verify_checksums(bit % 5 == 0).internal_keys(internal);
                let Ok(table) = Table::open(file.clone(), &options) else { continue };
                opened += 1;
                check(&format!("bit {bit}"), &table, &mixed(&keys, bit));
                let mut values = Vec::new();
                table.get_many(&keys, &mut values);
                failed += values.iter().filter(|value| value.is_err()).count();
            }
        }
    }
    assert!(opened > 0 && failed > 0, "{opened} {failed}");
}

/// A source that records the ranges that `will_need` is called with.
struct Told {
    inner: Recording,
    told: Mutex<Vec<Range<u64>>>,
}

impl ReadAt for Told {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }
    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.inner.read_at(offset, len)
    }
    fn will_need(&self, ranges: &[Range<u64>]) {
        self.told.lock().unwrap().extend_from_slice(ranges);
    }
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn a_source_learns_what_will_be_read_and_reads_shared_blocks_once() {
    for sample in ["words-256-bloom10.ldb", "words-1024-bloom20-snappy.ldb"].map(sample) {
        let source = Told { inner: Recording::new(sample.file.clone()), told: Mutex::default() };
        // Through pointers, too.
        let table = Table::open(Box::new(&source), &sample.options).unwrap();
        let keys: Vec<&[u8]> = sample.entries.iter().map(|(key, _)| &key[..]).collect();
        let mut values = Vec::new();
        for count in COUNTS {
            source.inner.take();
            source.told.lock().unwrap().clear();
            let keys = &keys[..count];
            table.get_many(keys, &mut values);
            assert!(
                values.iter().zip(&sample.entries).all(|(found, (_, value))| found
                    .as_ref()
                    .unwrap()
                    .as_ref()
                    .unwrap()
                    == value)
            );
            let told = std::mem::take(&mut *source.told.lock().unwrap());
            let mut reads: Vec<_> = source.inner.take();
            if count < 16 {
                assert!(told.is_empty() && reads.len() == count, "{count}");
                continue;
            }
            // All ranges are told but that of a last group of one key.
            assert_eq!(told.len(), if count % 32 == 1 { count - 1 } else { count });
            let told: Vec<_> =
                told.iter().map(|range| (range.start, (range.end - range.start) as usize)).collect();
            assert!(told.iter().all(|range| reads.contains(range)), "{count}");
            let len = reads.len();
            reads.dedup();
            assert!(len < count / 2 && len <= reads.len() + count / 32, "{count}: {len}");
        }
        source.told.lock().unwrap().clear();
        let absent = absent(&sample);
        let absent: Vec<&[u8]> = absent.iter().map(|key| &key[..]).collect();
        source.inner.take();
        assert!(absent.iter().all(|key| table.may_contain(key).is_ok()));
        assert!(source.told.lock().unwrap().is_empty() && source.inner.take().is_empty(), "nothing is read");
    }
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn a_file_reads_ahead_whatever_it_is_told() {
    let path = testdata().join("tables/words-256-bloom10.ldb");
    let file = fs::File::open(&path).unwrap();
    file.will_need(&[0..0, 0..1000, 3..3, u64::MAX - 5..u64::MAX, 1 << 40..1 << 50]);
    assert_eq!(file.read_at(0, 4).unwrap(), fs::read(path).unwrap()[..4]);
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn each_key_tells_what_it_lacks() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    let len = sample.file.len();
    let parts = Table::open(sample.file.clone(), &sample.options).unwrap();
    let source = FetchedRanges::new(len as u64, 0, Bytes::new());
    let table = Table::from_parts(source, parts.index_part(), parts.filter_part()).unwrap();
    let keys: Vec<&[u8]> = sample.entries.iter().map(|(key, _)| &key[..]).collect();
    let mut values = Vec::new();
    let mut rounds = 0;
    loop {
        table.get_many(&keys, &mut values);
        let lacking = values.iter().filter_map(|value| value.as_ref().err());
        let range = |error: &Error| match error {
            Error::NeedRange { offset, len } => (*offset, *len),
            other => panic!("{other}"),
        };
        let ranges: Vec<_> = lacking.map(range).collect();
        if ranges.is_empty() {
            break;
        }
        rounds += 1;
        for (offset, len) in ranges {
            table.source().insert(offset, sample.file.slice(offset as usize..offset as usize + len));
        }
    }
    assert_eq!(rounds, 1, "all are told at once");
    assert!(
        values.iter().zip(&sample.entries).all(|(found, (_, value))| found
            .as_ref()
            .unwrap()
            .as_ref()
            .unwrap()
            == value)
    );
}

#[test]
fn blocks_of_one_place_are_shared_only_if_they_end_at_one_place() {
    let mut crafted = Crafted::default();
    let first = crafted.entries(&[("a", "1"), ("b", "2")]);
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    // The second block ends within the first, the third is the same as the second.
    let short = (first.0, first.1 - 1);
    let index = crafted.entries(&[
        ("b", handle(first)),
        ("c", handle(short)),
        ("d", handle(short)),
        ("e", handle(first)),
    ]);
    let file = crafted.footer(metaindex, index);
    for verify in [true, false] {
        let table = Table::open(file.clone(), &ReadOptions::default().verify_checksums(verify)).unwrap();
        let keys: Vec<&[u8]> = [&b"a"[..], b"c", b"d", b"e", b"a", b"b", b"bb", b"cc"].repeat(4);
        check("overlapping blocks", &table, &keys);
        check("overlapping blocks", &table, &mixed(&keys, 0));
        // Blocks of a file are read before they are searched.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.ldb");
        fs::write(&path, &file).unwrap();
        let table = Table::open_path(&path, &ReadOptions::default().verify_checksums(verify)).unwrap();
        check("overlapping blocks of a file", &table, &keys);
        check("overlapping blocks of a file", &table, &mixed(&keys, 0));
    }
}

#[test]
fn large_blocks_are_searched_before_more_are_read() {
    // A value of 300 KiB each: compressed to little, or not at all.
    for compression in [Compression::None, Compression::Snappy] {
        let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().compression(compression));
        let keys: Vec<[u8; 2]> = (0..40_u16).map(u16::to_be_bytes).collect();
        keys.iter().for_each(|key| builder.add(key, &vec![key[1]; 300 << 10]).unwrap());
        let file = Bytes::from(builder.finish().unwrap().0);
        let table = Table::open(file, &ReadOptions::default()).unwrap();
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).flat_map(|key| [key, key]).collect();
        let mut values = Vec::new();
        table.get_many(&keys, &mut values);
        for (key, value) in keys.iter().zip(values) {
            assert_eq!(value.unwrap().unwrap(), vec![key[1]; 300 << 10]);
        }
    }
}
