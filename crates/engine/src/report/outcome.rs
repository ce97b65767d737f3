//! The effects of filters, in use or tried, and the reasons why `tune` has no results for a database, or leaves out a
//! table.

use std::path::{Path, PathBuf};

use filterblock::Error;
use serde::{Serialize, Serializer};

use super::frame::ErrorKind;
use super::strings::json_path;
use crate::audit::rates::MeasuredRate;
use crate::walk::FoundFormat;

/// A number with the ends of its 95 % interval. For an exact number, both ends are the number itself.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The number. It may have a fraction even if it counts things.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub value: f64,
    /// Lower end of the 95 % interval. The same as `value` if the number is exact.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub low: f64,
    /// Upper end of the 95 % interval. The same as `value` if the number is exact.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub high: f64,
}

impl Estimate {
    /// An exact number.
    pub const fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }
}

/// The effects of some filters: those in use, or those of a setting.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// Bytes of all filter blocks.
    pub size: Estimate,
    /// `size` divided by the number of entries, including deletions and older versions of keys. 0 without
    /// entries.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub bytes_per_entry: f64,
    /// Shares of absent keys that pass.
    pub rates: Rates,
    /// Data blocks that lookups read. `None`: the order of keys is not known, or a table was given by itself.
    pub reads: Option<Reads>,
    /// Sizes, rates and block reads on each level of the tuning.
    pub levels: Vec<LevelOutcome>,
}

/// The effects of some filters on one level.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelOutcome {
    /// The level. `None`: the table was given by itself.
    #[serde(rename = "level")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 6)))]
    pub number: Option<u8>,
    /// Number of filter bits for each key. `None`: not known, as for the filters in use.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub bits_per_key: Option<u32>,
    /// Bytes of the filter blocks of this level.
    pub size: Estimate,
    /// Shares of absent keys that pass on this level.
    pub rates: Rates,
    /// Mean number of data blocks of this level that a lookup of an absent key reads. The key is one of `--lookups` or,
    /// if all keys of `--lookups` have values, of the kind that `worst` names, or random. `None`: the order of keys is
    /// not known, a table was given by itself, or no such key was asked for.
    pub reads: Option<Estimate>,
}

/// The shares of absent keys that pass, out of those that reach a table. A table without filters lets all keys pass.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rates {
    /// Rate that the formula for Bloom filters gives for the filters' number of bits a key, 0 to 1. `None`: the bits
    /// differ by level, or the filters are those in use.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub formula: Option<f64>,
    /// Share of random keys that pass. Random keys do not resemble stored ones. `None`: no such key was asked for.
    pub random: Option<MeasuredRate>,
    /// Share of keys near stored ones that pass: the greatest share in `near` among the kinds of key that a
    /// program with such stored keys is likely to ask for. `None`: no such key was asked for.
    pub neighbours: Option<MeasuredRate>,
    /// Shares of keys near stored ones that pass, by kind.
    pub near: NearRates,
    /// Share of the keys of `--lookups` that pass, out of those that reach a table that does not hold them.
    /// `None`: no such key was asked for.
    pub lookups: Option<MeasuredRate>,
}

/// The mean numbers of data blocks that lookups read.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reads {
    /// Mean number of data blocks read for absent keys that are distributed like the stored ones. 0 if no such
    /// key was asked for.
    pub random: Estimate,
    /// Mean number of data blocks read for absent keys near stored ones: the greatest number in `near` among
    /// the kinds of key that a program with such stored keys is likely to ask for. 0 if no such key was asked
    /// for.
    pub neighbours: Estimate,
    /// Kind of key that `neighbours` is for. `None`: random keys read more, or no key of the kinds that are likely was asked
    /// for.
    pub worst: Option<NearKind>,
    /// Mean numbers of data blocks read for absent keys near stored ones, by kind.
    pub near: NearReads,
    /// Mean number of data blocks read for those keys of `--lookups` that have no value: absent and deleted keys.
    /// `None`: there is no such key.
    pub lookups: Option<Estimate>,
    /// Mean number of data blocks read for those keys of `--lookups` that are stored or, without that option, for
    /// stored keys. 1 if no such key was looked up.
    pub present: Estimate,
}

