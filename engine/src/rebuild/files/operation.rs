//! System calls, as they are reported to a hook.

use std::{ffi::OsStr, fs::File, path::Path};

/// A system call on files or folders that is about to be made or was made. Folders are given by the paths that led to
/// them.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(all(test, unix, in_repository)), expect(dead_code, reason = "tests read it"))]
pub(crate) enum Operation<'a> {
    /// Looks at a name, opens it for reading, or lists a folder.
    Look,
    Create {
        folder: &'a Path,
        name: &'a OsStr,
    },
    Write {
        file: &'a File,
    },
    /// Sets owner, group, mode, attributes or times.
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
