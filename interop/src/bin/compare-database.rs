//! Lets LevelDB use our Bloom policy for a whole database and compares with its own policy, then
//! lets it read tables of ours.

use anyhow::Result;
use clap::Parser;
use filterblock_interop::compare::{database, repair};

/// Compares LevelDB databases with our filter policy and with its own, and lets LevelDB adopt
/// tables of ours; fails at the first difference.
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
    println!("{}", repair::run(arguments.keys, false)?);
    // Fewer, since each case opens the database again.
    println!("{}", repair::run(arguments.keys.min(5_000), true)?);
    Ok(())
}
