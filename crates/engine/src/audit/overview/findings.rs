//! The faults in a database: the first faults, and the number of all faults.

use std::collections::BTreeMap;

use crate::report::{Checked, Code, Finding, Note, Table};
use crate::words::problem_text;

/// The maximum number of findings, and also of seen faults, to keep.
const MAX_KEPT: usize = 200;
/// The maximum number of notes to keep.
const MAX_NOTES: usize = 50;

/// All faults, as far as they were looked for.
#[derive(Default, Debug)]
pub(crate) struct OverviewFindings {
    /// The tables were verified, with every block and every entry that can be read.
    pub verified: bool,
    /// The number of files that were verified.
    pub files: u64,
    /// The number of their entries.
    pub entries: u64,
    /// The number of stored keys that their filters hide.
    pub false_negatives: u64,
    /// The number of findings of each code.
    pub codes: BTreeMap<Code, u64>,
    /// The first problem of each code in each file or folder: its name, and what the problem means.
    pub problems: Vec<(Vec<u8>, Code, String)>,
    /// The first findings, each with the file or folder that it is about.
    pub list: Vec<(Vec<u8>, Finding)>,
    /// The first faults found by a look at each log and, if nothing was verified, at each table.
    pub seen: Vec<(Vec<u8>, String)>,
    /// The number of faults that are left out of `seen`.
    more_seen: u64,
    /// A table, or a part of a table, could not be read. Set only if nothing was verified.
    unreadable: bool,
    pub notes: Vec<(Vec<u8>, Note)>,
    pub more_notes: u64,
}

impl OverviewFindings {
    /// Adds the verdict on the file or folder of this name.
    pub(crate) fn add(&mut self, name: &[u8], verdict: Checked, is_file: bool) {
        self.files += u64::from(is_file);
        self.entries += verdict.entries;
        self.false_negatives += verdict.false_negatives;
        let room = MAX_KEPT.saturating_sub(self.problems.len());
        for (finding, number) in verdict.findings.first_of_each().take(room) {
            let text = problem_text(finding, number, &verdict);
            self.problems.push((name.to_vec(), finding.code, text));
        }
        for finding in verdict.findings.to_list() {
            if finding.code == Code::More {
                continue;
            }
            if self.list.len() < MAX_KEPT {
                self.list.push((name.to_vec(), finding));
            }
        }
        for (code, number) in verdict.findings.counts() {
            *self.codes.entry(code).or_default() += number;
        }
        for note in verdict.notes {
            // The facts about each table include these notes.
            if matches!(note, Note::NoFilter | Note::UnknownPolicy(_) | Note::Obsolete | Note::Unlisted) {
                continue;
            }
            // A note that is the same for all tables is kept once.
            let is_known = |(_, known): &(_, Note)| *known == note;
            if matches!(note, Note::CustomOrder { .. } | Note::SignedHash) && self.notes.iter().any(is_known)
            {
                continue;
            }
            match self.notes.len() < MAX_NOTES {
                true => self.notes.push((name.to_vec(), note)),
                false => self.more_notes += 1,
            }
        }
    }

    /// Adds the faults found by a look at an unverified table.
    pub(crate) fn see(&mut self, table: &Table) {
        self.unreadable |= table.unreadable;
        for (what, text) in table.findings() {
            self.saw(table.name(), format!("{what}: {text}"));
        }
    }

    /// Adds the damage at the beginning of a log.
    pub(crate) fn see_log(&mut self, name: &[u8], fault: String) {
        self.saw(name, fault);
    }

    fn saw(&mut self, name: &[u8], fault: String) {
        match self.seen.len() < MAX_KEPT {
            true => self.seen.push((name.to_vec(), fault)),
            false => self.more_seen += 1,
        }
    }

    /// The number of all findings and faults.
    pub(crate) fn total(&self) -> u64 {
        self.codes.values().sum::<u64>() + self.seen.len() as u64 + self.more_seen
    }

    /// The number of findings and faults that were not kept.
    pub(crate) fn more(&self) -> u64 {
        self.total().saturating_sub((self.list.len() + self.seen.len()) as u64)
    }

    /// Returns true if a finding is damage, or a look at logs or unverified tables found a fault.
    pub(crate) fn is_damage(&self) -> bool {
        self.codes.keys().any(|code| code.is_damage()) || !self.seen.is_empty()
    }

    /// Returns true if a part of the database could not be looked at.
    pub(crate) fn hides_something(&self) -> bool {
        self.unreadable || self.codes.keys().any(|code| code.hides())
    }
}
