//! Compares the false-positive rate that `filterblock inspect` shows with LevelDB's.
//!
//! LevelDB answers for random keys. It is asked for as many keys in each data block as the block has entries: absent
//! keys that are distributed like the stored ones come to a block as often. Keys and their lengths are drawn
//! independently of the program.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use filterblock::table::Table;
use serde_json::Value;

use super::tool;
use crate::leveldb::{Compression, Entries, QueryScript, TableOptions, build_table};
use crate::random::Random;

/// If LevelDB's false-positive rate is below this, the program's is not compared with it.
const LEAST_RATE: f64 = 0.001;
/// The largest factor between the two false-positive rates.
const FACTOR: f64 = 1.3;
/// The number of keys asked for at once.
const BATCH: u64 = 100_000;

/// A table's false-positive rates: those that the program shows, and LevelDB's.
#[derive(Debug)]
struct Compared {
    leveldb: f64,
    random: f64,
    estimated: f64,
    is_within: bool,
}

/// The counts and largest factors of a comparison. For each table in `held`, the rate that the program measured was
/// within a factor of 1.3 of LevelDB's.
#[derive(Debug)]
pub struct Report {
    /// The seed of the random tables.
    pub seed: u64,
    /// Random keys for each table.
    pub keys: u64,
    /// Tables whose false-positive rate was measured.
    pub tables: u64,
    /// Tables with a rate of 0.1 % or more, which was compared with the program's.
    pub held: u64,
    /// The largest factor between the program's rate and LevelDB's.
    pub worst: f64,
    /// Tables for which LevelDB's rate lies in the program's interval.
    pub within: u64,
    /// Of the tables in `held`, those for which the estimate by the bits set is off by more than the factor.
    pub misjudged: u64,
    /// The largest factor by which such an estimate is off.
    pub worst_estimate: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "rates of {} tables, seed {}, {} keys each", self.tables, self.seed, self.keys)?;
        writeln!(f, "  {} above 0.1 %: off by a factor of {:.2} at most", self.held, self.worst)?;
        writeln!(f, "  {} with LevelDB's rate in the interval of 95 %", self.within)?;
        write!(
            f,
            "  estimates by the bits set: {} off by more than {FACTOR}, at most by {:.1}",
            self.misjudged, self.worst_estimate
        )
    }
}

/// Compares the false-positive rates that `filterblock inspect` shows with LevelDB's, for the tables below `folder`
/// and for `tables` random ones.
///
/// # Errors
///
/// If LevelDB's rate for a table is 0.1 % or more, and the program's is not within a factor of 1.3 of it.
pub fn run(folder: &Path, tables: u64, keys: u64, seed: u64) -> Result<Report> {
    let mut report =
        Report { seed, keys, tables: 0, held: 0, worst: 1.0, within: 0, misjudged: 0, worst_estimate: 1.0 };
    compare(&["-r".into(), folder.into()], keys, &mut report)?;
    let made = tempfile::tempdir()?;
    for case in 0..tables {
        let path = made.path().join(format!("{case:06}.ldb"));
        fs::write(&path, random_table(&mut Random::for_case(seed, case))?)?;
    }
    compare(&[made.path().into()], keys, &mut report)?;
    Ok(report)
}

/// Compares what the program says of these paths with LevelDB.
fn compare(paths: &[OsString], keys: u64, report: &mut Report) -> Result<()> {
    let arguments = ["inspect".into(), "--json".into()].into_iter().chain(paths.iter().cloned());
    let outcome = tool::run(&arguments.collect::<Vec<_>>());
    for (number, table) in (0..).zip(outcome.json()?) {
        let Some(compared) = one(&table, keys, report.seed ^ number)? else { continue };
        report.tables += 1;
        report.within += u64::from(compared.is_within);
        if compared.leveldb < LEAST_RATE {
            continue;
        }
        report.held += 1;
        let factor = factor(compared.random, compared.leveldb);
        ensure!(factor <= FACTOR, "{}: found {compared:?}", table["path"]);
        report.worst = report.worst.max(factor);
        let by_bits = self::factor(compared.estimated, compared.leveldb);
        report.misjudged += u64::from(by_bits > FACTOR);
        report.worst_estimate = report.worst_estimate.max(by_bits);
    }
    Ok(())
}

fn factor(a: f64, b: f64) -> f64 {
    (a / b).max(b / a)
}

