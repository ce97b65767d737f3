//! Compares the library and the program with LevelDB: one command for each subject. Most commands stop at the first
//! difference, and name the seed and the case. The same seed makes the same cases.

#[cfg(feature = "tool")]
mod rebuild;
#[cfg(feature = "tool")]
mod scan;
mod speed;
#[cfg(feature = "tool")]
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use filterblock_interop::compare;

/// Compares filterblock with LevelDB; most commands fail at the first difference.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Subject,
}

/// The number of cases, and their seed.
#[derive(Args)]
struct Cases<const N: u64> {
    /// Number of cases.
    // `default_value_t` would keep its text in a static, which all `N` share.
    #[arg(long, default_value = &*N.to_string().leak())]
    cases: u64,
    /// The same seed makes the same cases.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Subcommand)]
enum Subject {
    /// Filter blocks: what both builders write, and what both readers answer about sound and damaged blocks.
    FilterBlock {
        #[command(flatten)]
        cases: Cases<50_000>,
        /// Number of random queries to ask both readers.
        #[arg(long, default_value_t = 500_000)]
        queries: u64,
    },
    /// Tables: what both builders write, and what both readers find in them.
    Table(Cases<500>),
    /// One large table: what both builders write, and what both readers find in it.
    Large {
        /// Number of entries of the table.
        #[arg(long, default_value_t = 1_000_000)]
        entries: u64,
        /// Size of each value in bytes, of which most are zeros. 4,400 entries of 1,048,576 go beyond 4 GiB.
        #[arg(long, default_value_t = 100)]
        value_size: usize,
    },
    /// Databases of `--cases` keys with our Bloom policy and LevelDB's own, and tables of ours that LevelDB adopts.
    Database(Cases<50_000>),
    /// Random databases of LevelDB and, if Go is installed, goleveldb: `query`, `scan` and `verify`, with sound and
    /// with damaged filters. The seed does not determine when a database compacts by itself.
    #[cfg(feature = "tool")]
    Databases(Cases<200>),
    /// Rates of false positives that `inspect` shows, in `testdata` and in random tables; fails at the first rate that
    /// is off by more than a factor of 1.3.
    #[cfg(feature = "tool")]
    Rates {
        #[command(flatten)]
        cases: Cases<200>,
        /// Number of random keys that LevelDB is asked for in each table.
        #[arg(long, default_value_t = 1_000_000)]
        keys: u64,
    },
    /// Makes small databases of every kind with LevelDB and goleveldb, each in a folder of its own below `FOLDER`.
    #[cfg(feature = "tool")]
    Make { folder: std::path::PathBuf },
    /// Compares what `tune` predicts with what LevelDB reads, in 26 databases as they are and rebuilt. Prints tables in
    /// Markdown, and on standard error everything that does not hold.
    #[cfg(feature = "tool")]
    Tune {
        /// Ten small databases only.
        #[arg(long)]
        quick: bool,
        /// Only compare the blocks that LevelDB counts with those that the library's tables lead to.
        #[arg(long)]
        counts: bool,
        /// Only databases whose names contain this.
        #[arg(long)]
        only: Option<String>,
        /// The same seed makes the same writes and lookups.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The number of keys of each kind to ask for.
        #[arg(long, default_value_t = 50_000)]
        lookups: usize,
    },
    /// `rebuild`: what LevelDB and goleveldb find in rebuilt databases, and what it costs. Linux only.
    #[cfg(feature = "tool")]
    #[command(subcommand)]
    Rebuild(rebuild::Mode),
    /// `repair` of damaged databases of LevelDB: what LevelDB, goleveldb and plyvel read from the new ones, which they
    /// then write to and compact.
    #[cfg(feature = "tool")]
    Repaired {
        #[command(flatten)]
        cases: Cases<6>,
        /// Seconds for which each of the three writes, in all databases together.
        #[arg(long, default_value_t = 3)]
        seconds: u64,
    },
    /// The lines and the speed of `scan --hex` and of LevelDB's iterator. Linux only.
    #[cfg(feature = "tool")]
    #[command(subcommand)]
    Scan(scan::Mode),
    /// The speed of `verify` and of LevelDB's iteration with checksums. Linux only.
    #[cfg(feature = "tool")]
    #[command(subcommand)]
    Verify(verify::Mode),
    /// Times LevelDB, sstable, goleveldb, fastbloom and ours in turns; fails where results differ.
    Speed(speed::Arguments),
}

fn main() -> Result<ExitCode> {
    match Arguments::parse().command {
        Subject::FilterBlock { cases: Cases { cases, seed }, queries } => {
            println!("{}", compare::builder::run(cases, seed)?);
            let report = compare::reader::run(queries, seed)?;
            println!("{report}");
            report.ensure_covered()?;
        }
        Subject::Table(Cases { cases, seed }) => println!("{}", compare::table::run(cases, seed)?),
        Subject::Large { entries, value_size } => println!("{}", compare::large::run(entries, value_size)?),
        Subject::Database(Cases { cases: keys, seed }) => {
            println!("{}", compare::database::run(keys, seed)?);
            println!("{}", compare::repair::run(keys, false)?);
            // Fewer keys, since the database is opened again after every 90 lookups.
            println!("{}", compare::repair::run(keys.min(5_000), true)?);
        }
        #[cfg(feature = "tool")]
        Subject::Databases(Cases { cases, seed }) => {
            let folder = tempfile::tempdir()?;
            let goleveldb = filterblock_interop::goleveldb::build("databases", folder.path())?;
            println!("{}", compare::at_random::run(cases, seed, goleveldb.as_deref())?);
        }
        #[cfg(feature = "tool")]
        Subject::Rates { cases: Cases { cases, seed }, keys } => {
            let testdata = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata");
            println!("{}", compare::rates::run(testdata.as_ref(), cases, keys, seed)?);
        }
        #[cfg(feature = "tool")]
        Subject::Tune { counts: true, quick, seed, lookups, .. } => {
            println!(
                "{} lookups read the blocks expected",
                compare::tune::check_counts(quick, seed, lookups)?
            );
        }
        #[cfg(feature = "tool")]
        Subject::Make { folder } => println!("{} databases", compare::tune::make(&folder, 1)?),
        #[cfg(feature = "tool")]
        Subject::Tune { quick, only, seed, lookups, .. } => {
            let report = compare::tune::run(&compare::tune::Options { quick, only, seed, lookups })?;
            println!("{report}");
            for fault in report.faults() {
                eprintln!("seed {seed}: {fault}");
            }
            return Ok(if report.faults().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        #[cfg(feature = "tool")]
        Subject::Rebuild(mode) => return rebuild::run(mode),
        #[cfg(feature = "tool")]
        Subject::Repaired { cases: Cases { cases, seed }, seconds } => {
            let folder = tempfile::tempdir()?;
            let judges = compare::judges::Judge::all(folder.path())?;
            let time = std::time::Duration::from_secs(seconds);
            println!("{}", compare::repaired::run(cases, seed, &judges, (1, time))?);
        }
        #[cfg(feature = "tool")]
        Subject::Scan(mode) => scan::run(mode)?,
        #[cfg(feature = "tool")]
        Subject::Verify(mode) => verify::run(mode)?,
        Subject::Speed(arguments) => speed::run(arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}
