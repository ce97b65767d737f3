//! Reading tables (LevelDB's `table/table.cc`, `table/two_level_iterator.cc`).

mod block_reader;
mod block_types;
mod blocks;
mod cursor;
mod filters;
mod inspect;
mod lookup;
mod many;
mod meter;
mod open;
mod options;
mod order;
mod parts;
mod stored_blocks;
mod table;

pub use block_types::DataBlockTypes;
pub use blocks::{BlockCursor, DataBlocks};
pub use cursor::{Cursor, Iter};
pub(in crate::table) use filters::MAX_NAME;
pub use lookup::Lookup;
pub use meter::{FilterMeter, Meter};
pub use options::ReadOptions;
pub use parts::{TableFilter, TableIndex};
pub(in crate::table) use stored_blocks::StoredBlocks;
pub use table::Table;
