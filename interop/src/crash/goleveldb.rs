//! goleveldb, which opens one database after another.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::plan::Entries;

/// The program `go/open`, running.
#[derive(Debug)]
pub struct Goleveldb {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Goleveldb {
    /// Starts the program.
    pub fn start(program: &Path) -> Result<Self> {
        let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("piped above")?);
        Ok(Self { child, input, output })
    }

    /// Has the program open a database, and compares all that is in it with `expected`.
    pub fn compare(&mut self, folder: &Path, expected: &Entries) -> Result<()> {
        let input = self.input.as_mut().context("closed only at the end")?;
        writeln!(input, "{}", folder.display())?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        let expected = format!("ok {} {}", expected.len(), hash(expected));
        ensure!(answer.trim() == expected, "goleveldb: expected {expected:?}, found {:?}", answer.trim());
        Ok(())
    }
}

impl Drop for Goleveldb {
    fn drop(&mut self) {
        self.input = None;
        // Whatever its status is, each answer was compared.
        let _ = self.child.wait();
    }
}

/// Hashes the entries by FNV-1a, as the program does.
fn hash(entries: &Entries) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for bytes in entries.iter().flat_map(|(key, value)| [key, value]) {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}
