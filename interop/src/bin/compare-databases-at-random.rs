//! Lets LevelDB and goleveldb make random databases, and compares the answers of `filterblock
//! query` and `filterblock verify`, with sound and with damaged filters, with LevelDB's own
//! answers.

use anyhow::Result;
use clap::Parser;
use filterblock_interop::{compare::at_random, goleveldb};

/// Checks random databases, with sound and with damaged filters; fails at the first denied key and
/// the first damage that is not found.
#[derive(Parser)]
struct Arguments {
    /// Number of databases; every second is goleveldb's, if Go is installed.
    #[arg(long, default_value_t = 200)]
    databases: u64,
    /// The same seed makes the same writes; when a database compacts by itself is not determined.
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
