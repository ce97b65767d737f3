//! Times the writing and opening of whole tables, and lookups of keys in tables in memory, from small ones that fit into
//! the cache to large ones.

use std::cell::Cell;

use anyhow::{Result, ensure};
use bytes::Bytes;
use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock_interop::leveldb::speed::{self, Lookups, Slices};
use filterblock_interop::leveldb::{Compression as TheirCompression, TableOptions};
use filterblock_interop::random::Random;

use super::{Turns, head, keys, levels, set};

const CODECS: [(&str, Compression, TheirCompression); 2] = [
    ("uncompressed", Compression::None, TheirCompression::None),
    ("Snappy", Compression::Snappy, TheirCompression::Snappy),
];

/// Writes a table with filters. Uncompressed, its bytes are those that LevelDB writes.
fn table<'e>(
    entries: impl IntoIterator<Item = (&'e [u8], &'e [u8])>,
    compression: Compression,
    mut file: Vec<u8>,
) -> Vec<u8> {
    file.clear();
    let options = WriteOptions::default().compression(compression).filter_policy(BloomFilterPolicy::new(10));
    let mut builder = TableBuilder::new(file, options);
    entries.into_iter().for_each(|(key, value)| builder.add(key, value).expect("keys in order"));
    builder.finish().expect("a table in memory").0
}

/// Both sides write into memory that is there already.
pub(crate) fn write(rounds: usize, count: usize) -> Result<()> {
    head("Writing tables of 16-byte keys and 100-byte values, with filters, for each entry");
    let mut sorted = keys(0, count, Some(16));
    sorted.sort();
    // Half of a value compresses away.
    let values: Vec<_> = keys(1, count, Some(50)).into_iter().map(|half| half.repeat(2)).collect();
    let keys: Vec<&[u8]> = sorted.iter().map(Vec::as_slice).collect();
    let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
    let entries = || keys.iter().copied().zip(values.iter().copied());
    let (raw_keys, raw_values) = (Slices::new(&keys), Slices::new(&values));
    // Longer than any of these tables.
    let space = 200 * count + 10_000;
    for (name, ours, compression) in CODECS {
        let options = TableOptions { bits_per_key: Some(10), compression, ..TableOptions::default() };
        let (mut to, mut file) = (vec![0; space], Vec::with_capacity(space));
        let size = speed::write(&options, &raw_keys, &raw_values, &mut to)?;
        for level in levels().into_iter().filter(|_| compression == TheirCompression::None) {
            set(level);
            file = table(entries(), ours, file);
            ensure!(file == to[..size], "tables differ at {level:?}");
        }
        Turns::new(count, || speed::write(&options, &raw_keys, &raw_values, &mut to))
            .ours(name, || file = table(entries(), ours, std::mem::take(&mut file)))
            .print(rounds);
    }
    Ok(())
}

/// Opens tables of about 35 entries a data block.
pub(crate) fn open(rounds: usize, entries: usize) -> Result<()> {
    const TIMES: usize = 20;
    head("Opening tables in memory, for each");
    let file = Bytes::from(file(Shape::Early, &Shape::Early.numbers(&mut Random::new(7), entries)));
    for (name, is_verified) in [("no checksums", false), ("with checksums", true)] {
        let options = TableOptions { verify_checksums: is_verified, ..OPTIONS };
        let read_options = ReadOptions::default().verify_checksums(is_verified);
        Turns::new(TIMES, || {
            (0..TIMES).for_each(|_| drop(speed::Table::open(&options, &file).expect("a sound table")));
        })
        .ours(&format!("{} data blocks, {name}", entries / 35), || {
            let open = |_| drop(Table::open(file.clone(), &read_options).expect("a sound table"));
            (0..TIMES).for_each(open);
        })
        .print(rounds);
    }
    Ok(())
}

/// The number of keys of a round, and of one call of `get_many`.
const MANY: usize = 256;
/// The number of rounds before the same keys come again.
const WINDOWS: usize = 512;
const TABLES: usize = 8;
const VALUE: [u8; 100] = [7; 100];
/// The size of an entry in its table, roughly.
const ENTRY: usize = 120;
const OPTIONS: TableOptions = TableOptions {
    block_size: 4096,
    restart_interval: 16,
    compression: TheirCompression::None,
    bits_per_key: Some(10),
    internal_keys: false,
    verify_checksums: false,
};

/// The form of the keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Keys that differ in their first eight bytes.
    Early,
    /// Keys that begin with the same bytes: `user:00012345678`.
    Late,
}

