//! Times the writing of whole tables, with and without filters, and walks through them.
//!
//! All implementations write into memory that is allocated beforehand.

use std::sync::Arc;

use anyhow::{Result, ensure};
use bytes::Bytes;
use filterblock::BloomFilterPolicy;
use filterblock::table::{self, ReadOptions, Table, WriteOptions};
use filterblock_interop::leveldb::speed::{self, Slices};
use filterblock_interop::leveldb::{Compression, Entries, TableOptions, build_table};

use super::data::keys;
use super::report::Section;
use super::timing::{Measure, Turns, levels, set};

pub(crate) type Entry = (Vec<u8>, Vec<u8>);

fn write(entries: &[Entry], options: &WriteOptions, file: &mut Vec<u8>) {
    file.clear();
    let mut builder = table::TableBuilder::new(file, options.clone());
    entries.iter().for_each(|(key, value)| builder.add(key, value).expect("keys in order"));
    builder.finish().expect("a table in memory");
}

/// Copies all keys and values end to end, the least that writing a table takes.
fn copy(entries: &[Entry], file: &mut Vec<u8>) {
    file.clear();
    for (key, value) in entries {
        file.extend_from_slice(key);
        file.extend_from_slice(value);
    }
}

fn write_sstable(entries: &[Entry], compressed: bool, filters: bool, file: &mut Vec<u8>) {
    use sstable::CompressionType::{CompressionNone, CompressionSnappy};
    let compression_type = if compressed { CompressionSnappy } else { CompressionNone };
    let mut options = sstable::Options { compression_type, ..sstable::Options::default() };
    if !filters {
        options.filter_policy = Arc::new(Box::new(sstable::filter::NoFilterPolicy::new()));
    }
    file.clear();
    let mut builder = sstable::TableBuilder::new(options, file);
    entries.iter().for_each(|(key, value)| builder.add(key, value).expect("keys in order"));
    builder.finish().expect("a table in memory");
}

fn walk(table: &Table<Bytes>) -> u64 {
    let mut cursor = table.cursor();
    let mut bytes = 0;
    let mut valid = cursor.seek_to_first().expect("a sound table");
    while valid {
        bytes += (cursor.key().len() + cursor.value().len()) as u64;
        valid = cursor.next().expect("a sound table");
    }
    bytes
}

/// Makes random keys of 16 bytes in order, with values of 100 bytes.
pub(crate) fn entries(seed: u64, count: usize) -> Vec<Entry> {
    let mut sorted = keys(2 * seed, count, Some(16), &[]);
    sorted.sort();
    // Half of a value compresses away.
    let values = keys(2 * seed + 1, count, Some(50), &[]).into_iter().map(|half| half.repeat(2));
    sorted.into_iter().zip(values).collect()
}

pub(crate) const CODECS: [(&str, table::Compression, Compression); 2] = [
    ("uncompressed", table::Compression::None, Compression::None),
    ("Snappy", table::Compression::Snappy, Compression::Snappy),
];

pub(crate) fn write_tables(rounds: usize, count: usize) -> Result<Section> {
    let entries = entries(0, count);
    let keys: Vec<&[u8]> = entries.iter().map(|(key, _)| &key[..]).collect();
    let values: Vec<&[u8]> = entries.iter().map(|(_, value)| &value[..]).collect();
    let (raw_keys, raw_values) = (Slices::new(&keys), Slices::new(&values));
    // Longer than any of these tables.
    let space = 200 * count + 10_000;
    let mut files = [const { Vec::new() }; 5];
    files.iter_mut().for_each(|file| file.reserve(space));
    let [mut ours_to, mut ours_plain_to, mut sstable_to, mut sstable_plain_to, mut copied_to] = files;
    let [mut to, mut plain_to] = [const { Vec::new() }; 2].map(|mut file: Vec<u8>| {
        file.resize(space, 0);
        file
    });
    let mut rows = Vec::new();
    for (name, ours, theirs) in CODECS {
        let plain = WriteOptions::default().compression(ours);
        let filtered = plain.clone().filter_policy(BloomFilterPolicy::new(10));
        let leveldb_plain = TableOptions { compression: theirs, ..TableOptions::default() };
        let leveldb_filtered = TableOptions { bits_per_key: Some(10), ..leveldb_plain };
        if theirs == Compression::None {
            let size = speed::write(&leveldb_filtered, &raw_keys, &raw_values, &mut to)?;
            for level in levels() {
                set(level);
                write(&entries, &filtered, &mut ours_to);
                ensure!(ours_to == to[..size], "tables differ at {level:?}");
            }
        }
        let compressed = theirs == Compression::Snappy;
        let share = (!compressed).then_some([0.08, 0.08, 0.06]);
        let mut turns = Turns::new(name, count);
        turns.fixed("LevelDB", || speed::write(&leveldb_filtered, &raw_keys, &raw_values, &mut to));
        let leveldb_plain = turns.fixed("LevelDB, no filters", || {
            speed::write(&leveldb_plain, &raw_keys, &raw_values, &mut plain_to)
        });
        turns.fixed("`sstable`", || write_sstable(&entries, compressed, true, &mut sstable_to));
        turns.fixed("`sstable`, no filters", || {
            write_sstable(&entries, compressed, false, &mut sstable_plain_to);
        });
        let copied = turns.fixed("copying", || copy(&entries, &mut copied_to));
        let with = turns.faster("filters", Some([1.2; 3]), || write(&entries, &filtered, &mut ours_to));
        let without = turns.ours(|| write(&entries, &plain, &mut ours_plain_to));
        turns.row("no filters", without, Measure::Faster(leveldb_plain), None);
        let of_copying = (!compressed).then_some([2.7; 3]);
        turns.row("no filters, of copying", without, Measure::Of(copied), of_copying);
        turns.row("the filters' share", with, Measure::Share(without), share);
        rows.extend(turns.run(rounds));
    }
    Ok(Section::new("Writing tables of 16-byte keys and 100-byte values, for each entry", rows))
}

pub(crate) fn walk_tables(rounds: usize, count: usize) -> Result<Section> {
    let raw: Entries = entries(0, count).into_iter().collect();
    let mut rows = Vec::new();
    for (name, _, compression) in CODECS {
        let options = TableOptions { bits_per_key: Some(10), compression, ..TableOptions::default() };
        let file = build_table(&options, &raw)?;
        let opened = Table::open(Bytes::from(file.clone()), &ReadOptions::default().verify_checksums(true))?;
        ensure!(walk(&opened) == speed::walk(&file, 1)?, "entries differ");
        let mut turns = Turns::new(name, count);
        turns.fixed("LevelDB", || speed::walk(&file, 1));
        turns.faster("", Some([1.0; 3]), || walk(&opened));
        rows.extend(turns.run(rounds));
    }
    Ok(Section::new("Walking these tables with checksums, for each entry", rows))
}
