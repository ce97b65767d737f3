//! What `tune` found out, in no particular format.

use filterblock::Error;

use crate::audit::error_kind::ErrorKind;
use crate::audit::policies::Policy;
use crate::audit::rates::measured::MeasuredRate;

/// A database, or a single table, and what other filters would do for it.
#[derive(Debug)]
pub(crate) struct Tuning {
    /// The policy that the filters in use are of, or that advice is for if there are none.
    pub(crate) policy: Policy,
    /// No table has filters of a policy that can be made here: `policy` is LevelDB's own one.
    pub(crate) policy_assumed: bool,
    pub(crate) sample: SampleSize,
    /// The levels that have tables, from the top. For a single table, one of no number.
    pub(crate) levels: Vec<Level>,
    /// The filters as they are.
    pub(crate) now: Outcome,
    /// The settings tried, by policy, then by `base_lg`, then by bits a key.
    pub(crate) settings: Vec<Tried>,
    /// What the filters may take.
    pub(crate) budget: Budget,
    /// The best that the same bits a key on all levels do within the budget. `None` if no setting
    /// fits it.
    pub(crate) uniform: Option<Choice>,
    /// The best that bits a key by level do within it; `None` without levels to tell apart, or
    /// without lookups to weigh them by.
    pub(crate) by_level: Option<Choice>,
    pub(crate) advice: Advice,
    /// What the user's own lookups are; `None` if there are none.
    pub(crate) lookups: Option<Lookups>,
    pub(crate) memory: Memory,
    /// Facts that are no faults and good to know.
    pub(crate) notes: Vec<String>,
    /// File names of tables that could not be read, and why. The numbers leave them out.
    pub(crate) faults: Vec<(String, String)>,
    /// The kind of the first of `faults`.
    pub(crate) fault_kind: Option<ErrorKind>,
}

/// The reason why there is nothing to show of a database or table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TuneFailure {
    pub(crate) text: String,
    /// `None` if nothing is wrong with what was read.
    pub(crate) kind: Option<ErrorKind>,
}

impl TuneFailure {
    /// The error in words, without the path, which stands before them.
    pub(crate) fn of(error: &Error) -> Self {
        Self { text: error.without_path().to_string(), kind: Some(ErrorKind::of(error)) }
    }
}

/// A number with the ends of its 95 % interval. The ends of an exact one are the same.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// How much was looked at.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct SampleSize {
    /// The tables whose every entry was decoded, of all that there are.
    pub(crate) tables: u64,
    pub(crate) of_tables: u64,
    /// The same in bytes of files.
    pub(crate) bytes: u64,
    pub(crate) of_bytes: u64,
    /// The entries of all tables: keys, older versions and deletions.
    pub(crate) entries: Estimate,
}

impl SampleSize {
    /// Returns true if nothing is an estimate but the rates.
    pub(crate) const fn is_all(&self) -> bool {
        self.tables == self.of_tables
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Level {
    /// `None` for a single table.
    pub(crate) number: Option<u8>,
    pub(crate) tables: u64,
    /// Those of them without filters that the policy can ask.
    pub(crate) unfiltered: u64,
    /// The size of the tables in bytes.
    pub(crate) size: u64,
    pub(crate) entries: Estimate,
    /// The mean number of its tables that a lookup comes to whose key is nowhere, and one whose key
    /// is found on a level below. `None` if the order of keys is not known.
    pub(crate) visits: Option<Visits>,
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Visits {
    pub(crate) absent: f64,
    pub(crate) present: f64,
}

/// Settings for filters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    pub(crate) policy: Policy,
    /// One filter for every 2^base_lg bytes of data blocks.
    pub(crate) base_lg: u8,
    pub(crate) bits_per_key: u32,
}

/// A setting, on all levels, and what it would do.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) setting: Setting,
    /// Most of the filters in use are of this setting.
    pub(crate) in_use: bool,
    pub(crate) outcome: Outcome,
}

/// What some filters do: those in use, or those of a setting.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Outcome {
    /// The size of all filter blocks in bytes.
    pub(crate) size: Estimate,
    /// `size` for each entry; 0 without entries.
    pub(crate) bytes_per_key: f64,
    pub(crate) rates: Rates,
    /// `None` if the order of keys is not known, and for a single table.
    pub(crate) reads: Option<Reads>,
    /// The same for each level of [`Tuning::levels`], in that order.
    pub(crate) levels: Vec<LevelOutcome>,
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct LevelOutcome {
    /// `None` for the filters in use.
    pub(crate) bits_per_key: Option<u32>,
    pub(crate) size: Estimate,
    pub(crate) rates: Rates,
}

/// The shares of absent keys that pass, of those that come to a filter. Tables without filters let
/// all pass.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Rates {
    /// What the formula gives for the bits a key; `None` for the filters in use.
    pub(crate) formula: Option<f64>,
    /// Keys without any likeness to stored ones.
    pub(crate) random: Option<MeasuredRate>,
    /// Stored keys with a byte changed or some appended.
    pub(crate) neighbours: Option<MeasuredRate>,
    /// Those of the user's lookups that are nowhere in the table.
    pub(crate) lookups: Option<MeasuredRate>,
}

/// The mean numbers of data blocks that lookups read.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Reads {
    /// Of absent keys that lie between the stored ones as these lie between each other.
    pub(crate) random: Estimate,
    pub(crate) neighbours: Estimate,
    /// The user's own lookups whose keys are absent; `None` without any.
    pub(crate) lookups: Option<Estimate>,
    /// Stored keys, or the user's lookups whose keys are stored.
    pub(crate) present: Estimate,
}

impl Reads {
    /// The number that advice goes by: the user's lookups, else neighbours.
    pub(crate) fn absent(&self) -> Estimate {
        self.lookups.unwrap_or(self.neighbours)
    }
}

/// Filters to have instead.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Choice {
    pub(crate) policy: Policy,
    pub(crate) base_lg: u8,
    /// Levels and their bits a key, for each level that has tables; one of no number for a table.
    pub(crate) bits: Vec<(Option<u8>, u32)>,
    pub(crate) outcome: Outcome,
}

impl Choice {
    /// The bits a key, if they are the same on all levels.
    pub(crate) fn same_bits(&self) -> Option<u32> {
        let (_, first) = *self.bits.first()?;
        self.bits.iter().all(|&(_, bits)| bits == first).then_some(first)
    }
}

/// The most bytes that filters may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Budget {
    pub(crate) bytes: u64,
    pub(crate) origin: BudgetOrigin,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BudgetOrigin {
    /// `--budget`.
    Given,
    /// What the filters take today.
    InUse,
    /// Ten bits a key, as some tables have no filters.
    TenBits,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Advice {
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
pub(crate) struct Lookups {
    pub(crate) given: u64,
    /// Those used, and those of them whose keys are stored.
    pub(crate) used: u64,
    pub(crate) present: u64,
}

/// Where readers hold the filters in use. LevelDB maps the first 1,000 tables it opens, and holds the
/// filters of others on the heap; goleveldb keeps all in its block cache.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Memory {
    pub(crate) mapped_tables: u64,
    pub(crate) heap_tables: u64,
    /// Bytes of filter blocks on the heap if the tables above are the last ones.
    pub(crate) heap_bytes: u64,
}
