//! System calls that fail, one in each run, and filters that deny keys: these are detected before they are put to use.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::{io, path::Path, sync::Arc};

use filterblock::{BloomFilterPolicy, FilterPolicy, Keys};
use filterblock_crash_states::{History, Random, Tree, sample};

use super::super::filters::TableFilters;
use super::super::table::{Target, rewrite};
use super::databases::NEW_NAME;
use super::interpreted::fewer;
use super::modes::{Mode, Root, run, run_with};
use super::state::{DATABASE, Held, TARGET, UNDO_FOLDER, check_nothing_left};
use super::{databases::Sample, recorder::Recorder};
use crate::audit::verify;
use crate::engine::Engine;
use crate::report::Verdict;
use crate::walk::Files;
use crate::write::hook::{Hook, Operation};
use crate::write::{Dir, DirStorage, InPlace, Input, Purpose};

/// Makes one operation fail.
struct Failing {
    recorder: Recorder,
    at: usize,
    count: AtomicUsize,
    /// The number of operations before the failed sync of a folder; [`NEVER`]: no sync of a folder failed.
    done_at_sync: AtomicUsize,
}

const NEVER: usize = usize::MAX;

impl Failing {
    fn new(root: &Path, at: usize) -> Arc<Self> {
        let count = AtomicUsize::new(0);
        Arc::new(Self { recorder: Recorder::new(root), at, count, done_at_sync: AtomicUsize::new(NEVER) })
    }
}

impl Hook for Failing {
    fn before(&self, operation: &Operation<'_>) -> io::Result<()> {
        if !matches!(operation, Operation::Look) && self.count.fetch_add(1, Ordering::Relaxed) == self.at {
            if matches!(operation, Operation::SyncFolder { .. }) {
                self.done_at_sync.store(self.recorder.operations().len(), Ordering::Relaxed);
            }
            return Err(io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error()));
        }
        self.recorder.before(operation)
    }

    fn after(&self, operation: &Operation<'_>) {
        self.recorder.after(operation);
    }
}

/// Makes each operation but `Look` fail, one in each run. Returns the number of these operations.
fn fail_each(sample_of: Sample, mode: Mode) -> usize {
    let mut random = Random::for_case(sample_of as u64, mode as u64);
    for at in 0.. {
        let root = Root::with(sample_of, mode);
        let held = Held::of(&root.database()).unwrap();
        let (before, inodes) = Tree::read(&root.path).unwrap();
        let hook = Failing::new(&root.path, at);
        let result = run_with(hook.clone(), sample_of, mode, &root.path);
        if hook.count.load(Ordering::Relaxed) <= at {
            result.unwrap();
            return at;
        }
        let said = match &result {
            Ok(report) => report.notes.join("; "),
            Err(failure) => failure.to_string(),
        };
        let case = format!("{sample_of:?} {mode:?}, operation {at}: {said}");
        let is_sound = |root: &Path| assert_eq!(Held::of(&root.join(DATABASE)).unwrap(), held, "{case}");
        is_sound(&root.path);
        let operations = hook.recorder.operations();
        let done_at_sync = hook.done_at_sync.load(Ordering::Relaxed);
        let history = || History::new(before.clone(), inodes.clone(), &operations).unwrap();
        if result.as_ref().is_ok_and(|report| report.data.manifest.is_some()) && mode != Mode::To {
            // Whatever failed afterwards, the commit is durable.
            let history = history();
            let commit = history.words.iter().rposition(|words| words.ends_with(" to db/CURRENT")).unwrap();
            assert!(history.is_durable(commit, history.steps.len()), "{case}");
        }
        if done_at_sync != NEVER && mode != Mode::To {
            let removed = operations[done_at_sync..].iter().find(|operation| {
                use filterblock_crash_states::Operation::{RemoveFolder, Unlink};
                matches!(operation, Unlink { .. } | RemoveFolder { .. })
            });
            assert_eq!(removed, None, "after a sync that failed: {case}");
            assert!(said.contains("run the same again"), "{case}");
            // Changes that were not synced may be lost.
            let history = history();
            for state in sample(&history, 4 / fewer(4), &mut random) {
                let after = Root::new();
                state.tree.write(&after.path).unwrap();
                is_sound(&after.path);
                run(sample_of, Mode::NoUndo, &after.path).ok();
                is_sound(&after.path);
            }
        }
        // A second database is there completely or not at all.
        let target = root.path.join(TARGET);
        assert!(!target.exists() || Held::of(&target).unwrap() == held, "{case}");
        // The next run continues or begins anew.
        if run(sample_of, mode, &root.path).is_err() {
            assert!(
                root.path.join(UNDO_FOLDER).exists() || mode.is_after_a_rebuild() || target.exists(),
                "{case}"
            );
        }
        is_sound(&root.path);
        check_nothing_left(&root.database()).unwrap();
    }
    unreachable!("a run comes to its end")
}

#[test]
fn a_call_that_fails_loses_nothing() {
    for mode in Mode::ALL {
        let count = fail_each(Sample::Levels, mode);
        assert!(count >= 10, "{mode:?}: {count}");
    }
    fail_each(Sample::Damaged, Mode::InPlace);
}

/// A policy whose filters lack the last of their keys.
struct Forgetful(BloomFilterPolicy);

impl FilterPolicy for Forgetful {
    fn name(&self) -> &str {
        NEW_NAME
    }

    fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> filterblock::Result<()> {
        let mut kept = filterblock::KeyBuf::new();
        keys.iter().take(keys.len() - 1).for_each(|key| kept.push(key));
        self.0.create_filter(kept.as_keys(), dst)
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.0.key_may_match(key, filter)
    }
}

/// Promise: B7.
#[test]
fn a_filter_that_denies_a_key_is_a_fault_of_this_program() {
    let root = Root::with(Sample::Levels, Mode::InPlace);
    let (_, dir) = Dir::open(&root.database(), Purpose::InPlace).unwrap();
    let engine = Engine::new().files(Files::new(Arc::new(DirStorage::of(dir.clone()))));
    let input = Input { engine: &engine, dir: dir.path() };
    let filters = |policy| TableFilters { policy, bits_per_key: 20, base_lg: 11, idb_keys: false };
    let write = |filters: &TableFilters| {
        let target = Target { output: &InPlace(&dir), name: "000050.dbtmp" };
        rewrite(input, "000030.ldb", Some(target), Some(filters), true)
    };
    let bad = filters(Arc::new(Forgetful(BloomFilterPolicy::new(20))));
    let verdict = |filters: &TableFilters| {
        write(filters).unwrap();
        let file = std::fs::File::open(root.database().join("000050.dbtmp")).unwrap();
        let checked = verify::table(file, None, false, &Engine::new(), false, &|_| {});
        dir.remove("000050.dbtmp").unwrap();
        checked.problems
    };
    let problems = verdict(&bad);
    assert_eq!(problems.verdict(), Verdict::FalseNegatives);
    assert!(problems.first().unwrap().code.is_of_filters());
    assert!(verdict(&filters(Arc::new(BloomFilterPolicy::new(20)))).is_empty());
}
