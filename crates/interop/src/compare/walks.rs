//! Random walks of cursors and of LevelDB's iterators, side by side, over sound tables, damaged tables, and whole
//! databases with their logs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use anyhow::{Context as _, Result, ensure};
use filterblock::table::{Cursor, Lookup, ReadAt, ReadOptions, Table};
use filterblock::{BloomFilterPolicy, database};

use super::table_case::TableCase;
use crate::leveldb::{
    Compression, Database, DatabaseOptions, DatabaseWalk, Entries, Filter, Place, Step, TableOptions,
    TableWalk, WriteBatch, build_table,
};
use crate::random::Random;

/// An entry, or none.
type Found = Option<Entry>;

/// Key and value.
type Entry = (Vec<u8>, Vec<u8>);

/// The counts of walks without a difference.
#[derive(Debug, Default)]
pub struct Report {
    /// The seed of the cases.
    pub seed: u64,
    /// Tables or databases.
    pub cases: u64,
    /// Tables or databases with Snappy.
    pub snappy: u64,
    /// Steps that led to the same entry on both sides, or to none on both.
    pub steps: u64,
    /// Steps back that led to an entry.
    pub back: u64,
    /// Walks that ended at damage that both report.
    pub both_failed: u64,
    /// Walks that ended at damage that LevelDB does not report.
    pub stricter: u64,
    /// Keys whose offset is the same on both sides, or for which both databases give the same answer.
    pub keys: u64,
    /// Keys that have a value.
    pub values: u64,
    /// Databases that have writes in a log.
    pub with_log: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, cases, snappy, steps, back, both_failed, stricter, keys, values, with_log } = self;
        write!(
            f,
            "seed {seed}: {cases} cases, {snappy} with Snappy, {with_log} with logs; {steps} steps alike, {back} of them \
             back to an entry; {both_failed} walks ended at damage in both, {stricter} in ours alone; {keys} keys alike, {values} with values"
        )
    }
}

/// Walks through tables that both sides find sound, and compares the offsets of keys.
pub fn tables(cases: u64, steps: usize, seed: u64) -> Result<Report> {
    each(cases, seed, |random, report| {
        let case = TableCase::new(random);
        let compression = if random.one_in(2) { Compression::Snappy } else { Compression::None };
        let entries: Entries = case.entries.iter().map(|(key, value)| (key, value)).collect();
        let file = build_table(&TableOptions { compression, ..case.options }, &entries)?;
        let mut theirs = TableWalk::new(&file, case.options.internal_keys, true)?;
        let options = ReadOptions::default().internal_keys(case.options.internal_keys);
        let table = Table::open(&file[..], &options)?;
        let walk = some_steps(random, steps, |random| case.some_key(random));
        let places = theirs.run(&walk, false);
        let mut cursor = table.cursor();
        for (at, (step, place)) in walk.iter().zip(&places).enumerate() {
            let found = go(&mut cursor, step)?;
            same(at, step, place, &found, report)?;
        }
        for _ in 0..30 {
            let key = case.some_key(random);
            let (ours, theirs) = (table.approximate_offset_of(&key), theirs.offset_of(&key));
            ensure!(ours == theirs, "{key:x?}: at {theirs} for LevelDB, at {ours} for us");
            report.keys += 1;
        }
        report.snappy += u64::from(compression == Compression::Snappy);
        Ok(())
    })
}

/// Walks through tables of every codec that other programs wrote, and at the same time through LevelDB's table of
/// the same entries: LevelDB 1.23 itself reads no codec but Snappy.
pub fn codecs(files: &[PathBuf], steps: usize, seed: u64) -> Result<Report> {
    let mut files = files.iter();
    each(files.len() as u64, seed, |random, report| {
        let path = files.next().context("a file for each case")?;
        let read = ReadOptions::default().max_block_size(64 << 20);
        let table = Table::open(fs::read(path)?, &read).with_context(|| path.display().to_string())?;
        let (mut cursor, mut entries) = (table.cursor(), Vec::new());
        while cursor.next()? {
            entries.push((cursor.key().to_vec(), cursor.value().to_vec()));
        }
        let all: Entries = entries.iter().map(|(key, value)| (key, value)).collect();
        // Internal keys of one user key each are in the order of their bytes, too.
        let options = TableOptions { block_size: 500, ..TableOptions::default() };
        let mut theirs = TableWalk::new(&build_table(&options, &all)?, false, true)?;
        let walk = some_steps(random, steps, |random| {
            let mut key = entries[random.index(entries.len())].0.clone();
            match random.below(4) {
                0 => key.push(0),
                1 => key.truncate(random.index(key.len() + 1)),
                _ => {}
            }
            key
        });
        let places = theirs.run(&walk, false);
        for (at, (step, place)) in walk.iter().zip(&places).enumerate() {
            let found = go(&mut cursor, step)?;
            same(at, step, place, &found, report)?;
        }
        Ok(())
    })
}

