//! Block reads a lookup.

use maud::Markup;

use super::interval::Interval;
use super::svg;

/// A kind of lookup.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct ReadsPair {
    /// As in "absent keys near stored ones".
    pub(crate) name: String,
    /// The mean number of data blocks that such a lookup reads.
    pub(crate) now: Interval,
    /// The same with the filters that are recommended; `None` if the present ones are to stay.
    pub(crate) recommended: Option<Interval>,
}

/// Draws a pair of bars for each kind of lookup.
pub(crate) fn reads(_pairs: &[ReadsPair]) -> Markup {
    svg::frame("Block reads a lookup", "", 10.0, maud::html! {})
}
