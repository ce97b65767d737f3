//! The tables (`.ldb`, `.sst`) that carry filter blocks.
// Removed once reading and writing use all of it.
#![allow(dead_code, unused_imports)]

pub(crate) mod checksum;
mod comparator;
mod compression;
mod format;
pub(crate) mod internal_key;

pub use comparator::{BytewiseComparator, Comparator, SharedComparator};
pub use compression::Compression;
pub use format::BlockHandle;
pub use internal_key::InternalKeyComparator;
