//! LevelDB's databases are damaged, and `filterblock repair` repairs them. LevelDB, goleveldb and plyvel then read
//! the results, which are compared with what was written.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::judges::{Entries, Judge};
use super::{odd, tool};
use crate::leveldb::{Compression, Store, StoreFilter, StoreOptions, WriteBatch, repair_store};
use crate::random::Random;

/// The number of keys of a database, of which some are deleted.
const KEYS: u64 = 1500;
const BATCHES: u64 = 2500;
/// The statuses of `repair`: nothing is lost, or something may be.
const COMPLETE: u8 = 0;
const INCOMPLETE: u8 = 5;

/// A kind of damage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Damage {
    None,
    OneBit,
    TwoBits,
    Overwritten,
    Zeroed,
    Cut,
    Missing,
    NoManifest,
    NoCurrent,
    CutLog,
    LogBit,
    OutOfOrder,
    OddKey,
    SameNumber,
}

impl Damage {
    pub(super) const ALL: [Self; 14] = [
        Self::None,
        Self::OneBit,
        Self::TwoBits,
        Self::Overwritten,
        Self::Zeroed,
        Self::Cut,
        Self::Missing,
        Self::NoManifest,
        Self::NoCurrent,
        Self::CutLog,
        Self::LogBit,
        Self::OutOfOrder,
        Self::OddKey,
        Self::SameNumber,
    ];

    /// Returns true if everything has to be saved.
    pub(super) const fn is_harmless(self) -> bool {
        matches!(self, Self::None | Self::OneBit | Self::NoManifest | Self::NoCurrent | Self::LogBit)
            || self.is_odd()
    }

    /// Returns true if a fault of a program made the files, and none of the disk. LevelDB's own repair may then stop at
    /// an assertion.
    const fn is_odd(self) -> bool {
        matches!(self, Self::OutOfOrder | Self::OddKey | Self::SameNumber)
    }

    /// Returns true if `repair` may not know that something is lost: the last write of a log is incomplete, as after a
    /// kill.
    pub(super) fn is_as_after_a_kill(self, output: &str) -> bool {
        self == Self::CutLog && output.contains("as after a kill")
    }

    pub(super) fn apply(self, dir: &Path, random: &mut Random) -> Result<()> {
        let files = |extension: &str| -> Result<Vec<PathBuf>> {
            let mut files = Vec::new();
            for entry in fs::read_dir(dir)? {
                let path = entry?.path();
                if path.extension().is_some_and(|found| found == extension)
                    && fs::metadata(&path)?.len() > 100
                {
                    files.push(path);
                }
            }
            files.sort();
            Ok(files)
        };
        let of_log = matches!(self, Self::CutLog | Self::LogBit | Self::SameNumber);
        let kind = if of_log { "log" } else { "ldb" };
        let files = files(kind)?;
        let path = files.get(random.index(files.len())).context("no file to damage")?;
        let mut bytes = fs::read(path)?;
        let len = bytes.len();
        let at = random.index(len);
        match self {
            Self::None => {}
            Self::OneBit | Self::LogBit => bytes[at] ^= 1 << random.index(8),
            Self::TwoBits => {
                bytes[at] ^= 1 << random.index(8);
                bytes[random.index(len)] ^= 1 << random.index(8);
            }
            Self::Overwritten => {
                let end = len.min(at + 16);
                bytes[at..end].iter_mut().for_each(|byte| *byte = random.next_u64() as u8);
            }
            Self::Zeroed => {
                let start = at / 4096 * 4096;
                bytes[start..len.min(start + 4096)].fill(0);
            }
            Self::Cut | Self::CutLog => bytes.truncate(at),
            Self::OutOfOrder => return odd::rewrite(path, random, odd::reorder),
            Self::OddKey => return odd::rewrite(path, random, odd::add_odd_key),
            Self::SameNumber => return odd::write_twice(path),
            Self::Missing => {
                fs::remove_file(path)?;
                return Ok(());
            }
            Self::NoManifest | Self::NoCurrent => {
                let current = fs::read_to_string(dir.join("CURRENT"))?;
                let name = if self == Self::NoCurrent { "CURRENT" } else { current.trim_end() };
                fs::remove_file(dir.join(name))?;
                return Ok(());
            }
        }
        fs::write(path, bytes)?;
        Ok(())
    }
}

