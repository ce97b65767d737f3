//! The log that `preload/preload.c` writes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use filterblock_crash_states::Operation;
use filterblock_crash_states::tree::PERMISSIONS;

/// The kinds of calls. The numbers are those of the C side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u64)]
pub enum Kind {
    /// A file that was not there is created.
    Create = 1,
    /// Bytes are written to a file.
    Write,
    /// A file gets another length.
    Truncate,
    /// `fsync` or `fdatasync` of a file.
    Sync,
    /// `fsync` of a folder.
    SyncFolder,
    /// `rename`.
    Rename,
    /// A hard link.
    Link,
    /// `unlink`.
    Unlink,
    /// `mkdir`.
    MakeFolder,
    /// `rmdir`.
    RemoveFolder,
    /// A file is opened for writing. Counted, not recorded.
    Open,
    /// A call was made to fail.
    Fault,
    /// `chmod`.
    SetMode,
    /// Somebody else exchanged a folder.
    Exchange,
}

impl Kind {
    /// All kinds of calls that can be made to fail.
    pub const FAILING: [Self; 11] = [
        Self::Open,
        Self::Write,
        Self::Truncate,
        Self::Sync,
        Self::SyncFolder,
        Self::Rename,
        Self::Link,
        Self::Unlink,
        Self::MakeFolder,
        Self::RemoveFolder,
        Self::SetMode,
    ];
}

/// The contents of a log.
#[derive(Debug, Default)]
pub struct Log {
    /// The operations that succeeded.
    pub operations: Vec<Operation>,
    /// True if a call was made to fail.
    pub is_hit: bool,
    /// The result of exchanging a folder, if that was tried: 0, or the error.
    pub exchange: Option<u64>,
}

const HEADER_FIELDS: usize = 5;

/// Reads a log. `root` is the recorded folder.
pub fn parse(mut bytes: &[u8], root: &Path) -> Result<Log> {
    let mut log = Log::default();
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
        if kind == Kind::Fault as u64 {
            log.is_hit = true;
        } else if kind == Kind::Exchange as u64 {
            log.exchange = Some(number);
        } else {
            log.operations.push(operation(kind, inode, number, a, b, root)?);
        }
    }
    Ok(log)
}

fn operation(kind: u64, inode: u64, number: u64, a: &[u8], b: &[u8], root: &Path) -> Result<Operation> {
    let relative = |bytes: &[u8]| -> Result<PathBuf> {
        let path = Path::new(OsStr::from_bytes(bytes));
        ensure!(path.is_absolute(), "{}: not an absolute path", path.display());
        Ok(path.strip_prefix(root)?.to_owned())
    };
    let mode = u32::try_from(number & u64::from(PERMISSIONS))?;
    let is = |expected: Kind| kind == expected as u64;
    Ok(if is(Kind::Create) {
        Operation::Create { inode, path: relative(a)?, mode }
    } else if is(Kind::Write) {
        Operation::Write { inode, offset: number, data: a.to_owned() }
    } else if is(Kind::Truncate) {
        Operation::Truncate { inode, len: number }
    } else if is(Kind::Sync) {
        Operation::Sync { inode }
    } else if is(Kind::SyncFolder) {
        Operation::SyncFolder { inode }
    } else if is(Kind::Rename) {
        Operation::Rename { from: relative(a)?, to: relative(b)? }
    } else if is(Kind::Link) {
        Operation::Link { from: relative(a)?, to: relative(b)? }
    } else if is(Kind::Unlink) {
        Operation::Unlink { path: relative(a)? }
    } else if is(Kind::MakeFolder) {
        Operation::MakeFolder { inode, path: relative(a)?, mode }
    } else if is(Kind::RemoveFolder) {
        Operation::RemoveFolder { path: relative(a)? }
    } else if is(Kind::SetMode) {
        Operation::SetMode { inode, mode }
    } else {
        bail!("a record of kind {kind}")
    })
}
