//! Whole tables: writing them, with and without filters, and walking them.

use std::sync::Arc;

use anyhow::{Result, ensure};
use bytes::Bytes;
use filterblock::BloomFilterPolicy;
use filterblock::table::{self, ReadOptions, Table, WriteOptions};
use filterblock_interop::leveldb::{Compression, Entries, TableOptions, build_table, speed};

use crate::data::keys;
use crate::timing::{Timing, contender, heading};

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

pub(crate) fn run(timing: Timing, count: usize) -> Result<()> {
    heading("Whole tables of 16-byte keys and 100-byte values, for each entry");
    let mut sorted = keys(0, count, Some(16), &[]);
    sorted.sort();
    // Half of a value compresses away.
    let values = keys(1, count, Some(50), &[]).into_iter().map(|half| half.repeat(2));
    let entries: Vec<Entry> = sorted.into_iter().zip(values).collect();
    let mut raw = Entries::new();
    entries.iter().for_each(|(key, value)| raw.push(key, value));

    for (name, ours, theirs) in [
        ("uncompressed", table::Compression::None, Compression::None),
        ("Snappy", table::Compression::Snappy, Compression::Snappy),
    ] {
        let plain = WriteOptions::default().compression(ours);
        let filtered = plain.clone().filter_policy(BloomFilterPolicy::new(10));
        let leveldb_plain = TableOptions { compression: theirs, ..TableOptions::default() };
        let leveldb_filtered = TableOptions { bits_per_key: Some(10), ..leveldb_plain };
        let file = build_table(&leveldb_filtered, &raw)?;
        if theirs == Compression::None {
            ensure!(write(&entries, filtered.clone()) == file, "tables differ");
        }
        for (what, leveldb, ours) in
            [("no filters", leveldb_plain, plain), ("filters", leveldb_filtered, filtered)]
        {
            let contenders = vec![
                contender("LevelDB", || build_table(&leveldb, &raw)),
                contender("sstable", || {
                    write_sstable(&entries, theirs == Compression::Snappy, what == "filters")
                }),
                contender("ours", || write(&entries, ours.clone())),
            ];
            timing.line(&format!("writing, {name}, {what}"), count, contenders);
        }

        let bytes = Bytes::from(file.clone());
        let opened = Table::open(bytes, &ReadOptions::default().verify_checksums(true))?;
        ensure!(walk(&opened) == speed::walk(&file, 1)?, "entries differ");
        let contenders =
            vec![contender("LevelDB", || speed::walk(&file, 1)), contender("ours", || walk(&opened))];
        timing.line(&format!("walking, {name}, checksums"), count, contenders);
    }
    Ok(())
}