/// The values that each key ever had, and the one that it has now.
#[derive(Default)]
struct Model {
    live: BTreeMap<Vec<u8>, Vec<u8>>,
    all: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>,
}

/// The counts of a run in which nothing was invented, and everything was saved that had to be saved.
#[derive(Debug, Default)]
pub struct Report {
    /// Damaged databases.
    pub cases: u64,
    /// Damaged databases of which everything was saved.
    pub exact: u64,
    /// Keys that have the right value after `filterblock repair`.
    pub right: u64,
    /// Keys that have the right value after LevelDB's own repair.
    pub right_by_leveldb: u64,
    /// Keys of all databases.
    pub keys: u64,
    /// The work of each judge with the repaired databases.
    pub work: Vec<Work>,
}

/// The work of a judge with repaired databases.
#[derive(Debug, Clone)]
pub struct Work {
    /// The judge's name.
    pub judge: &'static str,
    /// The number of times that the judge wrote to a database, compacted it and read it.
    pub sessions: u64,
    /// The time that these sessions took.
    pub time: Duration,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cases, exact, right, right_by_leveldb, keys, work } = self;
        writeln!(f, "{cases} damaged databases, {exact} of them saved to the last key, nothing invented")?;
        write!(f, "  of {keys} keys {right} are right, and {right_by_leveldb} after LevelDB's own repair")?;
        for Work { judge, sessions, time } in work {
            write!(f, "\n  written to, compacted and read {sessions} times by {judge}, in {time:.1?}")?;
        }
        Ok(())
    }
}

/// Makes random databases, and repairs each after every kind of damage. Checks that all of `judges` read the same
/// from the results. For each database, the judges then write in turns to one of the results. Each judge takes at
/// least `turns` turns there, and goes on until it has worked for its part of `time`, the same in each database.
pub fn run(databases: u64, seed: u64, judges: &[Judge], (turns, time): (u64, Duration)) -> Result<Report> {
    let work = judges.iter().map(|judge| Work { judge: judge.name(), sessions: 0, time: Duration::ZERO });
    let mut report = Report { work: work.collect(), ..Report::default() };
    let each = (turns, time / u32::try_from(databases)?);
    for case in 0..databases {
        let mut random = Random::for_case(seed, case);
        let folder = tempfile::tempdir()?;
        let original = folder.path().join("original");
        let options = StoreOptions {
            write_buffer_size: 64 << 10,
            max_file_size: 1 << 20,
            block_size: [1024, 4096, 16 << 10][random.index(3)],
            compression: if random.one_in(2) { Compression::Snappy } else { Compression::None },
            filter: if random.one_in(3) { StoreFilter::None } else { StoreFilter::BuiltIn(10) },
            ..StoreOptions::default()
        };
        let model = write(&original, &options, &mut random)?;
        for damage in Damage::ALL {
            let place = || format!("seed {seed}, database {case}, {damage:?}");
            let folder = tempfile::tempdir()?;
            let case = Case { original: &original, options: &options, model: &model, judges };
            let repaired = case.repaired(folder.path(), damage, &mut random).with_context(place)?;
            if damage == Damage::Overwritten {
                let new = (&*folder.path().join("new"), repaired.entries);
                case.go_on(new, each, &mut random, &mut report.work).with_context(place)?;
            }
            report.cases += 1;
            report.exact += u64::from(repaired.is_exact);
            report.right += repaired.right;
            report.right_by_leveldb += repaired.right_by_leveldb;
            report.keys += model.live.len() as u64;
        }
    }
    Ok(report)
}

fn write(dir: &Path, options: &StoreOptions, random: &mut Random) -> Result<Model> {
    let mut store = Store::open(dir, options)?;
    let mut model = Model::default();
    for number in 0..BATCHES {
        let mut batch = WriteBatch::default();
        for _ in 0..=random.below(4) {
            let key = format!("key{:05}", random.below(KEYS)).into_bytes();
            if random.one_in(4) {
                batch.delete(&key);
                model.live.remove(&key);
            } else {
                let len = random.index(120);
                let noise = random.bytes(len);
                let value = [format!("{number} of {}#", key.escape_ascii()).as_bytes(), &noise].concat();
                batch.put(&key, &value);
                model.all.entry(key.clone()).or_default().insert(value.clone());
                model.live.insert(key, value);
            }
        }
        store.write(&batch)?;
    }
    Ok(model)
}

