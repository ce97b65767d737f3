//! Runs a program under `preload/preload.c`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use filterblock_crash_states::Operation;

use super::log::{Kind, Log, parse};

/// The calls that fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The kind of the calls.
    pub kind: Kind,
    /// The number of the first call of this kind that fails, counted from 1.
    pub first: u64,
    /// The number of calls that fail from there on.
    pub count: u64,
    /// The error, as `errno` has it.
    pub errno: i32,
}

/// A folder that somebody else exchanges for a symbolic link to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The number of the call before which the exchange happens. Calls that resolve a name are counted, from 1.
    pub at: u64,
    /// The user who exchanges the folder, if not the program's user.
    pub by: Option<u32>,
    /// The folder, as a pattern of `glob`. The exchange adds `.away` to its name.
    pub folder: PathBuf,
    /// The folder to which the symbolic link leads.
    pub victim: PathBuf,
}

/// The disturbances of a recorded program.
#[derive(Debug, Clone, Default)]
pub struct Disturbance {
    /// Calls that fail.
    pub fault: Option<Fault>,
    /// The number of operations after which the program gets a signal, and the signal.
    pub signal: Option<(u64, i32)>,
    /// True if syncs of folders return at once, without a sync.
    pub no_folder_sync: bool,
    /// The exchange of a folder.
    pub exchange: Option<Exchange>,
    /// The user who runs the program, if not the present one.
    pub user: Option<u32>,
}

/// A run of the program.
#[derive(Debug)]
pub struct Recording {
    /// The exit status, unless a signal ended the program.
    pub status: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub messages: String,
    /// Everything that the program did below the folder.
    pub operations: Vec<Operation>,
    /// True if a call was made to fail.
    pub is_hit: bool,
    /// True if the folder could be exchanged. `None`: no exchange was asked for, or the program ended before it.
    pub exchange: Option<bool>,
}

impl Recording {
    /// Status and messages, for reports.
    pub fn ending(&self) -> String {
        let status =
            self.status.map_or_else(|| format!("signal {:?}", self.signal), |s| format!("status {s}"));
        format!("{status}; {}", self.messages.trim())
    }
}

/// Runs `program` and records what it does below `root`.
pub fn record(
    program: &Path,
    arguments: &[OsString],
    root: &Path,
    disturbance: Disturbance,
) -> Result<Recording> {
    let root = fs::canonicalize(root)?;
    let log = tempfile::Builder::new().prefix("filterblock-log-").tempfile_in(super::fast_folder())?;
    ensure!(!log.path().starts_with(&root), "the log lies in the recorded folder");
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LD_PRELOAD", env!("FILTERBLOCK_PRELOAD"))
        .env("FILTERBLOCK_RECORD_ROOT", &root)
        .env("FILTERBLOCK_RECORD_LOG", log.path());
    if let Some(Fault { kind, first, count, errno }) = disturbance.fault {
        command.env("FILTERBLOCK_RECORD_FAULT", format!("{} {first} {count} {errno}", kind as u64));
    }
    if let Some((operations, signal)) = disturbance.signal {
        command.env("FILTERBLOCK_RECORD_SIGNAL", format!("{operations} {signal}"));
    }
    if let Some(Exchange { at, by, folder, victim }) = disturbance.exchange {
        let by = by.map_or(-1, i64::from);
        command
            .env("FILTERBLOCK_RECORD_EXCHANGE", format!("{at} {by}"))
            .env("FILTERBLOCK_RECORD_EXCHANGED", folder)
            .env("FILTERBLOCK_RECORD_VICTIM", victim);
    }
    if let Some(user) = disturbance.user {
        fs::set_permissions(log.path(), fs::Permissions::from_mode(0o666))?;
        command.uid(user).gid(user);
    }
    if disturbance.no_folder_sync {
        command.env("FILTERBLOCK_RECORD_NO_FOLDER_SYNC", OsStr::new("1"));
    }
    let output = command.output().with_context(|| format!("running {}", program.display()))?;
    let Log { operations, is_hit, exchange } = parse(&fs::read(log.path())?, &root)?;
    Ok(Recording {
        status: output.status.code(),
        signal: output.status.signal(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        messages: String::from_utf8_lossy(&output.stderr).into_owned(),
        operations,
        is_hit,
        exchange: exchange.map(|error| error == 0),
    })
}
