//! What to do about a database, and why.

use filterblock::LegacyHash;
use serde::Serialize;

use super::effect::SimilarKind;
use super::strings::words;
use super::verdict::Verdict;
use crate::audit::Policy;
use crate::walk::FoundFormat;

/// What to do about a database or table, and why.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// How the database is.
    pub verdict: Verdict,
    /// What the verdict rests on.
    pub reason: Basis,
    /// What to do.
    pub action: Action,
    /// What has to be so for the action to help, or for the numbers to hold.
    pub conditions: Vec<Condition>,
    /// What comes before the action.
    pub obstacles: Vec<Obstacle>,
}

/// What a verdict rests on.
#[derive(Clone, PartialEq, Debug)]
pub enum Basis {
    /// Nothing is wrong, as far as was read. Other filters were not tried.
    Nothing,
    /// There are no tables yet.
    NoTables,
    /// All tables together are so small that filters hardly matter.
    TooSmall,
    /// Other filters would save too little.
    Enough,
    /// Other filters would save reads.
    Reads,
    /// Smaller filters would do.
    Size,
    /// The MANIFEST makes opening the database slow.
    HugeManifest(HugeManifest),
    /// Filter blocks are malformed, so that LevelDB reads data blocks instead. The names of their tables.
    MalformedFilters(Vec<String>),
    /// Filters hide stored keys.
    FalseNegatives(FalseNegatives),
    /// Filter blocks cannot be read. No entry is concerned. The names of their tables.
    UnreadableFilters(Vec<String>),
    /// Files are damaged or missing.
    Damage(Damage),
    /// All filters are of this policy, which is none of LevelDB's or goleveldb's.
    Policy(String),
    /// The keys are in this order, which is not known.
    KeyOrder(String),
    /// Something could not be read.
    Unread {
        /// The name of the file. Empty: it is what the advice is about.
        what: String,
        /// The reason.
        why: String,
    },
    /// The files are of another format, or encrypted.
    Format(FoundFormat),
}

impl Basis {
    /// The word for it in JSON, and the verdict that rests on it.
    pub const fn word_and_verdict(&self) -> (&'static str, Verdict) {
        match self {
            Self::Nothing => ("nothing", Verdict::Fine),
            Self::NoTables => ("no-tables", Verdict::Fine),
            Self::TooSmall => ("too-small", Verdict::Fine),
            Self::Enough => ("enough", Verdict::Fine),
            Self::Reads => ("reads", Verdict::CouldBeBetter),
            Self::Size => ("size", Verdict::CouldBeBetter),
            Self::HugeManifest(_) => ("huge-manifest", Verdict::CouldBeBetter),
            Self::MalformedFilters(_) => ("malformed-filters", Verdict::CouldBeBetter),
            Self::FalseNegatives(_) => ("false-negatives", Verdict::FalseNegatives),
            Self::UnreadableFilters(_) => ("unreadable-filters", Verdict::Damaged),
            Self::Damage(_) => ("damage", Verdict::Damaged),
            Self::Policy(_) => ("policy", Verdict::CannotTell),
            Self::KeyOrder(_) => ("key-order", Verdict::CannotTell),
            Self::Unread { .. } => ("unread", Verdict::CannotTell),
            Self::Format(_) => ("format", Verdict::CannotTell),
        }
    }
}

/// A MANIFEST that makes opening the database slow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HugeManifest {
    /// The name of its file.
    pub name: String,
    /// Its size, in bytes.
    pub len: u64,
    /// The size of a new one, in bytes.
    pub needed: u64,
}

/// Filters that hide stored keys.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FalseNegatives {
    /// The names of the tables with such filters.
    pub tables: Vec<String>,
    /// The number of keys that are hidden.
    pub hidden: u64,
    /// The number of keys that these tables have. `None`: not known.
    pub keys: Option<u64>,
}

/// What is damaged or missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The damage in a few words. Empty: `detail` has it.
    pub title: String,
    /// More about the damage, as a sentence without its full stop.
    pub detail: Option<String>,
    /// The harm that the database's program would do, as a sentence without its full stop. `None`: none that is known.
    pub warning: Option<String>,
    /// The part that is damaged.
    pub part: DamagedPart,
}

impl Damage {
    pub(crate) const fn new(title: String, part: DamagedPart) -> Self {
        Self { title, detail: None, warning: None, part }
    }
}

/// The part of a database that is damaged, which decides what to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DamagedPart {
    /// CURRENT or the MANIFEST, so that LevelDB does not open the database.
    Manifest,
    /// Logs that are missing.
    Logs,
    /// Tables or other files.
    Files,
}

/// What to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Nothing.
    None,
    /// Rebuild the filters.
    Rebuild(Rebuild),
    /// Make a new database of what can be saved, or is there.
    Repair,
    /// See which entries of a damaged table can be read.
    Carve,
}

