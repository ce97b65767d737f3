//! The operations of a program on files and folders.

use std::path::PathBuf;

/// An operation that succeeded. Paths are relative to the recorded folder. `inode` is the number that the file or
/// folder has at that time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the operands of the system calls")]
pub enum Operation {
    /// A file that did not exist is created, with these permission bits.
    Create { inode: u64, path: PathBuf, mode: u32 },
    /// Bytes are written to a file.
    Write { inode: u64, offset: u64, data: Vec<u8> },
    /// A file gets another length.
    Truncate { inode: u64, len: u64 },
    /// `fsync` or `fdatasync` of a file.
    Sync { inode: u64 },
    /// `fsync` of a folder.
    SyncFolder { inode: u64 },
    /// A file or a folder gets another name, in the same folder or in another one. What had the new name before loses
    /// it.
    Rename { from: PathBuf, to: PathBuf },
    /// A file gets a second name, a hard link.
    Link { from: PathBuf, to: PathBuf },
    /// `unlink`.
    Unlink { path: PathBuf },
    /// `mkdir`, with these permission bits.
    MakeFolder { inode: u64, path: PathBuf, mode: u32 },
    /// `rmdir`.
    RemoveFolder { path: PathBuf },
    /// A file or a folder gets other permission bits.
    SetMode { inode: u64, mode: u32 },
}
