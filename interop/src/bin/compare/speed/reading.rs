//! Times lookups of keys in tables that lie in memory, and the opening of tables.

use std::cell::Cell;
use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use bytes::Bytes;
use filterblock::table::{ReadOptions, Table};
use filterblock_interop::leveldb::speed::{self, Lookups};
use filterblock_interop::leveldb::{Compression, TableOptions, build_table};
use filterblock_interop::random::Random;
use rusty_leveldb::{CompressorId as _, DB};

use super::data::keys;
use super::report::{Row, Section};
use super::tables::{CODECS, Entry, entries};
use super::timing::{Aims, Turns, levels, set};

/// The number of lookups of a round. Each round goes on where the last one ended.
pub(crate) const ROUND: usize = 1000;
/// The number of entries of a data block of 4 KiB.
const OF_BLOCK: usize = 35;

/// A file in memory that is not copied when it is opened.
struct Memory(Bytes);

impl sstable::RandomAccess for Memory {
    fn read_at(&self, offset: usize, to: &mut [u8]) -> sstable::Result<usize> {
        let from = self.0.get(offset..).unwrap_or_default();
        let size = from.len().min(to.len());
        to[..size].copy_from_slice(&from[..size]);
        Ok(size)
    }
}

fn open_sstable(file: &Bytes) -> Result<sstable::Table> {
    let table = sstable::Table::new(sstable::Options::default(), Box::new(Memory(file.clone())), file.len());
    table.map_err(|error| anyhow!("sstable: {error:?}"))
}

/// Makes a database in memory with these entries in a table. The crate's reader of tables is private.
fn rusty_leveldb(entries: &[Entry]) -> Result<DB> {
    let mut options = rusty_leveldb::in_memory();
    options.compressor = rusty_leveldb::compressor::NoneCompressor::ID;
    let fill = || -> rusty_leveldb::Result<DB> {
        let mut database = DB::open(Path::new("memory"), options.clone())?;
        for (key, value) in entries {
            database.put(key, value)?;
        }
        database.compact_range(&[], &[0xff; 17])?;
        Ok(database)
    };
    fill().map_err(|error| anyhow!("rusty-leveldb: {error:?}"))
}

pub(crate) const OPTIONS: TableOptions = TableOptions {
    block_size: 4096,
    restart_interval: 16,
    compression: Compression::None,
    bits_per_key: Some(10),
    internal_keys: false,
    verify_checksums: false,
};

/// Returns keys in random order, each with the number of its table. Absent keys, if given, take the place of stored
/// ones.
pub(crate) fn lookups<'a>(tables: &'a [Vec<Entry>], absent: Option<&'a [Vec<u8>]>) -> Vec<(usize, &'a [u8])> {
    let mut random = Random::new(5);
    let count = 10 * ROUND;
    let lookup = |number: usize| {
        let table = random.index(tables.len());
        let key = absent.map_or_else(
            || &tables[table][random.index(tables[table].len())].0,
            |absent| &absent[number % absent.len()],
        );
        (table, &key[..])
    };
    (0..count).map(lookup).collect()
}

pub(crate) fn get(rounds: usize, count: usize) -> Result<Section> {
    let mut rows = Vec::new();
    let files = |tables: &[Vec<Entry>], options: &TableOptions| -> Result<Vec<Bytes>> {
        let file =
            |entries: &Vec<Entry>| Ok(build_table(options, &entries.iter().cloned().collect())?.into());
        tables.iter().map(file).collect()
    };
    let eight: Vec<_> = (0..8).map(|seed| entries(seed, count)).collect();
    for number in [8, 1] {
        let tables = &eight[..number];
        for (compression, verify_checksums, with) in [
            (Compression::None, false, "uncompressed, no checksums"),
            (Compression::None, true, "uncompressed, with checksums"),
            (Compression::Snappy, false, "Snappy, no checksums"),
        ] {
            let options = TableOptions { compression, verify_checksums, ..OPTIONS };
            let files = files(tables, &options)?;
            let name = if number == 1 { "a table" } else { "8 tables, one for each key" };
            rows.extend(case_of(rounds, &format!("{name}, {with}"), tables, &files, &options)?);
        }
    }
    Ok(Section::new("`get` from tables in memory of 16-byte keys and 100-byte values, without a cache", rows))
}

