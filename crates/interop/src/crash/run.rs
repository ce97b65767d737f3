//! Crashes of `rebuild` and `repair` in many databases.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::{Context as _, Result, ensure};
use filterblock_crash_states::{History, Model, State, Tree, complete, sample};

use super::case::{Case, DATABASE, Mode, Recorded, work_folder};
use super::check::{Check, Checker};
use crate::goleveldb::Goleveldb;
use crate::random::Random;

/// The programs that take part.
#[derive(Debug, Clone)]
pub struct Programs {
    /// `filterblock`, or another program that takes the same arguments.
    pub filterblock: PathBuf,
    /// goleveldb's programs, if Go is installed: `go/databases` and `go/open`.
    pub goleveldb: Option<(PathBuf, PathBuf)>,
}

impl Programs {
    fn writer(&self) -> Option<&Path> {
        self.goleveldb.as_ref().map(|(writer, _)| writer.as_path())
    }
}

/// The extent of the work.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// The seed of the first database. The other databases have the seeds that follow.
    pub first_seed: u64,
    /// The number of databases.
    pub databases: u64,
    /// The largest number of states after a crash of one run of the program. In addition, there are about two fifths as
    /// many states after two crashes.
    pub states: usize,
    /// The number of threads.
    pub threads: usize,
}

impl Extent {
    /// The number of states after two crashes, for each run of the program.
    const fn doubles(&self) -> usize {
        self.states * 2 / 5
    }
}

/// The maximum number of steps of a run after which the program is killed.
const KILLS: usize = 3;

/// Stops the program in databases of consecutive seeds, and checks each state.
pub fn run(programs: &Programs, extent: Extent) -> Result<Report> {
    let (next, failed) = (AtomicU64::new(extent.first_seed), AtomicBool::new(false));
    let end = extent.first_seed + extent.databases;
    let total = Mutex::new(Report::default());
    let work = || -> Result<()> {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end || failed.load(Ordering::Relaxed) {
                return Ok(());
            }
            let report = database(programs, seed, extent).inspect_err(|_| {
                failed.store(true, Ordering::Relaxed);
            });
            let mut total = total.lock().expect("nobody panics");
            total.add(&report.with_context(|| format!("database {seed}"))?);
        }
    };
    std::thread::scope(|scope| -> Result<()> {
        let threads: Vec<_> = (0..extent.threads).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            thread.join().expect("a thread that does not panic")?;
        }
        Ok(())
    })?;
    Ok(total.into_inner().expect("nobody panics"))
}

fn database(programs: &Programs, seed: u64, extent: Extent) -> Result<Report> {
    let case = Case::new(seed, &programs.filterblock, programs.writer())?;
    let mut goleveldb = programs.goleveldb.as_ref().map(|(_, open)| Goleveldb::start(open)).transpose()?;
    let mut report = Report { databases: 1, ..Report::default() };
    // goleveldb refuses some logs of LevelDB's that begin before the MANIFEST's last sequence number.
    let folder = work_folder()?;
    case.original.write(&folder.path().join("root"))?;
    if let Some(reader) = &mut goleveldb
        && reader.compare(&folder.path().join("root").join(DATABASE), &case.plan.live).is_err()
    {
        report.refused_by_goleveldb = 1;
        goleveldb = None;
    }
    for mode in Mode::ALL {
        let Some(before) = case.before(mode)? else { continue };
        let checker = Checker::new(&case, goleveldb.as_mut())?;
        let random = Random::for_case(seed, mode as u64 + 1);
        let mut run = Run { case: &case, mode, extent, checker, random, report: &mut report };
        run.all(&before).with_context(|| mode.to_string())?;
        report.refused += run.checker.refused;
    }
    Ok(report)
}

/// The crashes of one command on one database.
struct Run<'a> {
    case: &'a Case,
    mode: Mode,
    extent: Extent,
    checker: Checker<'a>,
    random: Random,
    report: &'a mut Report,
}

impl Run<'_> {
    fn all(&mut self, before: &Tree) -> Result<()> {
        let history = self.record(before, &[0])?.history().context("the record is not complete")?;
        self.durable_at_end(&history);
        let found = sample(&history, self.extent.states, &mut self.random);
        for state in &found {
            self.check(state, &history);
            *self.report.states.entry(self.mode).or_default() += 1;
        }
        if let Some(state) = found.get(self.random.index(found.len().max(1))) {
            self.crashed(state).with_context(|| state.describe(&history))?;
        }
        self.killed(&history)
    }

    fn record(&mut self, before: &Tree, statuses: &[i32]) -> Result<Recorded> {
        let recorded = self.case.record(self.mode, before)?;
        let status = recorded.recording.status;
        let is_right = status.is_some_and(|status| statuses.contains(&status));
        ensure!(is_right, "{}", recorded.recording.ending());
        self.report.steps += recorded.recording.operations.len() as u64;
        Ok(recorded)
    }

    /// Runs the program after a loss of power, and stops that run by another loss of power.
    fn crashed(&mut self, state: &State) -> Result<()> {
        let recorded = self.record(&state.tree, &[0, 1])?;
        let history = recorded.history()?;
        for state in sample(&history, self.extent.doubles() / 2, &mut self.random) {
            self.check(&state, &history);
            self.report.nested += 1;
        }
        Ok(())
    }

    /// Kills the program at some steps, runs it again, and stops that run by a loss of power, which can still take what
    /// the first run had not synced.
    fn killed(&mut self, history: &History) -> Result<()> {
        let states = self.extent.doubles() - self.extent.doubles() / 2;
        let kills = kills(history, &mut self.random, KILLS);
        for done in &kills {
            let state = complete(history, *done);
            let describe = || format!("killed: {}", state.describe(history));
            let recorded = self.record(&state.tree, &[0, 1]).with_context(describe)?;
            let both = recorded.behind(history, *done).with_context(describe)?;
            for state in sample(&both, states.div_ceil(kills.len()), &mut self.random) {
                self.check(&state, &both);
                self.report.killed += 1;
            }
        }
        Ok(())
    }

    /// Makes the checks of a state. [`Check::Used`] is made for about one state in three.
    fn check(&mut self, state: &State, history: &History) {
        self.report.by_any += u64::from(state.model == Model::Any);
        for &check in Check::of(self.mode) {
            let is_out = check == Check::Goleveldb && self.report.refused_by_goleveldb > 0;
            if is_out || (check == Check::Used && !self.random.one_in(3)) {
                continue;
            }
            let result = self.checker.check(check, &state.tree, self.mode, &mut self.random);
            self.count(check, result.with_context(|| state.describe(history)));
        }
    }

    /// Checks that no loss of power after the end of the program changes anything.
    fn durable_at_end(&mut self, history: &History) {
        let end = History { earlier: history.steps.len(), ..history.clone() };
        let after = end.after.digest();
        let states = sample(&end, 20, &mut self.random);
        let other = states.iter().find(|state| state.tree.digest() != after);
        let result = other.map_or(Ok(()), |state| Err(anyhow::anyhow!(state.describe(&end))));
        self.count(
            Check::Durable,
            result.with_context(|| format!("{} of {}", self.mode, self.case.plan.seed)),
        );
    }

    fn count(&mut self, check: Check, result: Result<()>) {
        *self.report.checks.entry(check).or_default() += 1;
        if let Err(error) = result {
            self.report.failures.entry((check, self.mode)).or_default().push(format!("{error:#}"));
        }
    }
}

