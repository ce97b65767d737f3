//! Compares what LevelDB and goleveldb find in random databases to which `filterblock rebuild` gives other filters.
//! Measures what a rebuild costs. Linux only.

mod cost;
mod data;
mod numbers;

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Subcommand;
use filterblock_interop::compare::rebuild::{self, Programs, identity};
use filterblock_interop::leveldb::{Store, StoreOptions};

#[derive(Subcommand)]
pub(crate) enum Mode {
    /// Rebuilds random databases, and some whose result is known byte for byte.
    Random {
        /// Number of databases; some are goleveldb's, if Go is installed.
        #[arg(long, default_value_t = 200)]
        databases: u64,
        /// The same seed makes the same writes, but does not determine when a database compacts by
        /// itself.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Milliseconds for which LevelDB uses every fourth database afterwards.
        #[arg(long, default_value_t = 1200)]
        milliseconds: u64,
    },
    /// Measures what rebuilding saves LevelDB, and what it costs compared with a compaction.
    Numbers {
        /// The folder for the databases; a new folder is made in it and removed.
        folder: PathBuf,
        /// Approximate size of all tables, in bytes.
        #[arg(long, default_value_t = 1_000_000_000)]
        bytes: u64,
        /// Size of a value in bytes; Snappy halves it.
        #[arg(long, default_value_t = 100)]
        value_size: usize,
        /// Write a tenth of the bytes.
        #[arg(long)]
        quick: bool,
        /// Number of rounds; the best of each way counts. 0 measures the reads only.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Runs the program `filterblock`.
    Tool {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Opens a database with LevelDB, prints "open", and closes it when standard input ends.
    Hold { folder: PathBuf },
    /// Does one thing and prints its cost: seconds by the clock, seconds of processors, KiB.
    Cost {
        #[command(subcommand)]
        of: cost::Work,
    },
}

pub(crate) fn run(mode: Mode) -> Result<ExitCode> {
    match mode {
        Mode::Random { databases, seed, milliseconds } => {
            let folder = tempfile::tempdir()?;
            let programs = Programs::build(folder.path())?;
            let time = Duration::from_millis(milliseconds);
            println!("{}", rebuild::run(databases, seed, time, programs.as_ref())?);
            for (filters, tables) in identity::run(seed)? {
                println!(
                    "{filters}: {tables} tables the same, rebuilt with what they had and after a change"
                );
            }
        }
        Mode::Numbers { folder, bytes, value_size, quick, rounds } => {
            numbers::run(&folder, if quick { bytes / 10 } else { bytes }, value_size, rounds)?;
        }
        Mode::Tool { arguments } => {
            let arguments = [OsString::from("filterblock")].into_iter().chain(arguments);
            return Ok(filterblock_cli::run(arguments, io::stdout(), io::stderr()).into());
        }
        Mode::Hold { folder } => {
            let _open = Store::open(&folder, &StoreOptions { must_exist: true, ..StoreOptions::default() })?;
            println!("open");
            io::stdout().flush()?;
            io::stdin().read_to_end(&mut Vec::new())?;
        }
        Mode::Cost { of } => cost::print_cost(of)?,
    }
    Ok(ExitCode::SUCCESS)
}
