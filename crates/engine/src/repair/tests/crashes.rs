//! Crashes at any operation, and operations that fail: there is a complete new database or none, and the damaged one
//! stays as it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io, path::Path};

use filterblock_crash_states::{History, Random, Tree, sample};

use super::{DATABASE, TARGET, run};
use crate::rebuild::tests::databases::Sample;
use crate::rebuild::tests::recorder::Recorder;
use crate::rebuild::tests::state::Held;
use crate::write::hook::{self, Hook, Operation};

const STATES: usize = 100;
const NEVER: usize = usize::MAX;

/// Records all operations, and makes one fail.
struct Watching {
    recorder: Recorder,
    fails_at: usize,
    error: rustix::io::Errno,
    count: AtomicUsize,
}

impl Watching {
    fn new(root: &Path, fails_at: usize, error: rustix::io::Errno) -> Arc<Self> {
        Arc::new(Self { recorder: Recorder::new(root), fails_at, error, count: AtomicUsize::new(0) })
    }
}

impl Hook for Watching {
    fn before(&self, operation: &Operation<'_>) -> io::Result<()> {
        if !matches!(operation, Operation::Look)
            && self.count.fetch_add(1, Ordering::Relaxed) == self.fails_at
        {
            return Err(io::Error::from_raw_os_error(self.error.raw_os_error()));
        }
        self.recorder.before(operation)
    }

    fn after(&self, operation: &Operation<'_>) {
        self.recorder.after(operation);
    }
}

/// A folder with a database in it.
fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    Sample::Levels.make(&root.path().join(DATABASE));
    root
}

/// Checks that the old database is unchanged, and that there is a new one with the same entries, or none. Returns true
/// if there is a new one.
fn check(root: &Path, held: &Held) -> Result<bool, String> {
    if Held::of(&root.join(DATABASE))? != *held {
        return Err("the database is another".to_owned());
    }
    let target = root.join(TARGET);
    if !target.exists() {
        return Ok(false);
    }
    let new = Held::of(&target)?;
    match new.entries == held.entries && new.errors == 0 {
        true => Ok(true),
        false => {
            Err(format!("the new one holds {} entries instead of {}", new.entries.len(), held.entries.len()))
        }
    }
}

/// Promise: B2.
#[test]
fn a_crash_leaves_a_whole_new_database_or_none() {
    let root = root();
    let held = Held::of(&root.path().join(DATABASE)).unwrap();
    let (before, inodes) = Tree::read(root.path()).unwrap();
    let watching = Watching::new(root.path(), NEVER, rustix::io::Errno::IO);
    let hook: Arc<dyn Hook> = watching.clone();
    let report = hook::with(&hook, || run(root.path())).unwrap();
    assert!(report.data.is_complete && report.data.verified, "{report:?}");
    assert_eq!(check(root.path(), &held), Ok(true));
    let history = History::new(before, inodes, &watching.recorder.operations()).unwrap();
    let mut random = Random::for_case(1, 1);
    let mut whole = 0;
    for state in sample(&history, STATES, &mut random) {
        let after = tempfile::tempdir().unwrap();
        let after = after.path().join("root");
        state.tree.write(&after).unwrap();
        match check(&after, &held) {
            Ok(is_there) => whole += usize::from(is_there),
            Err(why) => panic!("{why}\n{}", state.describe(&history)),
        }
    }
    assert!((1..STATES).contains(&whole), "{whole}");
}

#[test]
fn a_call_that_fails_leaves_nothing_behind() {
    for error in [rustix::io::Errno::IO, rustix::io::Errno::NOSPC] {
        for at in 0.. {
            let root = root();
            let held = Held::of(&root.path().join(DATABASE)).unwrap();
            let watching = Watching::new(root.path(), at, error);
            let hook: Arc<dyn Hook> = watching.clone();
            let result = hook::with(&hook, || run(root.path()));
            let is_there = check(root.path(), &held).unwrap_or_else(|why| panic!("operation {at}: {why}"));
            if watching.count.load(Ordering::Relaxed) <= at {
                assert!(result.is_ok() && at > 10, "{at}");
                break;
            }
            // Only the last sync can fail when the new name is there already.
            assert!(!is_there || result.is_err(), "operation {at}");
            let failure = result.expect_err("the operation failed");
            assert!(failure.text.contains(root.path().to_str().unwrap()), "{failure}");
            let left: Vec<_> =
                fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert!(left.len() == 1 + usize::from(is_there), "operation {at}: {left:?} after {failure}");
        }
    }
}

/// If no folder can be made where the new database is to be, the error advises another place.
#[test]
fn a_place_in_which_nobody_can_write_is_not_blamed_on_the_database() {
    for error in [rustix::io::Errno::ACCESS, rustix::io::Errno::ROFS] {
        let failures = (0..).map_while(|at| {
            let root = root();
            let hook: Arc<dyn Hook> = Watching::new(root.path(), at, error);
            hook::with(&hook, || run(root.path())).err()
        });
        let failure = failures.into_iter().find(|failure| failure.text.contains("making a folder in it"));
        let text = failure.unwrap().text;
        assert!(text.ends_with("; choose a folder in which you can write"), "{text}");
    }
}
