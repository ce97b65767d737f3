//! The status of a file.

use std::time::SystemTime;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileType {
    File,
    Folder,
    Link,
    Other,
}

/// The status of a file. Owner, group, mode and identity are 0 on systems that do not have them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Status {
    pub file_type: FileType,
    pub len: u64,
    pub owner: u32,
    pub group: u32,
    /// The mode without the file type.
    pub mode: u32,
    /// Device and inode.
    pub id: (u64, u64),
    pub(super) modified: Option<SystemTime>,
}

/// The bit that lets users other than the owner and the group write.
const OTHERS_WRITE: u32 = 0o002;
const GROUP_WRITES: u32 = 0o020;

impl Status {
    pub(crate) fn is_file(&self) -> bool {
        self.file_type == FileType::File
    }

    pub(crate) fn is_link(&self) -> bool {
        self.file_type == FileType::Link
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.file_type == FileType::Folder
    }

    /// Returns true if `self` describes the same file as `before`, unchanged in length and in time of
    /// modification.
    pub(crate) fn is_unchanged_since(&self, before: &Self) -> bool {
        (self.id, self.len, self.modified) == (before.id, before.len, before.modified)
    }

    /// Returns true if, judging by modes and groups, everybody who can write to `self`, apart from its owner,
    /// can also write to `to`.
    pub(crate) fn lets_nobody_else_write_than(&self, to: &Self) -> bool {
        let more = self.mode & !to.mode;
        let is_of_group = self.group == to.group || self.mode & GROUP_WRITES == 0;
        more & (GROUP_WRITES | OTHERS_WRITE) == 0 && is_of_group
    }
}

/// Returns true if a file belongs to the user who runs this program.
pub(super) fn is_mine(found: &Status) -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().as_raw() == found.owner;
    #[cfg(not(unix))]
    return found.owner == 0;
}

/// Returns true if this program runs as root, who may do anything to files.
pub(crate) fn is_root() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    false
}
