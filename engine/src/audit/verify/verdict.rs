//! The outcome of verifying a table.

use super::finding::{Finding, Findings};
use crate::audit::rates::measured::MeasuredRate;

#[derive(Default, PartialEq, Debug)]
pub struct Verdict {
    /// The number of entries decoded, and of those whose key a filter denies.
    pub keys: u64,
    pub denied: u64,
    /// The share of neighbours of stored keys that pass; `None` if there is no filter to ask.
    pub measured_fpr: Option<MeasuredRate>,
    pub estimated_fpr: Option<f64>,
    /// The file is no whole table, and not one of the database's.
    pub is_not_live: bool,
    pub findings: Findings,
    pub notes: Vec<Note>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Sound,
    /// Not a whole table, and not one of the database's.
    NotLive,
    Findings,
    /// Something could not be looked at, whatever else was found.
    Unreadable,
}

/// A fact that is not a fault, but good to know.
#[derive(PartialEq, Eq, Debug)]
pub enum Note {
    /// The file is not a whole table, and the database does not use it.
    NotWhole(Box<Finding>),
    Obsolete,
    /// The database does not use the table yet.
    Unlisted,
    NoFilter,
    /// The filter's policies, none of which is known.
    UnknownPolicy(Vec<Vec<u8>>),
    /// The filters fit the signed hash of old LevelDB versions, not the unsigned one of goleveldb.
    SignedHash,
    /// The keys are in the order of a comparator that is not known.
    CustomOrder {
        comparator: Vec<u8>,
    },
    /// No order of the keys is recorded, and it is not bytewise, as this finding shows.
    NotBytewise(Box<Finding>),
    /// Bytes of the file that are in none of its blocks.
    UnusedBytes(u64),
}

impl Status {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::NotLive => "not-live",
            Self::Findings => "findings",
            Self::Unreadable => "unreadable",
        }
    }
}

impl Verdict {
    /// A verdict of one finding and nothing else.
    pub fn of_finding(finding: Finding) -> Self {
        let mut verdict = Self::default();
        verdict.findings.push(finding);
        verdict
    }

    pub fn status(&self) -> Status {
        match () {
            () if self.findings.hide_something() => Status::Unreadable,
            () if !self.findings.is_empty() => Status::Findings,
            () if self.is_not_live => Status::NotLive,
            () => Status::Sound,
        }
    }
}

/// The number of verdicts of each kind, and their sums.
#[derive(Default)]
pub struct VerdictCounts {
    pub sound: u64,
    pub not_live: u64,
    pub findings: u64,
    pub unreadable: u64,
    pub keys: u64,
    pub denied: u64,
}

impl VerdictCounts {
    pub fn add(&mut self, verdict: &Verdict) {
        match verdict.status() {
            Status::Sound => self.sound += 1,
            Status::NotLive => self.not_live += 1,
            Status::Findings => self.findings += 1,
            Status::Unreadable => self.unreadable += 1,
        }
        self.keys += verdict.keys;
        self.denied += verdict.denied;
    }

    pub fn all(&self) -> u64 {
        self.sound + self.not_live + self.findings + self.unreadable
    }
}
