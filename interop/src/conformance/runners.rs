//! The programs that answer cases, one for each implementation.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use super::answers::Runner;

/// The implementations, in the order of the page.
pub const ALL: [&str; 13] = [
    "filterblock",
    "leveldb",
    "goleveldb",
    "golang-leveldb",
    "iq80",
    "rusty-leveldb",
    "sstable",
    "plyvel",
    "classic-level",
    "rocksdict",
    "rleveldb",
    "chromium-reader",
    "dfindexeddb",
];

/// The Java libraries of Debian that iq80's LevelDB needs.
const JAVA: [&str; 5] = ["leveldb", "leveldb-api", "guava", "gson", "snappy-java"];

/// Returns the runner of this name. `linked` is the program that answers for what this package links. What has to be
/// built goes into `built`.
///
/// # Errors
///
/// If there is no runner of this name, or something that it needs is missing: `conformance/README.md` says what to
/// install.
pub fn runner(name: &str, linked: &Path, built: &Path) -> Result<Runner> {
    let linked = |version| Ok(self::linked(linked, name, version));
    let other =
        |version: &str, command| Ok(Runner { name: name.to_owned(), version: version.to_owned(), command });
    let pypi = |version, script, arguments: &[&str]| {
        let python = env::var_os("CONFORMANCE_PYTHON");
        let python = python.context(
            "CONFORMANCE_PYTHON names no Python with the packages of PyPI: see conformance/README.md",
        )?;
        let mut command = vec![python.into(), folder().join(script)];
        command.extend(arguments.iter().map(PathBuf::from));
        other(version, command)
    };
    match name {
        "filterblock" => linked(env!("CARGO_PKG_VERSION")),
        "leveldb" => linked("1.23"),
        "goleveldb" => other("20200815.5c35d60", vec![build_go("goleveldb", built)?]),
        "golang-leveldb" => other("20161231.3435554", vec![build_go("golang-leveldb", built)?]),
        "iq80" => other("0.7", build_java("Iq80", built)?),
        "rusty-leveldb" => linked("4.0.2"),
        "sstable" => linked("0.11.1"),
        "plyvel" => {
            let command = vec![PathBuf::from("/usr/bin/python3"), folder().join("plyvel_runner.py")];
            other("1.5.0 (LevelDB 1.23)", command)
        }
        "classic-level" => {
            env::var_os("NODE_PATH")
                .context("NODE_PATH names no folder with classic-level: see conformance/README.md")?;
            other("3.0.0 (LevelDB 1.20)", vec!["node".into(), folder().join("classic-level.js")])
        }
        "rocksdict" => pypi("0.3.29 (RocksDB 9.8.4)", "rocksdict_runner.py", &[]),
        "rleveldb" => pypi("1.0.0", "ccl_leveldb_runner.py", &["rleveldb"]),
        "chromium-reader" => pypi("0.1.1", "ccl_leveldb_runner.py", &["chromium_reader.leveldb"]),
        "dfindexeddb" => pypi("20260210", "dfindexeddb_runner.py", &[]),
        _ => bail!("{name:?} is none of {}", ALL.join(", ")),
    }
}

/// Returns a runner in `conformance-runner`, the program of this package.
pub fn linked(program: &Path, name: &str, version: &str) -> Runner {
    Runner {
        name: name.to_owned(),
        version: version.to_owned(),
        command: vec![program.to_owned(), name.into()],
    }
}

/// The folder with the runners in other languages.
fn folder() -> PathBuf {
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

/// Builds a runner in Java into `folder`, against Debian's packages, and returns the command that runs it.
fn build_java(name: &str, folder: &Path) -> Result<Vec<PathBuf>> {
    let jars = JAVA.map(|jar| Path::new("/usr/share/java").join(jar).with_extension("jar"));
    let path = env::join_paths(jars.iter().map(PathBuf::as_path).chain([folder]))?;
    let source = self::folder().join(name.to_lowercase()).join(name).with_extension("java");
    let status = Command::new("javac")
        .arg("-cp")
        .arg(&path)
        .arg("-d")
        .args([folder, &source])
        .status()
        .context("running javac: see conformance/README.md")?;
    ensure!(status.success(), "javac of {}: {status}", source.display());
    let opened = ["--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED"].map(PathBuf::from);
    Ok([&["java".into()][..], &opened, &["-cp".into(), path.into(), name.into()]].concat())
}
