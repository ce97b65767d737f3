//! The programs in `go/`, which use goleveldb: building them, and one that opens databases.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

/// Builds the program `go/NAME` into `folder`. `None`, with a message on standard error, if Go is
/// not installed.
pub fn build(name: &str, folder: &Path) -> Result<Option<PathBuf>> {
    let program = folder.join(format!("goleveldb-{name}"));
    let built = Command::new("go")
        .args(["build", "-o"])
        .arg(&program)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("go").join(name).join("main.go"))
        .env("GO111MODULE", "off")
        .env("GOPATH", "/usr/share/gocode")
        .status();
    match built {
        Ok(status) => {
            ensure!(status.success(), "go build: {status}; install-debian.sh installs goleveldb");
            Ok(Some(program))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // Not by a macro: the test harness hides output of macros unless the test fails.
            std::io::stderr().write_all(b"go is not installed: nothing is compared with goleveldb\n")?;
            Ok(None)
        }
        Err(error) => Err(error).context("running go"),
    }
}

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
    pub fn compare(&mut self, folder: &Path, expected: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<()> {
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
fn hash(entries: &BTreeMap<Vec<u8>, Vec<u8>>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for bytes in entries.iter().flat_map(|(key, value)| [key, value]) {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}
