//! Compares what `filterblock query`, `scan` and `verify` find in random databases by LevelDB and goleveldb with what
//! LevelDB reads there. `verify` is asked again after the filters have been damaged.

mod damage;
pub(super) mod plan;
mod scan;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use filterblock::database::{DatabaseFiles, FileKind, Manifest};
use filterblock::policy::default_read_policies;
use filterblock::table::{self, ReadOptions};
use filterblock::{FilterBlockReader, FilterPolicy as _, LegacyBloomPolicy, LegacyHash};
use serde_json::Value;

use self::damage::Damage;
use self::plan::{Order, Plan};
use super::tool;
use crate::hex;
use crate::leveldb::{QueryScript, Table, TableOptions, tables_in};
use crate::random::Random;

/// Maximum number of tables of a database whose filters are damaged, and the number of times in each way.
const DAMAGED_TABLES: usize = 3;
const DAMAGES_OF_A_KIND: usize = 2;
/// Number of absent keys that are asked for alone.
const ABSENT: usize = 4;

/// The counts of a run in which no stored key was denied, and every damage that denies a stored key was found.
#[derive(Debug, Default)]
pub struct Report {
    /// The seed of all cases.
    pub seed: u64,
    /// Databases that LevelDB wrote.
    pub by_leveldb: u64,
    /// Databases that goleveldb wrote.
    pub by_goleveldb: u64,
    /// Databases of either program with a comparator other than bytewise.
    pub custom: u64,
    /// Databases with data in a log and in no table.
    pub with_log: u64,
    /// Databases on two levels or more.
    pub several_levels: u64,
    /// Live tables on each level.
    pub tables: [u64; 7],
    /// Writes to keys that existed before.
    pub overwrites: u64,
    /// Deletions.
    pub deletions: u64,
    /// Snapshots that were held, so that tables have several versions of a key.
    pub snapshots: u64,
    /// Entries of all tables, each found by `verify`.
    pub entries: u64,
    /// Entries that `scan` showed as LevelDB's iterator does.
    pub scanned: u64,
    /// Queries for keys stored in a table. None was denied.
    pub stored: u64,
    /// Queries for one key alone, which is in no table.
    pub absent: u64,
    /// Queries for absent keys that were answered with certainty: in no table.
    pub absent_denied: u64,
    /// For each kind of damage: how often it was done, denied a key, and was found.
    damages: BTreeMap<Damage, Counts>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    done: u64,
    denying: u64,
    found: u64,
    denied_keys: u64,
    /// Damaged blocks that deny a key by goleveldb's hash, and none by the hash that LevelDB up to 1.17 used under
    /// the same name. Nothing distinguishes such a table from a sound one of that LevelDB. These blocks are not
    /// counted in `denying`.
    ambiguous: u64,
}

impl Report {
    /// The number of filter blocks that were damaged.
    pub fn damages(&self) -> u64 {
        self.damages.values().map(|counts| counts.done).sum()
    }

    /// The number of damaged blocks that deny a stored key, by LevelDB's own reader.
    pub fn denying(&self) -> u64 {
        self.damages.values().map(|counts| counts.denying).sum()
    }

    /// The number of damaged blocks for which `verify` found as many denied keys as LevelDB's reader, and at least
    /// one.
    pub fn found(&self) -> u64 {
        self.damages.values().map(|counts| counts.found).sum()
    }

    /// The number of further cases in which damage turns a table of goleveldb's into one that
    /// LevelDB up to 1.17 might have written: one name, two hashes.
    pub fn ambiguous(&self) -> u64 {
        self.damages.values().map(|counts| counts.ambiguous).sum()
    }

