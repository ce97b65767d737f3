//! Whole tables: writing them, with and without filters, and walking them.

use std::sync::Arc;

use anyhow::{Result, ensure};
use bytes::Bytes;
use filterblock::BloomFilterPolicy;
use filterblock::table::{self, ReadOptions, Table, WriteOptions};
use filterblock_interop::leveldb::{Compression, Entries, TableOptions, build_table, speed};

use crate::data::keys;
use crate::report::Section;
use crate::timing::{Measure, Turns, levels, set};

type Entry = (Vec<u8>, Vec<u8>);

fn write(entries: &[Entry], options: WriteOptions) -> Vec<u8> {
    let mut builder = table::TableBuilder::new(Vec::new(), options);
    entries.iter().for_each(|(key, value)| builder.add(key, value).expect("keys in order"));
    builder.finish().expect("a table in memory").0
}

fn write_sstable(entries: &[Entry], compressed: bool, filters: bool) -> Vec<u8> {
    use sstable::CompressionType::{CompressionNone, CompressionSnappy};
    let compression_type = if compressed { CompressionSnappy } else { CompressionNone };
    let mut options = sstable::Options { compression_type, ..sstable::Options::default() };
    if !filters {
        options.filter_policy = Arc::new(Box::new(sstable::filter::NoFilterPolicy::new()));
    }
    let mut file = Vec::new();
    let mut builder = sstable::TableBuilder::new(options, &mut file);
    entries.iter().for_each(|(key, value)| builder.add(key, value).expect("keys in order"));
    builder.finish().expect("a table in memory");
    file
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

/// Entries, also in the form that LevelDB takes.
fn entries(count: usize) -> (Vec<Entry>, Entries) {
    let mut sorted = keys(0, count, Some(16), &[]);
    sorted.sort();
    // Half of a value compresses away.
    let values = keys(1, count, Some(50), &[]).into_iter().map(|half| half.repeat(2));
    let entries: Vec<Entry> = sorted.into_iter().zip(values).collect();
    let mut raw = Entries::new();
    entries.iter().for_each(|(key, value)| raw.push(key, value));
    (entries, raw)
}

const CODECS: [(&str, table::Compression, Compression); 2] = [
    ("uncompressed", table::Compression::None, Compression::None),
    ("Snappy", table::Compression::Snappy, Compression::Snappy),
];

pub(crate) fn write_tables(rounds: usize, count: usize) -> Result<Section> {
    let (entries, raw) = entries(count);
    let mut rows = Vec::new();
    for (name, ours, theirs) in CODECS {
        let plain = WriteOptions::default().compression(ours);
        let filtered = plain.clone().filter_policy(BloomFilterPolicy::new(10));
        let leveldb_plain = TableOptions { compression: theirs, ..TableOptions::default() };
        let leveldb_filtered = TableOptions { bits_per_key: Some(10), ..leveldb_plain };
        if theirs == Compression::None {
            let file = build_table(&leveldb_filtered, &raw)?;
            for level in levels() {
                set(level);
                ensure!(write(&entries, filtered.clone()) == file, "tables differ at {level:?}");
            }
        }
        let compressed = theirs == Compression::Snappy;
        let share = (!compressed).then_some([0.08, 0.08, 0.06]);
        let mut turns = Turns::new(name, count);
        turns.fixed("LevelDB", || build_table(&leveldb_filtered, &raw));
        let leveldb_plain = turns.fixed("LevelDB, no filters", || build_table(&leveldb_plain, &raw));
        turns.fixed("`sstable`", || write_sstable(&entries, compressed, true));
        turns.fixed("`sstable`, no filters", || write_sstable(&entries, compressed, false));
        let with = turns.faster("filters", Some([1.2; 3]), || write(&entries, filtered.clone()));
        let without = turns.ours(|| write(&entries, plain.clone()));
        turns.row("no filters", without, Measure::Faster(leveldb_plain), None);
        turns.row("the filters' share", with, Measure::Share(without), share);
        rows.extend(turns.run(rounds));
    }
    Ok(Section::new("Writing tables of 16-byte keys and 100-byte values, for each entry", rows))
}

pub(crate) fn walk_tables(rounds: usize, count: usize) -> Result<Section> {
    let (_, raw) = entries(count);
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
