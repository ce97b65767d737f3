//! Has LevelDB use our Bloom policy for a whole database and compares with its own.

use anyhow::Result;
use clap::Parser;
use filterblock_interop::compare::database;

/// Compares databases of LevelDB with our filter policy and with its own; fails at the first difference.
#[derive(Parser)]
struct Arguments {
    /// Different keys to write.
    #[arg(long, default_value_t = 50_000)]
    keys: u64,
    /// The same seed writes the same.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    println!("{}", database::run(arguments.keys, arguments.seed)?);
    Ok(())
}
