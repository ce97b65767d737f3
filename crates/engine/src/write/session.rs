//! The state that is shared by the folders opened by one call to `Dir::open`, and by the files and folders in them.
//! The system calls that an [`Operation`] describes are made by [`Session::perform`].

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(all(test, unix))]
use std::sync::Arc;

#[cfg(all(test, unix))]
use super::hook::{self, Hook};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Changing a database: links to files are not followed, and new files get the owner of the old ones.
    InPlace,
    /// Copying a database: links to files are followed, and only root gives new files to the owner of the old ones.
    Copy,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) purpose: Purpose,
    /// A folder could not be synced: it is not known whether names that changed would survive a loss of power.
    pub(super) sync_failed: AtomicBool,
    /// A new file could not be given the group of the old file, so its mode gives its own group no permissions.
    pub(super) group_was_lost: AtomicBool,
    #[cfg(all(test, unix))]
    hook: NoDebug<Option<Arc<dyn Hook>>>,
}

impl Session {
    pub(super) fn new(purpose: Purpose) -> Self {
        Self {
            purpose,
            sync_failed: AtomicBool::new(false),
            group_was_lost: AtomicBool::new(false),
            #[cfg(all(test, unix))]
            hook: NoDebug(hook::current()),
        }
    }

    /// Makes a call. In tests, the hook runs before the call and, if the call succeeds, after it.
    #[cfg_attr(
        not(all(test, unix)),
        expect(clippy::unused_self, reason = "tests watch the calls of a session")
    )]
    pub(super) fn perform<T>(
        &self,
        operation: Operation<'_>,
        call: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        #[cfg(all(test, unix))]
        if let Some(hook) = &self.hook.0 {
            hook.before(&operation)?;
            let result = call()?;
            hook.after(&operation);
            return Ok(result);
        }
        let _ = operation;
        call()
    }

    pub(super) fn is_set(flag: &AtomicBool) -> bool {
        flag.load(Ordering::Relaxed)
    }

    pub(super) fn set(flag: &AtomicBool) {
        flag.store(true, Ordering::Relaxed);
    }
}

#[cfg(all(test, unix))]
struct NoDebug<T>(T);

#[cfg(all(test, unix))]
impl<T> std::fmt::Debug for NoDebug<T> {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

/// A system call on files or folders. Folders are given by the paths that led to them.
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
