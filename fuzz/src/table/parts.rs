//! Sound tables taken apart, to be damaged and put together again.

use std::sync::OnceLock;

use bytes::Bytes;
use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};

/// Number of data blocks of a sample that are kept: a first, a last and one between.
const MAX_BLOCKS: usize = 3;

/// A key and its value.
pub(super) type Entry = (Vec<u8>, Vec<u8>);

/// One data block.
#[derive(Debug)]
pub(super) struct DataBlock {
    /// Its key in the index.
    pub(super) index_key: Vec<u8>,
    /// The bytes in the file, without compression type and checksum.
    pub(super) stored: Vec<u8>,
    /// The compression type.
    pub(super) kind: u8,
    /// The decompressed contents.
    pub(super) contents: Vec<u8>,
    /// Its entries.
    pub(super) entries: Vec<Entry>,
}

/// A table without the parts that follow from its data blocks. Filters, metaindex, index and footer
/// are built again.
#[derive(Debug)]
pub(super) struct Parts {
    /// True if the keys are a database's.
    pub(super) internal: bool,
    /// The data blocks in order.
    pub(super) data: Vec<DataBlock>,
}

impl Parts {
    fn of(file: &[u8], internal: bool) -> Self {
        let options = ReadOptions::default().internal_keys(internal);
        let table = Table::open(Bytes::copy_from_slice(file), &options).expect("a sound table");
        let (mut index, mut data) = (table.index(), Vec::new());
        while index.next().expect("a sound index") {
            let handle = index.handle().expect("a sound handle");
            let mut block = table.block_cursor(handle).expect("a sound block");
            let mut entries = Vec::new();
            while block.next().expect("a sound entry") {
                entries.push((block.key().to_vec(), block.value().to_vec()));
            }
            let stored = file[handle.offset as usize..][..handle.size as usize].to_vec();
            let kind = table.compression_of(handle).expect("a sound block");
            let contents = match kind {
                0 => stored.clone(),
                1 => snap::raw::Decoder::new().decompress_vec(&stored).expect("sound Snappy data"),
                // The same entries, with a restart at each.
                _ => entry_block(entries.iter().map(|(key, value): &Entry| (key, value))),
            };
            data.push(DataBlock { index_key: index.key().to_vec(), stored, kind, contents, entries });
        }
        // More blocks would be of the same kind, and cost time.
        data.truncate(MAX_BLOCKS);
        Self { internal, data }
    }

    /// Returns the part of a stored key that its filters hold.
    pub(super) fn filter_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        if self.internal { &key[..key.len() - 8] } else { key }
    }
}

/// Builds a block in which every entry is a restart.
pub(super) fn entry_block<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    entries: impl IntoIterator<Item = (K, V)>,
) -> Vec<u8> {
    let (mut bytes, mut restarts) = (Vec::new(), Vec::new());
    for (key, value) in entries {
        let (key, value) = (key.as_ref(), value.as_ref());
        restarts.push(bytes.len() as u32);
        bytes.push(0);
        for len in [key.len(), value.len()] {
            bytes.extend([len as u8 | 0x80, (len >> 7) as u8]);
        }
        bytes.extend([key, value].concat());
    }
    bytes.extend(restarts.iter().flat_map(|restart| restart.to_le_bytes()));
    bytes.extend((restarts.len() as u32).to_le_bytes());
    bytes
}

/// The initial tables: small, one of every kind that is read differently.
pub(super) fn samples() -> &'static [Parts] {
    static SAMPLES: OnceLock<Vec<Parts>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let written = |file: &[u8]| Parts::of(file, false);
        vec![
            Parts::of(&short_keys(), false),
            Parts::of(&versions(), true),
            Parts::of(&compressible(), false),
            written(include_bytes!("../../../testdata/tables/single-4096-bloom10.ldb")),
            written(include_bytes!("../../../testdata/tables/empty-4096-bloom10.ldb")),
            written(include_bytes!("../../../testdata/tables/dense-256-bloom10-snappy.ldb")),
            written(include_bytes!("../../../testdata/bedrock/words-1024-bloom10-zlib.ldb")),
            written(include_bytes!("../../../testdata/bedrock/words-1024-bloom10-deflate.ldb")),
            written(include_bytes!("../../../testdata/constructed/leveldb-zstd.ldb")),
            written(include_bytes!("../../../testdata/constructed/bedrock-zstd.ldb")),
            Parts::of(include_bytes!("../../../testdata/basho/numbers-bloom2.ldb"), true),
        ]
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
