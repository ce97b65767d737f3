//! Which test notices a fault.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::TABLE;
use crate::catalogue::{Build, Row, Selection};
use crate::programs::{Outcome, Programs};

/// No run of a test program takes longer.
const MOST: Duration = Duration::from_secs(300);

/// The test programs of both builds.
pub(crate) struct Tester {
    pub(crate) portable: Programs,
    pub(crate) full: Programs,
    /// For what the tests write.
    pub(crate) temporary: PathBuf,
}

/// How long tests took without a fault; `None` if they do not pass.
pub(crate) type Times = Mutex<Vec<(Selection, Option<Duration>)>>;

impl Tester {
    fn programs(&self, build: Build) -> &Programs {
        match build {
            Build::Portable => &self.portable,
            Build::Full => &self.full,
        }
    }

    /// Runs all tests that the table names, without a fault.
    pub(crate) fn run_without(&self, rows: &[Row]) -> Result<Times, String> {
        let times = Times::default();
        for selection in rows.iter().flat_map(|row| &row.tests) {
            let programs = self.programs(selection.build);
            if !programs.contains_key(&selection.program) {
                let names: Vec<&str> = programs.keys().map(String::as_str).collect();
                return Err(format!("{TABLE}: {selection} is not one of {}", names.join(", ")));
            }
            if self.time(selection, &times).is_none() {
                return Err(format!("{selection}: fails without any fault, or has no tests"));
            }
        }
        Ok(times)
    }

    /// How long these tests take without a fault, if they pass.
    fn time(&self, selection: &Selection, times: &Times) -> Option<Duration> {
        let known = || {
            let times = times.lock().unwrap_or_else(PoisonError::into_inner);
            times.iter().find(|(known, _)| known == selection).map(|(_, time)| *time)
        };
        if let Some(known) = known() {
            return known;
        }
        let start = Instant::now();
        let program = self.programs(selection.build).get(&selection.program)?;
        let time = match program.run(selection, 0, &self.temporary, MOST) {
            Outcome::Passed(1..) => Some(start.elapsed()),
            Outcome::Passed(_) => None,
            Outcome::Failed(what) | Outcome::Broken(what) => {
                eprintln!("without a fault: {selection}: {what}");
                None
            }
            Outcome::Hung(limit) => {
                eprintln!("without a fault: {selection}: no end after {} s", limit.as_secs());
                None
            }
        };
        times.lock().unwrap_or_else(PoisonError::into_inner).push((selection.clone(), time));
        time
    }

    /// The test that notices the fault with this number, in the file at `path`: first among those of the table, then among
    /// all that have the code in them.
    pub(crate) fn notice(&self, fault: usize, path: &str, row: &Row, times: &Times) -> Option<String> {
        let is_in_tool = path.starts_with("cli/");
        let all = [Build::Full, Build::Portable].into_iter().flat_map(|build| {
            let programs =
                self.programs(build).iter().filter(move |(_, program)| program.is_tools || !is_in_tool);
            programs.map(move |(name, _)| Selection { build, program: name.clone(), filter: String::new() })
        });
        for selection in row.tests.iter().cloned().chain(all) {
            // What has no tests or fails in any case tells nothing.
            let Some(time) = self.time(&selection, times) else { continue };
            let Some(program) = self.programs(selection.build).get(&selection.program) else { continue };
            let limit = Duration::from_secs(10).max(10 * time).min(MOST);
            let named = if row.tests.contains(&selection) { "" } else { ", which the table does not name" };
            match program.run(&selection, fault, &self.temporary, limit) {
                Outcome::Passed(_) => {}
                Outcome::Failed(test) => {
                    // By itself, as on a busy machine any test may once take too long.
                    let alone = Selection { filter: test.clone(), ..selection.clone() };
                    let again = || program.run(&alone, fault, &self.temporary, limit);
                    if (0..3).any(|_| !matches!(again(), Outcome::Passed(1..))) {
                        return Some(format!("{}::{test}{named}", selection.program));
                    }
                    eprintln!(
                        "with fault {fault}, {}::{test} failed once, and passed three times",
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

#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn has_avx2() -> bool {
    false
}
