//! Crashes at any operation: nothing is lost, and the next run clears away what is left.
//!
//! The states are samples of those that a loss of power can leave in two models of file systems: one that loses the
//! last changes of names, and one that loses any changes of names that were not synced. A second crash hits the run
//! after the first one, or the run after a kill, which ends the program and loses nothing else.

use std::{fs, path::Path, sync::Arc};

use filterblock_crash_states::{History, Operation, Random, State, Tree, complete, sample};

use super::interpreted::fewer;
use super::modes::{Mode, Root, run, run_with};
use super::state::{
    DATABASE, Held, TARGET, UNDO_FOLDER, check_next_numbers, check_nothing_left, check_undo_folder,
};
use super::{super::Failure, databases::Sample, recorder::Recorder};
use crate::report::RebuildStatus;

/// The number of states to check for each run after one crash, in all rounds.
const STATES: usize = 60;
/// The number of states to check for each run after two crashes, in all rounds.
const SECOND_STATES: usize = 16;
/// The number of states to check for each run after a kill and a crash, in all rounds.
const STATES_AFTER_A_KILL: usize = 3;

/// A database before a rebuild, and its contents.
struct Case {
    sample: Sample,
    mode: Mode,
    before: Tree,
    held: Held,
}

impl Case {
    fn new(sample: Sample, mode: Mode) -> Self {
        let root = Root::with(sample, mode);
        let held = Held::of(&root.database()).unwrap();
        Self { sample, mode, before: Tree::read(&root.path).unwrap().0, held }
    }

    /// Runs a rebuild on the files of `tree`, and returns its history and result. `earlier`: a run that was killed, and
    /// the number of its steps that the history begins with.
    fn record(&self, tree: &Tree, earlier: Option<(&History, usize)>) -> (History, Result<(), Failure>) {
        let root = Root::new();
        tree.write(&root.path).unwrap();
        let inodes = tree.inodes(&root.path).unwrap();
        let recorder = Arc::new(Recorder::new(&root.path));
        let result = run_with(recorder.clone(), self.sample, self.mode, &root.path);
        let operations = recorder.operations();
        for operation in &operations {
            // No other user can read a new file before it has the rights of the old one.
            let (Operation::Create { mode, .. } | Operation::MakeFolder { mode, .. }) = operation else {
                continue;
            };
            assert_eq!(mode & 0o077, 0, "{operation:?}");
        }
        let history = match earlier {
            None => History::new(tree.clone(), inodes, &operations),
            Some((earlier, done)) => earlier.continued(done, inodes, &operations),
        };
        let history = history.unwrap();
        // The recorder has noted everything that the run did.
        let (after, _) = Tree::read(&root.path).unwrap();
        assert_eq!(history.after.listing(), after.listing(), "{:?} {:?}", self.sample, self.mode);
        (history, result.map(drop))
    }

    fn check(&self, state: &State, history: &History) {
        if let Err(why) = self.check_tree(&state.tree) {
            panic!("{:?} {:?}: {why}\n{}", self.sample, self.mode, state.describe(history));
        }
    }

    fn check_tree(&self, tree: &Tree) -> Result<(), String> {
        let root = Root::new();
        tree.write(&root.path).unwrap();
        self.check_sound(&root.path)?;
        check_next_numbers(&root.database())?;
        check_undo_folder(&root.path.join(UNDO_FOLDER))?;
        self.check_again(&root.path)
    }

    fn check_sound(&self, root: &Path) -> Result<(), String> {
        let held = Held::of(&root.join(DATABASE))?;
        if held != self.held {
            return Err(format!("holds {held:?}, expected {:?}", self.held));
        }
        // A second database is there completely or not at all.
        let target = root.join(TARGET);
        if target.exists() && Held::of(&target)? != self.held {
            return Err("the copy holds something else".to_owned());
        }
        Ok(())
    }

