//! Compares what `filterblock tune` predicts with what LevelDB reads.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use filterblock_interop::compare::tune::{self, Options};

/// Makes 21 databases, tunes and rebuilds them, and lets LevelDB count what it reads. Prints tables
/// in Markdown, and what does not hold on standard error.
#[derive(Parser)]
struct Arguments {
    /// Seven small databases only.
    #[arg(long)]
    quick: bool,
    /// Only compare what LevelDB counts with what tables and filters say.
    #[arg(long)]
    counts: bool,
    /// Only databases whose name has this in it.
    #[arg(long)]
    only: Option<String>,
    /// The same seed makes the same writes and lookups.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of keys of each kind to ask for.
    #[arg(long, default_value_t = 50_000)]
    lookups: usize,
}

fn main() -> Result<ExitCode> {
    let Arguments { quick, counts, only, seed, lookups } = Arguments::parse();
    if counts {
        println!("{} lookups read the blocks expected", tune::check_counts(quick, seed, lookups)?);
        return Ok(ExitCode::SUCCESS);
    }
    let report = tune::run(&Options { quick, only, seed, lookups })?;
    println!("{report}");
    for fault in report.faults() {
        eprintln!("seed {seed}: {fault}");
    }
    Ok(if report.faults().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
