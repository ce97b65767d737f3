//! A measured rate as a JSON object.

use serde::Serialize;

use filterblock_engine::audit::rates::measured::MeasuredRate;

#[derive(Serialize)]
pub(super) struct JsonRate {
    rate: f64,
    /// The ends of the 95 % interval.
    low: f64,
    high: f64,
    /// The number of keys asked for.
    asked: u64,
}

impl From<MeasuredRate> for JsonRate {
    fn from(measured: MeasuredRate) -> Self {
        let MeasuredRate { rate, low, high, asked } = measured;
        Self { rate, low, high, asked }
    }
}
