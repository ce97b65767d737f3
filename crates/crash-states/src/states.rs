//! States that a crash can leave.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::history::{Change, History, Step, apply_names};
use super::random::Random;
use super::tree::Tree;

/// The name changes that a file system may lose in a crash, among those that no sync of their folder has made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// The last changes, counted over all folders, as if there were a journal.
    Last,
    /// Any of these changes.
    Any,
}

/// The fate of contents that no sync of their file has made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unsynced {
    /// All such contents are lost.
    Lost,
    /// All such contents are there.
    There,
    /// Each file is in a state of its own, anywhere between these two: see [`torn`].
    Random(u64),
}

/// A folder as a crash left it.
#[derive(Debug, Clone)]
pub struct State {
    /// The folder.
    pub tree: Tree,
    /// The number of steps that were done.
    pub done: usize,
    /// The steps that changed names and were lost.
    pub lost: Vec<usize>,
    /// The model by which this state was made.
    pub model: Model,
    /// The fate of unsynced contents, for reports.
    pub contents: String,
}

impl State {
    /// The state in words.
    pub fn describe(&self, history: &History) -> String {
        let from = self.done.saturating_sub(4);
        let steps = &history.words;
        let lost: Vec<_> = self.lost.iter().map(|at| format!("{at}: {}", steps[*at])).collect();
        format!(
            "crash after {} of {} steps, model {:?}, unsynced contents {}\n  last done: {:?}\n  next: {:?}\n  \
             lost: {lost:?}",
            self.done,
            steps.len(),
            self.model,
            self.contents,
            &steps[from..self.done],
            steps.get(self.done),
        )
    }
}

/// Different states after crashes at any step of the last run: for each model, at most half of `count`, rounded up.
pub fn sample(history: &History, count: usize, random: &mut Random) -> Vec<State> {
    let mut known = BTreeSet::new();
    let mut states = Vec::new();
    for model in [Model::Last, Model::Any] {
        let mut crashes = crashes(history, model, random);
        shuffle(&mut crashes, random);
        let found = crashes.into_iter().map(|crash| state(history, crash));
        let new = found.filter(|state| known.insert(state.tree.digest()));
        states.extend(new.take(count.div_ceil(2)));
    }
    states
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for at in (1..items.len()).rev() {
        items.swap(at, random.index(at + 1));
    }
}

/// A crash, with all that determines the state it leaves.
struct Crash {
    done: usize,
    lost: Vec<usize>,
    model: Model,
    unsynced: Unsynced,
}

fn crashes(history: &History, model: Model, random: &mut Random) -> Vec<Crash> {
    let names = history.name_steps();
    let mut crashes = Vec::new();
    for done in history.earlier..=history.steps.len() {
        let open: Vec<_> =
            names.iter().copied().filter(|at| *at < done && !history.is_durable(*at, done)).collect();
        let losses: Vec<Vec<usize>> = match model {
            Model::Last => {
                // In a journal, a name that is durable makes all before it durable.
                let last_durable =
                    names.iter().copied().filter(|at| *at < done && history.is_durable(*at, done)).max();
                let open: Vec<_> = open.into_iter().filter(|at| Some(*at) > last_durable).collect();
                let between = random.index(open.len() + 1);
                let froms = BTreeSet::from([0, between, open.len()]);
                froms.into_iter().map(|from| open[from..].to_vec()).collect()
            }
            Model::Any => {
                let mut losses = vec![open[..open.len().saturating_sub(1)].to_vec()];
                for _ in 0..3 + open.len() {
                    let keeps = random.between(2, 5);
                    losses.push(open.iter().copied().filter(|_| !random.one_in(keeps)).collect());
                }
                losses
            }
        };
        for lost in losses {
            let random_contents = Unsynced::Random(random.next_u64());
            for unsynced in [Unsynced::Lost, Unsynced::There, random_contents] {
                crashes.push(Crash { done, lost: lost.clone(), model, unsynced });
            }
        }
    }
    crashes
}

/// The complete folder after `done` steps, as a kill of the program leaves it: nothing is lost.
pub fn complete(history: &History, done: usize) -> State {
    state(history, Crash { done, lost: Vec::new(), model: Model::Last, unsynced: Unsynced::There })
}

fn state(history: &History, crash: Crash) -> State {
    let Crash { done, lost, model, unsynced } = crash;
    let mut tree = history.before.clone();
    for folder in history.after.folders.keys() {
        tree.folders.entry(*folder).or_default();
    }
    for (at, step) in history.steps[..done].iter().enumerate() {
        if let Step::Names(changes) = step
            && !lost.contains(&at)
        {
            apply_names(&mut tree, changes);
        }
    }
    let mut random = match unsynced {
        Unsynced::Random(seed) => Random::new(seed),
        Unsynced::Lost | Unsynced::There => Random::new(0),
    };
    let files = history.contents(done).into_iter().map(|(node, (durable, since))| {
        let contents = match unsynced {
            _ if since.is_empty() => durable,
            Unsynced::Lost => durable,
            Unsynced::There => all(durable, &since),
            Unsynced::Random(_) => torn(durable, &since, &mut random),
        };
        (node, Arc::new(contents))
    });
    tree.files = files.collect();
    let modes = history.modes(done).into_iter().map(|(node, (durable, since))| {
        let is_there = match unsynced {
            Unsynced::Lost => false,
            Unsynced::There => true,
            Unsynced::Random(_) => random.one_in(2),
        };
        (node, since.into_iter().next_back().filter(|_| is_there).unwrap_or(durable))
    });
    tree.modes = modes.collect();
    State { tree, done, lost, model, contents: format!("{unsynced:?}") }
}

fn all(mut contents: Vec<u8>, changes: &[&Change]) -> Vec<u8> {
    for change in changes {
        change.apply(&mut contents);
    }
    contents
}

/// Returns contents as a crash may leave them: some or all of the changes may not have reached the disk.
fn torn(durable: Vec<u8>, changes: &[&Change], random: &mut Random) -> Vec<u8> {
    let sector = if random.one_in(2) { 512 } else { 4096 };
    let new = all(durable.clone(), changes);
    // Bytes that were durable stay.
    let floor = durable.len().min(new.len());
    match random.below(5) {
        // The first changes only, and of the contents after them only whole sectors from the start.
        0 => {
            let mut contents = all(durable, &changes[..random.index(changes.len() + 1)]);
            let len = random.index(contents.len() + 1);
            contents.truncate((len - len % sector).max(floor));
            contents
        }
        // The file's length is there already, the bytes are not.
        1 => {
            let mut contents = durable;
            contents.resize(new.len(), 0);
            contents
        }
        // The first part of the new contents, cut at any byte.
        2 => new[..random.index(new.len() + 1).max(floor)].to_vec(),
        3 => durable,
        // Some of the sectors.
        _ => {
            let mut contents = durable;
            contents.resize(new.len(), 0);
            for (old, new) in contents.chunks_mut(sector).zip(new.chunks(sector)) {
                if random.one_in(2) {
                    old.copy_from_slice(new);
                }
            }
            contents
        }
    }
}
