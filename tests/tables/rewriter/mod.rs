//! Tables that are written again with other filters.

mod damage;
mod faults;
mod identity;
mod limits;
mod refusals;

use filterblock::table::{ReadAt, ReadOptions, RewriteSummary, Rewriter, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, Result};

/// Writes a table again, in one go.
fn rewrite<R: ReadAt>(table: &Table<R>, options: &WriteOptions) -> Result<(Vec<u8>, RewriteSummary)> {
    Ok(Rewriter::new(table, Vec::new(), options)?.finish()?)
}

fn open(file: &[u8]) -> Table<&[u8]> {
    Table::open(file, &ReadOptions::default()).unwrap()
}

fn bloom(bits_per_key: u32) -> WriteOptions {
    WriteOptions::default().filter_policy(BloomFilterPolicy::new(bits_per_key))
}

/// Key and value number `i`. Their sizes depend on the number.
fn entry(i: usize) -> (String, String) {
    (format!("key{i:06}{}", "-".repeat(i % 7)), format!("value of {i}; ").repeat(i % 5))
}

/// A table of `count` entries.
fn table_of(count: usize, options: WriteOptions) -> Vec<u8> {
    let mut table = TableBuilder::new(Vec::new(), options);
    for (key, value) in (0..count).map(entry) {
        table.add(key.as_bytes(), value.as_bytes()).unwrap();
    }
    table.finish().unwrap().0
}
