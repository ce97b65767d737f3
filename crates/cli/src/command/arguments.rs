//! Arguments that several commands have.

use std::path::{Path, PathBuf};
use std::{fmt::Display, sync::LazyLock};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use filterblock::{LegacyHash, escape_path};
use filterblock_engine::report::{Depth, Outcome, Verdict};
use filterblock_engine::{Engine, Inputs, MAX_JOBS, Policy};

use super::help::{ADVANCED, order};
use crate::io::{Console, EXIT_ERROR};

/// The exit status if data is damaged or filters hide stored keys, and everything could be read.
const EXIT_BAD: u8 = 1;

pub(super) fn exit_status(outcome: &Outcome, keep_going: bool) -> u8 {
    let count = |verdict| outcome.verdicts.of(verdict);
    match () {
        () if outcome.list_failed => EXIT_ERROR,
        () if keep_going => 0,
        () if count(Verdict::CannotTell) > 0 => EXIT_ERROR,
        () if count(Verdict::Damaged) + count(Verdict::FalseNegatives) > 0 => EXIT_BAD,
        () => 0,
    }
}

pub(super) fn about<E: Display>(path: &Path) -> impl Fn(E) -> String {
    move |error| format!("{}: {error}", escape_path(path))
}

#[derive(Args)]
pub(super) struct Paths {
    /// Databases (folders), tables (.ldb, .sst) or logs (.log)
    #[arg(required_unless_present = "files_from", value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) sources: PathSources,
}

/// The sources of paths in addition to the arguments.
#[derive(Args)]
pub(super) struct PathSources {
    /// Search the folders below, too
    #[arg(short, long, display_order = order::RECURSIVE)]
    recursive: bool,
    /// Also read paths from the lines of FILE; - is standard input
    #[arg(long, value_name = "FILE", display_order = order::SOURCES, help_heading = ADVANCED, hide_short_help = true)]
    pub(super) files_from: Option<PathBuf>,
    /// The paths of --files-from end with a zero byte, as find -print0 writes them
    #[arg(short = '0', long = "null", requires = "files_from", display_order = order::SOURCES + 1, help_heading = ADVANCED, hide_short_help = true)]
    null: bool,
    /// Exit with 0 once each path has its result, whatever it is
    #[arg(long, display_order = order::SOURCES + 2, help_heading = ADVANCED, hide_short_help = true)]
    pub(super) keep_going: bool,
}

impl Paths {
    pub(super) fn single(&self) -> Option<&Path> {
        match &*self.paths {
            [path] if self.sources.files_from.is_none() && !self.sources.recursive => Some(path),
            _ => None,
        }
    }

    pub(super) fn inputs(&self) -> Inputs {
        self.sources.after(&self.paths)
    }
}

impl PathSources {
    pub(super) fn after(&self, paths: &[PathBuf]) -> Inputs {
        Inputs {
            paths: paths.to_vec(),
            list: self.files_from.clone(),
            null: self.null,
            recursive: self.recursive,
        }
    }
}

#[derive(Args, Default)]
pub(super) struct Limits {
    /// Decode at most SIZE of each file, such as 2G [default: 100 times the file, at least 256M]
    #[arg(long, value_name = "SIZE", value_parser = bytes, display_order = order::MAX_OUTPUT, help_heading = ADVANCED, hide_short_help = true)]
    pub(super) max_output: Option<u64>,
}

/// The number of threads.
#[derive(Args)]
pub(super) struct Jobs {
    /// Work on N tables at a time [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS), help_heading = ADVANCED, hide_short_help = true)]
    pub(super) jobs: Option<u16>,
}

/// Parses a number of bytes, with or without a unit.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let text = text.strip_suffix("iB").filter(|text| text.ends_with(['K', 'M', 'G'])).unwrap_or(text);
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (text.get(..at), 1 << 10),
        Some((at, 'm' | 'M')) => (text.get(..at), 1 << 20),
        Some((at, 'g' | 'G')) => (text.get(..at), 1 << 30),
        _ => (Some(text), 1),
    };
    let number = digits.and_then(|digits| digits.parse::<u64>().ok());
    let bytes = number.and_then(|number| number.checked_mul(unit));
    bytes.ok_or_else(|| "expected a number of bytes, such as 1000000000, 900M or 2G".to_owned())
}

