//! The programs that answer cases, one for each implementation.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::answers::Runner;

/// A runner in `conformance-runner`, the program of this package.
pub fn linked(program: &Path, name: &str, version: &str) -> Runner {
    Runner {
        name: name.to_owned(),
        version: version.to_owned(),
        command: vec![program.to_owned(), name.into()],
    }
}

/// The folder with the runners in other languages.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("conformance").join("runners")
}

/// Builds a runner in Go into `folder`, against Debian's packages.
pub fn build_go(name: &str, folder: &Path) -> Result<PathBuf> {
    let program = folder.join(name);
    let status = Command::new("go")
        .args(["build", "-o"])
        .arg(&program)
        .arg(self::folder().join(name).join("main.go"))
        .env("GO111MODULE", "off")
        .env("GOPATH", "/usr/share/gocode")
        .status()
        .context("running go, which install-debian.sh installs")?;
    ensure!(status.success(), "go build of {name}: {status}");
    Ok(program)
}
