//! LevelDB, goleveldb and plyvel, which read a database, write to it and compact it by the same steps.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::leveldb::{Store, StoreFilter, StoreOptions, WriteBatch};
use crate::random::Random;
use crate::{goleveldb, hex};

/// Debian's Python, for which Debian packages plyvel.
const PYTHON: &str = "/usr/bin/python3";
/// The name of the policy in databases with filters.
const POLICY: &str = "leveldb.BuiltinBloomFilter2";

/// Keys and values.
pub type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// An implementation of LevelDB.
#[derive(Clone, Debug)]
pub enum Judge {
    /// LevelDB itself, in this process.
    LevelDb,
    /// goleveldb, by the program `go/rebuild`.
    Goleveldb(PathBuf),
    /// plyvel, by the program `python/steps.py`.
    Plyvel,
}

/// A step of a judge. The first step that does not hold is an error.
enum Step {
    /// The key has this value, or is not there.
    Get(Vec<u8>, Option<Vec<u8>>),
    /// The iterator's next entry is this.
    Next(Vec<u8>, Vec<u8>),
    /// The iterator has no further entry. A `Next` after this begins with another iterator.
    End,
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    /// The whole database is compacted.
    Compact,
}

impl Judge {
    /// Returns LevelDB, and goleveldb and plyvel if they are installed. Programs are built in `folder`.
    pub fn all(folder: &Path) -> Result<Vec<Self>> {
        let mut judges = vec![Self::LevelDb];
        judges.extend(goleveldb::build("rebuild", folder)?.map(Self::Goleveldb));
        let plyvel = Command::new(PYTHON).args(["-c", "import plyvel"]).output();
        match plyvel.is_ok_and(|output| output.status.success()) {
            true => judges.push(Self::Plyvel),
            // Not by a macro: the test harness hides output of macros unless the test fails.
            false => std::io::stderr()
                .write_all(b"python3-plyvel is not installed: nothing is compared with it\n")?,
        }
        Ok(judges)
    }

    /// The name, for messages.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::LevelDb => "LevelDB",
            Self::Goleveldb(_) => "goleveldb",
            Self::Plyvel => "plyvel",
        }
    }

    /// Compares `entries` with all that a database has, by lookups of `keys` and by an iterator.
    pub fn read(
        &self,
        dir: &Path,
        options: &StoreOptions,
        keys: &[Vec<u8>],
        entries: &Entries,
    ) -> Result<()> {
        self.steps(dir, options, &reading(keys, entries))
    }

    /// Writes some of `keys` and deletes others, looking some up in between, then compacts the database and reads all.
    /// In half of the calls, so much is written that the database begins to compact itself. `entries` are those of the
    /// database, and are kept up to date.
    pub fn write(
        &self,
        dir: &Path,
        options: &StoreOptions,
        keys: &[Vec<u8>],
        entries: &mut Entries,
        random: &mut Random,
    ) -> Result<()> {
        let mut steps = Vec::new();
        for number in 0..if random.one_in(2) { 4000 } else { 400 } {
            let key = &keys[random.index(keys.len())];
            match random.below(4) {
                0 => {
                    entries.remove(key);
                    steps.push(Step::Delete(key.clone()));
                }
                1 => steps.push(Step::Get(key.clone(), entries.get(key).cloned())),
                _ => {
                    let value =
                        format!("{} {number} {}", self.name(), random.next_u64()).repeat(1 + random.index(8));
                    entries.insert(key.clone(), value.clone().into_bytes());
                    steps.push(Step::Put(key.clone(), value.into_bytes()));
                }
            }
        }
        // LevelDB may leave a log that begins before the MANIFEST's last sequence number, which goleveldb refuses.
        steps.push(Step::Compact);
        steps.extend(reading(keys, entries));
        self.steps(dir, options, &steps)
    }

    fn steps(&self, dir: &Path, options: &StoreOptions, steps: &[Step]) -> Result<()> {
        let filters = matches!(options.filter, StoreFilter::BuiltIn(_));
        let mut command = match self {
            Self::LevelDb => return by_leveldb(dir, options, steps),
            Self::Goleveldb(program) => {
                let mut command = Command::new(program);
                command.args(filters.then(|| format!("-filter={POLICY}"))).arg(dir);
                command
            }
            Self::Plyvel => {
                let mut command = Command::new(PYTHON);
                let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/steps.py");
                command.arg(program).arg(if filters { "10" } else { "0" }).arg(dir);
                command
            }
        };
        let piped = (Stdio::piped(), Stdio::piped());
        let mut child = command.stdin(piped.0).stderr(piped.1).stdout(Stdio::null()).spawn()?;
        // A program that found a difference no longer reads. Its message says more than a broken pipe.
        let written = child.stdin.take().context("piped above")?.write_all(lines(steps).as_bytes());
        let output = child.wait_with_output()?;
        let (name, message) = (self.name(), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "{name}: {}: {}", output.status, message.trim());
        written.with_context(|| format!("{name} reads no steps"))
    }
}

/// Returns steps that look all keys up, and go through all entries.
fn reading(keys: &[Vec<u8>], entries: &Entries) -> Vec<Step> {
    let lookups = keys.iter().map(|key| Step::Get(key.clone(), entries.get(key).cloned()));
    let walk = entries.iter().map(|(key, value)| Step::Next(key.clone(), value.clone()));
    lookups.chain(walk).chain([Step::End]).collect()
}

/// Returns the steps in the form that the programs read.
fn lines(steps: &[Step]) -> String {
    let mut lines = String::new();
    for step in steps {
        let line = match step {
            Step::Get(key, Some(value)) => format!("get ={} ={}\n", hex(key), hex(value)),
            Step::Get(key, None) => format!("miss ={}\n", hex(key)),
            Step::Next(key, value) => format!("next ={} ={}\n", hex(key), hex(value)),
            Step::End => "end\n".to_owned(),
            Step::Put(key, value) => format!("put ={} ={}\n", hex(key), hex(value)),
            Step::Delete(key) => format!("delete ={}\n", hex(key)),
            Step::Compact => "compact\n".to_owned(),
        };
        lines.push_str(&line);
    }
    lines
}

fn by_leveldb(dir: &Path, options: &StoreOptions, steps: &[Step]) -> Result<()> {
    let options = StoreOptions { must_exist: true, paranoid_checks: true, ..options.clone() };
    let mut store = Store::open(dir, &options)?;
    let mut all = None;
    for step in steps {
        match step {
            Step::Get(key, expected) => {
                let found = store.get(key)?;
                ensure!(found == *expected, "LevelDB: {} is another by a lookup", key.escape_ascii());
            }
            Step::Next(key, value) => {
                let all = match &mut all {
                    Some(all) => all,
                    None => all.insert(store.entries()?.into_iter()),
                };
                let found = all.next();
                let expected = Some((key, value));
                let found = found.as_ref().map(|(key, value)| (key, value));
                ensure!(found == expected, "LevelDB: {} is another by an iterator", key.escape_ascii());
            }
            Step::End => {
                let mut all = match all.take() {
                    Some(all) => all,
                    None => store.entries()?.into_iter(),
                };
                ensure!(all.next().is_none(), "LevelDB: the iterator goes on");
            }
            Step::Put(key, value) => {
                let mut batch = WriteBatch::default();
                batch.put(key, value);
                store.write(&batch)?;
            }
            Step::Delete(key) => {
                let mut batch = WriteBatch::default();
                batch.delete(key);
                store.write(&batch)?;
            }
            Step::Compact => store.compact(None),
        }
    }
    Ok(())
}