impl Limits {
    /// An engine with these limits, whose work the console's meter counts. `jobs`: `None` is one thread per processor.
    pub(super) fn engine(&self, jobs: Option<u16>, console: &Console) -> Engine {
        let engine = Engine::new().meter(console.meter());
        let engine = self.max_output.into_iter().fold(engine, Engine::max_output);
        jobs.into_iter().fold(engine, Engine::jobs)
    }
}

/// An order of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum KeyOrder {
    /// Byte by byte (leveldb.BytewiseComparator), LevelDB's default
    Bytewise,
    /// That of Chromium's IndexedDB (idb_cmp1)
    #[value(name = "idb_cmp1")]
    Idb,
}

impl KeyOrder {
    pub(super) const fn known(self) -> filterblock_engine::KeyOrder {
        match self {
            Self::Bytewise => filterblock_engine::KeyOrder::Bytewise,
            Self::Idb => filterblock_engine::KeyOrder::Idb,
        }
    }
}

/// The form of stored keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum StoredKeys {
    /// User key, sequence number and type, as databases store them
    Internal,
    /// User keys alone, without sequence number and type
    User,
}

impl StoredKeys {
    pub(super) fn are_internal(self) -> bool {
        self == Self::Internal
    }
}

/// A policy that tables can be built with. Basho's is left out: it has the name of another policy, and tables with its
/// filters need marks that only Riak's tables have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PolicyName(pub(super) Policy);

static POLICIES: LazyLock<Vec<PolicyName>> =
    LazyLock::new(|| Policy::all(LegacyHash::Unsigned).map(PolicyName).collect());

impl ValueEnum for PolicyName {
    fn value_variants<'a>() -> &'a [Self] {
        &POLICIES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (short, readers) = match &self.0 {
            Policy::Builtin2 => ("new", "LevelDB since 1.18"),
            Policy::Builtin(_) => ("old", "goleveldb, and LevelDB up to 1.17 on ARM"),
            Policy::Own(policy) => (policy.short_name(), "readers by this library alone"),
        };
        let help = format!("For {readers} (short: {short})");
        Some(PossibleValue::new(self.0.name()).alias(short).help(help))
    }
}

/// A parser of one of `values`: name, help, and what it stands for.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    values: &'static [(&'static str, &'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = values.iter().map(|(name, help, _)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).try_map(|given| {
        let value = values.iter().find(|(name, ..)| *name == given);
        value.map(|(.., value)| *value).ok_or("unknown")
    })
}

/// The parts of each table to read.
pub(super) const DEPTHS: &[(&str, &str, Depth)] = &[
    (
        "tail",
        "The end: index, metaindex and filters; numbers of entries and measured rates stay unknown",
        Depth::Tail,
    ),
    ("sample", "Also some data blocks, to estimate numbers from", Depth::Sample),
    ("all", "Every data block, so that entries and keys are counted", Depth::All),
];

pub(super) const HASHES: &[(&str, &str, LegacyHash)] = &[
    ("signed", "LevelDB up to 1.17 on x86", LegacyHash::Signed),
    ("unsigned", "goleveldb, and LevelDB up to 1.17 on ARM", LegacyHash::Unsigned),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_looked_at_counts_even_if_unreadable_files_do_not() {
        let mut outcome = Outcome::default();
        let statuses = |outcome: &Outcome| [false, true].map(|keep_going| exit_status(outcome, keep_going));
        outcome.verdicts.add(Verdict::Damaged);
        assert_eq!(statuses(&outcome), [EXIT_BAD, 0]);
        outcome.verdicts.add(Verdict::CannotTell);
        assert_eq!(statuses(&outcome), [EXIT_ERROR, 0]);
        outcome.list_failed = true;
        assert_eq!(statuses(&outcome), [EXIT_ERROR; 2]);
    }

    #[test]
    fn bytes_may_have_a_unit() {
        for (text, expected) in
            [("0", 0), ("1000", 1000), ("1k", 1024), ("3M", 3 << 20), ("2G", 2 << 30), ("5MiB", 5 << 20)]
        {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for wrong in ["", "G", "1.5G", "-1", "1GB", "1iBB", "1iB", "99999999999G", "1é", "é"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
