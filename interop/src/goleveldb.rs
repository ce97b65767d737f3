//! The programs in `go/`, which use goleveldb.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

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
