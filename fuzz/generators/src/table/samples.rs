//! Small sound tables to begin with.

use std::sync::OnceLock;

use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, TableBuilder, WriteOptions};

use super::parts::{Entry, Parts};

/// Maximum number of data blocks that are kept: enough for a first, a last and one between.
const MAX_BLOCKS: usize = 3;

/// Three small tables, taken apart: one with blocks of a few entries that share prefixes, one with
/// several versions of each of a database's keys, and one with blocks compressed by Snappy.
pub fn samples() -> &'static [Parts] {
    static SAMPLES: OnceLock<Vec<Parts>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        [(short_keys(), false), (versions(), true), (compressible(), false)]
            .into_iter()
            .map(|(file, internal)| {
                let mut parts = Parts::of(&file, internal).expect("a table just written");
                // More blocks would be of the same kind, and cost time.
                parts.data.truncate(MAX_BLOCKS);
                parts
            })
            .collect()
    })
}

fn options() -> WriteOptions {
    WriteOptions::default().compression(Compression::None).filter_policy(BloomFilterPolicy::new(10))
}

fn table(options: WriteOptions, entries: impl IntoIterator<Item = Entry>) -> Vec<u8> {
    let mut table = TableBuilder::new(Vec::new(), options);
    entries.into_iter().for_each(|(key, value)| table.add(&key, &value).expect("keys in order"));
    table.finish().expect("a vector takes everything").0
}

/// Blocks of a few entries that share prefixes.
fn short_keys() -> Vec<u8> {
    let entry = |i: u32| (format!("key{i:03}").into_bytes(), vec![b'v'; i as usize % 7]);
    table(options().block_size(60).restart_interval(3), (0..30).map(entry))
}

/// A database's table: several versions of each key, some of them deletions.
fn versions() -> Vec<u8> {
    let entry = |i: u64| {
        let tag = (90 - i) << 8 | u64::from(!i.is_multiple_of(5));
        let key = [format!("user{}", i / 3).as_bytes(), &tag.to_le_bytes()].concat();
        (key, i.to_string().into_bytes())
    };
    table(options().internal_keys(true).block_size(100).restart_interval(2), (0..24).map(entry))
}

fn compressible() -> Vec<u8> {
    let entry = |i: u8| (vec![b'a' + i; 3], vec![i; 150]);
    table(options().compression(Compression::Snappy).block_size(300), (0..8).map(entry))
}
