//! What filters do, or would do.

use serde::Serialize;

use crate::audit::rates::MeasuredRate;

/// A number with the ends of its 95 % interval. The ends of an exact one are the same.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The number. It may have a fraction also where it counts something.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub value: f64,
    /// Lower end of its 95 % interval. The same as `value` if the number is exact.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub low: f64,
    /// Upper end of the interval.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub high: f64,
}

impl Estimate {
    /// An exact number.
    pub const fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }
}

/// What some filters do: those in use, or those of a setting.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// Bytes of all filter blocks.
    pub size: Estimate,
    /// `size` for each entry. 0 without entries.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub bytes_per_key: f64,
    /// Shares of absent keys that pass.
    pub rates: Rates,
    /// Data blocks that lookups read. `None`: the order of keys is not known, or it is a table that was given
    /// singly.
    pub reads: Option<Reads>,
    /// The same for each level of the tuning.
    pub levels: Vec<LevelOutcome>,
}

/// What some filters do on one level.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelOutcome {
    /// The level. `None`: a table that was given singly, or the tables of a folder whose levels are not
    /// known.
    #[serde(rename = "level")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 6)))]
    pub number: Option<u8>,
    /// Bits of filter for each key. `None`: not known, as of the filters in use.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub bits_per_key: Option<u32>,
    /// Bytes of the filter blocks of this level.
    pub size: Estimate,
    /// Shares of absent keys that pass on this level.
    pub rates: Rates,
}

/// The shares of absent keys that pass, of those that come to a filter. Tables without filters let
/// all pass.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rates {
    /// What the formula for Bloom filters gives for the bits a key, 0 to 1. `None`: they differ by level, or
    /// are those in use.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub formula: Option<f64>,
    /// Keys without any likeness to stored ones. `None`: none was asked for.
    pub random: Option<MeasuredRate>,
    /// Stored keys with a byte changed or some appended. `None`: none was asked for.
    pub neighbours: Option<MeasuredRate>,
    /// Those keys of `--lookups` that come to a table which does not hold them. `None`: none was asked for.
    pub lookups: Option<MeasuredRate>,
}

/// The mean numbers of data blocks that lookups read.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reads {
    /// Mean number for absent keys that lie between the stored ones as these lie between each other.
    pub random: Estimate,
    /// Mean number for absent keys near stored ones.
    pub neighbours: Estimate,
    /// Mean number for those keys of `--lookups` that are absent. `None`: there are none.
    pub lookups: Option<Estimate>,
    /// Mean number for stored keys, or for those keys of `--lookups` that are stored.
    pub present: Estimate,
}

impl Reads {
    /// The number that advice goes by: the user's lookups, else neighbours.
    pub fn absent(&self) -> Estimate {
        self.lookups.unwrap_or(self.neighbours)
    }
}