struct Repaired {
    is_exact: bool,
    right: u64,
    right_by_leveldb: u64,
    entries: Entries,
}

/// A database, the writes to it, and the readers of its repaired copies.
struct Case<'c> {
    original: &'c Path,
    options: &'c StoreOptions,
    model: &'c Model,
    judges: &'c [Judge],
}

impl Case<'_> {
    /// Damages a copy of the database, and repairs it into the folder `new` in `folder`.
    fn repaired(&self, folder: &Path, damage: Damage, random: &mut Random) -> Result<Repaired> {
        let Self { original, options, model, judges } = self;
        let (dir, new, other) = (folder.join("db"), folder.join("new"), folder.join("other"));
        copy(original, &dir)?;
        damage.apply(&dir, random)?;
        copy(&dir, &other)?;
        let arguments =
            [OsString::from("repair"), dir.into(), "--to".into(), new.clone().into(), "--json".into()];
        let outcome = tool::run(&arguments);
        ensure!(
            matches!(outcome.status, COMPLETE | INCOMPLETE),
            "status {}: {}",
            outcome.status,
            outcome.messages
        );
        let entries = entries(&new, options)?;
        for (key, value) in &entries {
            let is_known = model.all.get(key).is_some_and(|values| values.contains(value));
            ensure!(is_known, "{} has the value {}", key.escape_ascii(), value.escape_ascii());
        }
        let is_exact = entries == model.live;
        ensure!(
            is_exact || !damage.is_harmless(),
            "{} keys of {}: {}",
            entries.len(),
            model.live.len(),
            outcome.out
        );
        let is_told = outcome.status == INCOMPLETE || damage.is_as_after_a_kill(&outcome.out);
        ensure!(is_exact || is_told, "it says that nothing is lost: {}", outcome.out);
        for judge in *judges {
            // Opening a database changes it.
            let place = folder.join(judge.name());
            copy(&new, &place)?;
            judge.read(&place, options, &keys(), &entries)?;
        }
        let paranoid = StoreOptions { paranoid_checks: true, ..(*options).clone() };
        let by_leveldb = match damage.is_odd() {
            true => Ok(Entries::default()),
            false => repair_store(&other, &paranoid).and_then(|()| self::entries(&other, options)),
        };
        let right = |found: &Entries| {
            found.iter().filter(|(key, value)| model.live.get(*key) == Some(value)).count() as u64
        };
        let (right, right_by_leveldb) = (right(&entries), by_leveldb.map_or(0, |found| right(&found)));
        ensure!(right >= right_by_leveldb, "{right} right keys, and {right_by_leveldb} by LevelDB's repair");
        Ok(Repaired { is_exact, right, right_by_leveldb, entries })
    }

    /// Has the judges write to the new database and compact it in turns. Each judge takes `least` turns, and goes on
    /// until it has worked for `time`. Adds the judges' work to `work`.
    fn go_on(
        &self,
        (dir, mut entries): (&Path, Entries),
        (least, time): (u64, Duration),
        random: &mut Random,
        work: &mut [Work],
    ) -> Result<()> {
        let mut left = vec![(least, time); self.judges.len()];
        while left.iter().any(|left| *left != (0, Duration::ZERO)) {
            for (judge, (left, work)) in self.judges.iter().zip(left.iter_mut().zip(&mut *work)) {
                if *left == (0, Duration::ZERO) {
                    continue;
                }
                let start = Instant::now();
                judge.write(dir, self.options, &keys(), &mut entries, random)?;
                let time = start.elapsed();
                *left = (left.0.saturating_sub(1), left.1.saturating_sub(time));
                work.sessions += 1;
                work.time += time;
            }
        }
        for judge in self.judges {
            judge.read(dir, self.options, &keys(), &entries)?;
        }
        Ok(())
    }
}

/// Returns all keys that were ever written, and one that was not.
fn keys() -> Vec<Vec<u8>> {
    (0..=KEYS).map(|number| format!("key{number:05}").into_bytes()).collect()
}

/// Reads all entries by LevelDB's iterator.
fn entries(dir: &Path, options: &StoreOptions) -> Result<Entries> {
    let store = Store::open(dir, &StoreOptions { must_exist: true, ..options.clone() })?;
    Ok(store.entries()?.into_iter().collect())
}

pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
