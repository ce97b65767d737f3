//! Pictures of a database's filters, as SVG within a page that has [`STYLE`] once.
//!
//! Inputs may be any numbers. Horizontal coordinates are in percent and vertical ones in pixels, so that a picture fits
//! any width.

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

#[cfg(test)]
mod tests;
