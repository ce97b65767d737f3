//! The databases in which programs are stopped: small, and of every shape.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::hex;
use crate::leveldb::{Compression, Database, DatabaseOptions, Filter, WriteBatch};
use crate::random::Random;

/// Live entries.
pub type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// A database to be made.
#[derive(Debug)]
pub struct Plan {
    /// The seed, by which the database can be made again.
    pub seed: u64,
    /// True if goleveldb writes the database.
    pub by_goleveldb: bool,
    /// True if tables are named `.sst`, as in early versions.
    old_names: bool,
    bits_per_key: Option<u32>,
    snappy: bool,
    write_buffer: usize,
    block_size: usize,
    steps: Vec<Step>,
    /// The live entries at the end.
    pub live: Entries,
    /// All keys that were ever written.
    pub keys: BTreeSet<Vec<u8>>,
}

#[derive(Debug)]
enum Step {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    Write,
    Compact(Option<(Vec<u8>, Vec<u8>)>),
    Reopen,
}

impl Plan {
    /// Plans the database of this seed. goleveldb writes every fourth database, if it is installed.
    pub fn new(seed: u64, with_goleveldb: bool) -> Self {
        let mut random = Random::for_case(0xc5a5, seed);
        let mut plan = Self {
            seed,
            by_goleveldb: with_goleveldb && seed % 4 == 3,
            old_names: seed % 5 == 1,
            bits_per_key: (!seed.is_multiple_of(3)).then(|| random.between(1, 16) as u32),
            snappy: random.one_in(2),
            write_buffer: if random.one_in(2) { 64 << 10 } else { 1 << 20 },
            block_size: random.between(1, 4) as usize * 512,
            steps: Vec::new(),
            live: Entries::new(),
            keys: BTreeSet::new(),
        };
        plan.make_steps(&mut random);
        plan
    }

    /// Returns true if the tables have filters at first.
    pub fn has_filters(&self) -> bool {
        self.bits_per_key.is_some()
    }

    fn make_steps(&mut self, random: &mut Random) {
        let count = random.between(40, 160);
        // Values that do not compress, so that tables differ in size.
        let value_len = random.between(10, 120) as usize;
        let sessions = random.between(3, 7);
        for session in 0..sessions {
            for _ in 0..random.between(20, count) {
                let key = key(random.below(count));
                self.keys.insert(key.clone());
                if random.one_in(5) {
                    self.live.remove(&key);
                    self.steps.push(Step::Delete(key));
                } else {
                    let value = [format!("{session} ").as_bytes(), &random.bytes(value_len)].concat();
                    self.live.insert(key.clone(), value.clone());
                    self.steps.push(Step::Put(key, value));
                }
                if random.one_in(20) {
                    self.steps.push(Step::Write);
                }
            }
            self.steps.push(Step::Write);
            let is_last = session + 1 == sessions;
            // A full compaction early makes a deep level, which later tables overlap.
            match random.below(6) {
                0 | 1 if session < 2 => self.steps.push(Step::Compact(None)),
                2 if !is_last => {
                    let (a, b) = (random.below(count), random.below(count));
                    self.steps.push(Step::Compact(Some((key(a.min(b)), key(a.max(b))))));
                }
                _ => {}
            }
            // Half of the databases end with writes that are in a log only.
            if !is_last || random.one_in(2) {
                self.steps.push(Step::Reopen);
            }
        }
    }

    /// Makes the database in `folder`, which is there already. `goleveldb` is the program `go/databases`.
    pub fn write(&self, folder: &Path, goleveldb: Option<&Path>) -> Result<()> {
        match goleveldb.filter(|_| self.by_goleveldb) {
            Some(program) => self.write_with_goleveldb(folder, program)?,
            None => self.write_with_leveldb(folder)?,
        }
        if self.old_names {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == "ldb") {
                    fs::rename(&path, path.with_extension("sst"))?;
                }
            }
        }
        Ok(())
    }

    fn write_with_leveldb(&self, folder: &Path) -> Result<()> {
        let options = DatabaseOptions {
            write_buffer_size: self.write_buffer,
            max_file_size: 1 << 20,
            block_size: self.block_size,
            compression: if self.snappy { Compression::Snappy } else { Compression::None },
            filter: self.bits_per_key.map_or(Filter::None, Filter::BuiltIn),
            paranoid_checks: true,
            ..DatabaseOptions::default()
        };
        let mut database = Database::open(folder, &options)?;
        let mut batch = WriteBatch::new();
        for step in &self.steps {
            match step {
                Step::Put(key, value) => batch.put(key, value),
                Step::Delete(key) => batch.delete(key),
                Step::Write => {
                    database.write(&batch)?;
                    batch.clear();
                }
                Step::Compact(range) => database.compact(range.as_ref().map(|(a, b)| (&a[..], &b[..]))),
                Step::Reopen => {
                    drop(database);
                    database = Database::open(folder, &options)?;
                }
            }
        }
        Ok(())
    }

    fn write_with_goleveldb(&self, folder: &Path, program: &Path) -> Result<()> {
        let mut steps = String::new();
        for step in &self.steps {
            match step {
                Step::Put(key, value) => writeln!(steps, "put ={} ={}", hex(key), hex(value))?,
                Step::Delete(key) => writeln!(steps, "delete ={}", hex(key))?,
                Step::Write => writeln!(steps, "write")?,
                Step::Compact(None) => writeln!(steps, "compact")?,
                Step::Compact(Some((a, b))) => writeln!(steps, "compact ={} ={}", hex(a), hex(b))?,
                Step::Reopen => writeln!(steps, "reopen")?,
            }
        }
        let input = tempfile::NamedTempFile::new()?;
        fs::write(input.path(), steps)?;
        let output = Command::new(program)
            .args(["-bits", &self.bits_per_key.unwrap_or(0).to_string()])
            .args(["-block-size", &self.block_size.to_string()])
            .args(["-table-size", "4096"])
            .args(["-write-buffer", "16384"])
            .arg(format!("-snappy={}", self.snappy))
            .arg(folder)
            .stdin(Stdio::from(fs::File::open(input.path())?))
            .output()
            .with_context(|| program.display().to_string())?;
        ensure!(output.status.success(), "goleveldb: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }
}

fn key(number: u64) -> Vec<u8> {
    format!("key {number:05}").into_bytes()
}
