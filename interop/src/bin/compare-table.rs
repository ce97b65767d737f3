//! Compares tables with LevelDB's: what both builders write, and what each reads from the other's.

use anyhow::Result;
use clap::Parser;
use filterblock_interop::compare::table;

/// Compares tables with LevelDB's; fails at the first difference.
#[derive(Parser)]
struct Arguments {
    /// Random tables to write with both.
    #[arg(long, default_value_t = 500)]
    tables: u64,
    /// The same seed makes the same cases.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    println!("{}", table::run(arguments.tables, arguments.seed)?);
    Ok(())
}
