//! What `tune` found out, in no particular format.

use filterblock::Error;

use crate::audit::policies::Policy;
use crate::audit::rates::measured::MeasuredRate;
use crate::report::error_kind::ErrorKind;

/// A database, or a single table, and what other filters would do for it.
#[derive(Debug)]
pub struct Tuning {
    /// The policy that the filters in use are of, or that advice is for if there are none.
    pub policy: Policy,
    /// No table has filters of a policy that can be made here: `policy` is LevelDB's own one.
    pub policy_assumed: bool,
    pub sample: SampleSize,
    /// The levels that have tables, from the top. For a single table, one of no number.
    pub levels: Vec<Level>,
    /// The filters as they are.
    pub now: Outcome,
    /// The settings tried, by policy, then by `base_lg`, then by bits a key.
    pub settings: Vec<Tried>,
    /// What the filters may take.
    pub budget: Budget,
    /// The best that the same bits a key on all levels do within the budget. `None` if no setting
    /// fits it.
    pub uniform: Option<Choice>,
    /// The best that bits a key by level do within it; `None` without levels to tell apart, or
    /// without lookups to weigh them by.
    pub by_level: Option<Choice>,
    pub advice: Advice,
    /// What the user's own lookups are; `None` if there are none.
    pub lookups: Option<Lookups>,
    pub memory: Memory,
    /// Facts that are no faults and good to know.
    pub notes: Vec<String>,
    /// File names of tables that could not be read, and why. The numbers leave them out.
    pub faults: Vec<(String, String)>,
    /// The kind of the first of `faults`.
    pub fault_kind: Option<ErrorKind>,
}

/// The reason why there is nothing to show of a database or table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TuneFailure {
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

/// A number with the ends of its 95 % interval. The ends of an exact one are the same.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// How much was looked at.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct SampleSize {
    /// The tables whose every entry was decoded, of all that there are.
    pub tables: u64,
    pub of_tables: u64,
    /// The same in bytes of files.
    pub bytes: u64,
    pub of_bytes: u64,
    /// The entries of all tables: keys, older versions and deletions.
    pub entries: Estimate,
}

impl SampleSize {
    /// Returns true if nothing is an estimate but the rates.
    pub const fn is_all(&self) -> bool {
        self.tables == self.of_tables
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level {
    /// `None` for a single table.
    pub number: Option<u8>,
    pub tables: u64,
    /// Those of them without filters that the policy can ask.
    pub unfiltered: u64,
    /// The size of the tables in bytes.
    pub size: u64,
    pub entries: Estimate,
    /// The mean number of its tables that a lookup comes to whose key is nowhere, and one whose key
    /// is found on a level below. `None` if the order of keys is not known.
    pub visits: Option<Visits>,
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Visits {
    pub absent: f64,
    pub present: f64,
}

/// Settings for filters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    pub policy: Policy,
    /// One filter for every 2^base_lg bytes of data blocks.
    pub base_lg: u8,
    pub bits_per_key: u32,
}

/// A setting, on all levels, and what it would do.
#[derive(Debug)]
pub struct Tried {
    pub setting: Setting,
    /// Most of the filters in use are of this setting.
    pub in_use: bool,
    pub outcome: Outcome,
}

/// What some filters do: those in use, or those of a setting.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Outcome {
    /// The size of all filter blocks in bytes.
    pub size: Estimate,
    /// `size` for each entry; 0 without entries.
    pub bytes_per_key: f64,
    pub rates: Rates,
    /// `None` if the order of keys is not known, and for a single table.
    pub reads: Option<Reads>,
    /// The same for each level of [`Tuning::levels`], in that order.
    pub levels: Vec<LevelOutcome>,
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct LevelOutcome {
    /// `None` for the filters in use.
    pub bits_per_key: Option<u32>,
    pub size: Estimate,
    pub rates: Rates,
}

/// The shares of absent keys that pass, of those that come to a filter. Tables without filters let
/// all pass.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Rates {
    /// What the formula gives for the bits a key; `None` for the filters in use.
    pub formula: Option<f64>,
    /// Keys without any likeness to stored ones.
    pub random: Option<MeasuredRate>,
    /// Stored keys with a byte changed or some appended.
    pub neighbours: Option<MeasuredRate>,
    /// Those of the user's lookups that are nowhere in the table.
    pub lookups: Option<MeasuredRate>,
}

/// The mean numbers of data blocks that lookups read.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Reads {
    /// Of absent keys that lie between the stored ones as these lie between each other.
    pub random: Estimate,
    pub neighbours: Estimate,
    /// The user's own lookups whose keys are absent; `None` without any.
    pub lookups: Option<Estimate>,
    /// Stored keys, or the user's lookups whose keys are stored.
    pub present: Estimate,
}

impl Reads {
    /// The number that advice goes by: the user's lookups, else neighbours.
    pub fn absent(&self) -> Estimate {
        self.lookups.unwrap_or(self.neighbours)
    }
}

/// Filters to have instead.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    pub policy: Policy,
    pub base_lg: u8,
    /// Levels and their bits a key, for each level that has tables; one of no number for a table.
    pub bits: Vec<(Option<u8>, u32)>,
    pub outcome: Outcome,
}

impl Choice {
    /// The bits a key, if they are the same on all levels.
    pub fn same_bits(&self) -> Option<u32> {
        let (_, first) = *self.bits.first()?;
        self.bits.iter().all(|&(_, bits)| bits == first).then_some(first)
    }
}

/// The most bytes that filters may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    pub bytes: u64,
    pub origin: BudgetOrigin,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BudgetOrigin {
    /// `--budget`.
    Given,
    /// What the filters take today.
    InUse,
    /// Ten bits a key, as some tables have no filters.
    TenBits,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Advice {
    /// The filters do well as they are.
    Leave {
        /// What ten bits a key would do instead, if that were much, for more space.
        ten_bits: Option<Box<Outcome>>,
    },
    Rebuild {
        choice: Box<Choice>,
        /// The arguments behind `filterblock rebuild DB --in-place`, each one word.
        arguments: Vec<String>,
    },
    /// There is nothing to advise on, for this reason.
    None { why: &'static str },
}

/// The user's lookups.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Lookups {
    pub given: u64,
    /// Those used, and those of them whose keys are stored.
    pub used: u64,
    pub present: u64,
}

/// Where readers hold the filters in use. LevelDB maps the first 1,000 tables it opens, and holds the
/// filters of others on the heap; goleveldb keeps all in its block cache.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Memory {
    pub mapped_tables: u64,
    pub heap_tables: u64,
    /// Bytes of filter blocks on the heap if the tables above are the last ones.
    pub heap_bytes: u64,
}