/// Returns the steps after which to kill the program: first the commit, if it is not durable then, and other steps
/// after which some change of a name is not durable.
fn kills(history: &History, random: &mut Random, count: usize) -> Vec<usize> {
    let names = history.name_steps();
    let is_open = |done: usize| names.iter().any(|at| *at < done && !history.is_durable(*at, done));
    let mut open: Vec<_> = (1..=history.steps.len()).filter(|done| is_open(*done)).collect();
    let is_commit = |done: &usize| {
        history.words[done - 1].ends_with("/CURRENT") && history.words[done - 1].starts_with("rename")
    };
    let mut kills: Vec<_> = open.iter().copied().filter(is_commit).take(1).collect();
    open.retain(|done| !kills.contains(done));
    while kills.len() < count && !open.is_empty() {
        kills.push(open.swap_remove(random.index(open.len())));
    }
    kills
}

/// The maximum number of failures of each check and command that a report describes.
const FAILURES_SHOWN: usize = 2;

/// The counts of the checks, and their failures.
#[derive(Debug, Default, Clone)]
pub struct Report {
    /// The number of databases.
    pub databases: u64,
    /// States after a crash, by what the program was doing.
    pub states: BTreeMap<Mode, u64>,
    /// States that lost arbitrary names of those that were not synced. The other states lost the last such names.
    pub by_any: u64,
    /// States after a second crash, in the run that followed the first crash.
    pub nested: u64,
    /// States after a crash in the run that followed a kill.
    pub killed: u64,
    /// Operations that were recorded.
    pub steps: u64,
    /// Checks by kind.
    pub checks: BTreeMap<Check, u64>,
    /// The number of times that the program refused because there was something to undo or to discard.
    pub refused: u64,
    /// Databases that goleveldb did not open even before the program ran.
    pub refused_by_goleveldb: u64,
    /// Failures, each with its state.
    pub failures: BTreeMap<(Check, Mode), Vec<String>>,
}

impl Report {
    /// The number of all states.
    pub fn all_states(&self) -> u64 {
        self.states.values().sum::<u64>() + self.doubles()
    }

    /// The number of states after two crashes.
    pub fn doubles(&self) -> u64 {
        self.nested + self.killed
    }

    fn add(&mut self, other: &Self) {
        self.databases += other.databases;
        self.by_any += other.by_any;
        self.nested += other.nested;
        self.killed += other.killed;
        self.steps += other.steps;
        self.refused += other.refused;
        self.refused_by_goleveldb += other.refused_by_goleveldb;
        for (mode, count) in &other.states {
            *self.states.entry(*mode).or_default() += count;
        }
        for (of, failures) in &other.failures {
            self.failures.entry(*of).or_default().extend_from_slice(failures);
        }
        for (check, count) in &other.checks {
            *self.checks.entry(*check).or_default() += count;
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} states after crashes in {} databases", self.all_states(), self.databases)?;
        for (mode, count) in &self.states {
            writeln!(f, "  {count:6}  of {mode}")?;
        }
        writeln!(f, "  {:6}  of a run after a crash", self.nested)?;
        writeln!(f, "  {:6}  of a run after a kill", self.killed)?;
        writeln!(
            f,
            "  {:6}  of these have lost any names that were not synced, the others the last ones",
            self.by_any
        )?;
        writeln!(f, "  {:6}  operations were recorded", self.steps)?;
        for (check, count) in &self.checks {
            writeln!(f, "  {count:6}  times {check}")?;
        }
        write!(f, "  {:6}  times it refused until something was undone or discarded", self.refused)?;
        write!(f, "\n  {:6}  databases that goleveldb does not open even before", self.refused_by_goleveldb)?;
        for ((check, mode), failures) in &self.failures {
            write!(f, "\nFAILED {} times: {check}, {mode}", failures.len())?;
            for failure in failures.iter().take(FAILURES_SHOWN) {
                write!(f, "\n{failure}")?;
            }
        }
        Ok(())
    }
}
