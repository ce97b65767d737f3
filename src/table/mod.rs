//! The tables (`.ldb`, `.sst`) that carry filter blocks.
// Removed once reading and writing use all of it.
#![allow(dead_code, unused_imports)]

mod block;
mod block_cursor;
mod blocks;
mod checksum;
mod comparator;
mod compression;
mod cursor;
mod filters;
mod format;
mod internal_key;
mod lookup;
mod open;
mod read_at;
mod read_options;
mod reader;
mod tail;

pub use block_cursor::{BlockCursor, DataBlocks};
pub use comparator::{BytewiseComparator, Comparator, SharedComparator};
pub use compression::Compression;
pub use cursor::{Cursor, Iter};
pub use format::BlockHandle;
pub use internal_key::InternalKeyComparator;
pub use lookup::Lookup;
pub use read_at::ReadAt;
pub use read_options::ReadOptions;
pub use reader::Table;
pub use tail::Tail;