/// Compares one table. `None` if it has no filters that LevelDB reads, or is damaged in a way that rules out the
/// comparison.
fn one(table: &Value, keys: u64, seed: u64) -> Result<Option<Compared>> {
    let filter = &table["filter"];
    let Some(random) = filter["random_fpr"]["rate"].as_f64() else { return Ok(None) };
    // LevelDB's hash of today is the unsigned one, and a random hash is as good as another.
    if !filter["policy"].as_str().is_some_and(|policy| policy.starts_with("leveldb.")) {
        return Ok(None);
    }
    let path = table["path"].as_str().context("a path")?;
    let opened = Table::open_path(path, &filterblock::table::ReadOptions::default())?;
    let filters = opened.filter().with_context(|| format!("{path}: filters"))?;
    if filters.contents().last().is_none_or(|&base_lg| base_lg > 63) {
        // LevelDB's behaviour is undefined for this `base_lg`.
        return Ok(None);
    }
    let mut blocks = BTreeMap::new();
    for handle in opened.data_blocks().filter_map(Result::ok) {
        // A block that cannot be read has no number of entries.
        let Ok(mut entries) = opened.block_cursor(handle) else { return Ok(None) };
        let mut count = 0_u64;
        while entries.next()? {
            count += 1;
        }
        blocks.insert(handle.offset, count);
    }
    if blocks.len() as u64 != table["data_blocks"].as_u64().context("data blocks")? {
        // The index is damaged.
        return Ok(None);
    }
    let leveldb = leveldb_rate(filters.contents(), &blocks, keys, &mut Random::new(seed));
    let [low, high] = ["low", "high"].map(|end| filter["random_fpr"][end].as_f64().unwrap_or(f64::NAN));
    Ok(Some(Compared {
        leveldb,
        random,
        estimated: filter["estimated_fpr"].as_f64().unwrap_or(f64::NAN),
        is_within: low <= leveldb && leveldb <= high,
    }))
}

/// Returns the share of random keys that LevelDB's filters let pass. At least `keys` keys are asked for. `blocks`:
/// the number of entries of the data block at each offset.
fn leveldb_rate(contents: &[u8], blocks: &BTreeMap<u64, u64>, keys: u64, random: &mut Random) -> f64 {
    let mut passed = 0;
    let mut asked = 0;
    let mut key = Vec::new();
    let mut script = QueryScript::new();
    let places = blocks.iter().flat_map(|(&offset, &entries)| (0..entries).map(move |_| offset));
    let entries: u64 = blocks.values().sum();
    let mut places = places.cycle();
    while asked < keys {
        script.clear();
        script.block(contents);
        let batch = (keys - asked).clamp(1, BATCH).next_multiple_of(entries.max(1));
        for offset in places.by_ref().take(batch as usize) {
            key.clear();
            let len = random.between(8, 24) as usize;
            random.fill(len, &mut key);
            script.query(offset, &key);
        }
        passed += script.answers().iter().filter(|answer| answer.may_match).count();
        asked += batch;
    }
    passed as f64 / asked as f64
}

/// Has LevelDB write a table: 1 to 5,000 keys, blocks of 256 bytes to 64 KiB, 1 to 30 bits a key.
fn random_table(random: &mut Random) -> Result<Vec<u8>> {
    let options = TableOptions {
        block_size: 256 << random.below(9),
        compression: if random.one_in(2) { Compression::Snappy } else { Compression::None },
        bits_per_key: Some(random.between(1, 30) as u32),
        internal_keys: random.one_in(3),
        ..TableOptions::default()
    };
    let count = (5000_f64.powf(random.below(1 << 20) as f64 / f64::from((1 << 20) - 1))).round() as u64;
    let value_len = 1 << random.below(12);
    let style = random.below(3);
    let keys: BTreeSet<Vec<u8>> = (0..count)
        .map(|number| match style {
            0 => format!("key{number:08}").into_bytes(),
            1 => random.next_u64().to_be_bytes().to_vec(),
            _ => format!("user/{}/{number}", random.below(100)).into_bytes(),
        })
        .collect();
    let mut entries = Entries::new();
    for mut key in keys {
        if options.internal_keys {
            key.extend((7_u64 << 8 | 1).to_le_bytes());
        }
        let value_len = random.between(1, value_len) as usize;
        entries.push(&key, &random.bytes(value_len));
    }
    build_table(&options, &entries)
}
