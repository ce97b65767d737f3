//! The results of `verify` for tables and folders, and the facts about a log or a MANIFEST that the user named.

use std::path::PathBuf;

use serde::Serialize;

use super::findings::{Finding, Findings};
use super::frame::{Frame, Subject};
use super::inspect::InspectStatus;
use super::strings::words;
use crate::audit::{rates::MeasuredRate, stats::KeySketch, verify::Stretch};

/// The outcome of verifying a table or a folder.
#[derive(Clone, Default, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// Number of entries that were decoded, including deletions and older versions of keys.
    pub entries: u64,
    /// Number of different keys among the entries: an entry that is a further version of the key before it
    /// does not count.
    pub distinct_keys: u64,
    /// Number of writes in a log that can be read. `None`: the subject is no log.
    pub writes: Option<u64>,
    /// Number of batches that these writes are in. `None`: the subject is no log.
    pub batches: Option<u64>,
    /// Number of stored keys that a filter denies.
    pub denied: u64,
    /// Measured share of neighbours that pass. Neighbours are keys that are not stored, made from stored ones
    /// by changing one byte or appending six. `None`: no filter was asked.
    pub measured_fpr: Option<MeasuredRate>,
    /// Share of absent keys expected to pass, 0 to 1, judging by the bits that are set. `None`: no filter was
    /// asked.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub estimated_fpr: Option<f64>,
    /// The findings. The first 16 of each code are listed. If there are further findings, a last finding, of the code
    /// `more`, gives their number for each code.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Finding>"))]
    pub findings: Findings,
    /// The file is not a complete table, and the database does not use it.
    #[serde(skip)]
    pub is_not_live: bool,
    /// All entries of all data blocks were decoded.
    #[serde(skip)]
    pub(crate) is_complete: bool,
    /// The different keys, if they were to be noted.
    #[serde(skip)]
    pub(crate) seen: Option<KeySketch>,
    /// The sequence numbers of the entries, until they are compared with those of other files.
    #[serde(skip)]
    pub(crate) stretches: Vec<Stretch>,
    /// Facts that are not faults.
    #[serde(skip)]
    pub notes: Vec<Note>,
}

words! {
    /// A verdict in one word.
    VerifyStatus {
        /// Nothing wrong was found.
        Sound = "sound",
        /// The file is not a complete table, and the database does not use it.
        NotLive = "not-live",
        /// There are findings.
        Findings = "findings",
        /// A part could not be looked at, whatever else was found.
        Unreadable = "unreadable",
    }
}

words! {
    /// The kind of subject that a verdict is on.
    About {
        /// A table.
        Table = "table",
        /// A folder with its MANIFEST, without its tables.
        Folder = "folder",
        /// A log.
        Log = "log",
        /// A MANIFEST by itself.
        Manifest = "manifest",
        /// A path that could not be looked at.
        Unreadable = "unreadable",
    }
}

/// A fact that is not a fault but is good to know. It displays as the text for users.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// The file is not a complete table, and the database does not use it.
    Incomplete,
    /// The database does not use the table.
    Obsolete,
    /// The database does not use the log.
    ObsoleteLog,
    /// The log has damage, but the database does not use it. The finding is the first damage.
    DamagedObsoleteLog(Box<Finding>),
    /// The log or MANIFEST ends within a record, which LevelDB leaves out.
    CutWrite,
    /// The log or MANIFEST has zeros from this offset to its end, which LevelDB leaves out.
    Preallocated(u64),
    /// This number of writes of the log have sequence numbers that are not above those before them.
    RepeatedNumbers(u64),
    /// The MANIFEST does not account for the table: the table is being written, was left behind, or has another name
    /// than the one that LevelDB opens.
    Unlisted,
    /// The table has no filter.
    NoFilter,
    /// The table has only filters of these policies, all of which are unknown.
    UnknownPolicy(Vec<Vec<u8>>),
    /// The filters fit the signed hash of old LevelDB versions, not the unsigned one of goleveldb.
    SignedHash,
    /// The keys are in the order of a comparator that is not known.
    CustomOrder {
        /// The comparator's name.
        comparator: Vec<u8>,
    },
    /// No order of the keys is recorded, and the keys are not in bytewise order. The finding is the first example.
    NotBytewise(Box<Finding>),
    /// The MANIFEST is so long that opening the database is slow. The text says by how much, and what helps.
    HugeManifest(String),
    /// The number of bytes of the file that are in none of its blocks.
    UnusedBytes(u64),
}

impl Verdict {
    /// A verdict of one finding and nothing else.
    pub fn of_finding(finding: Finding) -> Self {
        let mut verdict = Self::default();
        verdict.findings.push(finding);
        verdict
    }

