//! The lock is held from the first change to the last, and a signal is heeded up to the commit.

use std::sync::atomic::{AtomicU32, Ordering};
use std::{ffi::OsStr, io, path::PathBuf, sync::Arc};

use filterblock::database::DatabaseLock;

use super::databases::Sample;
use super::modes::{Mode, Root, run_until, run_with};
use super::state::{Held, TARGET, UNDO_FOLDER, check_nothing_left, names};
use crate::write::hook::{self, Hook, Operation};
use crate::{report::RebuildStatus, run::Progress};

/// Tries to lock the database before each change.
struct Locking {
    dir: PathBuf,
    count: AtomicU32,
}

impl Hook for Locking {
    fn before(&self, operation: &Operation<'_>) -> io::Result<()> {
        if !matches!(operation, Operation::Look) {
            let error = DatabaseLock::exclusive(&self.dir).expect_err("it is locked");
            assert!(error.is_in_use(), "{error}, before {operation:?}");
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn after(&self, _: &Operation<'_>) {}
}

/// Promise: B5.
#[test]
fn nobody_else_can_lock_the_database_between_the_first_change_and_the_last() {
    for mode in Mode::ALL {
        let root = Root::with(Sample::Levels, mode);
        let hook = Arc::new(Locking { dir: root.database(), count: AtomicU32::new(0) });
        run_with(hook.clone(), Sample::Levels, mode, &root.path).unwrap();
        assert!(hook.count.load(Ordering::Relaxed) > 5, "{mode:?}");
        drop(DatabaseLock::exclusive(root.database()).unwrap());
    }
}

/// Interrupts the run after the last operation before the commit.
struct Watching {
    /// The name that the operation creates or renames to.
    name: &'static str,
    /// The number of times that the operation has yet to be done.
    left: AtomicU32,
}

impl Hook for Watching {
    fn before(&self, _: &Operation<'_>) -> io::Result<()> {
        Ok(())
    }

    fn after(&self, operation: &Operation<'_>) {
        let is_it = match *operation {
            Operation::Rename { to: (_, name), .. } | Operation::Create { name, .. } => {
                name == OsStr::new(self.name)
            }
            _ => false,
        };
        if is_it {
            self.left.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Progress for Watching {
    fn is_interrupted(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

#[test]
fn a_signal_just_before_the_commit_ends_the_run_and_leaves_nothing() {
    for (mode, name, times) in [
        // `try_out` has already renamed a folder to the same name.
        (Mode::InPlace, UNDO_FOLDER, 2),
        (Mode::NoUndo, "MANIFEST-000046", 1),
        (Mode::To, "CURRENT", 1),
    ] {
        let root = Root::with(Sample::Levels, mode);
        let held = Held::of(&root.database()).unwrap();
        let before = names(&root.database());
        let hook = Arc::new(Watching { name, left: AtomicU32::new(times) });
        let watched: Arc<dyn Hook> = hook.clone();
        let result = hook::with(&watched, || run_until(Sample::Levels, mode, &root.path, hook.clone()));
        let status = result.as_ref().map_err(|failure| failure.status).map(|_| ());
        assert_eq!(status, Err(RebuildStatus::Interrupted), "{mode:?}: {result:?}");
        assert!(hook.is_interrupted());
        assert_eq!(Held::of(&root.database()).unwrap(), held);
        check_nothing_left(&root.database()).unwrap();
        assert_eq!(names(&root.database()), before);
        assert_eq!(names(&root.path), ["db"], "{mode:?}");
        assert!(!root.path.join(TARGET).exists());
    }
}
