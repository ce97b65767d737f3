//! LevelDB writes databases in the order of Chromium's IndexedDB. They are damaged, `filterblock repair` repairs
//! them, and LevelDB checks the result. LevelDB uses the comparator of `shim/idb_order.cc`.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::repaired::{Damage, copy};
use super::tool;
use crate::leveldb::{Order, Store, StoreOptions, WriteBatch};
use crate::random::Random;

const KEYS: usize = 1500;
const BATCHES: u64 = 2500;
/// The statuses of `repair`.
const COMPLETE: u8 = 0;
const INCOMPLETE: u8 = 5;

type Entries = HashMap<Vec<u8>, Vec<u8>>;

/// The counts of a run in which everything was as it has to be.
#[derive(Debug, Default)]
pub struct Report {
    /// Damaged databases.
    pub cases: u64,
    /// Databases of which everything was saved.
    pub exact: u64,
    /// Pairs of neighbouring keys that bytewise order puts the other way round.
    pub against_bytewise: u64,
}

/// Makes a database with this seed, and repairs it after every kind of damage. Checks that LevelDB finds the expected
/// entries by lookups and by an iterator, then has it write to the new database and compact it.
pub fn run(seed: u64) -> Result<Report> {
    let mut random = Random::for_case(seed, 0);
    let folder = tempfile::tempdir()?;
    let keys = keys(&mut random);
    let original = folder.path().join("original");
    let mut case = Case { ranks: ranks(&folder.path().join("ranks"), &keys)?, keys, all: HashMap::new() };
    let mut live = Entries::new();
    case.write(&mut Store::open(&original, &options(false))?, BATCHES, &mut live, &mut random)?;
    let mut by_rank: Vec<_> = case.keys.clone();
    by_rank.sort_by_key(|key| case.ranks[key]);
    let against_bytewise = by_rank.windows(2).filter(|pair| pair[0] > pair[1]).count() as u64;
    let mut report = Report { against_bytewise, ..Report::default() };
    for damage in Damage::ALL {
        let is_exact = case
            .repaired(&original, damage, &live, &mut random)
            .with_context(|| format!("seed {seed}, {damage:?}"))?;
        report.cases += 1;
        report.exact += u64::from(is_exact);
    }
    Ok(report)
}

fn options(must_exist: bool) -> StoreOptions {
    StoreOptions {
        write_buffer_size: 64 << 10,
        max_file_size: 1 << 20,
        block_size: 1024,
        order: Order::Idb,
        paranoid_checks: true,
        must_exist,
        ..StoreOptions::default()
    }
}

/// Returns the place of each key in LevelDB's order.
fn ranks(dir: &Path, keys: &[Vec<u8>]) -> Result<HashMap<Vec<u8>, usize>> {
    let mut store = Store::open(dir, &options(false))?;
    for key in keys {
        let mut batch = WriteBatch::default();
        batch.put(key, b"");
        store.write(&batch)?;
    }
    let ranks: HashMap<_, _> = store.entries()?.into_iter().map(|(key, _)| key).zip(0..).collect();
    ensure!(ranks.len() == keys.len(), "{} of {} keys differ", ranks.len(), keys.len());
    Ok(ranks)
}

struct Case {
    keys: Vec<Vec<u8>>,
    ranks: HashMap<Vec<u8>, usize>,
    /// The values that each key ever had.
    all: HashMap<Vec<u8>, HashSet<Vec<u8>>>,
}

impl Case {
    fn write(
        &mut self,
        store: &mut Store,
        batches: u64,
        live: &mut Entries,
        random: &mut Random,
    ) -> Result<()> {
        for number in 0..batches {
            let mut batch = WriteBatch::default();
            for _ in 0..=random.below(4) {
                let key = self.keys[random.index(self.keys.len())].clone();
                if random.one_in(4) {
                    batch.delete(&key);
                    live.remove(&key);
                } else {
                    let len = random.index(120);
                    let value = [format!("{number}#").as_bytes(), &random.bytes(len)].concat();
                    batch.put(&key, &value);
                    self.all.entry(key.clone()).or_default().insert(value.clone());
                    live.insert(key, value);
                }
            }
            store.write(&batch)?;
        }
        Ok(())
    }

    /// Damages a copy of the database and repairs it. Returns true if everything was saved.
    fn repaired(
        &mut self,
        original: &Path,
        damage: Damage,
        live: &Entries,
        random: &mut Random,
    ) -> Result<bool> {
        let folder = tempfile::tempdir()?;
        let (dir, new) = (folder.path().join("db"), folder.path().join("new"));
        copy(original, &dir)?;
        damage.apply(&dir, random)?;
        let arguments = [OsString::from("repair"), dir.into(), "--to".into(), new.clone().into()];
        let outcome = tool::run(&arguments);
        ensure!(matches!(outcome.status, COMPLETE | INCOMPLETE), "{}", outcome.messages);
        let mut store = Store::open(&new, &options(true))?;
        let mut found: Entries = store.entries()?.into_iter().collect();
        for (key, value) in &found {
            ensure!(self.all.get(key).is_some_and(|values| values.contains(value)), "{key:?} is invented");
        }
        let is_exact = found == *live;
        ensure!(is_exact || !damage.is_harmless(), "{} keys of {}", found.len(), live.len());
        let is_told = outcome.status == INCOMPLETE || damage.is_as_after_a_kill(&outcome.out);
        ensure!(is_exact || is_told, "it says that nothing is lost");
        self.check(&store, &found)?;
        self.write(&mut store, BATCHES / 2, &mut found, random)?;
        self.check(&store, &found)?;
        store.compact(None);
        self.check(&store, &found)?;
        drop(store);
        self.check(&Store::open(&new, &options(true))?, &found)?;
        Ok(is_exact)
    }