/// Walks through damaged tables. Each walk, from a seek or an end on, is compared up to the first error. LevelDB's
/// iterator seeks from where it is, and so finds another entry each time in blocks out of order. Therefore each walk
/// has a new iterator.
pub fn damaged_tables(cases: u64, steps: usize, seed: u64) -> Result<Report> {
    each(cases, seed, |random, report| {
        let (entries, options) = plain_table(random);
        let snappy = options.compression == Compression::Snappy;
        let all: Entries = entries.iter().map(|(key, value)| (key, value)).collect();
        let mut file = build_table(&options, &all)?;
        // The decoders differ in what they make of damage, which is not what is compared here.
        let verify = snappy || random.one_in(4);
        damage(random, &mut file)?;
        let read = ReadOptions::default().verify_checksums(verify);
        let (ours, theirs) = (Table::open(&file[..], &read), TableWalk::new(&file, false, verify));
        let (table, mut theirs) = match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => (ours, theirs),
            // The index block is malformed. We check more of it than LevelDB.
            (Err(_), _) => return Ok(()),
            (Ok(_), Err(error)) => return Err(error.context("we open what LevelDB does not")),
        };
        let some_key = |random: &mut Random| {
            let mut key = entries[random.index(entries.len())].0.clone();
            if random.one_in(3) {
                let at = random.index(key.len());
                key[at] = key[at].wrapping_add(1) & 0x7f;
            }
            key
        };
        let walk = some_steps(random, steps, some_key);
        let places = theirs.run(&walk, true);
        let (mut cursor, mut failed) = (table.cursor(), false);
        for (at, (step, place)) in walk.iter().zip(&places).enumerate() {
            failed &= step.is_relative();
            if failed {
                continue;
            }
            match go(&mut cursor, step) {
                Ok(found) => same(at, step, place, &found, report)?,
                Err(_) => {
                    failed = true;
                    *(if place.ok { &mut report.stricter } else { &mut report.both_failed }) += 1;
                }
            }
        }
        for _ in 0..20 {
            let key = some_key(random);
            let (ours, theirs) = (table.approximate_offset_of(&key), theirs.offset_of(&key));
            // If we find the index damaged and LevelDB does not, there is nothing to compare.
            let is_unknown = ours == table.metaindex_handle().offset;
            ensure!(ours == theirs || is_unknown, "{key:x?}: at {theirs} for LevelDB, at {ours} for us");
            report.keys += u64::from(ours == theirs);
        }
        report.snappy += u64::from(snappy);
        Ok(())
    })
}

fn each(
    cases: u64,
    seed: u64,
    mut compare: impl FnMut(&mut Random, &mut Report) -> Result<()>,
) -> Result<Report> {
    let mut report = Report { seed, ..Report::default() };
    for case in 0..cases {
        let mut random = Random::for_case(seed, case);
        compare(&mut random, &mut report).with_context(|| format!("case {case} of seed {seed}"))?;
        report.cases += 1;
    }
    Ok(report)
}

