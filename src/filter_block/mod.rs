//! The filter block: the filters of a table's data blocks, and the start of each filter (LevelDB's
//! `table/filter_block.h`).
//!
//! ```text
//! [filter 0] … [filter N-1]
//! [offset of filter 0: fixed32] … [offset of filter N-1: fixed32]
//! [offset of this array: fixed32]     also the end of filter N-1
//! [base_lg: 1 byte]
//! ```
//!
//! Filter i covers every data block that starts in the file at an offset of
//! `i << base_lg .. (i + 1) << base_lg`. A range in which no data block starts has an empty filter:
//! no bytes, and the same offset as the next filter. All integers are little-endian.
//!
//! The block below has two filters that are not empty, `aa` and `bb bb`, for data blocks that start
//! in the first and in the third 2 KiB of a file. No data block starts in the second 2 KiB. Offsets
//! in the left column are hexadecimal:
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
//!
//! A lookup shifts the offset of the data block right by base_lg, which gives the number of its
//! filter. The filter's entry in the array is its start, and the next entry is its end. After the
//! last entry, the offset of the array is the end of the last filter.
//!
//! ```
//! # use filterblock::{FilterBlockBuilder, FilterPolicy, Keys, Result};
//! use filterblock::{FilterBlockReader, OpaquePolicy};
//!
//! let block = b"\xaa\xbb\xbb\0\0\0\0\x01\0\0\0\x01\0\0\0\x03\0\0\0\x0b";
//! let reader = FilterBlockReader::new(OpaquePolicy::new("example"), block);
//! reader.check()?;
//! assert_eq!(reader.filter(0), Some(&b"\xaa"[..]));
//! assert_eq!(reader.filter(1), Some(&b""[..]));
//! assert_eq!(reader.filter(2), Some(&b"\xbb\xbb"[..]));
//! assert_eq!(reader.filter(5000 >> reader.base_lg()), Some(&b"\xbb\xbb"[..]));
//! #
//! # /// Its filters are its keys, end to end.
//! # struct Concatenation;
//! # impl FilterPolicy for Concatenation {
//! #     fn name(&self) -> &str {
//! #         "example"
//! #     }
//! #     fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
//! #         keys.iter().for_each(|key| dst.extend_from_slice(key));
//! #         Ok(())
//! #     }
//! #     fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
//! #         true
//! #     }
//! # }
//! # let mut builder = FilterBlockBuilder::new(Concatenation);
//! # builder.add_key(b"\xaa");
//! # builder.start_block(5000)?;
//! # builder.add_key(b"\xbb\xbb");
//! # assert_eq!(&builder.finish()?[..], block);
//! # Ok::<(), filterblock::Error>(())
//! ```

mod builder;
mod pending;
mod reader;

use crate::{Error, Result};

pub use builder::FilterBlockBuilder;
pub use reader::{FilterBlockReader, Filters};

/// The base_lg that LevelDB writes: one filter for every 2 KiB of data blocks.
pub const DEFAULT_BASE_LG: u8 = 11;

/// The largest base_lg by which 64-bit offsets can be shifted.
const MAX_BASE_LG: u8 = 63;

/// The length of the block's tail: the offset of the offset array, and base_lg.
const TAIL_LEN: usize = 5;

/// Checks that offsets can be divided into ranges of `1 << base_lg` bytes.
pub(crate) fn check_base_lg(base_lg: u8) -> Result<()> {
    if base_lg <= MAX_BASE_LG {
        return Ok(());
    }
    Err(Error::InvalidOption {
        option: "base_lg",
        expected: format!("0 to {MAX_BASE_LG}").into(),
        found: base_lg.to_string().into(),
    })
}
