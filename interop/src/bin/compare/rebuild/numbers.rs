//! Measures what a rebuild saves LevelDB, and what it costs.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use filterblock_interop::leveldb::{Store, StoreFilter, StoreOptions};
use filterblock_interop::random::Random;

use super::cost::{Cost, measure};
use super::data;

/// The number of keys to ask for.
const LOOKUPS: u64 = 100_000;
/// The policy of the filters that the database is given.
const POLICY: &str = "leveldb.BuiltinBloomFilter2";

/// Writes a database without filters, and measures what filters save and cost.
pub(crate) fn run(folder: &Path, bytes: u64, value: usize, rounds: usize) -> Result<()> {
    let folder = tempfile::tempdir_in(folder)?;
    let (database, scratch) = (folder.path().join("database"), folder.path().join("scratch"));
    let keys = data::write(&database, bytes, value)?;
    let tables = data::tables(&database)?;
    let size: u64 = tables.iter().map(|path| Ok(path.metadata()?.len())).sum::<Result<u64>>()?;
    println!("{keys} keys, {} tables without filters, {size} bytes\n", tables.len());
    block_reads(&database, &scratch, keys)?;
    if rounds == 0 {
        return Ok(());
    }
    costs(&database, &scratch, rounds, size)
}

/// Prints the data blocks read for each absent and each stored key, before and after a rebuild.
fn block_reads(database: &Path, scratch: &Path, keys: u64) -> Result<()> {
    println!(
        "| LevelDB, no block cache | data blocks read for an absent key | for a stored key |\n|---|---|---|"
    );
    data::copy(database, scratch)?;
    let before = (reads(scratch, StoreFilter::None, keys, 1)?, reads(scratch, StoreFilter::None, keys, 0)?);
    println!("| without filters | {:.4} | {:.4} |", before.0, before.1);
    measure(&["tool", "rebuild", "--in-place", "--no-undo", "--policy", POLICY], scratch)?;
    let filter = StoreFilter::BuiltIn(10);
    let after = (reads(scratch, filter.clone(), keys, 1)?, reads(scratch, filter, keys, 0)?);
    println!("| rebuilt, 10 bits a key | {:.4} | {:.4} |\n", after.0, after.1);
    fs::remove_dir_all(scratch)?;
    Ok(())
}

/// Returns the mean number of data blocks read for each `Get`, of keys that are stored (`odd` is 0) or absent (1).
/// All tables are open before that, and no compaction changes them.
fn reads(folder: &Path, filter: StoreFilter, keys: u64, odd: u64) -> Result<f64> {
    let options = StoreOptions {
        filter,
        without_block_cache: true,
        must_exist: true,
        max_open_files: Some(100_000),
        hold_background: true,
        ..StoreOptions::default()
    };
    let store = Store::open(folder, &options)?;
    store.scan(|_, _| true)?;
    let before = store.counts();
    let tables = data::tables(folder)?.len() as u64;
    ensure!(before.opened == tables, "{} of {tables} tables are open", before.opened);
    let mut random = Random::new(7);
    for _ in 0..LOOKUPS {
        let key = data::key(2 * random.below(keys) + odd);
        ensure!(store.get(&key)?.is_some() == (odd == 0), "another answer than expected");
    }
    let after = store.counts();
    ensure!(after.opened == before.opened, "a table was opened: its index is no data block");
    Ok((after.reads - before.reads) as f64 / LOOKUPS as f64)
}

/// Prints processor time, time by the clock and memory of a compaction by LevelDB, of several rebuilds, and of a
/// CRC-32C of the tables. They take turns.
fn costs(database: &Path, scratch: &Path, rounds: usize, size: u64) -> Result<()> {
    const REBUILD: [&str; 5] = ["tool", "rebuild", "--in-place", "--no-undo", "--no-verify"];
    let with = |options: &[&'static str]| [&REBUILD[..], options].concat();
    let filtered = |options: &[&'static str]| with(&[&["--policy", POLICY], options].concat());
    let runs: [(&str, Vec<&str>); 7] = [
        ("LevelDB, CompactRange, 10 bits", vec!["compact"]),
        ("rebuild --jobs 1, 10 bits", filtered(&["--jobs", "1"])),
        ("rebuild --jobs 2, 10 bits", filtered(&["--jobs", "2"])),
        ("rebuild --jobs 1, 10 bits, base_lg 63", filtered(&["--jobs", "1", "--base-lg", "63"])),
        ("rebuild --jobs 1, 10 bits, verified", {
            vec!["tool", "rebuild", "--in-place", "--no-undo", "--policy", POLICY, "--jobs", "1"]
        }),
        ("rebuild --jobs 1 --drop", with(&["--jobs", "1", "--drop"])),
        ("CRC-32C of the tables", vec!["crc"]),
    ];
    let mut costs: [Vec<Cost>; 7] = Default::default();
    for _ in 0..rounds {
        for ((_, words), costs) in runs.iter().zip(&mut costs) {
            data::copy(database, scratch)?;
            costs.push(measure(words, scratch)?);
            fs::remove_dir_all(scratch)?;
        }
    }
    let least = |costs: &[Cost], of: fn(&Cost) -> f64| costs.iter().map(of).fold(f64::INFINITY, f64::min);
    println!("| {rounds} rounds in turns, the least of each | processors | clock | MB/s | most memory |");
    println!("|---|---|---|---|---|");
    for ((what, _), costs) in runs.iter().zip(&costs) {
        let wall = least(costs, |cost| cost.wall);
        println!(
            "| {what} | {:.2} s | {wall:.2} s | {:.0} | {} MiB |",
            least(costs, |cost| cost.processor),
            size as f64 / wall / 1e6,
            costs.iter().map(|cost| cost.memory).max().unwrap_or_default() / 1024
        );
    }
    let processor = |index: usize| least(&costs[index], |cost| cost.processor);
    let wall = |index: usize| least(&costs[index], |cost| cost.wall);
    println!("\nprocessor time beside CompactRange: {:.2}", processor(1) / processor(0));
    println!("two jobs beside one, by the clock: {:.2}", wall(1) / wall(2));
    println!(
        "--drop beside CRC-32C, processor time: {:.2}, clock {:.2}",
        processor(5) / processor(6),
        wall(5) / wall(6)
    );
    println!("each round, processor time beside CompactRange / two jobs beside one:");
    let [compaction, one, two, ..] = &costs[..] else { return Ok(()) };
    for ((compaction, one), two) in compaction.iter().zip(one).zip(two) {
        println!("  {:.2} / {:.2}", one.processor / compaction.processor, one.wall / two.wall);
    }
    Ok(())
}
