//! LevelDB's repair makes a database of tables of ours, which LevelDB then reads.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, ensure};
use filterblock::BloomFilterPolicy;
use filterblock::table::{TableBuilder, WriteOptions};

use crate::counting::CountingPolicy;
use crate::leveldb::{Database, DatabaseOptions, Filter, repair, tables_in};

/// The number of tables. LevelDB would compact more than three on level 0 into tables of its own.
const TABLES: u64 = 3;
/// The number of lookups between two openings of the database. LevelDB compacts a table after 100 lookups that
/// searched it in vain and went on to another table. Opening the database resets this count.
const LOOKUPS_PER_SESSION: usize = 90;
/// The `base_lg` of each table: LevelDB reads any.
const BASE_LG: [u8; TABLES as usize] = [11, 16, 63];

/// The counts of a run in which all answers were right, and the tables stayed unchanged.
#[derive(Debug, Default)]
pub struct Report {
    /// True if newer tables overwrite and delete keys of older ones.
    pub overlapping: bool,
    /// Different keys in the tables.
    pub keys: u64,
    /// Keys that are deleted at the end.
    pub deleted: u64,
    /// Keys in none of the tables, each looked up once.
    pub absent: u64,
    /// Number of times that the filters were asked.
    pub asked: u64,
    /// Number of times that the filters denied the key.
    pub denied: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.overlapping { "overlapping" } else { "disjoint" };
        writeln!(f, "{TABLES} {kind} tables of ours, taken in by LevelDB's repair, and unchanged")?;
        writeln!(
            f,
            "  {} keys looked up, {} of them deleted, and {} absent ones",
            self.keys, self.deleted, self.absent
        )?;
        write!(f, "  filters were asked {} times and denied {} keys", self.asked, self.denied)
    }
}

/// Writes `keys` different keys to three tables. Looks each key up through LevelDB, and as many absent keys.
pub fn run(keys: u64, overlapping: bool) -> Result<Report> {
    let model = Model::new(keys, overlapping);
    let folder = tempfile::tempdir()?;
    for (table, entries) in model.tables.iter().enumerate() {
        write(&folder.path().join(format!("{:06}.ldb", table + 5)), entries, BASE_LG[table])?;
    }
    let before = tables_in(folder.path())?;

    let policy = Arc::new(CountingPolicy::new(BloomFilterPolicy::new(10)));
    let options = DatabaseOptions {
        filter: Filter::Policy(policy.clone()),
        paranoid_checks: true,
        ..DatabaseOptions::default()
    };
    repair(folder.path(), &options)?;
    let report = Report { overlapping, ..model.check(folder.path(), &options, &policy)? };
    ensure!(tables_in(folder.path())? == before, "LevelDB changed the tables");
    ensure!(policy.created() == 0, "LevelDB made filters of its own");
    ensure!(
        report.denied * 100 >= report.absent * 95,
        "of {} absent keys, {} denied",
        report.absent,
        report.denied
    );
    Ok(report)
}

/// The entries of one table: sequence number and value by user key. `None` is a deletion.
type TableEntries = BTreeMap<Vec<u8>, (u64, Option<Vec<u8>>)>;

struct Model {
    tables: Vec<TableEntries>,
    state: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl Model {
    fn new(keys: u64, overlapping: bool) -> Self {
        let mut model = Self { tables: Vec::new(), state: BTreeMap::new() };
        let mut sequence = 0;
        for table in 0..TABLES {
            let holds = |number: u64| match (overlapping, table) {
                (false, _) => number * TABLES / keys == table,
                (true, 0) => true,
                (true, _) => number.is_multiple_of(table + 2) || number.is_multiple_of(table + 6),
            };
            let mut entries = TableEntries::new();
            for number in (0..keys).filter(|&number| holds(number)) {
                let deletes = overlapping && table > 0 && number.is_multiple_of(table + 6);
                let value = (!deletes).then(|| format!("{number} of table {table}").into_bytes());
                sequence += 1;
                entries.insert(key(number), (sequence, value.clone()));
                model.state.insert(key(number), value);
            }
            model.tables.push(entries);
        }
        model
    }

    fn check(
        &self,
        folder: &Path,
        options: &DatabaseOptions,
        policy: &CountingPolicy<BloomFilterPolicy>,
    ) -> Result<Report> {
        let mut report = Report::default();
        let state: Vec<_> = self.state.iter().collect();
        for session in state.chunks(LOOKUPS_PER_SESSION / 2) {
            let database = Database::open(folder, options)?;
            for (key, expected) in session {
                let found = database.get(key)?;
                ensure!(found == **expected, "{key:x?}: {found:x?} instead of {expected:x?}");
                report.keys += 1;
                report.deleted += u64::from(found.is_none());
                let absent = [&key[..], b"x"].concat();
                ensure!(database.get(&absent)?.is_none(), "{absent:x?} is found");
                report.absent += 1;
            }
        }
        report.asked = policy.asked();
        report.denied = policy.denied();
        Ok(report)
    }
}

fn key(number: u64) -> Vec<u8> {
    format!("key{number:09}").into_bytes()
}

fn write(path: &Path, entries: &TableEntries, base_lg: u8) -> Result<()> {
    let options = WriteOptions::default()
        .internal_keys(true)
        .filter_policy(BloomFilterPolicy::new(10))
        .base_lg(base_lg);
    let mut builder = TableBuilder::new(fs::File::create(path)?, options);
    for (user_key, (sequence, value)) in entries {
        let tag = sequence << 8 | u64::from(value.is_some());
        builder.add(&[&user_key[..], &tag.to_le_bytes()].concat(), value.as_deref().unwrap_or_default())?;
    }
    builder.finish()?.0.sync_all()?;
    Ok(())
}
