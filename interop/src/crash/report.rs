//! The checks, and those that failed.

use std::collections::BTreeMap;
use std::fmt;

use super::check::Check;
use super::mode::Mode;

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

    pub(super) fn add(&mut self, other: &Self) {
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
