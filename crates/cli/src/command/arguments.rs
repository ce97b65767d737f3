//! Arguments that several commands have.

use std::path::{Path, PathBuf};
use std::{fmt::Display, sync::LazyLock};

use clap::{Args, ValueEnum, builder::PossibleValue};
use filterblock::{LegacyHash, escape_path, table::ReadOptions};
use filterblock_engine::{Engine, Inputs, Policy, read_options, report::Depth};

use crate::io::Console;

/// Returns a function that turns an error into a message about `path`.
pub(super) fn about<E: Display>(path: &Path) -> impl Fn(E) -> String {
    move |error| format!("{}: {error}", escape_path(path))
}

#[derive(Args)]
pub(super) struct Paths {
    /// Tables, or database folders: their .ldb and .sst files, ordered by number
    #[arg(required_unless_present = "files_from", value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) sources: PathSources,
}

/// The sources of paths in addition to the arguments.
#[derive(Args)]
pub(super) struct PathSources {
    /// Also take paths from the lines of this file, after the arguments; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(super) files_from: Option<PathBuf>,
    /// The paths of --files-from end with a zero byte instead of a line break, as `find -print0` writes them
    #[arg(short = '0', long = "null", requires = "files_from")]
    null: bool,
    /// Search subfolders as well; links to folders are not followed
    #[arg(short, long)]
    recursive: bool,
    /// Exit with 0 once every path has its results, whatever they are
    ///
    /// For programs that check each result themselves. Wrong usage, a file of keys that cannot be read, a
    /// list of paths that cannot be read to its end and output that cannot be written still lead to other exit
    /// statuses.
    #[arg(long)]
    pub(super) keep_going: bool,
}

impl Paths {
    /// The only path, if there is certainly only one.
    pub(super) fn single(&self) -> Option<&Path> {
        match &*self.paths {
            [path] if self.sources.files_from.is_none() && !self.sources.recursive => Some(path),
            _ => None,
        }
    }

    /// The paths to look at: the arguments, then the paths of `--files-from`.
    pub(super) fn inputs(&self) -> Inputs {
        self.sources.after(&self.paths)
    }
}

impl PathSources {
    /// The inputs: `paths`, then the paths of `--files-from`.
    pub(super) fn after(&self, paths: &[PathBuf]) -> Inputs {
        Inputs {
            paths: paths.to_vec(),
            list: self.files_from.clone(),
            null: self.null,
            recursive: self.recursive,
            storage: None,
        }
    }
}

#[derive(Args)]
pub(super) struct Limits {
    /// Maximum number of bytes to decode from each file: its blocks, and the keys in them
    ///
    /// If not given: 100 times the file's size, or 256 MiB if that is more, and 256 MiB for one block. No
    /// memory is taken for contents larger than the stored bytes of a block can decompress to. K, M and G
    /// after the number mean 2^10, 2^20 and 2^30 bytes.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    max_output: Option<u64>,
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
    /// The options for reading tables within these limits.
    pub(super) fn read_options(&self) -> ReadOptions {
        let options = read_options();
        let Some(bytes) = self.max_output else { return options };
        options.max_output(bytes).max_block_size(usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// An engine with these limits, whose work the console's meter counts. It has `jobs` threads, or
    /// as many as there are processors if `jobs` is `None`.
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

/// A policy that tables can be built with. Basho's policy is left out: it has the name of another
/// policy, and tables with Basho's filters need marks that only Riak's tables have.
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

/// The part of each table to read.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum DepthArgument {
    /// The end: index, metaindex and filters; numbers of entries and measured rates stay unknown
    Tail,
    /// Also some data blocks, to estimate numbers from
    Sample,
    /// Every data block, so that entries and keys are counted
    All,
}

impl DepthArgument {
    pub(super) const fn depth(self) -> Depth {
        match self {
            Self::Tail => Depth::Tail,
            Self::Sample => Depth::Sample,
            Self::All => Depth::All,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
