//! Lets LevelDB write the folders `tables`, `databases` and `golden` of `testdata/`, for tests that
//! cannot link LevelDB. A second run gives the same bytes.

mod databases;
mod golden;
mod queries;
mod sets;
mod tables;
mod text;

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;

/// Writes the folders `tables`, `databases` and `golden`, described in testdata/README.md.
#[derive(Parser)]
struct Arguments {
    /// The folder to write to.
    #[arg(default_value = "testdata")]
    folder: PathBuf,
}

fn main() -> Result<()> {
    let folder = Arguments::parse().folder;
    for part in ["tables", "databases", "golden"] {
        let part = folder.join(part);
        if part.exists() {
            fs::remove_dir_all(&part)?;
        }
        fs::create_dir_all(&part)?;
    }
    tables::write(&folder.join("tables"))?;
    databases::write(&folder.join("databases"))?;
    golden::write(&folder.join("golden"))?;
    queries::write(&folder.join("golden"))?;
    Ok(())
}
