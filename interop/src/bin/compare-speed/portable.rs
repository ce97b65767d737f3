//! The same program, built with the library's portable code.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, ensure};

/// Such a program, and its options.
pub(crate) struct Portable {
    program: PathBuf,
    options: Vec<String>,
}

impl Portable {
    /// Builds it, in a folder next to this program's.
    pub(crate) fn build(options: Vec<String>) -> Result<Self> {
        let this = env::current_exe()?;
        let target = this.ancestors().nth(2).context("expected to run from cargo's target folder")?;
        let target = target.join("portable");
        fs::create_dir_all(&target)?;
        eprintln!("building the portable code");
        let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["build", "--quiet", "--release", "--no-default-features", "--bin", "compare-speed"])
            .arg("--target-dir")
            .arg(&target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()?;
        ensure!(status.success(), "the portable code cannot be built");
        Ok(Self { program: target.join("release/compare-speed"), options })
    }

    /// Continues the tables of a section.
    pub(crate) fn run(&self, section: &str) -> Result<()> {
        io::stdout().flush()?;
        let status =
            Command::new(&self.program).args([section, "--rows-only"]).args(&self.options).status()?;
        ensure!(status.success(), "the portable code failed in section {section}");
        Ok(())
    }
}
