//! Compares filter blocks with LevelDB's: what both builders write and what both readers answer.

use anyhow::Result;
use clap::Parser;
use filterblock_interop::compare::{builder, reader};

/// Compares filter blocks with LevelDB's; fails at the first difference.
#[derive(Parser)]
struct Arguments {
    /// Random filter blocks to build with both.
    #[arg(long, default_value_t = 50_000)]
    runs: u64,
    /// Random queries to ask both, about sound and damaged blocks.
    #[arg(long, default_value_t = 500_000)]
    queries: u64,
    /// The same seed makes the same cases.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    println!("{}", builder::run(arguments.runs, arguments.seed)?);
    let report = reader::run(arguments.queries, arguments.seed)?;
    println!("{report}");
    report.ensure_covered()
}
