//! Compares LevelDB databases that use our Bloom policy, under the built-in name, with databases that use the
//! built-in policy.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, ensure};
use filterblock::BloomFilterPolicy;

use crate::counting::CountingPolicy;
use crate::leveldb::{
    Compression, Database, DatabaseOptions, Filter, Table, TableOptions, WriteBatch, build_table, tables_in,
};
use crate::random::Random;

const BITS_PER_KEY: u32 = 10;
/// The most keys of a round. They are so few that a round never starts a compaction by itself: both databases then do
/// the same in the same order.
const MAX_KEYS_PER_ROUND: u64 = 50_000;
const MIN_ROUNDS: u64 = 4;

/// The counts of a comparison without differences.
#[derive(Debug, Default)]
pub struct Report {
    /// The seed of the workload.
    pub seed: u64,
    /// Different keys that were written.
    pub keys: u64,
    /// Writes to keys that existed before.
    pub overwrites: u64,
    /// Deletions.
    pub deletions: u64,
    /// Tables in the databases that were compacted on demand, equal file by file.
    pub equal_tables: u64,
    /// Tables in the database that LevelDB compacted by itself. They equal what LevelDB's own
    /// policy makes of their entries.
    pub rebuilt_tables: u64,
    /// Filters that our policy made.
    pub filters_made: u64,
    /// Keys looked up in a database made with the other policy.
    pub lookups: u64,
    /// Number of times that our policy was asked about a key.
    pub asked: u64,
    /// Number of times that our policy denied the key.
    pub denied: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "inside LevelDB, seed {}: all equal", self.seed)?;
        writeln!(f, "  {} keys, {} overwrites, {} deletions", self.keys, self.overwrites, self.deletions)?;
        writeln!(
            f,
            "  {} tables equal, byte for byte, to those made with the built-in policy",
            self.equal_tables
        )?;
        writeln!(
            f,
            "  {} tables equal to what the built-in policy makes of their entries",
            self.rebuilt_tables
        )?;
        writeln!(f, "  {} filters made by our policy", self.filters_made)?;
        writeln!(f, "  {} keys looked up in databases of the other policy, all answers right", self.lookups)?;
        write!(f, "  our policy was asked {} times and denied {} keys", self.asked, self.denied)
    }
}

/// Writes `keys` different keys, overwrites and deletes some, and compares.
pub fn run(keys: u64, seed: u64) -> Result<Report> {
    let mut report = Report { seed, keys, ..Report::default() };
    let built_in = DatabaseOptions { filter: Filter::BuiltIn(BITS_PER_KEY), ..options() };
    let policy = Arc::new(CountingPolicy::new(BloomFilterPolicy::new(BITS_PER_KEY)));
    let ours = DatabaseOptions { filter: Filter::Policy(policy.clone()), ..options() };
    let (folder_built_in, folder_ours) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let model = Model::new(keys, seed, &mut report);

    model.write(folder_built_in.path(), &built_in, true)?;
    model.write(folder_ours.path(), &ours, true)?;
    let theirs = tables_in(folder_built_in.path())?;
    ensure!(theirs.len() > 1, "{} tables are too few to compare", theirs.len());
    ensure!(theirs == tables_in(folder_ours.path())?, "seed {seed}: tables differ between the policies");
    report.equal_tables = theirs.len() as u64;

    model.check(folder_built_in.path(), &ours, &mut report)?;
    model.check(folder_ours.path(), &built_in, &mut report)?;
    report.asked = policy.asked();
    report.denied = policy.denied();
    ensure!(report.denied > keys / 4, "the filters denied only {} keys", report.denied);

    let natural = DatabaseOptions { write_buffer_size: 64 << 10, ..ours };
    let folder = tempfile::tempdir()?;
    model.write(folder.path(), &natural, false)?;
    for (name, table) in tables_in(folder.path())? {
        if !is_whole(&table) {
            continue;
        }
        ensure!(rebuild(&table)? == table, "seed {seed}: {name} differs from what the built-in policy makes");
        report.rebuilt_tables += 1;
    }
    model.check(folder.path(), &built_in, &mut report)?;
    report.filters_made = policy.created();
    Ok(report)
}

