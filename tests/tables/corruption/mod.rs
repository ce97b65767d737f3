//! Damaged tables: an error or the right answer, never a panic, a hang or a stored key denied.

mod bits;
mod blocks;
mod filters;
mod limits;

use bytes::Bytes;
use filterblock::table::{ReadOptions, Table};
use filterblock::{BloomFilterPolicy, FilterBlockBuilder, Result};

use crate::tables::Place;

const FILTER: &[u8] = b"filter.leveldb.BuiltinBloomFilter2";

fn open(file: impl Into<Bytes>) -> Result<Table<Bytes>> {
    Table::open(file.into(), &ReadOptions::default())
}

/// A filter block for these keys in the data block at offset 0.
fn filter_block(keys: &[&[u8]]) -> Vec<u8> {
    let mut filters = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
    keys.iter().for_each(|key| filters.add_key(key));
    filters.finish().unwrap().to_vec()
}

/// Asks a table everything that can be asked, but at most 10,000 entries and blocks, so that the test ends soon.
fn exercise(table: &Table<Bytes>, keys: &[&[u8]]) {
    for key in keys {
        let _ = (table.get(key), table.get_entry(key), table.may_contain(key), table.get_at(key, 9));
        let mut cursor = table.cursor();
        for _ in 0..3 {
            let _ = cursor.seek(key);
            let _ = cursor.next();
        }
    }
    let _ = table.iter().take(10_000).count();
    for block in table.data_blocks().take(10_000).flatten() {
        let _ = table.compression_of(block);
        if let Ok(mut block) = table.block_cursor(block) {
            while block.next().unwrap_or(false) {}
        }
    }
    if let Some(mut metaindex) = table.metaindex() {
        while metaindex.next().unwrap_or(false) {
            let _ = metaindex.handle();
        }
    }
    let _ = table.filter().map(|filter| filter.check());
}

/// Handles that no block of a file of this length can have.
fn impossible_handles(file_len: u64) -> Vec<Place> {
    vec![
        (file_len, 0),
        (file_len - 4, 0),
        (0, file_len),
        (0, file_len - 4),
        (100, file_len - 104),
        (1 << 40, 1),
        (0, 1 << 40),
        (0, u64::MAX),
        (u64::MAX, 0),
        (u64::MAX, u64::MAX),
        (u64::MAX - 4, 0),
        (u64::MAX - 10, 5),
        (10, u64::MAX - 9),
        (1 << 63, 1 << 63),
    ]
}
