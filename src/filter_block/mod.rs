//! The filter block: the filters of a table's data blocks, and where each one starts (LevelDB's `table/filter_block.h`).
//!
//! ```text
//! [filter 0] … [filter N-1]
//! [offset of filter 0: fixed32] … [offset of filter N-1: fixed32]
//! [offset of this array: fixed32]     also the end of filter N-1
//! [base_lg: 1 byte]
//! ```
//!
//! Filter i is for every data block whose offset in the file lies in
//! `i << base_lg .. (i + 1) << base_lg`. A range in which no data block starts has an empty
//! filter: no bytes, and the offset of the next one.
//!
//! For example, two filters `aa` and `bb bb` with nothing between, for blocks in the
//! first and the third 2 KiB of a file:
//!
//! ```text
//! 0  aa            filter 0
//! 1  bb bb         filter 2 (filter 1 is empty)
//! 3  00 00 00 00   filter 0 starts at 0
//! 7  01 00 00 00   filter 1 starts at 1
//! b  01 00 00 00   filter 2 starts at 1
//! f  03 00 00 00   the array starts at 3
//! 13 0b            base_lg 11: 2 KiB
//! ```

mod builder;
mod format;
mod reader;

pub use builder::FilterBlockBuilder;
pub use format::DEFAULT_BASE_LG;
#[cfg(feature = "table")]
pub(crate) use format::check_base_lg;
pub use reader::{FilterBlockReader, Filters};