    /// The number of kinds of damage that occurred.
    pub fn kinds(&self) -> usize {
        self.damages.len()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} databases by LevelDB and {} by goleveldb, seed {}: {} with a comparator of their own, {} with data in a log only, {} on \
             several levels",
            self.by_leveldb, self.by_goleveldb, self.seed, self.custom, self.with_log, self.several_levels
        )?;
        writeln!(f, "  live tables on levels 0 to 6: {:?}", self.tables)?;
        writeln!(
            f,
            "  {} overwrites, {} deletions, {} snapshots held",
            self.overwrites, self.deletions, self.snapshots
        )?;
        writeln!(f, "  verify: {} entries, no problem", self.entries)?;
        writeln!(f, "  scan: {} entries, those of LevelDB's iterator", self.scanned)?;
        writeln!(
            f,
            "  query: {} stored keys, none denied; {} of {} keys that are not stored denied",
            self.stored, self.absent_denied, self.absent
        )?;
        write!(f, "  damage to filters, checksums put right: done, denying stored keys, found by verify")?;
        for (damage, counts) in &self.damages {
            let Counts { done, denying, found, denied_keys, .. } = counts;
            write!(f, "\n    {:<22} {done:5} {denying:5} {found:5} ({denied_keys} keys)", damage.label())?;
        }
        write!(f, "\n    {:<22} {:5} {:5} {:5}", "all", self.damages(), self.denying(), self.found())?;
        write!(
            f,
            "\n    besides, as LevelDB up to 1.17 would have written it, by another hash: {}",
            self.ambiguous()
        )
    }
}

/// Makes `databases` databases and checks each. `goleveldb` is the program `go/databases`. If it is given, goleveldb
/// makes every second database.
///
/// LevelDB's own `Table` shows what is stored, and its `FilterBlockReader` what a damaged filter denies. goleveldb
/// reads and hashes in the same way.
pub fn run(databases: u64, seed: u64, goleveldb: Option<&Path>) -> Result<Report> {
    let mut report = Report { seed, ..Report::default() };
    for case in 0..databases {
        let mut random = Random::for_case(seed, case);
        let plan = Plan::new(&mut random, goleveldb.is_some() && case % 2 == 1);
        let folder = tempfile::tempdir()?;
        let checked = plan
            .write(folder.path(), goleveldb)
            .and_then(|()| Case::new(folder.path(), &plan)?.check(&mut random, &mut report));
        if let Err(error) = checked {
            let kept = folder.keep();
            return Err(error.context(format!("seed {seed}, database {case}, kept in {}", kept.display())));
        }
    }
    Ok(report)
}

/// A database, and the contents of its tables as LevelDB reads them.
struct Case<'a> {
    folder: &'a Path,
    plan: &'a Plan,
    tables: BTreeMap<String, Stored>,
    /// True if the newest version of some key is in no live table, or if the newest log is not
    /// empty.
    has_log: bool,
}

struct Stored {
    file: Vec<u8>,
    is_live: bool,
    entries: u64,
    /// Each user key, with the data blocks that have versions of it.
    keys: BTreeMap<Vec<u8>, Vec<u64>>,
}

impl<'a> Case<'a> {
    fn new(folder: &'a Path, plan: &'a Plan) -> Result<Self> {
        let mut case = Self { folder, plan, tables: BTreeMap::new(), has_log: false };
        let live: BTreeSet<u64> = Manifest::read(folder)?.tables().iter().map(|table| table.number).collect();
        // By user key, in the live tables: the newest sequence number, and whether its entry is a value.
        let mut newest: BTreeMap<Vec<u8>, (u64, bool)> = BTreeMap::new();
        for (name, file) in tables_in(folder)? {
            let number: u64 = name.trim_end_matches(".ldb").parse()?;
            let is_live = live.contains(&number);
            if !is_live && !file.ends_with(&0xdb47_7524_8b80_fb57_u64.to_le_bytes()) {
                // Closing a database leaves behind the table that was being written.
                continue;
            }
            let stored = Stored::new(file, is_live).with_context(|| name.clone())?;
            // Obsolete tables may hold keys that have been deleted since.
            for (key, _) in stored.raw_entries()?.iter().filter(|_| is_live) {
                let (user_key, tag) = split(key)?;
                let entry = newest.entry(user_key.to_vec()).or_default();
                *entry = (*entry).max((tag >> 8, tag & 0xff == 1));
            }
            case.tables.insert(name, stored);
        }
        let in_tables = newest.iter().filter(|(_, (_, is_value))| *is_value).map(|(key, _)| key);
        let log_is_empty = !holds_log(folder)?;
        case.has_log = !in_tables.eq(plan.live.keys());
        ensure!(
            !(case.has_log && log_is_empty),
            "the log is empty, and the tables hold other keys than were written"
        );
        case.has_log |= !log_is_empty;
        Ok(case)
    }

