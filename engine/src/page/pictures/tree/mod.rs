//! The tables of a database by level and key range.

mod draw;
mod merge;
mod model;

pub use draw::tree;
pub use model::{TableFilter, Tree, TreeLevel, TreeTable};