/// A kind of absent key near stored ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NearKind {
    /// A stored key with a byte changed.
    Changed,
    /// A stored key whose number is changed to a missing number between its own and that of the next stored key or,
    /// where that key's number is not known or is far away, to a number close by. In a key without a number, the last
    /// bytes are taken as its number.
    Between,
    /// A stored key without its last bytes.
    Cut,
    /// A stored key with some bytes appended.
    Longer,
}

impl NearKind {
    /// All kinds, in the order of the fields of [`NearRates`] and [`NearReads`].
    pub const ALL: [Self; 4] = [Self::Changed, Self::Between, Self::Cut, Self::Longer];
}

/// The shares of keys near stored ones that pass, by kind.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NearRates {
    /// Stored keys with a byte changed. `None`: no such key was asked for.
    pub changed: Option<MeasuredRate>,
    /// Stored keys whose number is changed to a missing one. The number may be decimal, hexadecimal, big-endian or
    /// little-endian; in keys without a number, the last bytes are taken as the number. `None`: no such key was
    /// asked for, as when no number is missing.
    pub between: Option<MeasuredRate>,
    /// Stored keys without their last bytes. `None`: no such key was asked for.
    pub cut: Option<MeasuredRate>,
    /// Stored keys with some bytes appended. `None`: no such key was asked for.
    pub longer: Option<MeasuredRate>,
}

/// The mean numbers of data blocks that lookups of absent keys near stored ones read, by kind.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NearReads {
    /// Stored keys with a byte changed. `None`: no such key was asked for.
    pub changed: Option<Estimate>,
    /// Stored keys whose number is changed to a missing one. The number may be decimal, hexadecimal, big-endian or
    /// little-endian; in keys without a number, the last bytes are taken as the number. `None`: no such key was
    /// asked for, as when no number is missing.
    pub between: Option<Estimate>,
    /// Stored keys without their last bytes. `None`: no such key was asked for.
    pub cut: Option<Estimate>,
    /// Stored keys with some bytes appended. `None`: no such key was asked for.
    pub longer: Option<Estimate>,
}

impl NearReads {
    /// The mean numbers of data blocks read, in the order of [`NearKind::ALL`].
    pub const fn all(&self) -> [Option<Estimate>; 4] {
        [self.changed, self.between, self.cut, self.longer]
    }
}

impl Reads {
    /// The reads of absent keys on which advice is based: those of the user's lookups, if any of them is of an
    /// absent key, or else those of keys near stored ones or of random keys, whichever are more.
    pub fn absent(&self) -> Estimate {
        let is_random = self.random.value > self.neighbours.value;
        self.lookups.unwrap_or(if is_random { self.random } else { self.neighbours })
    }
}

/// The reason why there is nothing to show for a database or table.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct TuneFailure {
    /// The reason in words.
    pub text: String,
    /// The kind of fault; `None` if nothing is wrong with the files that were read.
    pub kind: Option<ErrorKind>,
    /// The other format, if that is the reason.
    pub other_format: Option<FoundFormat>,
    /// The command that comes first, as the database is damaged. `None`: it is not damaged as a whole, or could not be
    /// read.
    pub first: Option<String>,
}

impl TuneFailure {
    /// The failure for this reason.
    pub fn new(text: impl Into<String>, kind: impl Into<Option<ErrorKind>>) -> Self {
        Self { text: text.into(), kind: kind.into(), other_format: None, first: None }
    }

    /// The failure for `error`. Its text does not contain the path, which messages show before the
    /// text.
    pub fn of(error: &Error) -> Self {
        Self::new(error.without_path().to_string(), ErrorKind::of(error))
    }
}

impl From<Error> for TuneFailure {
    fn from(error: Error) -> Self {
        Self::of(&error)
    }
}

/// A table that could not be read, or whose filters deny stored keys.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TuneFault {
    /// Path of the table.
    #[serde(serialize_with = "path")]
    pub path: PathBuf,
    /// Reason why the table could not be read, or the number of stored keys that its filters deny.
    pub error: String,
    /// The name of the table's file.
    #[serde(skip)]
    pub name: String,
    /// See [`TuneFailure::kind`].
    #[serde(skip)]
    pub kind: Option<ErrorKind>,
    /// The number of stored keys that the filters deny. 0: the table could not be read.
    #[serde(skip)]
    pub denied: u64,
}

fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&json_path(path))
}
