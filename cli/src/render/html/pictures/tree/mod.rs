//! The tables of a database by level and key range.

mod draw;
mod merge;
mod model;

pub(crate) use draw::tree;
pub(crate) use model::{TableFilter, Tree, TreeLevel, TreeTable};
