//! Crashes of `rebuild` in many databases.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::{Context as _, Result, ensure};
use filterblock_crash_states::{History, Model, State, sample};

use super::altered::Alteration;
use super::case::{Case, DATABASE, Mode, work_folder};
use super::check::{Check, Checker};
use super::goleveldb::Goleveldb;
use super::record::Disturbance;
use crate::random::Random;

/// Failures of each check that a report describes.
const FAILURES_SHOWN: usize = 2;

/// The programs that take part.
#[derive(Debug, Clone)]
pub struct Programs {
    /// `filterblock`, or another program with its arguments.
    pub filterblock: PathBuf,
    /// goleveldb's, if Go is installed: `go/databases` and `go/open`.
    pub goleveldb: Option<(PathBuf, PathBuf)>,
}

impl Programs {
    fn writer(&self) -> Option<&Path> {
        self.goleveldb.as_ref().map(|(writer, _)| writer.as_path())
    }
}

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// The seeds of the databases.
    pub first_seed: u64,
    /// The number of databases.
    pub databases: u64,
    /// States after crashes of one run of the program, at most.
    pub states: usize,
    /// The threads that work.
    pub threads: usize,
    /// Makes the checks of a program that takes less care. They should fail.
    pub alteration: Option<Alteration>,
}

/// What was checked.
#[derive(Debug, Default, Clone)]
pub struct Report {
    /// Databases.
    pub databases: u64,
    /// States after a crash, by what the program was doing.
    pub states: BTreeMap<Mode, u64>,
    /// States by the model of the file system.
    pub by_any: u64,
    /// States after a crash of the run after a crash.
    pub nested: u64,
    /// Operations that were recorded.
    pub steps: u64,
    /// Checks by kind.
    pub checks: BTreeMap<Check, u64>,
    /// How often the program refused, as there was something to undo or to discard.
    pub refused: u64,
    /// Databases that goleveldb does not open even before.
    pub refused_by_goleveldb: u64,
    /// Failures, each with its state.
    pub failures: BTreeMap<Check, Vec<String>>,
}

impl Report {
    /// All states.
    pub fn all_states(&self) -> u64 {
        self.states.values().sum::<u64>() + self.nested
    }

    fn add(&mut self, other: &Self) {
        self.databases += other.databases;
        self.by_any += other.by_any;
        self.nested += other.nested;
        self.steps += other.steps;
        self.refused += other.refused;
        self.refused_by_goleveldb += other.refused_by_goleveldb;
        for (mode, count) in &other.states {
            *self.states.entry(*mode).or_default() += count;
        }
        for (check, failures) in &other.failures {
            self.failures.entry(*check).or_default().extend_from_slice(failures);
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
            writeln!(f, "  {count:6}  of rebuild {mode}")?;
        }
        writeln!(f, "  {:6}  of a run after a crash", self.nested)?;
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
        for (check, failures) in &self.failures {
            write!(f, "\nFAILED {} times: {check}", failures.len())?;
            for failure in failures.iter().take(FAILURES_SHOWN) {
                write!(f, "\n{failure}")?;
            }
        }
        Ok(())
    }
}

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
            if extent.alteration.is_some() && !total.failures.is_empty() {
                failed.store(true, Ordering::Relaxed); // That is enough.
            }
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
    // goleveldb refuses some logs of LevelDB's whose MANIFEST has a later sequence number than they do.
    let folder = work_folder()?;
    case.original.write(&folder.path().join("root"))?;
    if let Some(reader) = &mut goleveldb
        && reader.compare(&folder.path().join("root").join(DATABASE), &case.plan.live).is_err()
    {
        report.refused_by_goleveldb = 1;
        goleveldb = None;
    }
    let states = extent.states;
    // The others have only some of the steps.
    let modes = if extent.alteration.is_some() { &[Mode::InPlace][..] } else { &Mode::ALL };
    for &mode in modes {
        let mut random = Random::for_case(seed, mode as u64 + 1);
        let before = case.before(mode)?;
        let recorded = case.record(mode, &before, Disturbance::default())?;
        let ending = recorded.recording.ending();
        ensure!(recorded.recording.status == Some(0), "{mode}: {ending}");
        let mut history =
            recorded.history().with_context(|| format!("{mode}: the record is not complete"))?;
        if let Some(alteration) = extent.alteration {
            let Some(altered) = alteration.apply(&recorded.recording.operations) else { continue };
            history = recorded.history_of(&altered)?;
        }
        report.steps += history.steps.len() as u64;
        let found = sample(&history, states, &mut random);
        let mut checker = Checker::new(&case, goleveldb.as_mut())?;
        for state in &found {
            let all = &Check::ALL[..];
            let checks = extent.alteration.map(|alteration| [alteration.noticed_by()]);
            let checks = checks.as_ref().map_or(all, |checks| &checks[..]);
            check_state(&mut checker, checks, state, &history, mode, &mut random, &mut report);
            *report.states.entry(mode).or_default() += 1;
        }
        if let Some(state) = found.get(random.index(found.len().max(1)))
            && extent.alteration.is_none()
        {
            nested(&case, &mut checker, state, mode, states / 2, &mut random, &mut report)
                .with_context(|| state.describe(&history))?;
        }
        report.refused += checker.refused;
    }
    Ok(report)
}

/// Stops the run after a crash, too.
fn nested(
    case: &Case,
    checker: &mut Checker<'_>,
    state: &State,
    mode: Mode,
    states: usize,
    random: &mut Random,
    report: &mut Report,
) -> Result<()> {
    let recorded = case.record(mode, &state.tree, Disturbance::default())?;
    let status = recorded.recording.status;
    ensure!(matches!(status, Some(0 | 1)), "{mode} after a crash: {}", recorded.recording.ending());
    let history = recorded.history()?;
    report.steps += history.steps.len() as u64;
    for state in sample(&history, states, random) {
        check_state(checker, &Check::ALL, &state, &history, mode, random, report);
        report.nested += 1;
    }
    Ok(())
}

/// Makes checks of a state, [`Check::Used`] for one state in three.
fn check_state(
    checker: &mut Checker<'_>,
    checks: &[Check],
    state: &State,
    history: &History,
    mode: Mode,
    random: &mut Random,
    report: &mut Report,
) {
    report.by_any += u64::from(state.model == Model::Any);
    for &check in checks {
        let is_out = check == Check::Goleveldb && report.refused_by_goleveldb > 0;
        if is_out || (check == Check::Used && !random.one_in(3)) {
            continue;
        }
        *report.checks.entry(check).or_default() += 1;
        if let Err(error) = checker.check(check, &state.tree, mode, random) {
            let failures = report.failures.entry(check).or_default();
            failures.push(format!("{:?}", error.context(state.describe(history))));
        }
    }
}
