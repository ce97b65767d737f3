//! Runs LevelDB's C++, other implementations and ours in turns, checks that they agree, and prints what each takes.
//!
//! Times are medians in nanoseconds; ratios are LevelDB's time by the other's, so above 1 is faster than LevelDB.

mod asking;
mod building;
mod data;
mod goleveldb;
mod tables;
mod timing;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use timing::Timing;

/// Times LevelDB, sstable, goleveldb, fastbloom and ours in turns; fails where results differ.
#[derive(Parser)]
struct Arguments {
    /// What to time; everything but `memory` unless given.
    #[arg(value_enum)]
    sections: Vec<Section>,
    /// Rounds, of which the median counts.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Keys of each round.
    #[arg(long, default_value_t = 40_000)]
    keys: usize,
    /// Keys in the one filter of a whole table.
    #[arg(long, default_value_t = 1_000_000)]
    table_keys: usize,
    /// Megabytes of filters for `memory`.
    #[arg(long, default_value_t = 1000)]
    megabytes: usize,
    /// Entries of the tables written and walked.
    #[arg(long, default_value_t = 50_000)]
    entries: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Section {
    /// Building filter blocks.
    Build,
    /// Asking for single keys and for many at once, in the cache.
    Ask,
    /// Asking filters that lie in memory, not in the cache.
    Memory,
    /// Asking eight tables for one key.
    Tables,
    /// One filter for a whole table.
    Whole,
    /// Writing and walking whole tables.
    Sstable,
    /// goleveldb, in a process of its own.
    Goleveldb,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let all =
        [Section::Build, Section::Ask, Section::Tables, Section::Whole, Section::Sstable, Section::Goleveldb];
    let sections = if arguments.sections.is_empty() { &all[..] } else { &arguments.sections };
    println!("Medians in nanoseconds; x: LevelDB's time by this one, above 1 is faster.");
    println!(
        "LevelDB: Debian's libleveldb.a, built without NDEBUG, so its TableBuilder checks by assertions."
    );
    for section in sections {
        let timing = Timing { rounds: arguments.rounds };
        match section {
            Section::Build => building::run(timing, arguments.keys)?,
            Section::Ask => asking::cached(timing, arguments.keys)?,
            Section::Memory => asking::memory(timing, arguments.megabytes)?,
            Section::Tables => asking::eight_tables(timing, arguments.keys)?,
            Section::Whole => building::one_filter(timing, arguments.table_keys)?,
            Section::Sstable => tables::run(timing, arguments.entries)?,
            Section::Goleveldb => goleveldb::run(timing, arguments.keys)?,
        }
    }
    Ok(())
}
