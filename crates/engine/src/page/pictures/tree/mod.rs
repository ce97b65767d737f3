//! The tables of a database by level and key range.

mod draw;
mod merge;

pub(crate) use draw::tree;
pub(crate) use merge::{TableFilter, Tree, TreeLevel, TreeTable};