    fn check(&self, random: &mut Random, report: &mut Report) -> Result<()> {
        self.count(report)?;
        self.verify(report)?;
        report.scanned += scan::check(self.folder, self.plan)?;
        self.query(random, report)?;
        self.damage(random, report)
    }

    fn count(&self, report: &mut Report) -> Result<()> {
        let (mut levels, manifest) = (0, Manifest::read(self.folder)?);
        for (level, tables) in report.tables.iter_mut().enumerate() {
            let here = manifest.level(level as u8).len() as u64;
            *tables += here;
            levels += u64::from(here > 0);
        }
        let plan = self.plan;
        report.by_goleveldb += u64::from(plan.by_goleveldb);
        report.by_leveldb += u64::from(!plan.by_goleveldb);
        report.custom += u64::from(plan.order != Order::Bytewise);
        report.with_log += u64::from(self.has_log);
        report.several_levels += u64::from(levels > 1);
        report.overwrites += plan.overwrites;
        report.deletions += plan.deletions;
        report.snapshots += plan.snapshots;
        Ok(())
    }

    /// Checks that `verify` finds no fault and all entries.
    fn verify(&self, report: &mut Report) -> Result<()> {
        let outcome = tool::run(&arguments(&["verify", "--json", "--jobs", "1"], self.folder));
        ensure!(outcome.status == 0, "verify of a sound database: {outcome:?}");
        let mut keys = BTreeMap::new();
        for line in outcome.json()?.into_iter().filter(|line| line["object"] == "table") {
            ensure!(line["verdict"] == "fine", "verify: {line}");
            keys.insert(file_name(&line)?, line["entries"].as_u64().context("entries")?);
        }
        for (name, stored) in &self.tables {
            let found = keys.get(name);
            ensure!(found == Some(&stored.entries), "{name}: {found:?} of {} entries", stored.entries);
            report.entries += stored.entries;
        }
        Ok(())
    }

