//! The tables (`.ldb`, `.sst`) that carry filter blocks.
// Removed once reading and writing use all of it.
#![allow(dead_code, unused_imports)]

mod block_builder;
mod block_writer;
mod builder;
mod checksum;
mod comparator;
mod compression;
mod format;
mod internal_key;
mod summary;
mod write_options;

pub use builder::TableBuilder;
pub use comparator::{BytewiseComparator, Comparator, SharedComparator};
pub use compression::Compression;
pub use format::BlockHandle;
pub use internal_key::InternalKeyComparator;
pub use summary::{FilterSummary, TableSummary};
pub use write_options::WriteOptions;
