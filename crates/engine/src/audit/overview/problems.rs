//! The problems of a database: the first ones, and the number of all.

use std::collections::BTreeMap;

use crate::report::{CheckNote, Checked, Code, Inspected, Problem};
use crate::text::problem_text;

/// Problems to keep, and also `seen`.
const MAX_KEPT: usize = 200;
const MAX_NOTES: usize = 50;

#[derive(Default, Debug)]
pub(crate) struct OverviewProblems {
    /// With every block and every entry that can be read.
    pub verified: bool,
    /// Verified.
    pub files: u64,
    /// Of these files.
    pub entries: u64,
    /// Stored keys that their filters hide.
    pub false_negatives: u64,
    pub codes: BTreeMap<Code, u64>,
    /// The first problem of each code in each file or folder, whose name comes first.
    pub texts: Vec<(Vec<u8>, Code, String)>,
    /// With the file or folder.
    pub list: Vec<(Vec<u8>, Problem)>,
    /// Found by reading each log and, if nothing was verified, each table.
    pub seen: Vec<(Vec<u8>, String)>,
    /// Left out of `seen`.
    more_seen: u64,
    /// Set only if nothing was verified.
    unreadable: bool,
    pub notes: Vec<(Vec<u8>, CheckNote)>,
    pub more_notes: u64,
}

impl OverviewProblems {
    pub(crate) fn add(&mut self, name: &[u8], verdict: Checked, is_file: bool) {
        self.files += u64::from(is_file);
        self.entries += verdict.entries;
        self.false_negatives += verdict.false_negatives;
        let room = MAX_KEPT.saturating_sub(self.texts.len());
        for (problem, number) in verdict.problems.first_of_each().take(room) {
            let text = problem_text(problem, number, &verdict);
            self.texts.push((name.to_vec(), problem.code, text));
        }
        let problems = verdict.problems.to_list().into_iter().filter(|problem| problem.code != Code::More);
        let room = MAX_KEPT.saturating_sub(self.list.len());
        self.list.extend(problems.take(room).map(|problem| (name.to_vec(), problem)));
        for (code, number) in verdict.problems.counts() {
            *self.codes.entry(code).or_default() += number;
        }
        for note in verdict.notes {
            // The facts about each table include these notes.
            if matches!(
                note,
                CheckNote::NoFilter | CheckNote::UnknownPolicy(_) | CheckNote::Obsolete | CheckNote::Unlisted
            ) {
                continue;
            }
            // A note that is the same for all tables is kept once.
            let is_known = |(_, known): &(_, CheckNote)| *known == note;
            if matches!(note, CheckNote::CustomOrder { .. } | CheckNote::SignedHash)
                && self.notes.iter().any(is_known)
            {
                continue;
            }
            match self.notes.len() < MAX_NOTES {
                true => self.notes.push((name.to_vec(), note)),
                false => self.more_notes += 1,
            }
        }
    }

    /// Adds the problems of a table that is not verified.
    pub(crate) fn see(&mut self, found: &Inspected) {
        self.unreadable |= found.is_unreadable;
        for (what, fault) in &found.faults {
            self.see_log(found.table.name(), format!("{}: {fault}", what.name()));
        }
    }

    /// Adds damage at the beginning of a log.
    pub(crate) fn see_log(&mut self, name: &[u8], fault: String) {
        match self.seen.len() < MAX_KEPT {
            true => self.seen.push((name.to_vec(), fault)),
            false => self.more_seen += 1,
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.codes.values().sum::<u64>() + self.seen.len() as u64 + self.more_seen
    }

    /// Problems that were not kept.
    pub(crate) fn more(&self) -> u64 {
        self.total().saturating_sub((self.list.len() + self.seen.len()) as u64)
    }

    pub(crate) fn is_damage(&self) -> bool {
        self.codes.keys().any(|code| code.is_damage()) || !self.seen.is_empty()
    }

    pub(crate) fn hides_something(&self) -> bool {
        self.unreadable || self.codes.keys().any(|code| code.hides())
    }
}
