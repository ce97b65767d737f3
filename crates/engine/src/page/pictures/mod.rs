//! Pictures of a database's filters, as SVG within a page.
//!
//! Inputs may be any numbers: those that make no sense are left out, shown as not known, or drawn at the edge.
//! Horizontal coordinates are in percent and vertical ones in pixels, so that a picture fits any width while
//! its text keeps its size. A page needs [`STYLE`] once, and may hold only one `tree`, since its hatching has
//! an `id`.

mod colours;
mod curve;
mod plot;
mod reads;
mod scale;
mod svg;
mod tree;

pub(super) use curve::{CurveMark, CurvePoint, TuneCurve, curve};
pub(super) use plot::Interval;
pub(super) use reads::{ReadsPair, reads};
pub(super) use tree::{TableFilter, Tree, TreeLevel, TreeTable, tree};

/// The style sheet for all pictures, for light and dark mode. The names of its classes begin with `p-`, those
/// of its variables with `--p-`. `--p-paper` is the background that it expects. Rates have the colours of
/// viridis, and other things those of Okabe and Ito, which people with colour blindness can tell apart.
pub(super) const STYLE: &str = include_str!("style.css");

#[cfg(test)]
mod tests;