fn case_of(
    rounds: usize,
    case: &str,
    tables: &[Vec<Entry>],
    files: &[Bytes],
    options: &TableOptions,
) -> Result<Vec<Row>> {
    let read_options = ReadOptions::default().verify_checksums(options.verify_checksums);
    let open = |file: &Bytes| Table::open(file.clone(), &read_options);
    let ours: Vec<_> = files.iter().map(open).collect::<Result<_, _>>()?;
    let theirs: Vec<_> = files.iter().map(|file| speed::Table::open(options, file)).collect::<Result<_>>()?;
    let of_sstable: Vec<_> = files.iter().map(open_sstable).collect::<Result<_>>()?;
    let absent = keys(99, 10 * ROUND, Some(16), &[]);
    let compressed = options.compression == Compression::Snappy;
    let mut rows = Vec::new();
    for (kind, absent, aims) in
        [("present", None, [1.3, 1.5, 1.5]), ("absent", Some(&absent[..]), [2.0, 2.0, 2.0])]
    {
        let aims: Option<Aims> = (!compressed && !options.verify_checksums).then_some(aims);
        let lookups = lookups(tables, absent);
        let windows: Vec<_> = lookups.chunks(ROUND).collect();
        let raw: Vec<_> = windows.iter().map(|window| Lookups::new(window)).collect();
        // Each implementation goes through all windows, so that each meets the same keys.
        let windows_in_turn = || {
            let turn = Cell::new(0);
            let count = windows.len();
            move || {
                turn.set((turn.get() + 1) % count);
                turn.get()
            }
        };
        let look_up = |window: usize| -> u64 {
            let get = |&(table, key): &(usize, &[u8])| ours[table].get(key).expect("a sound table");
            windows[window].iter().filter_map(get).map(|value| value.len() as u64).sum()
        };
        let look_up_sstable = |window: usize| -> u64 {
            let get = |&(table, key): &(usize, &[u8])| of_sstable[table].get(key).expect("a sound table");
            windows[window].iter().filter_map(get).map(|value| value.len() as u64).sum()
        };
        for (window, raw) in raw.iter().enumerate() {
            let expected = raw.get(&theirs)?;
            // sstable misses keys that are equal to their index entry.
            let of_sstable = look_up_sstable(window);
            ensure!(
                of_sstable <= expected && of_sstable >= expected / 10 * 9,
                "sstable finds something else"
            );
            for level in levels() {
                set(level);
                ensure!(look_up(window) == expected, "other values are found at {level:?}");
            }
        }
        let mut database = (tables.len() == 1).then(|| rusty_leveldb(&tables[0])).transpose()?;
        if let Some(database) = &mut database {
            let found = lookups.iter().filter(|(_, key)| database.get(key).is_some()).count();
            ensure!(
                found == if kind == "present" { lookups.len() } else { 0 },
                "rusty-leveldb finds {found}"
            );
        }
        let mut turns = Turns::new(&format!("{case}, {kind}"), ROUND).in_runs_of(windows.len());
        let next = windows_in_turn();
        turns.fixed("LevelDB", || raw[next()].get(&theirs));
        let next = windows_in_turn();
        turns.fixed("`sstable`, cache", || look_up_sstable(next()));
        let next = windows_in_turn();
        if let Some(database) = &mut database {
            turns.fixed("`rusty-leveldb`: `DB::get`, cache", || {
                windows[next()].iter().filter_map(|(_, key)| database.get(key)).count()
            });
        }
        let next = windows_in_turn();
        turns.faster("", aims, || look_up(next()));
        rows.extend(turns.run(rounds));
    }
    Ok(rows)
}

/// Times the opening of tables of this many data blocks.
pub(crate) fn open(rounds: usize, blocks: usize) -> Result<Section> {
    const TIMES: usize = 20;
    let mut rows = Vec::new();
    for (codec, _, compression) in CODECS {
        let options = TableOptions { compression, ..OPTIONS };
        let file = Bytes::from(build_table(&options, &entries(0, blocks * OF_BLOCK).into_iter().collect())?);
        for verify_checksums in [false, true] {
            let options = TableOptions { verify_checksums, ..options };
            let read_options = ReadOptions::default().verify_checksums(verify_checksums);
            let with = if verify_checksums { "with checksums" } else { "no checksums" };
            let mut turns = Turns::new(&format!("{blocks} data blocks, {codec}, {with}"), TIMES);
            turns.fixed("LevelDB", || {
                (0..TIMES).for_each(|_| drop(speed::Table::open(&options, &file).expect("a sound table")));
            });
            turns.fixed("`sstable`", || {
                (0..TIMES).for_each(|_| drop(open_sstable(&file).expect("a sound table")));
            });
            turns.faster("", Some([1.0; 3]), || {
                let open = |_| drop(Table::open(file.clone(), &read_options).expect("a sound table"));
                (0..TIMES).for_each(open);
            });
            rows.extend(turns.run(rounds));
        }
    }
    Ok(Section::new("Opening tables in memory, for each", rows))
}
