//! Compares one large table with LevelDB's: written by both, each read by the other.

use anyhow::Result;
use clap::Parser;
use filterblock_interop::compare::large;

/// Compares one large table with LevelDB's; fails at the first difference.
#[derive(Parser)]
struct Arguments {
    /// Entries of the table.
    #[arg(long, default_value_t = 1_000_000)]
    entries: u64,
    /// Bytes of each value, of which most are zeros. 4,400 entries of 1,048,576 go beyond 4 GiB.
    #[arg(long, default_value_t = 100)]
    value_size: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    println!("{}", large::run(arguments.entries, arguments.value_size)?);
    Ok(())
}
