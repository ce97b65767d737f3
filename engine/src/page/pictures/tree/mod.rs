//! The tables of a database by level and key range.

mod draw;
mod merge;

pub use draw::tree;
pub use merge::{TableFilter, Tree, TreeLevel, TreeTable};
