//! The search for the test that notices a fault.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::catalogue::{Build, Cpu, Fault, Row, Selection};
use crate::programs::{Outcome, Programs};
use crate::{CATALOGUE, TABLE};

/// The maximum time of a run of a test program.
const MOST: Duration = Duration::from_secs(600);

/// The test programs of both builds.
pub(crate) struct Tester {
    pub(crate) portable: Programs,
    pub(crate) full: Programs,
    /// The folder for files that the tests write.
    pub(crate) temporary: PathBuf,
}

/// The time that each selection of tests took without a fault; `None` if they do not pass.
pub(crate) type Times = Mutex<Vec<(Selection, Arc<OnceLock<Option<Duration>>>)>>;

impl Tester {
    fn programs(&self, build: Build) -> &Programs {
        match build {
            Build::Portable => &self.portable,
            Build::Full => &self.full,
        }
    }

    /// Returns an error if `tests.txt` or `faults.txt` names a test that does not exist.
    pub(crate) fn check_names(&self, rows: &[Row], faults: &[Fault]) -> Result<(), String> {
        let mut tests = Vec::new();
        for build in [Build::Portable, Build::Full] {
            for (name, program) in self.programs(build) {
                tests.extend(program.tests()?.into_iter().map(|test| (build, name, test)));
            }
        }
        let named = rows.iter().flat_map(|row| &row.tests);
        for selection in named.chain(faults.iter().flat_map(|fault| &fault.tests)) {
            let is_meant = |(build, program, test): &(Build, &String, String)| {
                *build == selection.build
                    && **program == selection.program
                    && test.contains(&selection.filter)
            };
            if !tests.iter().any(is_meant) {
                return Err(format!("{TABLE} or {CATALOGUE}: {selection}: no such test"));
            }
        }
        Ok(())
    }

    /// The time that these tests take without a fault, if they pass. The first call runs them.
    fn time(&self, selection: &Selection, times: &Times) -> Option<Duration> {
        let time = {
            let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
            match times.iter().find(|(known, _)| known == selection) {
                Some((_, time)) => Arc::clone(time),
                None => {
                    let time = Arc::default();
                    times.push((selection.clone(), Arc::clone(&time)));
                    time
                }
            }
        };
        *time.get_or_init(|| self.run_without(selection))
    }

    /// The tests that `tests.txt` or `faults.txt` names, that were run, and that fail even without a fault.
    pub(crate) fn failing(rows: &[Row], faults: &[Fault], times: &Times) -> Vec<String> {
        let times = times.lock().unwrap_or_else(PoisonError::into_inner);
        let failing = times.iter().filter(|(_, time)| matches!(time.get(), Some(None)));
        let is_named = |selection: &Selection| {
            rows.iter().any(|row| row.tests.contains(selection))
                || faults.iter().any(|fault| fault.tests.contains(selection))
        };
        failing
            .map(|(selection, _)| selection)
            .filter(|selection| is_named(selection))
            .map(Selection::to_string)
            .collect()
    }

    fn run_without(&self, selection: &Selection) -> Option<Duration> {
        let start = Instant::now();
        let program = self.programs(selection.build).get(&selection.program)?;
        match program.run(selection, 0, &self.temporary, MOST) {
            Outcome::Passed(1..) => return Some(start.elapsed()),
            Outcome::Passed(_) => {}
            Outcome::Failed(what) | Outcome::Broken(what) => {
                eprintln!("without a fault: {selection}: {what}");
            }
            Outcome::Hung(limit) => {
                eprintln!("without a fault: {selection}: no end after {} s", limit.as_secs());
            }
        }
        None
    }

    /// Searches for the test that notices the fault with this number: first among the fault's own tests, then among
    /// those of the table, then among all tests that have the code in them.
    pub(crate) fn notice(&self, number: usize, fault: &Fault, row: &Row, times: &Times) -> Option<String> {
        let is_in_tool = !fault.path.starts_with("src/");
        let all = [Build::Full, Build::Portable].into_iter().flat_map(|build| {
            let programs =
                self.programs(build).iter().filter(move |(_, program)| program.is_tools || !is_in_tool);
            programs.map(move |(name, _)| Selection { build, program: name.clone(), filter: String::new() })
        });
        let named = || fault.tests.iter().chain(&row.tests);
        for selection in named().cloned().chain(all) {
            // Programs without such tests, and tests that fail in any case, show nothing.
            let Some(time) = self.time(&selection, times) else { continue };
            let Some(program) = self.programs(selection.build).get(&selection.program) else { continue };
            let limit = Duration::from_secs(10).max(10 * time).min(MOST);
            let named =
                if named().any(|named| *named == selection) { "" } else { ", which the table does not name" };
            match program.run(&selection, number, &self.temporary, limit) {
                Outcome::Passed(_) => {}
                Outcome::Failed(test) => {
                    // Run by itself, because on a busy machine any test may once take too long.
                    let alone = Selection { filter: test.clone(), ..selection.clone() };
                    let again = || program.run(&alone, number, &self.temporary, limit);
                    if (0..3).any(|_| !matches!(again(), Outcome::Passed(1..))) {
                        return Some(format!("{}::{test}{named}", selection.program));
                    }
                    eprintln!(
                        "with fault {number}, {}::{test} failed once, and passed three times",
                        selection.program
                    );
                }
                Outcome::Broken(how) => return Some(format!("{selection}: {how}{named}")),
                Outcome::Hung(limit) => {
                    return Some(format!("{selection}: no end after {} s", limit.as_secs()));
                }
            }
        }
        None
    }
}

impl Cpu {
    /// Returns true if the code runs on this CPU, by the features that `kernel::level` asks for.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn is_here(self) -> bool {
        use std::arch::is_x86_feature_detected as has;
        match self {
            Self::Any => true,
            Self::Avx2 => has!("avx2"),
            Self::Avx512 => {
                has!("avx512f")
                    && has!("avx512bw")
                    && has!("avx512dq")
                    && has!("avx512vl")
                    && has!("avx512ifma")
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn is_here(self) -> bool {
        self == Self::Any
    }
}
