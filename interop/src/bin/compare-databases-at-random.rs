//! Has LevelDB and goleveldb make databases at random, and holds what `filterblock query` and `filterblock verify` say of them, sound
//! and with damaged filters, against LevelDB's own answers.

use anyhow::Result;
use clap::Parser;
use filterblock_interop::{compare::at_random, goleveldb};

/// Checks random databases, sound and with damaged filters; fails at the first key denied and the first damage that is not found.
#[derive(Parser)]
struct Arguments {
    /// How many databases; every second is goleveldb's, if Go is there.
    #[arg(long, default_value_t = 200)]
    databases: u64,
    /// The same seed makes the same writes; when a database compacts itself is its own affair.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let goleveldb = goleveldb::build("databases", folder.path())?;
    println!("{}", at_random::run(arguments.databases, arguments.seed, goleveldb.as_deref())?);
    Ok(())
}
