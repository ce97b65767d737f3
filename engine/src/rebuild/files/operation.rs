//! The calls of the system that have to do with files.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;

/// A call that is about to be made, or was. Folders are told by the paths that led to them.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(all(test, unix, in_repository)), expect(dead_code, reason = "tests read it"))]
pub enum Operation<'a> {
    /// Looks at a name, opens it for reading, or lists a folder.
    Look,
    Create {
        folder: &'a Path,
        name: &'a OsStr,
    },
    Write {
        file: &'a File,
    },
    /// Owner, mode, attributes or times.
    Attributes {
        file: &'a File,
    },
    Sync {
        file: &'a File,
    },
    Rename {
        from: (&'a Path, &'a OsStr),
        to: (&'a Path, &'a OsStr),
    },
    Link {
        from: (&'a Path, &'a OsStr),
        to: (&'a Path, &'a OsStr),
    },
    Remove {
        folder: &'a Path,
        name: &'a OsStr,
    },
    MakeFolder {
        folder: &'a Path,
        name: &'a OsStr,
    },
    RemoveFolder {
        folder: &'a Path,
        name: &'a OsStr,
    },
    SyncFolder {
        folder: &'a Path,
    },
}
