//! The tables (`.ldb`, `.sst`) that carry filter blocks.

mod block;
mod codec;
mod format;
mod marks;
mod read;
pub(crate) mod source;
mod write;

pub use crate::key::comparator::{BytewiseComparator, Comparator, SharedComparator};
pub use crate::key::internal_comparator::InternalKeyComparator;
pub use crate::policy::Origin;
pub use codec::{Codec, Compression};
pub use format::BlockHandle;
pub use read::{
    BlockCursor, Cursor, DataBlocks, Iter, Lookup, Meter, ReadOptions, Table, TableFilter, TableIndex,
};
pub use source::{FetchedRanges, ReadAt};
pub use write::{FilterSummary, FinishError, TableBuilder, TableSummary, WriteOptions};
