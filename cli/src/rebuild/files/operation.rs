//! The calls of the system that have to do with files.

use std::ffi::OsStr;
use std::fs::File;

use super::folder::Folder;

/// A call that is about to be made, or was.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests read it"))]
pub(in crate::rebuild) enum Operation<'a> {
    /// Looks at a name, opens it for reading, or lists a folder.
    Look,
    Create {
        folder: &'a Folder,
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
        from: (&'a Folder, &'a OsStr),
        to: (&'a Folder, &'a OsStr),
    },
    Link {
        from: (&'a Folder, &'a OsStr),
        to: (&'a Folder, &'a OsStr),
    },
    Remove {
        folder: &'a Folder,
        name: &'a OsStr,
    },
    MakeFolder {
        folder: &'a Folder,
        name: &'a OsStr,
    },
    RemoveFolder {
        folder: &'a Folder,
        name: &'a OsStr,
    },
    SyncFolder {
        folder: &'a Folder,
    },
}

/// What tests do before and after each call.
#[cfg(test)]
pub(in crate::rebuild) mod hook {
    use std::cell::RefCell;
    use std::io;
    use std::sync::Arc;

    pub(in crate::rebuild) use super::Operation;

    /// Watches the operations of the folders that are opened while it is [set](with).
    pub(in crate::rebuild) trait Hook: Send + Sync {
        /// An error is that of the call, which is not made then.
        fn before(&self, operation: &Operation<'_>) -> io::Result<()>;
        /// The call was made, and did not fail.
        fn after(&self, operation: &Operation<'_>);
    }

    thread_local! {
        static HOOK: RefCell<Option<Arc<dyn Hook>>> = const { RefCell::new(None) };
    }

    /// Runs `work` with this hook for all folders that it opens by their paths in this thread.
    pub(in crate::rebuild) fn with<T>(hook: &Arc<dyn Hook>, work: impl FnOnce() -> T) -> T {
        HOOK.set(Some(Arc::clone(hook)));
        let result = work();
        HOOK.set(None);
        result
    }

    pub(in crate::rebuild::files) fn current() -> Option<Arc<dyn Hook>> {
        HOOK.with_borrow(Clone::clone)
    }
}
