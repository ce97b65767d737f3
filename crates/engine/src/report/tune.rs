//! The results of `tune`: the filters that would serve a database best.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::count::EntryCount;
use super::frame::{ErrorKind, Frame, Framed, Subject};
use super::outcome::{Estimate, Outcome, TuneFailure, TuneFault};
use super::strings::write_line;
use crate::{audit::Policy, walk::FoundFormat};

/// The results for one of the paths given.
#[derive(Debug)]
pub struct Tuned {
    /// The path as the user gave it.
    pub input: Arc<Path>,
    /// The path of the database or the table.
    pub path: PathBuf,
    /// The results, or the reason why there are none.
    pub result: Result<Tuning, TuneFailure>,
}

impl Tuned {
    /// The other format, if that is the reason why there are no results.
    pub fn other_format(&self) -> Option<&FoundFormat> {
        self.result.as_ref().err()?.other_format.as_ref()
    }

    /// Writes a line of JSON for each setting tried, and then one for the conclusions. If there are no results,
    /// writes one line with the reason.
    ///
    /// # Errors
    ///
    /// Those of `to`.
    pub fn write_json(&self, mut to: impl Write) -> io::Result<()> {
        let to: &mut dyn Write = &mut to;
        let subject = Subject { path: &self.path, ..Subject::of(&self.input) };
        let tuning = match &self.result {
            Ok(tuning) => tuning,
            Err(TuneFailure { text, kind, first, .. }) => {
                let first = first.iter().map(|command| format!("first: {command}"));
                let frame = Frame::new("tuning", &subject, *kind).note(first);
                let found = TuningOrNothing::Nothing(Nothing::default());
                return write_line(
                    to,
                    &TuningLine { frame, status: TuneStatus::Error, error: Some(text), found },
                );
            }
        };
        for of in &tuning.settings {
            write_line(&mut *to, &Framed { frame: Frame::new("setting", &subject, None), of })?;
        }
        let kind = tuning.faults.first().and_then(|fault| fault.kind);
        let kind = kind.or_else(|| tuning.is_damaged.then_some(ErrorKind::Damaged));
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

/// A line about a database or a single table, after those of the settings tried.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TuningLine<'a> {
    /// The subject of the line.
    #[serde(flatten)]
    pub frame: Frame<'a>,
    /// `ok`, or `error` if there are no results. With `error`, all fields after the field `error` are null.
    pub status: TuneStatus,
    /// Reason why there are no results. `None`: `status` is `ok`.
    pub error: Option<&'a str>,
    /// The results.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Tuning>"))]
    pub found: TuningOrNothing<'a>,
}

/// The success or failure of a tuning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TuneStatus {
    /// There are results.
    Ok,
    /// There are no results.
    Error,
}

/// The results, or nothing.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum TuningOrNothing<'a> {
    /// The results.
    Tuning(&'a Tuning),
    /// The fields of the results, all null.
    Nothing(Nothing),
}

/// The fields of a [`Tuning`], all null.
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

/// A database, or a single table, and the effects that other filters would have on it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tuning {
    /// Name of the policy of the filters in use, or of the one given by `--policy`, without `filter.`
    pub policy: Policy,
    /// True if `--policy` was not given and no table has a sound filter block of a policy that this program can make.
    /// `policy` is then goleveldb's, if goleveldb opened the database last, or else LevelDB's own.
    pub policy_assumed: bool,
    /// The amount of data that was looked at.
    pub sample: SampleSize,
    /// The levels that have tables that could be read, from the top. A table that was given by itself is on a level
    /// without a number.
    pub levels: Vec<Level>,
    /// The effects of the filters in use.
    pub now: Outcome,
    /// The limit on the size of the filters.
    pub budget: Budget,
    /// Of the filters with the same bits a key on all levels, the best within the budget. `None`: no setting fits the
    /// budget, or `status` is `error`.
    pub uniform: Option<Choice>,
    /// Of the filters whose bits a key may differ by level, the best within the budget. Level 0 keeps the bits a key
    /// that are most in use, or 10 if these are not known, because the program writes level 0 anew with its own
    /// filters. With these filters, lookups may read more than with those of `uniform` if the budget is large. `None`:
    /// there are fewer than two levels, the order of keys is not known, no setting fits the budget, or `status` is
    /// `error`.
    pub by_level: Option<Choice>,
    /// The advice.
    pub advice: Advice,
    /// The keys of `--lookups`. `None`: no keys were given, or `status` is `error`.
    pub lookups: Option<Lookups>,
    /// The memory that the filters take in LevelDB. goleveldb holds all filters in its block cache.
    pub memory: Memory,
    /// Tables that could not be read completely, which the other results leave out, though `memory` may count them;
    /// then tables whose filters deny stored keys, which count as tables without filters.
    pub faults: Vec<TuneFault>,
    /// The settings tried, by policy, then by `base_lg`, then by bits a key. Each is a line of its own.
    #[serde(skip)]
    pub settings: Vec<Tried>,
    /// Facts that are not faults but are good to know.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// The database as a whole is damaged: a note says how.
    #[serde(skip)]
    pub is_damaged: bool,
    /// The filters that the tables have, sound or not.
    #[serde(skip)]
    pub found: FoundFilters,
}

/// The filters that tables have, sound or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoundFilters {
    /// No table has filters. That is the best sign that the program that uses the database sets no filter policy,
    /// so that it would not ask any filters.
    None,
    /// Tables have filters, but only of policies other than that of the tuning.
    OfOthers,
    /// At least one table has filters of the policy of the tuning.
    OfPolicy,
}