/// Makes random steps, with runs in both directions. The first step leads to the first entry.
fn some_steps(random: &mut Random, count: usize, key: impl Fn(&mut Random) -> Vec<u8>) -> Vec<Step> {
    let mut steps = vec![Step::First];
    while steps.len() < count {
        match random.below(12) {
            0 => steps.push(Step::First),
            1 | 2 => steps.push(Step::Last),
            3 | 4 => steps.extend(std::iter::repeat_n(Step::Next, random.index(50))),
            5 | 6 => steps.extend(std::iter::repeat_n(Step::Prev, random.index(50))),
            7 | 8 => {
                let turns = (0..20).map(|_| if random.one_in(2) { Step::Next } else { Step::Prev });
                steps.extend(turns);
            }
            _ => steps.push(Step::Seek(key(random))),
        }
    }
    steps.truncate(count);
    steps
}

fn go<R: ReadAt>(cursor: &mut Cursor<'_, R>, step: &Step) -> filterblock::Result<Found> {
    let found = match step {
        Step::Next => cursor.next(),
        Step::Prev => cursor.prev(),
        Step::First => cursor.seek_to_first(),
        Step::Last => cursor.seek_to_last(),
        Step::Seek(key) => cursor.seek(key),
    };
    Ok(found?.then(|| (cursor.key().to_vec(), cursor.value().to_vec())))
}

fn same(at: usize, step: &Step, place: &Place, found: &Found, report: &mut Report) -> Result<()> {
    ensure!(place.ok, "step {at}, {step:x?}: LevelDB tells of damage, we find {found:x?}");
    ensure!(place.entry == *found, "step {at}, {step:x?}: LevelDB finds {:x?}, we {found:x?}", place.entry);
    report.steps += 1;
    report.back += u64::from(*step == Step::Prev && found.is_some());
    Ok(())
}

/// Makes the entries and options of a table. All bytes are below 0x80, so that no length can become one that leads
/// LevelDB astray.
fn plain_table(random: &mut Random) -> (Vec<Entry>, TableOptions) {
    let plain = |random: &mut Random, len| -> Vec<u8> {
        random.bytes(len).into_iter().map(|byte| b'a' + byte % 4).collect()
    };
    let count = random.between(1, 300);
    let keys: BTreeSet<Vec<u8>> = (0..count)
        .map(|_| {
            let len = random.between(1, 12) as usize;
            plain(random, len)
        })
        .collect();
    let entries = keys.into_iter().map(|key| {
        let len = random.index(20);
        (key, plain(random, len))
    });
    let entries = entries.collect();
    let options = TableOptions {
        block_size: random.between(30, 600) as usize,
        restart_interval: random.between(1, 20) as u32,
        compression: if random.one_in(4) { Compression::Snappy } else { Compression::None },
        ..TableOptions::default()
    };
    (entries, options)
}

/// Changes a few bytes of the data blocks, or of the index's keys and restarts.
fn damage(random: &mut Random, file: &mut [u8]) -> Result<()> {
    let table = Table::open(&file[..], &ReadOptions::default())?;
    let (index, data) = (table.index_handle(), table.metaindex_handle().offset as usize);
    let mut keys = table.index();
    let mut ends = Vec::new();
    while keys.next()? {
        ends.push(keys.key().to_vec());
    }
    let index = index.offset as usize..(index.offset + index.size) as usize;
    let (in_index, times) = (random.one_in(6), random.between(1, 5));
    for _ in 0..times {
        if !in_index {
            file[random.index(data)] = random.below(0x80) as u8;
        } else if random.one_in(2) {
            // A restart, but not the first one.
            let number = 1 + random.index(ends.len());
            let at = index.end - 4 * number;
            if at + 4 < index.end && number < ends.len() {
                file[at] = random.below(256) as u8;
            }
        } else {
            let key = &ends[random.index(ends.len())];
            let found = file[index.clone()].windows(key.len()).position(|part| part == key);
            if let Some(at) = found {
                file[index.start + at] = random.below(0x80) as u8;
            }
        }
    }
    Ok(())
}