    /// Checks that LevelDB finds these entries by lookups, and by an iterator in LevelDB's order.
    fn check(&self, store: &Store, expected: &Entries) -> Result<()> {
        let found = store.entries()?;
        ensure!(found.is_sorted_by_key(|(key, _)| self.ranks[key]), "entries are out of order");
        ensure!(found.len() == expected.len(), "{} entries of {}", found.len(), expected.len());
        for (key, value) in found {
            ensure!(expected.get(&key) == Some(&value), "{key:?} is another by an iterator");
        }
        for key in &self.keys {
            ensure!(store.get(key)?.as_ref() == expected.get(key), "{key:?} is another by a lookup");
        }
        Ok(())
    }
}

/// Makes keys of every kind. No two are equal in Chromium's order.
fn keys(random: &mut Random) -> Vec<Vec<u8>> {
    let mut keys = HashSet::new();
    while keys.len() < KEYS {
        keys.insert(key(random));
    }
    let mut keys: Vec<_> = keys.into_iter().collect();
    keys.sort();
    keys
}

fn key(random: &mut Random) -> Vec<u8> {
    let mut key = Vec::new();
    match random.below(8) {
        0 => {
            prefix(&mut key, [0, 0, 0]);
            match random.below(4) {
                0 => key.push(random.below(7) as u8),
                1 => {
                    key.push(50);
                    let len = random.index(5);
                    key.extend(random.bytes(len));
                }
                2 => with_varints(&mut key, 100, &[random.below(500)]),
                _ => {
                    key.push(201);
                    string(&mut key, random);
                    string(&mut key, random);
                }
            }
        }
        1 => {
            prefix(&mut key, [1 + random.below(400), 0, 0]);
            match random.below(7) {
                0 => key.push(random.below(6) as u8),
                1 => {
                    with_varints(&mut key, 50, &[random.below(500)]);
                    key.push(random.below(8) as u8);
                }
                2 => {
                    with_varints(&mut key, 100, &[random.below(300), random.below(300)]);
                    key.push(random.below(8) as u8);
                }
                3 => with_varints(&mut key, 150, &[random.below(500)]),
                4 => with_varints(&mut key, 151, &[random.below(300), random.below(300)]),
                5 => {
                    key.push(200);
                    string(&mut key, random);
                }
                _ => {
                    with_varints(&mut key, 201, &[random.below(300)]);
                    string(&mut key, random);
                }
            }
        }
        2..5 => {
            prefix(&mut key, [1 + random.below(3), 1 + 150 * random.below(3), 1 + random.below(3)]);
            idb_key(&mut key, random, 2);
        }
        _ => {
            prefix(&mut key, [1, 1 + random.below(3), 30 + 150 * random.below(3)]);
            idb_key(&mut key, random, 1);
            varint(&mut key, random.below(300));
            idb_key(&mut key, random, 1);
        }
    }
    key
}

/// Appends the ids of database, object store and index, each in as few bytes as it needs.
fn prefix(key: &mut Vec<u8>, ids: [u64; 3]) {
    let width = |id: u64| (1..).find(|bytes| id < 1 << (8 * bytes)).unwrap_or(1);
    let [database, store, index] = ids.map(|id| width(id) as u8 - 1);
    key.push(database << 5 | store << 2 | index);
    ids.iter().for_each(|&id| key.extend(&id.to_le_bytes()[..width(id)]));
}

fn with_varints(key: &mut Vec<u8>, kind: u8, numbers: &[u64]) {
    key.push(kind);
    numbers.iter().for_each(|&number| varint(key, number));
}

fn varint(key: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        key.push(number as u8 | 0x80);
        number >>= 7;
    }
    key.push(number as u8);
}

fn string(key: &mut Vec<u8>, random: &mut Random) {
    let len = random.below(4);
    varint(key, len);
    (0..len).for_each(|_| key.extend((random.below(600) as u16).to_be_bytes()));
}

/// Appends a key of IndexedDB. Its arrays are nested at most `depth` deep.
fn idb_key(key: &mut Vec<u8>, random: &mut Random, depth: u64) {
    match random.below(if depth > 0 { 7 } else { 5 }) {
        0 => key.push(5),
        kind @ 1..3 => {
            key.push(1 + kind as u8);
            let number = random.below(2000) as f64 / 4.0 - 250.0;
            key.extend(number.to_le_bytes());
        }
        3 => {
            key.push(1);
            string(key, random);
        }
        4 => {
            key.push(6);
            let len = random.index(4);
            varint(key, len as u64);
            key.extend(random.bytes(len));
        }
        _ => {
            key.push(4);
            let len = random.below(4);
            varint(key, len);
            (0..len).for_each(|_| idb_key(key, random, depth - 1));
        }
    }
}
