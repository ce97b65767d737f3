//! Tables (`.ldb`, `.sst`): the sorted files that hold a database's entries and their filter
//! blocks.
//!
//! [`TableBuilder`] writes a table and [`Table`] reads it. The format is LevelDB's
//! (`doc/table_format.md`, `table/format.h`).
//!
//! # Layout
//!
//! ```text
//! table    [data block]* [filter block]* [metaindex block] [index block] [footer: 48 bytes]
//!
//! block    [contents: size bytes] [trailer: 5 bytes]
//! trailer  [compression type: 1 byte] [checksum: fixed32]
//! footer   [metaindex handle] [index handle] [zeros up to byte 40] [magic: fixed64]
//! handle   [offset: varint64] [size: varint64]
//!
//! contents of data blocks, metaindex and index:
//!          [entry]* [restart: fixed32]* [number of restarts: fixed32]
//! entry    [shared: varint32] [non_shared: varint32] [value_len: varint32] [key rest] [value]
//! ```
//!
//! - **Data blocks** hold the entries, in the order of their keys.
//! - **The filter block** holds the filters of the data blocks, and is written uncompressed. Its
//!   own layout is in [`filter_block`](crate::filter_block). LevelDB writes at most one.
//! - **The metaindex** maps names to handles. A filter block's name is `filter.` and the name of
//!   its policy. Other programs store more here, under names of their own.
//! - **The index** has an entry for each data block. The entry's key is at or after the block's last
//!   key and before the next block's first key, and is shortened by the comparator if it can be. The
//!   entry's value is the block's handle.
//! - **The footer** is read first, since its handles lead to the metaindex and the index. Its magic
//!   is 0xdb4775248b80fb57.
//! - **A handle** gives a block's location. `offset` counts from the start of the file, and `size`
//!   does not include the trailer.
//! - **The trailer** has type 0 for contents stored as they are, and 1 for Snappy; for other types,
//!   see [`Codec::of_type`]. The checksum is the CRC-32C of the contents as stored and the type,
//!   rotated right by 15 bits, plus 0xa282ead8.
//! - **An entry's key** is the first `shared` bytes of the previous key, then the key rest, of
//!   `non_shared` bytes. `value_len` is the length of the value.
//! - **A restart** is the offset in the block of an entry that shares nothing, so that reading can
//!   start there. In the index, there is a restart for every entry. In data blocks and in the
//!   metaindex, there is one for the first entry, and by default for every 16th after it
//!   ([`restart_interval`](WriteOptions::restart_interval)). A block without entries has one restart, 0.
//!
//! Fixed integers are little-endian. A varint has seven bits in each byte, the lowest first; the
//! top bit is set in all bytes but the last.
//!
//! # Example
//!
//! Four entries, with options that make data blocks and restart intervals tiny:
//!
//! ```
//! use filterblock::BloomFilterPolicy;
//! use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};
//!
//! let options = WriteOptions::default()
//!     .block_size(30)
//!     .restart_interval(2)
//!     .compression(Compression::None)
//!     .filter_policy(BloomFilterPolicy::new(10));
//! let mut builder = TableBuilder::new(Vec::new(), options);
//! builder.add(b"apple", b"1")?;
//! builder.add(b"apply", b"2")?;
//! builder.add(b"apt", b"3")?;
//! builder.add(b"pear", b"4")?;
//! let (file, _) = builder.finish()?;
//! assert_eq!(file.len(), 0xd3);
//!
//! let table = Table::open(file, &ReadOptions::default())?;
//! assert_eq!(table.get(b"pear")?.as_deref(), Some(&b"4"[..]));
//! # // Each line below has an offset, two spaces, and bytes; then perhaps spaces and a comment.
//! # let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/table/mod.rs"));
//! # let mut listed = Vec::new();
//! # for line in page.lines().filter_map(|line| line.strip_prefix("//! ")) {
//! #     let Some((offset, rest)) = line.split_once("  ") else { continue };
//! #     let Ok(offset) = usize::from_str_radix(offset, 16) else { continue };
//! #     assert_eq!(offset, listed.len(), "{line}");
//! #     let bytes = rest.split("  ").next().unwrap().split(' ');
//! #     listed.extend(bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()));
//! # }
//! # assert_eq!(listed, table.into_source());
//! # Ok::<(), filterblock::Error>(())
//! ```
//!
//! LevelDB writes the same bytes:
//!
//! ```text
//! 00  00 05 01 61 70 70 6c 65 31    shares 0, adds 5, value of 1: "apple", "1"
//! 09  04 01 01 79 32                shares 4, adds 1, value of 1: "apply", "2"
//! 0e  00 03 01 61 70 74 33          a restart: "apt", "3"
//! 15  00 00 00 00 0e 00 00 00       restarts at 0 and e
//! 1d  02 00 00 00                   2 restarts
//! 21  00 2c 67 89 f3                not compressed, checksum
//!
//! 26  00 04 01 70 65 61 72 34       second data block: "pear", "4"
//! 2e  00 00 00 00 01 00 00 00       1 restart, at 0
//! 36  00 9c bb b9 08
//!
//! 3b  ec 30 80 40 56 01 c5 1f 06    filter block: filter 0 has 64 bits and 6 probes
//! 44  00 00 00 00 09 00 00 00 0b    filter 0 starts at 0, the array at 9; 2 KiB a filter
//! 4d  00 80 96 8a 46
//!
//! 52  00 22 02                      metaindex: shares 0, adds 34, value of 2
//! 55  66 69 6c 74 65 72 2e          "filter."
//! 5c  6c 65 76 65 6c 64 62 2e       "leveldb."
//! 64  42 75 69 6c 74 69 6e          "Builtin"
//! 6b  42 6c 6f 6f 6d                "Bloom"
//! 70  46 69 6c 74 65 72 32          "Filter2"
//! 77  3b 12                         the filter block: 18 bytes at 3b
//! 79  00 00 00 00 01 00 00 00       1 restart, at 0
//! 81  00 ca e8 dd d1
//!
//! 86  00 01 02 62 00 21             index: "b" is between "apt" and "pear"; 33 bytes at 0
//! 8c  00 01 02 71 26 10             "q" is after "pear"; 16 bytes at 26
//! 92  00 00 00 00 06 00 00 00       restarts at 0 and 6
//! 9a  02 00 00 00                   2 restarts
//! 9e  00 49 df 49 73
//!
//! a3  52 2f                         footer: the metaindex, 47 bytes at 52
//! a5  86 01 18                      the index, 24 bytes at 86
//! a8  00 00 00 00 00 00 00 00 00 00 00 00
//! b4  00 00 00 00 00 00 00 00 00 00 00 00
//! c0  00 00 00 00 00 00 00 00 00 00 00
//! cb  57 fb 80 8b 24 75 47 db       magic
//! ```
//!
//! # A lookup
//!
//! 1. Opening reads the footer, then the index and the metaindex, then the filter block that the
//!    metaindex names. They stay in memory.
//! 2. A binary search in the index finds the first key at or after the one looked up. If there is
//!    none, the table does not hold the key. Otherwise, the value there is the handle of the only data
//!    block that can hold it.
//! 3. Filter `offset >> base_lg` covers that data block, `offset` being the handle's. If it rules out
//!    the key, the lookup ends here, without reading anything.
//! 4. The data block is read, its checksum verified, and its contents decompressed.
//! 5. A binary search over the block's restarts finds the last one whose key is before the key looked
//!    up or, if there is none, the first restart. From there, entries are read one by one, up to the
//!    first at or after the key.
//!
//! In the example, `pear` is after `b` and before `q`, so it can only be in the data block at 26.
//! Filter 0 covers the first 2 KiB of the file, and `pear` may match. The block's first entry is
//! `pear`.

mod block;
mod codec;
mod format;
mod read;
pub(crate) mod source;
mod write;

pub use crate::bytes::coding::{VarintError, get_varint32, mask, unmask};
pub use crate::key::comparator::{BytewiseComparator, Comparator, SharedComparator, known_comparator};
pub use crate::key::idb_comparator::IdbComparator;
pub use crate::key::internal_comparator::InternalKeyComparator;
pub use crate::policy::Origin;
pub use block::EntryHeader;
pub use codec::{Codec, Compression};
pub use format::{BlockHandle, Footer};
pub use read::{
    BlockCursor, Cursor, DataBlockTypes, DataBlocks, FilterMeter, Iter, Lookup, Meter, ReadOptions, Table,
    TableFilter, TableIndex,
};
pub use source::{FetchedRanges, ReadAt};
pub use write::{
    FilterSummary, FinishError, RewriteSummary, Rewriter, TableBuilder, TableSummary, WriteOptions,
};