/// The filters of a rebuild. What is `None` need not be given.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Rebuild {
    /// The bits per key.
    pub bits_per_key: Option<u32>,
    /// The policy.
    pub policy: Option<Policy>,
    /// The hash that the name of the policy stands for.
    pub hash: Option<LegacyHash>,
}

impl Rebuild {
    /// The arguments of `filterblock rebuild`, after those for the place.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut add = |option: &str, value: String| arguments.extend([option.to_owned(), value]);
        self.bits_per_key.into_iter().for_each(|bits| add("--bits-per-key", bits.to_string()));
        self.policy.into_iter().for_each(|policy| add("--policy", policy.name().to_owned()));
        if let Some(hash) = self.hash {
            add("--hash", if hash == LegacyHash::Signed { "signed" } else { "unsigned" }.to_owned());
        }
        arguments
    }
}

/// What has to be so for an action to help, or for the numbers to hold.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Condition {
    /// No table has filters: the program has to set this policy.
    ProgramSetsPolicy(Policy),
    /// Tables have filters of several policies, and this one was chosen.
    SeveralPolicies(Policy),
    /// Lookups of keys similar to stored ones read more than those of random keys.
    SimilarKeys {
        /// The kind of such keys that reads most.
        kind: SimilarKind,
        /// The data blocks that a lookup of such a key reads.
        reads: f64,
        /// One filter for each table would save enough of these reads.
        larger_range_helps: bool,
    },
}

words! {
    /// What comes before a rebuild.
    Obstacle {
        /// `--hash` has to be given, and neither filters nor keys tell which.
        HashUnknown = "hash-unknown",
        /// The order of keys is not known, so `--assume-bytewise-equality` has to be given.
        KeyOrderUnknown = "key-order-unknown",
        /// The tables from before an earlier rebuild are still there.
        UndoExists = "undo-exists",
    }
}

impl Advice {
    /// The filters of the rebuild that is advised, if nothing else has to be known for it.
    pub fn rebuild(&self) -> Option<Rebuild> {
        let is_known = |obstacle: &Obstacle| *obstacle == Obstacle::UndoExists;
        match self.action {
            Action::Rebuild(rebuild) if self.obstacles.iter().all(is_known) => Some(rebuild),
            _ => None,
        }
    }

    /// The advice to rebuild for the sake of reads or space depends on the program.
    pub fn is_conditional(&self) -> bool {
        self.conditions.iter().any(|of| matches!(of, Condition::ProgramSetsPolicy(_)))
    }
}

/// The fields of advice in JSON.
#[derive(Clone, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct AdviceFields {
    /// `fine`, `could-be-better`, `unknown`, `false-negatives` or `damaged`. `None`: a table that was given by itself
    /// and has no fault, or no database.
    pub verdict: Option<Verdict>,
    /// What the verdict rests on. Fine: `nothing`, `no-tables`, `too-small`, `enough`. Could be better: `reads`, `size`,
    /// `huge-manifest`, `malformed-filters`. Unknown: `policy`, `key-order`, `unread`, `format`. Damaged: `damage`,
    /// `unreadable-filters`. Otherwise `false-negatives`.
    pub reason: Option<&'static str>,
    /// `none`, `rebuild`, `repair` or `carve`.
    pub action: Option<&'static str>,
    /// Arguments to append to `filterblock rebuild DB --in-place` (on Windows, to `filterblock rebuild DB --to NEW`).
    /// `None`: no rebuild is advised, or more has to be known, which `obstacles` says.
    pub arguments: Option<Vec<String>>,
    /// What has to be so for the action to help, or for the numbers to hold: `program-sets-policy`,
    /// `several-policies`, `similar-keys`.
    pub conditions: Option<Vec<&'static str>>,
    /// What comes before the action.
    pub obstacles: Option<Vec<Obstacle>>,
    /// The verdict and the advice in words.
    pub text: Option<String>,
}

impl AdviceFields {
    /// `text`: the advice in words.
    pub(super) fn of(advice: &Advice, text: String) -> Self {
        let action = match advice.action {
            Action::None => "none",
            Action::Rebuild(_) => "rebuild",
            Action::Repair => "repair",
            Action::Carve => "carve",
        };
        let condition = |condition: &Condition| match condition {
            Condition::ProgramSetsPolicy(_) => "program-sets-policy",
            Condition::SeveralPolicies(_) => "several-policies",
            Condition::SimilarKeys { .. } => "similar-keys",
        };
        Self {
            verdict: Some(advice.verdict),
            reason: Some(advice.reason.word_and_verdict().0),
            action: Some(action),
            arguments: advice.rebuild().map(|rebuild| rebuild.arguments()),
            conditions: Some(advice.conditions.iter().map(condition).collect()),
            obstacles: Some(advice.obstacles.clone()),
            text: Some(text),
        }
    }
}
