//! Compares the rates of false positives that `filterblock inspect` shows with those of LevelDB.

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use filterblock_interop::compare::rates;

/// Compares rates of false positives; fails at the first that is off by more than a factor of 1.3.
#[derive(Parser)]
struct Arguments {
    /// Random tables, besides those in `testdata`.
    #[arg(long, default_value_t = 200)]
    tables: u64,
    /// Random keys that LevelDB is asked for in each table.
    #[arg(long, default_value_t = 1_000_000)]
    keys: u64,
    /// The same seed makes the same cases.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let testdata = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata"));
    println!("{}", rates::run(&testdata, arguments.tables, arguments.keys, arguments.seed)?);
    Ok(())
}
