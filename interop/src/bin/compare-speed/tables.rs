//! Whole tables: writing them, with and without filters, and walking them.

use std::sync::Arc;

use anyhow::{Result, ensure};
use bytes::Bytes;
use filterblock::BloomFilterPolicy;
use filterblock::table::{self, ReadOptions, Table, WriteOptions};
use filterblock_interop::leveldb::{Compression, Entries, TableOptions, build_table, speed};

use crate::data::keys;
use crate::timing::{Aim, Table as Report, Timing, base, contender};

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

pub(crate) fn write_tables(timing: Timing, count: usize) -> Result<()> {
    let mut report =
        Report::new(timing, "Writing tables of 16-byte keys and 100-byte values, for each entry");
    let (entries, raw) = entries(count);
    for (name, ours, theirs) in CODECS {
        let plain = WriteOptions::default().compression(ours);
        let filtered = plain.clone().filter_policy(BloomFilterPolicy::new(10));
        let leveldb_plain = TableOptions { compression: theirs, ..TableOptions::default() };
        let leveldb_filtered = TableOptions { bits_per_key: Some(10), ..leveldb_plain };
        if theirs == Compression::None {
            let file = build_table(&leveldb_filtered, &raw)?;
            ensure!(write(&entries, filtered.clone()) == file, "tables differ");
        }
        let compressed = theirs == Compression::Snappy;
        let contenders = vec![
            base("LevelDB, no filters", || build_table(&leveldb_plain, &raw)),
            contender("sstable, no filters", || write_sstable(&entries, compressed, false)),
            contender("ours, no filters", || write(&entries, plain.clone())),
            base("LevelDB, filters", || build_table(&leveldb_filtered, &raw)),
            contender("sstable, filters", || write_sstable(&entries, compressed, true)),
            contender("ours, filters", || write(&entries, filtered.clone())).aim(Some(Aim::always(1.2))),
        ];
        report.row(name, count, contenders);
    }
    Ok(())
}

pub(crate) fn walk_tables(timing: Timing, count: usize) -> Result<()> {
    let mut report = Report::new(timing, "Walking these tables with checksums, for each entry");
    let (_, raw) = entries(count);
    for (name, _, compression) in CODECS {
        let options = TableOptions { bits_per_key: Some(10), compression, ..TableOptions::default() };
        let file = build_table(&options, &raw)?;
        let opened = Table::open(Bytes::from(file.clone()), &ReadOptions::default().verify_checksums(true))?;
        ensure!(walk(&opened) == speed::walk(&file, 1)?, "entries differ");
        let contenders = vec![
            base("LevelDB", || speed::walk(&file, 1)),
            contender("ours", || walk(&opened)).aim(Some(Aim::always(1.0))),
        ];
        report.row(name, count, contenders);
    }
    Ok(())
}