impl Shape {
    /// Returns a key of 16 bytes. Keys are in the order of their numbers.
    fn key(self, number: u64) -> Vec<u8> {
        match self {
            Self::Early => [number.to_be_bytes(), number.to_le_bytes()].concat(),
            Self::Late => format!("user:{number:011}").into_bytes(),
        }
    }

    /// Returns the numbers of up to `count` stored keys, in order. All are even; a key with an odd number is absent.
    fn numbers(self, random: &mut Random, count: usize) -> Vec<u64> {
        match self {
            Self::Early => {
                let mut numbers: Vec<u64> = (0..count).map(|_| random.next_u64() & !1).collect();
                numbers.sort_unstable();
                numbers.dedup();
                numbers
            }
            Self::Late => (0..count as u64).map(|at| 16 * at + random.below(8) * 2).collect(),
        }
    }
}

/// A table of these keys, uncompressed.
fn file(shape: Shape, numbers: &[u64]) -> Vec<u8> {
    let keys: Vec<_> = numbers.iter().map(|number| shape.key(*number)).collect();
    let space = Vec::with_capacity(numbers.len() * 2 * ENTRY);
    table(keys.iter().map(|key| (&key[..], &VALUE[..])), Compression::None, space)
}

pub(crate) fn get(rounds: usize, megabytes: usize) -> Result<()> {
    head("Looking keys up in eight tables in memory, in no order, without checksums");
    let sizes = [1, 30, 250, 1000].into_iter().filter(|size| *size <= megabytes.max(1));
    for size in sizes {
        let count = size * 1_000_000 / ENTRY / TABLES;
        for (shape, name) in
            [(Shape::Early, "keys that differ early"), (Shape::Late, "keys with a common beginning")]
        {
            let random = &mut Random::new(7);
            let numbers: Vec<_> = (0..TABLES).map(|_| shape.numbers(random, count)).collect();
            let files: Vec<Bytes> = numbers.iter().map(|numbers| file(shape, numbers).into()).collect();
            for (absent, kind) in [(0, "present"), (1, "absent")] {
                // Each window asks one table.
                let window = |window: usize| -> Vec<Vec<u8>> {
                    let numbers = &numbers[window % TABLES];
                    (0..MANY).map(|_| shape.key(numbers[random.index(numbers.len())] | absent)).collect()
                };
                let keys: Vec<_> = (0..WINDOWS).map(window).collect();
                get_case(rounds, &format!("{size} MB, {name}, {kind}"), &files, &keys)?;
            }
        }
    }
    Ok(())
}

fn get_case(rounds: usize, case: &str, files: &[Bytes], keys: &[Vec<Vec<u8>>]) -> Result<()> {
    let options = ReadOptions::default().verify_checksums(false);
    let open = |file: &Bytes| Table::open(file.clone(), &options);
    let ours: Vec<_> = files.iter().map(open).collect::<Result<_, _>>()?;
    let theirs: Vec<_> =
        files.iter().map(|file| speed::Table::open(&OPTIONS, file)).collect::<Result<_>>()?;
    let windows: Vec<Vec<&[u8]>> = keys.iter().map(|keys| keys.iter().map(Vec::as_slice).collect()).collect();
    let mut raw = Vec::new();
    for (window, keys) in windows.iter().enumerate() {
        raw.push(Lookups::new(&keys.iter().map(|key| (window % TABLES, *key)).collect::<Vec<_>>()));
    }
    // Each side goes through all windows, so that each meets the same keys.
    let in_turn = || {
        let turn = Cell::new(0);
        move || {
            turn.set((turn.get() + 1) % WINDOWS);
            turn.get()
        }
    };
    let single = |window: usize| -> u64 {
        let table = &ours[window % TABLES];
        let found = windows[window].iter().filter_map(|key| table.get(key).expect("a sound table"));
        found.map(|value| value.len() as u64).sum()
    };
    let mut values = Vec::new();
    let mut many = |window: usize| -> u64 {
        ours[window % TABLES].get_many(&windows[window], &mut values);
        let found = values.iter().filter_map(|value| value.as_ref().expect("a sound table").as_ref());
        found.map(|value| value.len() as u64).sum()
    };
    for (window, raw) in raw.iter().enumerate() {
        let expected = raw.get(&theirs)?;
        for level in levels() {
            set(level);
            ensure!(single(window) == expected, "other values are found at {level:?}");
            ensure!(many(window) == expected, "other values are found at once at {level:?}");
        }
    }
    let [leveldb, one, together] = [in_turn(), in_turn(), in_turn()];
    Turns::new(MANY, || raw[leveldb()].get(&theirs))
        .in_runs_of(8)
        .ours(&format!("{case}: `get`"), || single(one()))
        .ours(&format!("{case}: `get_many`"), || many(together()))
        .print(rounds);
    Ok(())
}