    /// The verdict in one word.
    pub fn status(&self) -> VerifyStatus {
        match () {
            () if self.findings.hide_something() => VerifyStatus::Unreadable,
            () if !self.findings.is_empty() => VerifyStatus::Findings,
            () if self.is_not_live => VerifyStatus::NotLive,
            () => VerifyStatus::Sound,
        }
    }
}

/// A verdict, and its subject.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verified {
    /// The subject, with the notes of the verdict.
    #[serde(flatten)]
    pub frame: Frame<'static>,
    /// `sound`: nothing wrong was found. `not-live`: the file is in a database's folder, the database does
    /// not use it, and it is not a complete table: it is being written, or was left behind. `findings`: there
    /// are findings. `unreadable`: a part could not be looked at, whatever else was found.
    pub status: VerifyStatus,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The kind of subject that the verdict is on.
    #[serde(skip)]
    pub about: About,
    /// The path of the subject.
    #[serde(skip)]
    pub path: PathBuf,
}

impl Verified {
    /// The verdict on what `subject` names.
    pub fn new(subject: Subject<'_>, about: About, verdict: Verdict) -> Self {
        let frame = Frame::new(about.name(), &subject, verdict.findings.kind());
        Self {
            frame: frame.note(verdict.notes.iter().map(Note::to_string)).into_owned(),
            status: verdict.status(),
            verdict,
            about,
            path: subject.path.to_owned(),
        }
    }

    /// Returns true unless the verdict is on a folder and nothing wrong was found.
    pub fn counts(&self) -> bool {
        self.about != About::Folder || self.status != VerifyStatus::Sound
    }
}

/// The number of verdicts of each status, and the sums of their entries and denied keys.
#[derive(Clone, Default, Debug)]
pub struct VerdictCounts {
    /// The number of verdicts with the status `sound`.
    pub sound: u64,
    /// The number of verdicts with the status `not-live`.
    pub not_live: u64,
    /// The number of verdicts with the status `findings`.
    pub findings: u64,
    /// The number of verdicts with the status `unreadable`.
    pub unreadable: u64,
    /// The sum of the verdicts' entries.
    pub entries: u64,
    /// The sum of the writes in logs. `None`: no verdict is on a log.
    pub writes: Option<u64>,
    /// The sum of the numbers of stored keys that filters deny.
    pub denied: u64,
}

impl VerdictCounts {
    /// Adds a verdict.
    pub fn add(&mut self, verdict: &Verdict) {
        match verdict.status() {
            VerifyStatus::Sound => self.sound += 1,
            VerifyStatus::NotLive => self.not_live += 1,
            VerifyStatus::Findings => self.findings += 1,
            VerifyStatus::Unreadable => self.unreadable += 1,
        }
        self.entries += verdict.entries;
        self.writes = self.writes.max(verdict.writes.map(|_| 0)).map(|sum| sum + verdict.writes.unwrap_or(0));
        self.denied += verdict.denied;
    }

    /// The number of verdicts.
    pub fn all(&self) -> u64 {
        self.sound + self.not_live + self.findings + self.unreadable
    }
}

/// A log or a MANIFEST that was named.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Other {
    /// The file.
    #[serde(flatten)]
    pub frame: Frame<'static>,
    /// `ok`: nothing wrong was found; `error`: the file is damaged, or cannot be read.
    pub status: InspectStatus,
    /// The first fault. `None`: no fault was found.
    pub error: Option<String>,
    /// Size of the file in bytes.
    pub file_size: Option<u64>,
    /// Number of writes in a log that can be read. `None`: the file is a MANIFEST.
    pub writes: Option<u64>,
    /// Number of batches that these writes are in. `None`: the file is a MANIFEST.
    pub batches: Option<u64>,
    /// The verdict.
    #[serde(skip)]
    pub verified: Verified,
}

impl Other {
    pub(crate) fn new(subject: &Subject<'_>, verified: Verified, file_size: u64) -> Self {
        let (verdict, object) = (&verified.verdict, verified.about.name());
        let frame = Frame::new(object, subject, verdict.findings.kind());
        let is_sound = verified.status == VerifyStatus::Sound;
        Self {
            frame: frame.note(verdict.notes.iter().map(ToString::to_string)).into_owned(),
            status: if is_sound { InspectStatus::Ok } else { InspectStatus::Error },
            error: verdict.findings.first().map(ToString::to_string),
            file_size: Some(file_size),
            writes: verdict.writes,
            batches: verdict.batches,
            verified,
        }
    }
}