/// Returns options with memory for a whole round, and with smaller files, so that there are more tables.
fn options() -> DatabaseOptions {
    DatabaseOptions { write_buffer_size: 64 << 20, max_file_size: 1 << 20, ..DatabaseOptions::default() }
}

/// Returns true if the table has its footer. Closing a database leaves behind the table that was
/// being written.
fn is_whole(table: &[u8]) -> bool {
    table.ends_with(&0xdb47_7524_8b80_fb57_u64.to_le_bytes())
}

/// Builds a table of the same entries, with filters by the built-in policy.
fn rebuild(table: &[u8]) -> Result<Vec<u8>> {
    let options = TableOptions {
        internal_keys: true,
        bits_per_key: Some(BITS_PER_KEY),
        compression: Compression::Snappy,
        ..TableOptions::default()
    };
    let entries = Table::open(&options, table)?.entries()?;
    build_table(&options, &entries.into_iter().collect())
}

/// The writes, in rounds, and the expected state afterwards.
struct Model {
    /// The number of each key of a round, and the round that its value names. `None`: the key is deleted.
    rounds: Vec<Vec<(u64, Option<u64>)>>,
    /// The state after the last round.
    state: BTreeMap<u64, Option<u64>>,
}

impl Model {
    fn new(keys: u64, seed: u64, report: &mut Report) -> Self {
        let mut random = Random::new(seed);
        let mut model = Self { rounds: Vec::new(), state: BTreeMap::new() };
        let keys_per_round = keys.div_ceil(MIN_ROUNDS).min(MAX_KEYS_PER_ROUND);
        let mut written = 0;
        while written < keys {
            let round = model.rounds.len() as u64;
            let mut writes = Vec::new();
            let next = keys.min(written + keys_per_round);
            for key in written..next {
                writes.push((key, Some(round)));
                if random.one_in(5) {
                    writes.push((random.below(key + 1), Some(round)));
                    report.overwrites += 1;
                }
                if random.one_in(10) {
                    writes.push((random.below(key + 1), None));
                    report.deletions += 1;
                }
            }
            model.state.extend(writes.iter().copied());
            model.rounds.push(writes);
            written = next;
        }
        model
    }

    /// Writes all rounds. If `compact` is true, compacts everything after each round; otherwise LevelDB compacts when
    /// it wants to.
    fn write(&self, folder: &Path, options: &DatabaseOptions, compact: bool) -> Result<()> {
        let mut database = Database::open(folder, options)?;
        let mut batch = WriteBatch::new();
        for round in &self.rounds {
            for writes in round.chunks(1000) {
                batch.clear();
                for &(number, round) in writes {
                    match round {
                        Some(round) => batch.put(&key(number), &value(number, round)),
                        None => batch.delete(&key(number)),
                    }
                }
                database.write(&batch)?;
            }
            if compact {
                database.compact(None);
            }
        }
        Ok(())
    }

    /// Looks up every key, including deleted keys, and keys that were never written.
    fn check(&self, folder: &Path, options: &DatabaseOptions, report: &mut Report) -> Result<()> {
        let database = Database::open(folder, options)?;
        for (&number, &round) in &self.state {
            let expected = round.map(|round| value(number, round));
            let found = database.get(&key(number))?;
            ensure!(found == expected, "key {number}: {found:?} instead of {expected:?}");
            let mut absent = key(number);
            absent.push(b'x');
            ensure!(database.get(&absent)?.is_none(), "a key beside key {number} that was never written");
            report.lookups += 2;
        }
        Ok(())
    }
}

/// Returns the key of a number. Keys of neighbouring numbers lie far apart, so that rounds overlap.
fn key(number: u64) -> Vec<u8> {
    format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).into_bytes()
}

fn value(number: u64, round: u64) -> Vec<u8> {
    format!("{number} in round {round}").into_bytes()
}
