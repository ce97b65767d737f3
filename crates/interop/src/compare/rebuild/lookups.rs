//! The entries that programs find in a database, by a walk and by lookups of individual keys.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::files::copy;
use super::source::Source;
use super::tables::{Tables, split};
use crate::hex;
use crate::leveldb::{Counts, Order, Store, StoreFilter, StoreOptions, WriteBatch};
use crate::random::Random;

/// The entries of a database and the answers about individual keys, by LevelDB without filters.
pub(super) struct Lookups {
    pub(super) entries: Vec<(Vec<u8>, Vec<u8>)>,
    answers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Lookups {
    /// Asks a copy of the database about every key of its tables and of its entries, and about as many other
    /// keys.
    pub(super) fn of(folder: &Path, tables: &Tables, source: &Source, random: &mut Random) -> Result<Self> {
        let copy = copy(folder)?;
        let options = StoreOptions { filter: StoreFilter::None, ..source.options() };
        let store = Store::open(copy.path(), &options)?;
        let entries = store.entries()?;
        let mut keys: BTreeSet<Vec<u8>> = entries.iter().map(|(key, _)| key.clone()).collect();
        for (key, _) in tables.live.iter().flat_map(|table| &table.entries) {
            keys.insert(split(key)?.0.to_vec());
        }
        let absent: Vec<_> = keys.iter().map(|key| source.kind.spelled(&changed(key, random))).collect();
        keys.extend(absent);
        let answers = keys.into_iter().map(|key| {
            let value = store.get(&key)?;
            anyhow::Ok((key, value))
        });
        let answers: Vec<_> = answers.collect::<Result<_>>()?;
        Ok(Self { entries, answers })
    }

    /// The number of keys that are asked for.
    pub(super) fn keys(&self) -> u64 {
        self.answers.len() as u64
    }

    /// Checks that LevelDB finds the same in a copy of the database. Returns LevelDB's counts of filters
    /// and files.
    pub(super) fn check_with_leveldb(&self, folder: &Path, options: &StoreOptions) -> Result<Counts> {
        let copy = copy(folder)?;
        let options = StoreOptions { must_exist: true, ..options.clone() };
        let store = Store::open(copy.path(), &options)?;
        self.check_answers(&store)?;
        let counts = store.counts();
        ensure!(store.entries()? == self.entries, "LevelDB's iterator finds other entries");
        Ok(counts)
    }

    /// Checks what an open database answers about individual keys.
    pub(super) fn check_answers(&self, store: &Store) -> Result<()> {
        for (key, expected) in &self.answers {
            let found = store.get(key)?;
            let describe =
                |value: &Option<Vec<u8>>| value.as_ref().map_or("none".to_owned(), |value| hex(value));
            ensure!(
                found == *expected,
                "Get of {}: {} instead of {}",
                hex(key),
                describe(&found),
                describe(expected)
            );
        }
        Ok(())
    }

    /// Checks that goleveldb, in the program `go/rebuild`, finds the same in a copy of the database. Returns how often
    /// filters were asked, and how often they denied the key.
    pub(super) fn check_with_goleveldb(
        &self,
        folder: &Path,
        program: &Path,
        filter: &str,
    ) -> Result<(u64, u64)> {
        let mut steps = String::new();
        for (key, value) in &self.answers {
            match value {
                Some(value) => writeln!(steps, "get ={} ={}", hex(key), hex(value))?,
                None => writeln!(steps, "miss ={}", hex(key))?,
            }
        }
        for (key, value) in &self.entries {
            writeln!(steps, "next ={} ={}", hex(key), hex(value))?;
        }
        steps.push_str("end\n");
        let copy = copy(folder)?;
        let input = tempfile::NamedTempFile::new()?;
        std::fs::write(input.path(), steps)?;
        let output = Command::new(program)
            .args(["-filter", filter])
            .arg(copy.path())
            .stdin(File::open(input.path())?)
            .output()?;
        ensure!(output.status.success(), "goleveldb: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout)?;
        let counts = text.trim().split_once(' ').context("two numbers")?;
        Ok((counts.0.parse()?, counts.1.parse()?))
    }
}

/// Returns a key close to `key` that is probably not stored.
fn changed(key: &[u8], random: &mut Random) -> Vec<u8> {
    let mut key = key.to_vec();
    let byte = random.below(256) as u8;
    match key.len() {
        0 => key.push(byte),
        len if random.one_in(2) => key[random.index(len)] ^= byte.max(1),
        _ => key.extend([byte, random.below(256) as u8]),
    }
    key
}

/// Lets LevelDB use the database for this time. `entries`: the entries that the database has.
/// Returns the number of writes.
pub(super) fn write_on(
    folder: &Path,
    options: &StoreOptions,
    entries: &[(Vec<u8>, Vec<u8>)],
    time: Duration,
    random: &mut Random,
) -> Result<u64> {
    let options = StoreOptions { must_exist: true, write_buffer_size: 64 << 10, ..options.clone() };
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = entries.iter().cloned().collect();
    let mut keys: Vec<Vec<u8>> = model.keys().cloned().collect();
    let (end, mut writes) = (Instant::now() + time, 0);
    let mut store = Store::open(folder, &options)?;
    loop {
        let mut batch = WriteBatch::new();
        for _ in 0..random.between(1, 200) {
            if keys.is_empty() || random.one_in(5) {
                let len = random.between(1, 20) as usize;
                keys.push(random.bytes(len));
            }
            let key = &keys[random.index(keys.len())];
            if random.one_in(3) {
                model.remove(key);
                batch.delete(key);
            } else {
                let len = random.skewed(10) as usize;
                let value = random.bytes(len);
                batch.put(key, &value);
                model.insert(key.clone(), value);
            }
            writes += 1;
        }
        store.write(&batch)?;
        for _ in 0..50 {
            let key = &keys[random.index(keys.len())];
            ensure!(store.get(key)?.as_ref() == model.get(key), "Get of {} after writes", hex(key));
        }
        match random.below(40) {
            0 => store.compact(None),
            1..=3 => {
                let mut ends = [0; 2].map(|_| keys[random.index(keys.len())].clone());
                ends.sort();
                if options.order == Order::Reversed {
                    ends.reverse();
                }
                store.compact(Some((&ends[0], &ends[1])));
            }
            4 => {
                drop(store);
                store = Store::open(folder, &options)?;
            }
            _ => {}
        }
        if Instant::now() >= end {
            break;
        }
    }
    let mut expected: Vec<_> = model.into_iter().collect();
    if options.order == Order::Reversed {
        expected.reverse();
    }
    ensure!(store.entries()? == expected, "after {writes} writes the entries are not those of the model");
    Ok(writes)
}
