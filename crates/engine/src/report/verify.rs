//! The results of `verify` for tables and folders, and the facts about a log or a MANIFEST that the user named.

use std::{path::PathBuf, sync::Arc};

use serde::Serialize;

use super::frame::{Frame, Subject};
use super::problems::{Problem, ProblemData, Problems};
use super::strings::words;
use super::verdict::Verdict;
use crate::audit::{stats::KeySketch, verify::Stretch};
use crate::walk::Folder as Listed;

/// The outcome of verifying a table or a folder. [`VerifiedData`] explains the numbers.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Checked {
    /// Entries that were decoded.
    pub entries: u64,
    /// Different keys among the entries.
    pub distinct_keys: u64,
    /// Writes of a log.
    pub writes: Option<u64>,
    /// Batches that these writes are in.
    pub batches: Option<u64>,
    /// Stored keys that filters hide.
    pub false_negatives: u64,
    /// The problems.
    pub problems: Problems,
    /// Number of data blocks that the index names.
    pub data_blocks: u64,
    /// The level of a live table.
    pub level: Option<u8>,
    /// What would make the problems worse.
    pub warnings: Vec<String>,
    /// All entries of all data blocks were decoded.
    pub(crate) is_complete: bool,
    /// The different keys, if they were to be noted.
    pub(crate) seen: Option<KeySketch>,
    /// The sequence numbers of the entries, until they are compared with those of other files.
    pub(crate) stretches: Vec<Stretch>,
    /// Facts that are not faults.
    pub notes: Vec<CheckNote>,
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
pub enum CheckNote {
    /// The file is not a complete table, and the database does not use it.
    Incomplete,
    /// The database does not use the table.
    Obsolete,
    /// The database does not use the log.
    ObsoleteLog,
    /// The log has damage, but the database does not use it. The problem is the first damage.
    DamagedObsoleteLog(Box<Problem>),
    /// The log or MANIFEST ends within a record, which LevelDB leaves out.
    CutWrite,
    /// The log or MANIFEST has zeros from this offset to its end, which LevelDB leaves out.
    Preallocated(u64),
    /// This number of writes of the log have sequence numbers that are not above those before them.
    RepeatedNumbers(u64),
    /// The MANIFEST does not list the table: it is being written, was left behind, or LevelDB opens it by another name.
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
    /// No order of the keys is recorded, and the keys are not in bytewise order. The problem is the first example.
    NotBytewise(Box<Problem>),
    /// The number of bytes of the file that are in none of its blocks.
    UnusedBytes(u64),
}

impl Checked {
    /// A verdict of one problem and nothing else.
    pub fn of_problem(problem: Problem) -> Self {
        let mut verdict = Self::default();
        verdict.problems.push(problem);
        verdict
    }

    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        self.problems.verdict()
    }

    /// Returns true if the database does not use the file.
    pub fn is_unused(&self) -> bool {
        self.notes.iter().any(|note| {
            matches!(
                note,
                CheckNote::Incomplete | CheckNote::Obsolete | CheckNote::Unlisted | CheckNote::ObsoleteLog
            )
        })
    }
}

/// A verdict with all that was found, and its subject.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The path as the user gave it.
    pub input: PathBuf,
    /// The path that the verdict is on.
    pub path: PathBuf,
    /// How the subject is. Of a folder: the worst verdict on it and its files.
    pub verdict: Verdict,
    /// What was found.
    pub checked: Checked,
    /// The kind of subject.
    pub about: About,
    /// The folder that the file is in, or the folder itself. `None`: the path is in no database.
    pub folder: Option<Arc<Listed>>,
}

/// A verdict, and its subject.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Verified"))]
pub struct VerifiedData<'a> {
    /// The subject, with the notes of the verdict.
    #[serde(flatten)]
    pub frame: Frame<'a>,
    /// How the subject is. Of a folder: the worst verdict on it and its files.
    pub verdict: Verdict,
    /// Number of entries that were decoded, including deletions and older versions of keys. Of a folder, this and the
    /// next two numbers are the sums over its tables.
    pub entries: u64,
    /// Number of different keys among the entries: an entry that is a further version of the key before it does not
    /// count.
    pub distinct_keys: u64,
    /// Number of writes in a log that can be read. `None`: the subject is no log.
    pub writes: Option<u64>,
    /// Number of batches that these writes are in. `None`: the subject is no log.
    pub batches: Option<u64>,
    /// Number of stored keys that filters hide.
    pub false_negatives: u64,
    /// The problems. The first 16 of each code are listed. If there are more, a last one, of the code `more`, gives
    /// their number for each code.
    pub problems: Vec<ProblemData>,
}

impl Verified {
    /// The verdict on what `subject` names.
    pub fn new(subject: Subject<'_>, about: About, checked: Checked) -> Self {
        let (input, path) = (subject.input.to_owned(), subject.path.to_owned());
        Self { input, path, verdict: checked.verdict(), checked, about, folder: None }
    }

    /// The verdict as JSON.
    pub fn data(&self) -> VerifiedData<'_> {
        let Checked { entries, distinct_keys, writes, batches, false_negatives, ref problems, .. } =
            self.checked;
        let problems = problems.to_list().into_iter().map(ProblemData::from).collect();
        let (frame, verdict) = (self.frame(), self.verdict);
        VerifiedData { frame, verdict, entries, distinct_keys, writes, batches, false_negatives, problems }
    }

    fn frame(&self) -> Frame<'_> {
        let subject = Subject { path: &self.path, ..Subject::of(&self.input) };
        let error = self.checked.problems.worst();
        let frame = Frame::new(self.about.name(), &subject, error.map(|error| error.kind));
        let notes = self.checked.notes.iter().map(CheckNote::to_string);
        frame.error(error.map(Problem::text)).note(notes)
    }
}

/// A log or a MANIFEST that was named.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Other<'a> {
    /// The file.
    #[serde(flatten)]
    pub frame: Frame<'a>,
    /// How the file is.
    pub verdict: Verdict,
    /// Size of the file in bytes.
    pub file_size: u64,
    /// Number of writes in a log that can be read. `None`: the file is a MANIFEST.
    pub writes: Option<u64>,
    /// Number of batches that these writes are in. `None`: the file is a MANIFEST.
    pub batches: Option<u64>,
}

impl<'a> Other<'a> {
    /// The file of `file_size` bytes that a verdict is on.
    pub fn new(verified: &'a Verified, file_size: u64) -> Self {
        let Checked { writes, batches, .. } = verified.checked;
        Self { frame: verified.frame(), verdict: verified.verdict, file_size, writes, batches }
    }
}
