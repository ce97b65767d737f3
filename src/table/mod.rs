//! The tables (`.ldb`, `.sst`) that carry filter blocks.

mod block;
mod block_builder;
mod block_cursor;
mod block_reader;
mod block_writer;
mod builder;
mod checksum;
mod comparator;
mod compression;
mod cursor;
mod filters;
mod format;
mod internal_key;
mod lookup;
mod open;
mod position;
mod read_at;
mod read_options;
mod reader;
mod summary;
mod tail;
mod write_options;

pub use block_cursor::{BlockCursor, DataBlocks};
pub use builder::TableBuilder;
pub use comparator::{BytewiseComparator, Comparator, SharedComparator};
pub use compression::Compression;
pub use cursor::{Cursor, Iter};
pub use format::BlockHandle;
pub use internal_key::InternalKeyComparator;
pub use lookup::Lookup;
pub use read_at::ReadAt;
pub use read_options::ReadOptions;
pub use reader::Table;
pub use summary::{FilterSummary, TableSummary};
pub use tail::Tail;
pub use write_options::WriteOptions;