impl Tuning {
    /// The number of stored keys that filters deny, in the tables whose every entry was decoded.
    pub fn denied(&self) -> u64 {
        self.faults.iter().map(|fault| fault.denied).sum()
    }

    /// The number of tables that could not be read.
    pub fn left_out(&self) -> u64 {
        self.faults.iter().filter(|fault| fault.denied == 0).count() as u64
    }
}

/// The amount of data that was looked at.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleSize {
    /// Number of tables whose every entry was decoded.
    pub tables: u64,
    /// Number of tables that could be read.
    pub of_tables: u64,
    /// Bytes of the files of the tables whose every entry was decoded.
    pub bytes: u64,
    /// Bytes of the files of the tables that could be read.
    pub of_bytes: u64,
    /// Entries of the tables that could be read, including deletions and older versions of keys. Filters are
    /// sized by these.
    pub entries: Estimate,
    /// Different keys of the tables that could be read: a key that several tables hold counts once. `None`:
    /// not every entry of these tables was decoded.
    pub distinct_keys: Option<EntryCount>,
    /// True if every entry of the tables that could be read was decoded.
    pub all: bool,
}

/// A level that has tables that could be read, or a table that was given by itself.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Level {
    /// The level. `None`: the table was given by itself.
    #[serde(rename = "level")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 6)))]
    pub number: Option<u8>,
    /// Number of tables that could be read.
    pub tables: u64,
    /// Number of these tables without sound filters of the policy. Filters that deny a stored key are not sound.
    pub unfiltered: u64,
    /// Bytes of the files of the tables.
    pub size: u64,
    /// Number of entries of the tables.
    pub entries: Estimate,
    /// Tables of this level that a lookup reaches in vain. `None`: the order of keys is not known, or a table
    /// was given by itself.
    pub visits: Option<Visits>,
}

/// The mean number of tables that a lookup reaches in vain.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Visits {
    /// Mean number of tables that a lookup of a key without a value reaches in vain. The keys are those of `--lookups`
    /// or, without that option, of the kind that `worst` names in the reads of the filters in use.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub absent: f64,
    /// Mean number of tables that a lookup of a stored key reaches in vain before it finds the key.
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
    /// Number of filter bits for each key, the same on all levels.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub bits_per_key: u32,
}

/// A setting for all levels, and its effects.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tried {
    /// The setting.
    #[serde(flatten)]
    pub setting: Setting,
    /// True if this is the most frequent setting of the filters in use.
    pub in_use: bool,
    /// The effects of filters of this setting.
    pub outcome: Outcome,
}

/// Filters to replace those in use.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Choice {
    /// Name of the filter policy, without `filter.`
    pub policy: Policy,
    /// A filter covers the data blocks that begin in a range of 2^base_lg bytes.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 63)))]
    pub base_lg: u8,
    /// Number of filter bits for each key, by level.
    #[serde(rename = "bits_per_key")]
    pub bits: Vec<LevelBits>,
    /// The effects of these filters.
    pub outcome: Outcome,
}

/// The bits a key on a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelBits {
    /// The level. `None`: the table was given by itself.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 6)))]
    pub level: Option<u8>,
    /// Number of filter bits for each key.
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

/// The limit on the size of the filters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Budget {
    /// The maximum size of all filter blocks together, in bytes.
    pub bytes: u64,
    /// `given`: the budget is from `--budget`. `in-use`: it is the size of the filters in use. `ten-bits`: it
    /// is the size of filters with 10 bits a key, because some tables have no sound filters of the policy.
    pub origin: BudgetOrigin,
}

/// The origin of a budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BudgetOrigin {
    /// The option `--budget`.
    Given,
    /// The size of the filters in use.
    InUse,
    /// The size of filters with 10 bits a key, because some tables have no sound filters of the policy.
    TenBits,
}

/// The advice about the filters.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// `leave`: the filters do well as they are. `rebuild`: other filters would do better, or filters deny stored
    /// keys, so that new ones are needed. `none`: there is nothing to advise on.
    pub action: Action,
    /// The advice as a sentence, with its reason or its savings.
    pub text: String,
    /// The filters that are advised. `None`: `action` is not `rebuild`, or filters deny stored keys and are to be
    /// made anew.
    pub choice: Option<Choice>,
    /// Arguments to append to `filterblock rebuild DB --in-place` (on Windows, to `filterblock rebuild DB --to NEW`).
    /// `None`: `action` is not `rebuild`, or a rebuild has to be told more than is known, which `text` names.
    pub arguments: Option<Vec<String>>,
}

/// The action that is advised.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The filters do well as they are.
    Leave,
    /// Other filters are worth a rebuild, or filters deny stored keys.
    Rebuild,
    /// There is nothing to advise on.
    #[default]
    None,
}

/// The user's lookups.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lookups {
    /// Number of keys in the file of `--lookups`.
    pub given: u64,
    /// Number of keys of the file that were looked up.
    pub used: u64,
    /// Number of keys that were looked up and are stored.
    pub present: u64,
}

/// The memory that the filters take in LevelDB, of those tables that could be opened. LevelDB maps the first 1,000
/// tables it opens, so that their filters are in the page cache, and holds the filters of other tables on the heap;
/// goleveldb holds all filters in its block cache.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// Number of tables whose files LevelDB maps, so that their filters are in the page cache.
    pub mapped_tables: u64,
    /// Number of tables whose filters LevelDB holds on the heap.
    pub heap_tables: u64,
    /// Number of bytes of the filter blocks on the heap, on the assumption that LevelDB opens tables in the
    /// order of their levels, and those of one level in the order of their numbers.
    pub heap_bytes: u64,
}