    /// Runs the same request again, then undoes the rebuild or discards the old tables, if they were kept, and then
    /// runs a rebuild that has to succeed.
    fn check_again(&self, root: &Path) -> Result<(), String> {
        match run(self.sample, self.mode, root) {
            Ok(_) | Err(Failure { status: RebuildStatus::Refused, .. }) => {}
            Err(failure) => return Err(format!("run again: {failure}")),
        }
        self.check_sound(root)?;
        let dir = root.join(DATABASE);
        check_nothing_left(&dir).map_err(|why| format!("run again: {why}"))?;
        let failed = |failure| format!("undo or discard: {failure}");
        if self.mode.keeps_undo() {
            // The rebuild finished in this run or in an earlier one.
            run(self.sample, Mode::Undo, root).map_err(failed)?;
            if fs::read_to_string(dir.join("CURRENT")).ok() != Some(Sample::current()) {
                return Err("undone, and another MANIFEST is named".to_owned());
            }
        } else if root.join(UNDO_FOLDER).exists() {
            match run(self.sample, Mode::Undo, root) {
                Err(Failure { status: RebuildStatus::Refused, .. }) => run(self.sample, Mode::Discard, root),
                undone => undone,
            }
            .map_err(failed)?;
        }
        self.check_sound(root)?;
        check_nothing_left(&dir)?;
        run(self.sample, Mode::NoUndo, root).map_err(|failure| format!("a new rebuild: {failure}"))?;
        self.check_sound(root)?;
        check_nothing_left(&dir)
    }
}

/// Checks states of a database after crashes in `mode`.
fn crash(sample_of: Sample, mode: Mode) {
    let mut random = Random::for_case(sample_of as u64, mode as u64);
    let case = Case::new(sample_of, mode);
    let (history, result) = case.record(&case.before, None);
    result.unwrap();
    // Everything that the run did would survive a loss of power.
    for step in history.name_steps() {
        let words = &history.words[step];
        let path = Path::new(words.split_whitespace().last().unwrap());
        // Names in a folder that is gone are exempt. So is CURRENT in the undo folder: it was in the folder that
        // `try_out` made and removed, which had the same name.
        let is_there = history.after.find(path.parent().unwrap()).is_ok()
            && path != Path::new(UNDO_FOLDER).join("CURRENT");
        assert!(!is_there || history.is_durable(step, history.steps.len()), "{mode:?}: {words}");
    }
    let states = sample(&history, STATES / fewer(5), &mut random);
    states.iter().for_each(|state| case.check(state, &history));

    // There is a crash, and another one in the next run.
    let second = |history: &History, random: &mut Random| {
        for state in sample(history, SECOND_STATES / fewer(5), random) {
            case.check(&state, history);
        }
    };
    for _ in 0..3 {
        let state = &states[random.index(states.len())];
        let (next, _) = case.record(&state.tree, None);
        second(&next, &mut random);
    }
    // There is a kill after each step that changes names, and a crash in the next run.
    for done in history.name_steps().into_iter().map(|at| at + 1) {
        let state = complete(&history, done);
        let (next, _) = case.record(&state.tree, Some((&history, done)));
        for state in sample(&next, STATES_AFTER_A_KILL / fewer(3), &mut random) {
            case.check(&state, &next);
        }
    }
}

/// Promise: B4.
#[test]
fn nothing_is_lost_of_a_database_of_several_levels() {
    Mode::ALL.into_iter().for_each(|mode| crash(Sample::Levels, mode));
}

#[test]
fn nothing_is_lost_of_tables_on_level_0() {
    Mode::ALL.into_iter().for_each(|mode| crash(Sample::Level0, mode));
}

#[test]
fn nothing_is_lost_of_a_database_with_a_damaged_table() {
    Mode::ALL.into_iter().for_each(|mode| crash(Sample::Damaged, mode));
}

/// A run that was killed may have left names that are not durable yet. The next run has to make durable what it relies
/// on before it removes anything.
#[test]
fn recovery_makes_durable_what_it_goes_by() {
    let case = Case::new(Sample::Levels, Mode::InPlace);
    let (history, _) = case.record(&case.before, None);
    let commit = history.words.iter().rposition(|words| words.ends_with(" to db/CURRENT")).unwrap();
    // The run is killed just before the commit, or just after it.
    for done in [commit, commit + 1] {
        let killed = complete(&history, done).tree;
        let (next, result) = case.record(&killed, None);
        result.unwrap();
        let words: Vec<_> = next.words.iter().take(3).map(String::as_str).collect();
        assert_eq!(words[..2], ["fsync folder db", "fsync folder ."], "{words:?}");
        assert!(words[2].starts_with("unlink "), "{words:?}");
    }
}