/// Walks through databases, looks up keys in them, and compares both with what LevelDB finds. LevelDB opens a copy,
/// because opening a database changes it.
pub fn databases(cases: u64, steps: usize, seed: u64) -> Result<Report> {
    each(cases, seed, |random, report| {
        let folder = tempfile::tempdir()?;
        let keys = write_database(random, folder.path())?;
        let copy = tempfile::tempdir()?;
        for file in fs::read_dir(folder.path())? {
            let file = file?;
            fs::copy(file.path(), copy.path().join(file.file_name()))?;
        }
        let ours = database::Database::open(folder.path())?;
        let options = ReadOptions::default().filter_policy(BloomFilterPolicy::new(10));
        let some_key = |random: &mut Random| {
            let mut key = keys[random.index(keys.len())].clone();
            if random.one_in(3) {
                key.push(random.below(256) as u8);
            }
            key
        };
        let walk = some_steps(random, steps, some_key);
        let places = DatabaseWalk::new(copy.path())?.run(&walk);
        let mut scan = ours.scan(&options)?;
        let mut valid = false;
        for (at, (step, place)) in walk.iter().zip(&places).enumerate() {
            let found = match step {
                // LevelDB's iterator does not move if it is at no entry. A scan does, from either end.
                Step::Next | Step::Prev if !valid => false,
                Step::Next => scan.next()?,
                Step::Prev => scan.prev()?,
                Step::First => {
                    scan.seek(b"");
                    scan.next()?
                }
                Step::Last => {
                    scan.seek_to_last();
                    scan.prev()?
                }
                Step::Seek(key) => {
                    scan.seek(key);
                    scan.next()?
                }
            };
            valid = found;
            let entry = scan.entry().map(|entry| (entry.key.user_key.to_vec(), entry.value.to_vec()));
            ensure!(entry.is_some() == found, "step {at}: an entry is there or not");
            same(at, step, place, &entry, report)?;
        }
        let theirs = Database::open(copy.path(), &DatabaseOptions::default())?;
        for key in keys.iter().cloned().chain((0..40).map(|_| some_key(random))) {
            let expected = theirs.get(&key)?;
            let found = match ours.get(&key, &options)? {
                Lookup::Value(value) => Some(value.to_vec()),
                _ => None,
            };
            ensure!(found == expected, "{key:x?}: LevelDB gets {expected:x?}, we {found:x?}");
            report.keys += 1;
            report.values += u64::from(found.is_some());
        }
        let log = |log: database::DatabaseLog<'_>| {
            log.is_live
                && log.file.path().is_some_and(|path| fs::metadata(path).is_ok_and(|log| log.len() > 0))
        };
        report.with_log += u64::from(ours.logs().any(log));
        Ok(())
    })
}

/// Writes a database of few keys with many versions, on several levels. Returns the keys.
fn write_database(random: &mut Random, folder: &Path) -> Result<Vec<Vec<u8>>> {
    let options = DatabaseOptions {
        write_buffer_size: 64 << 10,
        block_size: 1024,
        compression: if random.one_in(2) { Compression::Snappy } else { Compression::None },
        filter: if random.one_in(4) { Filter::None } else { Filter::BuiltIn(10) },
        ..DatabaseOptions::default()
    };
    let count = random.between(1, 200);
    // Few databases have several tables on a level.
    let value_bits = if random.one_in(20) { 16 } else { 9 };
    let keys: BTreeSet<Vec<u8>> = (0..count)
        .map(|_| {
            let len = random.between(0, 10) as usize;
            random.bytes(len)
        })
        .collect();
    let keys: Vec<Vec<u8>> = keys.into_iter().collect();
    let mut database = Database::open(folder, &options)?;
    let (rounds, stays_in_log) = (random.between(1, 8), !random.one_in(8));
    for round in 1..=rounds {
        let mut batch = WriteBatch::new();
        for _ in 0..random.between(1, 300) {
            let key = &keys[random.index(keys.len())];
            if random.one_in(3) {
                batch.delete(key);
            } else {
                let len = random.skewed(value_bits) as usize;
                batch.put(key, &random.bytes(len));
            }
        }
        database.write(&batch)?;
        match random.below(6) {
            _ if round == rounds && stays_in_log => {}
            0 => database.compact(None),
            1 => {
                let mut ends = [0; 2].map(|_| keys[random.index(keys.len())].clone());
                ends.sort();
                database.compact(Some((&ends[0], &ends[1])));
            }
            2 | 3 => {
                drop(database);
                database = Database::open(folder, &options)?;
            }
            4 => database.hold_snapshot(),
            _ => {}
        }
    }
    Ok(keys)
}
