//! What `tune` finds out: which filters would serve a database best.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::Error;
use serde::{Serialize, Serializer};

use super::frame::{Frame, Framed};
use super::outcome::{Estimate, Outcome};
use super::{
    error_kind::ErrorKind,
    strings::{json_path, write_line},
    subject::Subject,
};
use crate::audit::Policy;

/// What was found out about one of the paths given.
#[derive(Debug)]
pub struct Tuned {
    /// The path as the user gave it.
    pub input: Arc<Path>,
    /// The path of the database or the table.
    pub path: PathBuf,
    /// What was found out, or why nothing was.
    pub result: Result<Tuning, TuneFailure>,
}

impl Tuned {
    /// Writes a line of JSON for each setting tried, and then one for what follows from them.
    ///
    /// # Errors
    ///
    /// Those of `to`.
    pub fn write_json(&self, mut to: impl Write) -> io::Result<()> {
        let subject = Subject { path: &self.path, ..Subject::of(&self.input) };
        let tuning = match &self.result {
            Ok(tuning) => tuning,
            Err(TuneFailure { text, kind }) => {
                let frame = Frame::new("tuning", &subject, *kind);
                let found = TuningOrNothing::Nothing(Nothing::default());
                return write_line(
                    to,
                    &TuningLine { frame, status: TuneStatus::Error, error: Some(text), found },
                );
            }
        };
        for of in &tuning.settings {
            write_line(&mut to, &Framed { frame: Frame::new("setting", &subject, None), of })?;
        }
        let kind = tuning.faults.first().and_then(|fault| fault.kind);
        let frame = Frame::new("tuning", &subject, kind).note(tuning.notes.iter().cloned());
        write_line(
            to,
            &TuningLine {
                frame,
                status: TuneStatus::Ok,
                error: None,
                found: TuningOrNothing::Tuning(tuning),
            },
        )
    }
}

/// A line about a database or a single table, behind those of the settings tried.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TuningLine<'a> {
    /// What it is about.
    #[serde(flatten)]
    pub frame: Frame<'a>,
    /// `error` if nothing was found out. All fields behind `error` are then null.
    pub status: TuneStatus,
    /// Reason why nothing was found out. `None`: `status` is `ok`.
    pub error: Option<&'a str>,
    /// What was.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Tuning>"))]
    pub found: TuningOrNothing<'a>,
}

/// Whether anything was found out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TuneStatus {
    /// It was.
    Ok,
    /// Nothing was.
    Error,
}

/// What was found out, or nothing.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum TuningOrNothing<'a> {
    /// What was found out.
    Tuning(&'a Tuning),
    /// The same fields with nothing in them.
    Nothing(Nothing),
}

/// The fields of a [`Tuning`] with nothing in them.
#[derive(Default, Debug, Serialize)]
pub struct Nothing {
    policy: (),
    policy_assumed: (),
    sample: (),
    levels: (),
    now: (),
    budget: (),
    uniform: (),
    by_level: (),
    advice: (),
    lookups: (),
    memory: (),
    faults: (),
}

/// A database, or a single table, and what other filters would do for it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tuning {
    /// Name of the filter policy of the filters in use, or of the one that `--policy` says, without `filter.`
    pub policy: Policy,
    /// True if no table has filters of a policy that can be made here, so that `policy` is LevelDB's own.
    pub policy_assumed: bool,
    /// How much was looked at.
    pub sample: SampleSize,
    /// The levels that have tables, from the top. A table that was given singly is one of no number.
    pub levels: Vec<Level>,
    /// What the filters in use do.
    pub now: Outcome,
    /// The most that filters may take.
    pub budget: Budget,
    /// The best that the same bits a key on all levels do within the budget. `None` also if no setting fits
    /// it.
    pub uniform: Option<Choice>,
    /// The best that bits a key by level do within the budget. `None` also if there are no levels to tell
    /// apart.
    pub by_level: Option<Choice>,
    /// What to do.
    pub advice: Advice,
    /// The keys of `--lookups`. `None` also without it.
    pub lookups: Option<Lookups>,
    /// Where LevelDB holds the filters in use. goleveldb holds all in its block cache.
    pub memory: Memory,
    /// Tables that could not be read. The numbers leave them out.
    pub faults: Vec<TuneFault>,
    /// The settings tried, by policy, then by `base_lg`, then by bits a key. Each is a line of its own.
    #[serde(skip)]
    pub settings: Vec<Tried>,
    /// Facts that are no faults and good to know.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// The reason why there is nothing to show of a database or table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TuneFailure {
    /// The reason in words.
    pub text: String,
    /// `None` if nothing is wrong with what was read.
    pub kind: Option<ErrorKind>,
}

impl TuneFailure {
    /// The error in words, without the path, which stands before them.
    pub fn of(error: &Error) -> Self {
        Self { text: error.without_path().to_string(), kind: Some(ErrorKind::of(error)) }
    }
}

impl From<Error> for TuneFailure {
    fn from(error: Error) -> Self {
        Self::of(&error)
    }
}

/// A table that could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TuneFault {
    /// Path of the table.
    #[serde(serialize_with = "path")]
    pub path: PathBuf,
    /// Reason why it could not be read.
    pub error: String,
    /// The name of its file.
    #[serde(skip)]
    pub name: String,
    /// See [`TuneFailure::kind`].
    #[serde(skip)]
    pub kind: Option<ErrorKind>,
}

fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&json_path(path))
}

/// How much was looked at.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleSize {
    /// Number of tables whose every entry was decoded.
    pub tables: u64,
    /// Number of all tables.
    pub of_tables: u64,
    /// Bytes of the files of those tables.
    pub bytes: u64,
    /// Bytes of the files of all tables.
    pub of_bytes: u64,
    /// Entries of all tables: keys, older versions and deletions.
    pub entries: Estimate,
    /// True if every entry of all tables was decoded.
    pub all: bool,
}

/// A level that has tables, or a single table.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Level {
    /// The level. `None`: a table that was given singly, or the tables of a folder whose levels are not
    /// known.
    #[serde(rename = "level")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 6)))]
    pub number: Option<u8>,
    /// Number of tables.
    pub tables: u64,
    /// Number of those without filters that the policy can ask.
    pub unfiltered: u64,
    /// Bytes of the files of the tables.
    pub size: u64,
    /// Entries of the tables.
    pub entries: Estimate,
    /// Tables of this level that a lookup comes to. `None`: the order of keys is not known, or it is a table
    /// that was given singly.
    pub visits: Option<Visits>,
}

/// The mean number of tables that a lookup comes to in vain.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Visits {
    /// Mean number for a key that is nowhere.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub absent: f64,
    /// Mean number for a key that is found on a level below.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub present: f64,
}

/// Settings for filters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setting {
    /// Name of the filter policy, without `filter.`
    pub policy: Policy,
    /// A filter covers the data blocks that begin in a range of 2^base_lg bytes.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 63)))]
    pub base_lg: u8,
    /// Bits of filter for each key, the same on all levels.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub bits_per_key: u32,
}

/// A setting, on all levels, and what it would do.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tried {
    /// The setting.
    #[serde(flatten)]
    pub setting: Setting,
    /// True if most of the filters in use are of this setting.
    pub in_use: bool,
    /// What filters of this setting would do.
    pub outcome: Outcome,
}

/// Filters to have instead.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Choice {
    /// Name of the filter policy, without `filter.`
    pub policy: Policy,
    /// A filter covers the data blocks that begin in a range of 2^base_lg bytes.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 63)))]
    pub base_lg: u8,
    /// Bits of filter for each key, by level.
    #[serde(rename = "bits_per_key")]
    pub bits: Vec<LevelBits>,
    /// What these filters would do.
    pub outcome: Outcome,
}

/// The bits a key of a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelBits {
    /// The level. `None`: a table that was given singly, or the tables of a folder whose levels are not
    /// known.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 6)))]
    pub level: Option<u8>,
    /// Bits of filter for each key.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub bits_per_key: u32,
}

impl Choice {
    /// The bits a key, if they are the same on all levels.
    pub fn same_bits(&self) -> Option<u32> {
        let first = self.bits.first()?.bits_per_key;
        self.bits.iter().all(|of| of.bits_per_key == first).then_some(first)
    }

    /// The setting, if it is the same on all levels.
    pub fn setting(&self) -> Option<Setting> {
        let Self { policy, base_lg, .. } = *self;
        self.same_bits().map(|bits_per_key| Setting { policy, base_lg, bits_per_key })
    }
}

/// The most bytes that filters may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Budget {
    /// The most bytes of all filter blocks.
    pub bytes: u64,
    /// `given`: by `--budget`. `in-use`: what the filters take today. `ten-bits`: what 10 bits a key take, as
    /// some tables have no filters.
    pub origin: BudgetOrigin,
}

/// Where a budget comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BudgetOrigin {
    /// `--budget`.
    Given,
    /// What the filters take today.
    InUse,
    /// Ten bits a key, as some tables have no filters.
    TenBits,
}

/// What to do.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// `leave`: the filters do well as they are. `rebuild`: other filters would do better. `none`: there is
    /// nothing to advise on.
    pub action: Action,
    /// The advice as a sentence, with its reason or with what it saves.
    pub text: String,
    /// The filters to have. `None`: `action` is not `rebuild`.
    pub choice: Option<Choice>,
    /// Arguments to put behind `filterblock rebuild DB --in-place`. `None`: `action` is not `rebuild`.
    pub arguments: Option<Vec<String>>,
}

/// What to do.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The filters do well as they are.
    Leave,
    /// Others are worth a rebuild.
    Rebuild,
    /// There is nothing to advise on.
    #[default]
    None,
}

/// The user's lookups.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lookups {
    /// Number of keys in the file.
    pub given: u64,
    /// Number of those that were looked up.
    pub used: u64,
    /// Number of those, again, that are stored.
    pub present: u64,
}

/// Where readers hold the filters in use. LevelDB maps the first 1,000 tables it opens, and holds the
/// filters of others on the heap; goleveldb keeps all in its block cache.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// Number of tables whose files LevelDB maps, so that their filters are in the page cache.
    pub mapped_tables: u64,
    /// Number of the other tables, whose filters it holds on the heap.
    pub heap_tables: u64,
    /// Bytes of filter blocks on the heap, if the other tables are the last ones.
    pub heap_bytes: u64,
}
