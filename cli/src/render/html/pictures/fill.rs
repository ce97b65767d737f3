//! The fill of filters along tables.

use maud::Markup;

use super::svg;
use crate::render::fill_bins::FillBins;

/// The filters of a table from its start to its end.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FillStrip {
    /// The name of the file, safe to print.
    pub(crate) name: String,
    pub(crate) bins: FillBins,
}

/// Draws the share of bits set along each table as a strip.
pub(crate) fn fill(_strips: &[FillStrip]) -> Markup {
    svg::frame("Fill of the filters along tables", "", 10.0, maud::html! {})
}
