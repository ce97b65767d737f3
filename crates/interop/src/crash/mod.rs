//! Crashes of programs that change a database: every state that a crash could leave behind, and whether a database in
//! that state still has all that it had.
//!
//! [`record`] runs a program and writes down what it does to files. From this record, [`filterblock_crash_states`]
//! makes the folders that a crash could leave. [`check`] opens them with LevelDB and with goleveldb, has them repaired,
//! and runs the program on them again.

pub mod case;
pub mod check;
pub mod contents;
pub mod plan;
pub mod run;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use filterblock_crash_states::Operation;
use filterblock_crash_states::tree::PERMISSIONS;

/// The folder for thousands of small databases, in memory if possible.
pub fn fast_folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

/// A run of the program.
#[derive(Debug)]
pub struct Recording {
    /// The exit status, unless a signal ended the program.
    pub status: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub messages: String,
    /// Everything that the program did below the folder.
    pub operations: Vec<Operation>,
}

impl Recording {
    /// Status and messages, for reports.
    pub fn ending(&self) -> String {
        let status = self.status.map_or_else(|| "ended by a signal".to_owned(), |s| format!("status {s}"));
        format!("{status}; {}", self.messages.trim())
    }
}

/// Runs `program` and records what it does below `root`.
pub fn record(program: &Path, arguments: &[OsString], root: &Path) -> Result<Recording> {
    let root = fs::canonicalize(root)?;
    let log = tempfile::Builder::new().prefix("filterblock-log-").tempfile_in(fast_folder())?;
    ensure!(!log.path().starts_with(&root), "the log lies in the recorded folder");
    let output = Command::new(program)
        .args(arguments)
        .env("LD_PRELOAD", env!("FILTERBLOCK_PRELOAD"))
        .env("FILTERBLOCK_RECORD_ROOT", &root)
        .env("FILTERBLOCK_RECORD_LOG", log.path())
        .output()
        .with_context(|| format!("running {}", program.display()))?;
    Ok(Recording {
        status: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        messages: String::from_utf8_lossy(&output.stderr).into_owned(),
        operations: parse(&fs::read(log.path())?, &root)?,
    })
}

const HEADER_FIELDS: usize = 5;

/// Reads a log. `root` is the recorded folder.
fn parse(mut bytes: &[u8], root: &Path) -> Result<Vec<Operation>> {
    let mut operations = Vec::new();
    while !bytes.is_empty() {
        let mut header = [0; HEADER_FIELDS];
        for field in &mut header {
            let (number, rest) = bytes.split_first_chunk().context("a log cut short")?;
            *field = u64::from_ne_bytes(*number);
            bytes = rest;
        }
        let [kind, inode, number, a_len, b_len] = header;
        let (a, rest) = bytes.split_at_checked(usize::try_from(a_len)?).context("a log cut short")?;
        let (b, rest) = rest.split_at_checked(usize::try_from(b_len)?).context("a log cut short")?;
        bytes = rest;
        operations.push(operation(kind, inode, number, a, b, root)?);
    }
    Ok(operations)
}

/// `kind` is one of `enum kind` of `preload.c`.
fn operation(kind: u64, inode: u64, number: u64, a: &[u8], b: &[u8], root: &Path) -> Result<Operation> {
    let relative = |bytes: &[u8]| -> Result<PathBuf> {
        let path = Path::new(OsStr::from_bytes(bytes));
        ensure!(path.is_absolute(), "{}: not an absolute path", path.display());
        Ok(path.strip_prefix(root)?.to_owned())
    };
    let mode = u32::try_from(number & u64::from(PERMISSIONS))?;
    Ok(match kind {
        1 => Operation::Create { inode, path: relative(a)?, mode },
        2 => Operation::Write { inode, offset: number, data: a.to_owned() },
        3 => Operation::Truncate { inode, len: number },
        4 => Operation::Sync { inode },
        5 => Operation::SyncFolder { inode },
        6 => Operation::Rename { from: relative(a)?, to: relative(b)? },
        7 => Operation::Link { from: relative(a)?, to: relative(b)? },
        8 => Operation::Unlink { path: relative(a)? },
        9 => Operation::MakeFolder { inode, path: relative(a)?, mode },
        10 => Operation::RemoveFolder { path: relative(a)? },
        11 => Operation::SetMode { inode, mode },
        _ => bail!("a record of kind {kind}"),
    })
}
