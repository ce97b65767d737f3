//! Repeats measurements in other processes. Some processes are slow for their whole life, because of where their
//! memory lies.

use std::env;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Runs this program with these arguments, and returns what it printed.
pub(crate) fn another(arguments: &[String]) -> Result<String> {
    let output = Command::new(env::current_exe()?).arg("speed").args(arguments).output()?;
    ensure!(
        output.status.success(),
        "a process with {arguments:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).context("text")
}