    /// Checks that `query` denies no stored key, be it in a table or a log. Counts the absent keys that it denies.
    fn query(&self, random: &mut Random, report: &mut Report) -> Result<()> {
        let mut all: BTreeSet<&[u8]> = self.plan.live.keys().map(Vec::as_slice).collect();
        all.extend(self.tables.values().flat_map(|stored| stored.keys.keys().map(Vec::as_slice)));
        let list = tempfile::NamedTempFile::new()?;
        let lines: String = all.iter().map(|key| hex(key) + "\n").collect();
        fs::write(list.path(), lines)?;
        let mut arguments_of_all = arguments(&["query", "--json", "--hex", "--keys-from"], list.path());
        arguments_of_all.push(self.folder.into());
        let mut answers: BTreeMap<(String, String), Value> = BTreeMap::new();
        if !all.is_empty() {
            let outcome = tool::run(&arguments_of_all);
            for line in outcome.json()?.into_iter().filter(|line| line["object"] == "answer") {
                let key = line["key_hex"].as_str().context("key_hex")?.to_owned();
                answers.insert((file_name(&line)?, key), line);
            }
        }
        // A folder stands for the tables that the database uses.
        for (name, stored) in self.tables.iter().filter(|(_, stored)| stored.is_live) {
            for (key, blocks) in &stored.keys {
                let answer = answers.get(&(name.clone(), hex(key))).context("an answer for each key")?;
                ensure!(answer["may_match"] == true, "{name}: a stored key is denied: {answer}");
                let named: Vec<u64> =
                    answer["blocks"].as_array().context("blocks")?.iter().filter_map(Value::as_u64).collect();
                // The index leads to the newest version.
                let sought = if answer["by_index"] == true { &blocks[..1] } else { &blocks[..] };
                let is_there = sought.iter().all(|block| named.contains(block));
                ensure!(is_there, "{name}: the key is in the data blocks at {blocks:?}, not there: {answer}");
                report.stored += 1;
            }
        }
        let found = answers.iter().filter(|(_, answer)| answer["may_match"] == true);
        let found: BTreeSet<&str> = found.map(|((_, key), _)| key.as_str()).collect();
        for key in self.plan.live.keys().map(|key| hex(key)) {
            ensure!(found.contains(&*key), "a live key is denied by all tables and logs: {key}");
        }
        for _ in 0..ABSENT {
            let key = random.bytes(24);
            if all.contains(&key[..]) {
                continue;
            }
            let mut arguments = arguments(&["query", "--hex"], self.folder);
            arguments.push(hex(&key).into());
            let outcome = tool::run(&arguments);
            ensure!(outcome.status < 2, "query of a sound database: {outcome:?}");
            report.absent += 1;
            report.absent_denied += u64::from(outcome.status == 1);
        }
        Ok(())
    }

    /// Checks that `verify` finds every damage that denies a stored key.
    fn damage(&self, random: &mut Random, report: &mut Report) -> Result<()> {
        let mut names: Vec<&String> =
            self.tables.iter().filter(|(_, stored)| stored.is_live).map(|(name, _)| name).collect();
        for _ in 0..DAMAGED_TABLES.min(names.len()) {
            let name = names.swap_remove(random.index(names.len()));
            let stored = &self.tables[name];
            let path = self.folder.join(name);
            for damage in Damage::ALL.repeat(DAMAGES_OF_A_KIND) {
                let Some(Damaged { file, denied, by_signed }) = stored.damaged(damage, random)? else {
                    continue;
                };
                fs::write(&path, &file)?;
                let outcome = tool::run(&arguments(&["verify", "--json", "--jobs", "1"], &path));
                fs::write(&path, &stored.file)?;
                let lines = outcome.json()?;
                let [line] = &lines[..] else { anyhow::bail!("one line: {outcome:?}") };
                let counts = report.damages.entry(damage).or_default();
                counts.done += 1;
                // Of the two hashes, the tool assumes the one that fits better.
                let denied = match by_signed {
                    Some(by_signed) if self.plan.by_goleveldb => {
                        counts.ambiguous += u64::from(denied > 0 && by_signed == 0);
                        denied.min(by_signed)
                    }
                    _ => denied,
                };
                counts.denying += u64::from(denied > 0);
                counts.denied_keys += denied;
                let found = line["problems"].as_array().context("problems")?;
                let is_found = found.iter().any(|problem| problem["code"] == "false-negative");
                counts.found += u64::from(is_found);
                ensure!(
                    is_found == (denied > 0)
                        && line["false_negatives"] == denied
                        && (denied == 0 || outcome.status == 1),
                    "{name}, {}: LevelDB denies {denied} entries; verify: {outcome:?}",
                    damage.label()
                );
            }
        }
        Ok(())
    }
}

struct Damaged {
    file: Vec<u8>,
    /// Number of entries that the damaged filters deny, by LevelDB's reader.
    denied: u64,
    /// The number of entries denied by the hash of LevelDB up to 1.17. `None` if that LevelDB did not use the
    /// filters' name.
    by_signed: Option<u64>,
}

