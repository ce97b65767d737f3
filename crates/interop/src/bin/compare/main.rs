//! Compares the library and the program with LevelDB: one command for each subject. Most commands stop at the first
//! difference, and name the seed and the case. The same seed makes the same cases.

mod speed;

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use filterblock_interop::compare;
use filterblock_interop::leveldb::{Store, StoreOptions};

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
    Databases(Cases<200>),
    /// Compares what `tune` predicts with what LevelDB reads, in 26 databases as they are and rebuilt. Prints tables in
    /// Markdown, and on standard error everything that does not hold.
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
    /// `rebuild` of random databases, and of some whose result is known byte for byte: what LevelDB and goleveldb find
    /// before and after. Linux only.
    Rebuild {
        #[command(flatten)]
        cases: Cases<200>,
        /// Milliseconds for which LevelDB uses every fourth database afterwards.
        #[arg(long, default_value_t = 1200)]
        milliseconds: u64,
    },
    /// Opens a database with LevelDB, prints "open", and closes it when standard input ends.
    #[command(hide = true)]
    Hold { folder: std::path::PathBuf },
    /// `repair` of damaged databases of LevelDB: what LevelDB, goleveldb and plyvel read from the new ones, which they
    /// then write to and compact.
    Repaired {
        #[command(flatten)]
        cases: Cases<6>,
        /// Seconds for which each of the three writes, in all databases together.
        #[arg(long, default_value_t = 3)]
        seconds: u64,
    },
    /// Times LevelDB and ours in turns; fails where results differ.
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
        Subject::Databases(Cases { cases, seed }) => {
            let folder = tempfile::tempdir()?;
            let goleveldb = filterblock_interop::goleveldb::build("databases", folder.path())?;
            println!("{}", compare::at_random::run(cases, seed, goleveldb.as_deref())?);
        }
        Subject::Tune { counts: true, quick, seed, lookups, .. } => {
            println!(
                "{} lookups read the blocks expected",
                compare::tune::check_counts(quick, seed, lookups)?
            );
        }
        Subject::Tune { quick, only, seed, lookups, .. } => {
            let report = compare::tune::run(&compare::tune::Options { quick, only, seed, lookups })?;
            println!("{report}");
            for fault in report.faults() {
                eprintln!("seed {seed}: {fault}");
            }
            return Ok(if report.faults().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Subject::Rebuild { cases: Cases { cases, seed }, milliseconds } => {
            let folder = tempfile::tempdir()?;
            let programs = compare::rebuild::Programs::build(folder.path())?;
            let time = std::time::Duration::from_millis(milliseconds);
            println!("{}", compare::rebuild::run(cases, seed, time, programs.as_ref())?);
            for (filters, tables) in compare::rebuild::identity::run(seed)? {
                println!(
                    "{filters}: {tables} tables the same, rebuilt with what they had and after a change"
                );
            }
        }
        Subject::Hold { folder } => {
            let _open = Store::open(&folder, &StoreOptions { must_exist: true, ..StoreOptions::default() })?;
            println!("open");
            std::io::stdout().flush()?;
            std::io::stdin().read_to_end(&mut Vec::new())?;
        }
        Subject::Repaired { cases: Cases { cases, seed }, seconds } => {
            let folder = tempfile::tempdir()?;
            let judges = compare::judges::Judge::all(folder.path())?;
            let time = std::time::Duration::from_secs(seconds);
            println!("{}", compare::repaired::run(cases, seed, &judges, (1, time))?);
        }
        Subject::Speed(arguments) => speed::run(arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}
