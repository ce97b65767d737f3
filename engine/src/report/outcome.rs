//! What filters do, or would do.

use serde::Serialize;

use crate::audit::rates::measured::MeasuredRate;

/// A number with the ends of its 95 % interval. The ends of an exact one are the same.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
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
    /// The size of all filter blocks in bytes.
    pub size: Estimate,
    /// `size` for each entry; 0 without entries.
    pub bytes_per_key: f64,
    /// The shares of absent keys that pass.
    pub rates: Rates,
    /// `None` if the order of keys is not known, and for a single table.
    pub reads: Option<Reads>,
    /// The same for each level of [`Tuning::levels`](super::tune::Tuning::levels), in that order.
    pub levels: Vec<LevelOutcome>,
}

/// What some filters do on one level.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelOutcome {
    /// `None` for a single table.
    #[serde(rename = "level")]
    pub number: Option<u8>,
    /// `None` for the filters in use.
    pub bits_per_key: Option<u32>,
    /// The size of its filter blocks in bytes.
    pub size: Estimate,
    /// The shares of absent keys that pass.
    pub rates: Rates,
}

/// The shares of absent keys that pass, of those that come to a filter. Tables without filters let
/// all pass.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reads {
    /// Of absent keys that lie between the stored ones as these lie between each other.
    pub random: Estimate,
    /// Of absent keys that are like stored ones.
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
