//! The plan of a random database: its writer, its options, its steps.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::super::table_case::user_keys;
use crate::hex;
use crate::leveldb::{Compression, Database, DatabaseOptions, Filter, WriteBatch};
use crate::random::Random;

const MAX_KEYS: u64 = 2000;
const MAX_ROUNDS: u64 = 7;

/// A database to be made.
#[derive(Debug)]
pub(in super::super) struct Plan {
    pub(in super::super) by_goleveldb: bool,
    pub(in super::super) order: Order,
    pub(in super::super) bits_per_key: Option<u32>,
    /// The `base_lg` of filters, for goleveldb only.
    pub(in super::super) base_lg: u8,
    pub(in super::super) table_size: usize,
    pub(in super::super) block_size: usize,
    pub(in super::super) write_buffer: usize,
    pub(in super::super) snappy: bool,
    pub(in super::super) steps: Vec<Step>,
    /// The live entries at the end, without deleted keys.
    pub(in super::super) live: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(super) overwrites: u64,
    pub(super) deletions: u64,
    pub(super) snapshots: u64,
}

/// The order of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Order {
    Bytewise,
    /// Descending, under a name of its own.
    Reversed,
    /// Bytewise, under a name of its own.
    Renamed,
}

impl Order {
    /// The name of this order in the program `go/databases`.
    const fn name(self) -> &'static str {
        match self {
            Self::Bytewise => "bytewise",
            Self::Reversed => "reversed",
            Self::Renamed => "renamed",
        }
    }
}

#[derive(Debug)]
pub(in super::super) enum Step {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    Write,
    Compact(Option<(Vec<u8>, Vec<u8>)>),
    Snapshot,
    Reopen,
}

impl Plan {
    pub(super) fn new(random: &mut Random, by_goleveldb: bool) -> Self {
        let mut plan = Self::empty(random, by_goleveldb);
        let count = random.skewed(11).clamp(3, MAX_KEYS) as usize;
        plan.fill(random, count);
        plan
    }

    /// Makes a plan with random options and without steps.
    pub(in super::super) fn empty(random: &mut Random, by_goleveldb: bool) -> Self {
        Self {
            by_goleveldb,
            order: match random.below(6) {
                0 | 1 => Order::Reversed,
                2 if by_goleveldb => Order::Renamed,
                _ => Order::Bytewise,
            },
            bits_per_key: (!random.one_in(8)).then(|| random.between(1, 24) as u32),
            base_lg: if random.one_in(2) { 11 } else { random.between(8, 20) as u8 },
            table_size: random.between(4, 64) as usize * 1024,
            block_size: random.between(10, 14).pow(2) as usize * 16,
            write_buffer: random.between(16, 256) as usize * 1024,
            snappy: random.one_in(2),
            steps: Vec::new(),
            live: BTreeMap::new(),
            overwrites: 0,
            deletions: 0,
            snapshots: 0,
        }
    }

    /// Adds the steps, with up to `count` different keys.
    pub(in super::super) fn fill(&mut self, random: &mut Random, count: usize) {
        let keys: Vec<_> = user_keys(random, count).into_iter().collect();
        for _ in 0..random.between(1, MAX_ROUNDS) {
            self.round(random, &keys);
        }
        // Ends with a compaction, with a reopening, or with writes that stay in a log.
        match random.below(3) {
            0 => self.steps.push(Step::Compact(None)),
            1 => self.steps.push(Step::Reopen),
            _ => {}
        }
    }

    fn round(&mut self, random: &mut Random, keys: &[Vec<u8>]) {
        let mut unwritten = 0;
        let deletes = random.between(2, 9);
        for _ in 0..random.between(1, keys.len() as u64) {
            let key = keys[random.index(keys.len())].clone();
            if random.one_in(deletes) {
                self.deletions += 1;
                self.live.remove(&key);
                self.steps.push(Step::Delete(key));
            } else {
                let len = random.skewed(9) as usize;
                let value =
                    if random.one_in(2) { vec![random.below(256) as u8; len] } else { random.bytes(len) };
                self.overwrites += u64::from(self.live.insert(key.clone(), value.clone()).is_some());
                self.steps.push(Step::Put(key, value));
            }
            unwritten += 1;
            if unwritten == 300 || random.one_in(100) {
                self.steps.push(Step::Write);
                unwritten = 0;
            }
        }
        self.steps.push(Step::Write);
        let step = match random.below(7) {
            0 => Step::Compact(None),
            1 => {
                let mut ends = [0; 2].map(|_| keys[random.index(keys.len())].clone());
                ends.sort();
                let [low, high] = ends;
                Step::Compact(Some(if self.order == Order::Reversed { (high, low) } else { (low, high) }))
            }
            2 => {
                self.snapshots += 1;
                Step::Snapshot
            }
            3 | 4 => Step::Reopen,
            _ => return,
        };
        self.steps.push(step);
    }

    /// Makes the database in `folder`. `goleveldb` is the program `go/databases`.
    pub(super) fn write(&self, folder: &Path, goleveldb: Option<&Path>) -> Result<()> {
        match goleveldb.filter(|_| self.by_goleveldb) {
            Some(program) => self.write_with_goleveldb(folder, program),
            None => self.write_with_leveldb(folder),
        }
    }

    fn write_with_leveldb(&self, folder: &Path) -> Result<()> {
        let options = DatabaseOptions {
            write_buffer_size: self.write_buffer,
            max_file_size: 1 << 20,
            block_size: self.block_size,
            compression: if self.snappy { Compression::Snappy } else { Compression::None },
            filter: self.bits_per_key.map_or(Filter::None, Filter::BuiltIn),
            reverse_order: self.order == Order::Reversed,
            paranoid_checks: true,
            reuse_logs: false,
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
                Step::Snapshot => database.hold_snapshot(),
                Step::Reopen => {
                    drop(database);
                    database = Database::open(folder, &options)?;
                }
            }
        }
        Ok(())
    }

    pub(in super::super) fn write_with_goleveldb(&self, folder: &Path, program: &Path) -> Result<()> {
        let mut steps = String::new();
        for step in &self.steps {
            match step {
                Step::Put(key, value) => writeln!(steps, "put ={} ={}", hex(key), hex(value))?,
                Step::Delete(key) => writeln!(steps, "delete ={}", hex(key))?,
                Step::Write => writeln!(steps, "write")?,
                // goleveldb finds overlapping tables by bytes.Compare, whatever the comparer, and
                // so brings deleted keys back.
                Step::Compact(_) if self.order == Order::Reversed => {}
                Step::Compact(None) => writeln!(steps, "compact")?,
                Step::Compact(Some((a, b))) => writeln!(steps, "compact ={} ={}", hex(a), hex(b))?,
                Step::Snapshot => writeln!(steps, "snapshot")?,
                Step::Reopen => writeln!(steps, "reopen")?,
            }
        }
        let input = tempfile::NamedTempFile::new()?;
        std::fs::write(input.path(), steps)?;
        let output = Command::new(program)
            .args(["-bits", &self.bits_per_key.unwrap_or(0).to_string()])
            .args(["-base-lg", &self.base_lg.to_string()])
            .args(["-block-size", &self.block_size.to_string()])
            .args(["-table-size", &self.table_size.to_string()])
            .args(["-write-buffer", &self.write_buffer.to_string()])
            .arg(format!("-snappy={}", self.snappy))
            .args(["-order", self.order.name()])
            .arg(folder)
            .stdin(File::open(input.path())?)
            .output()?;
        ensure!(output.status.success(), "goleveldb: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }
}
