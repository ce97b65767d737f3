//! Rates of false positives against bits a key.

use maud::Markup;

use super::interval::Interval;
use super::svg;

/// The filters of a table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RatePoint {
    /// The name of the file, safe to print.
    pub(crate) name: String,
    /// The size of all filters in bits for each key of the table.
    pub(crate) bits_per_key: f64,
    /// The measured rate, from 0 to 1.
    pub(crate) rate: Interval,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Rates {
    pub(crate) points: Vec<RatePoint>,
    /// The rates that the formula gives, as bits a key and rate, by rising bits. May be empty.
    pub(crate) formula: Vec<(f64, f64)>,
    /// Tables that have no point, since they have no filters or none of a known rate.
    pub(crate) left_out: u64,
}

/// Draws a point for each table, or for tables near each other if there are many.
pub(crate) fn rates(_rates: &Rates) -> Markup {
    svg::frame("False positives of each table", "", 10.0, maud::html! {})
}
