//! What filters do, as JSON objects.

use serde::Serialize;

use filterblock_engine::audit::rates::measured::MeasuredRate;
use filterblock_engine::audit::tune::report::{Estimate, Level, LevelOutcome, Outcome, Rates, Reads};

#[derive(Serialize)]
pub(super) struct JsonEstimate {
    value: f64,
    /// The ends of the 95 % interval.
    low: f64,
    high: f64,
}

impl From<Estimate> for JsonEstimate {
    fn from(estimate: Estimate) -> Self {
        let Estimate { value, low, high } = estimate;
        Self { value, low, high }
    }
}

#[derive(Serialize)]
pub(super) struct JsonOutcome {
    size: JsonEstimate,
    bytes_per_key: f64,
    rates: JsonRates,
    reads: Option<JsonReads>,
    levels: Vec<JsonLevelOutcome>,
}

#[derive(Serialize)]
struct JsonRates {
    formula: Option<f64>,
    random: Option<MeasuredRate>,
    neighbours: Option<MeasuredRate>,
    lookups: Option<MeasuredRate>,
}

#[derive(Serialize)]
struct JsonReads {
    random: JsonEstimate,
    neighbours: JsonEstimate,
    lookups: Option<JsonEstimate>,
    present: JsonEstimate,
}

#[derive(Serialize)]
struct JsonLevelOutcome {
    level: Option<u8>,
    bits_per_key: Option<u32>,
    size: JsonEstimate,
    rates: JsonRates,
}

impl JsonOutcome {
    /// `levels`: those that the outcome is of.
    pub(super) fn new(outcome: &Outcome, levels: &[Level]) -> Self {
        let Outcome { size, bytes_per_key, rates, reads, levels: outcomes } = outcome;
        let outcomes = outcomes.iter().zip(levels).map(|(outcome, level)| {
            let LevelOutcome { bits_per_key, size, rates } = *outcome;
            JsonLevelOutcome { level: level.number, bits_per_key, size: size.into(), rates: rates.into() }
        });
        Self {
            size: (*size).into(),
            bytes_per_key: *bytes_per_key,
            rates: (*rates).into(),
            reads: reads.map(JsonReads::from),
            levels: outcomes.collect(),
        }
    }
}

impl From<Rates> for JsonRates {
    fn from(rates: Rates) -> Self {
        let Rates { formula, random, neighbours, lookups } = rates;
        let [random, neighbours, lookups] = [random, neighbours, lookups].map(|rate| rate);
        Self { formula, random, neighbours, lookups }
    }
}

impl From<Reads> for JsonReads {
    fn from(reads: Reads) -> Self {
        let Reads { random, neighbours, lookups, present } = reads;
        Self {
            random: random.into(),
            neighbours: neighbours.into(),
            lookups: lookups.map(JsonEstimate::from),
            present: present.into(),
        }
    }
}
