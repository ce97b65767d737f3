//! Lets LevelDB write the folders `tables`, `databases` and `golden` of `testdata/`, for tests that
//! cannot link LevelDB. A second run gives the same bytes.

mod databases;
mod golden;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
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
    Ok(())
}

/// Lines below a header that names their origin.
struct Text(String);

impl Text {
    /// Begins a file. `about` says what a line holds, and may have several lines.
    fn new(about: &str) -> Self {
        let mut text = Self(String::new());
        text.line("# By LevelDB 1.23, written by `generate-testdata` in interop/. See testdata/README.md.");
        about.lines().for_each(|line| text.line(format!("# {line}")));
        text
    }

    fn line(&mut self, line: impl AsRef<str>) {
        self.0.push_str(line.as_ref());
        self.0.push('\n');
    }

    fn write(self, path: &Path) -> Result<()> {
        fs::write(path, self.0).with_context(|| path.display().to_string())
    }
}

/// Lowercase hexadecimal, and `-` for no bytes, so that no field of a line is empty.
fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() { "-".to_owned() } else { filterblock_interop::hex(bytes) }
}

/// The value of a (user) key: its hexadecimal digits and a semicolon, repeated and cut to `len`
/// bytes.
fn value_of(key: &[u8], len: usize) -> Vec<u8> {
    let unit = format!("{};", filterblock_interop::hex(key));
    unit.bytes().cycle().take(len).collect()
}