impl Stored {
    fn new(file: Vec<u8>, is_live: bool) -> Result<Self> {
        let mut stored = Self { file, is_live, entries: 0, keys: BTreeMap::new() };
        let read = table::Table::open(&stored.file[..], &ReadOptions::default())?;
        let mut keys: BTreeMap<Vec<u8>, Vec<u64>> = BTreeMap::new();
        for handle in read.data_blocks() {
            let handle = handle?;
            let mut entries = read.block_cursor(handle)?;
            while entries.next()? {
                let blocks = keys.entry(split(entries.key())?.0.to_vec()).or_default();
                if blocks.last() != Some(&handle.offset) {
                    blocks.push(handle.offset);
                }
            }
        }
        stored.keys = keys;
        // LevelDB finds the same keys.
        let raw = stored.raw_entries()?;
        stored.entries = raw.len() as u64;
        let by_leveldb: BTreeSet<&[u8]> =
            raw.iter().map(|(key, _)| Ok(split(key)?.0)).collect::<Result<_>>()?;
        ensure!(by_leveldb.iter().copied().eq(stored.keys.keys().map(Vec::as_slice)), "keys by LevelDB");
        Ok(stored)
    }

    /// Returns all entries, as LevelDB reads them.
    fn raw_entries(&self) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let options = TableOptions { internal_keys: true, ..TableOptions::default() };
        Table::open(&options, &self.file)?.entries()
    }

    fn damaged(&self, damage: Damage, random: &mut Random) -> Result<Option<Damaged>> {
        let table = table::Table::open(
            &self.file[..],
            &ReadOptions::default().filter_policies(default_read_policies()),
        )?;
        let (Some(filter), Some(handle)) = (table.filter(), table.filter_handle()) else { return Ok(None) };
        let Some(block) = damage.apply(random, filter.contents()) else { return Ok(None) };
        let mut file = self.file.clone();
        let start = usize::try_from(handle.offset)?;
        let end = start + block.len();
        file[start..end].copy_from_slice(&block);
        // The checksum covers the contents and the compression type, and is masked as in LevelDB's
        // `util/crc32c.h`.
        let crc = crc32c::crc32c(&file[start..=end]);
        let masked = crc.rotate_right(15).wrapping_add(0xa282_ead8);
        file[end + 1..end + 5].copy_from_slice(&masked.to_le_bytes());

        let legacy = LegacyBloomPolicy::new(10).with_hash(LegacyHash::Signed);
        let mut by_signed = (filter.policy().name() == legacy.name()).then_some(0);
        let signed = FilterBlockReader::new(legacy, &block[..]);
        let mut script = QueryScript::new();
        script.block(&block);
        for data in table.data_blocks() {
            let data = data?;
            let mut entries = table.block_cursor(data)?;
            while entries.next()? {
                let (user_key, _) = split(entries.key())?;
                script.query(data.offset, user_key);
                if let Some(denied) = &mut by_signed {
                    *denied += u64::from(!signed.key_may_match(data.offset, user_key));
                }
            }
        }
        let denied = script.answers().iter().filter(|answer| !answer.may_match).count() as u64;
        Ok(Some(Damaged { file, denied, by_signed }))
    }
}

/// Splits off the sequence number and type after the user key.
fn split(internal_key: &[u8]) -> Result<(&[u8], u64)> {
    let (user_key, tag) = internal_key.split_last_chunk::<8>().context("an internal key")?;
    Ok((user_key, u64::from_le_bytes(*tag)))
}

/// Returns true if the newest log is not empty.
fn holds_log(folder: &Path) -> Result<bool> {
    let files = DatabaseFiles::list(folder)?;
    Ok(files.of_kind(FileKind::Log).last().is_some_and(|log| log.len > 0))
}

fn arguments(words: &[&str], path: &Path) -> Vec<OsString> {
    words.iter().map(OsString::from).chain([path.into()]).collect()
}

fn file_name(line: &Value) -> Result<String> {
    let path = Path::new(line["path"].as_str().context("path")?);
    Ok(path.file_name().context("a file")?.to_string_lossy().into_owned())
}
