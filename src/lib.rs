//! Writes and reads LevelDB's filter blocks: the Bloom filters inside a table (`.ldb`, `.sst`) that
//! let a reader skip data blocks that cannot hold a key. Blocks equal LevelDB's byte for byte, and
//! every answer equals LevelDB's.
//!
//! # Writing and reading filters
//!
//! [`FilterBlockBuilder`] belongs in the writer of a table, [`FilterBlockReader`] in the reader:
//!
//! ```
//! use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};
//!
//! let policy = BloomFilterPolicy::new(10); // bits per key
//! let mut builder = FilterBlockBuilder::new(policy);
//! builder.start_block(0)?; // the next keys are in the data block at offset 0
//! builder.add_key(b"apple");
//! builder.start_block(4130)?; // where it ends, and the next one starts
//! builder.add_key(b"pear");
//! builder.start_block(8260)?; // where the last one ends
//! let block = builder.finish()?; // goes into the file after the data blocks
//!
//! let reader = FilterBlockReader::new(policy, block);
//! assert!(reader.key_may_match(4130, b"pear")); // read that data block
//! assert!(!reader.key_may_match(4130, b"plum")); // no need to
//! # Ok::<(), filterblock::Error>(())
//! ```
//!
//! # Whole tables
//!
#![cfg_attr(
    feature = "table",
    doc = "[`table::TableBuilder`] and [`table::Table`] write and read the tables themselves:"
)]
#![cfg_attr(
    not(feature = "table"),
    doc = "With the feature `table`, the tables themselves are written and read:"
)]
//!
#![cfg_attr(feature = "table", doc = "```")]
#![cfg_attr(not(feature = "table"), doc = "```ignore")]
//! use filterblock::BloomFilterPolicy;
//! use filterblock::table::{ReadOptions, Table, TableBuilder, WriteOptions};
//!
//! let options = WriteOptions::default().filter_policy(BloomFilterPolicy::new(10));
//! let mut builder = TableBuilder::new(Vec::new(), options); // or a File
//! builder.add(b"apple", b"red")?;
//! builder.add(b"pear", b"green")?;
//! let (file, summary) = builder.finish()?;
//! assert_eq!(summary.num_entries, 2);
//!
//! let table = Table::open(file, &ReadOptions::default())?;
//! assert_eq!(table.get(b"pear")?.as_deref(), Some(&b"green"[..]));
//! assert!(!table.may_contain(b"plum")?); // checks the filter, reads no data block
//! # Ok::<(), filterblock::Error>(())
//! ```
//!
//! The tables of a database hold *internal keys*: user keys, each followed by a sequence number and
//! a type. Read and write such tables with the option `internal_keys`. Filters are then made from
//! the user keys, as in LevelDB, by [`InternalFilterPolicy`].
//!
//! # Types
//!
//! | to | use |
//! |---|---|
//! | write filter blocks, read them | [`FilterBlockBuilder`], [`FilterBlockReader`]; their layout: [`filter_block`] |
//! | choose the filters | [`BloomFilterPolicy`], LevelDB's; for internal keys [`InternalFilterPolicy`]; others: [`policy`] |
//! | make filters of your own | [`FilterPolicy`], [`PrefixPolicy`] |
//! | look a key up in many filters | [`KeyHash`], computed once |
#![cfg_attr(
    feature = "table",
    doc = "| write tables, read them | [`table::TableBuilder`], [`table::Table`]; their layout: [`table`] |"
)]
#![cfg_attr(feature = "table", doc = "| walk a table, a database | [`table::Cursor`], [`database::Scan`] |")]
#![cfg_attr(
    feature = "table",
    doc = "| look a key up | [`table::Table::get`], in a database's table [`table::Table::get_at`], in a database [`database::Database::get`] |"
)]
//! | find out what went wrong | [`Error`] |
//!
//! # Promises
//!
//! 1. **Compatible.** Filter blocks and uncompressed tables equal LevelDB's byte for byte, and every
//!    answer of a filter block equals LevelDB's, on damaged blocks too. Answers on damaged tables and
//!    databases differ on the safe side only: an error where LevelDB ignores damage.
//! 2. **No false negatives**, if the bytes are those written: verify a checksum first, as
//!    tables do by default. In doubt a key may match.
//! 3. **No panic** on any bytes, and no memory or work out of proportion to the file, or beyond limits
//!    that the caller can set.
//! 4. **Precise errors:** file, offset, what was expected, what was found.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(feature = "simd"), forbid(unsafe_code))]
#![deny(unsafe_code)]
// No contents of a file may cause a panic. Exceptions to these lints are marked in the code, with
// their reasons.
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

mod bytes;
#[cfg(feature = "table")]
pub mod database;
mod error;
pub mod filter_block;
pub mod hash;
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a modulus keeps positions within the array, batches are counted; hot"
)]
mod kernel;
mod key;
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "lengths are compared before anything is read; hot"
)]
mod lanes;
pub mod policy;
#[cfg(feature = "table")]
pub mod table;

#[doc(inline)]
pub use filter_block::{FilterBlockBuilder, FilterBlockReader};
#[doc(inline)]
pub use policy::{BloomFilterPolicy, FilterPolicy, FilterShape, InternalFilterPolicy, KeyHash, SharedPolicy};

pub use bytes::escape::{Escaped, Quoted, escape, escape_path, quote};
pub use error::{Error, IoAction, OtherFormat, Result, Structure};
#[doc(hidden)]
pub use kernel::level as kernel_level;
pub use key::{InternalKey, KeyBuf, KeyFormat, Keys, KeysIter};
#[doc(inline)]
pub use policy::{AtomicBloomFilter, expected_false_positive_rate};
#[doc(inline)]
pub use policy::{BashoBloom2Policy, BashoInternalFilterPolicy};
#[doc(inline)]
pub use policy::{CassandraBloomPolicy, Murmur3BloomPolicy};
#[doc(inline)]
pub use policy::{LegacyBloomPolicy, LegacyHash, OpaquePolicy, Origin, PrefixPolicy};

/// Compiles the examples of the crate's page as doctests.
#[cfg(all(doctest, feature = "table"))]
#[doc = include_str!("../docs/crate.md")]
struct Page;

/// Compiles the examples of the page about embedding as doctests.
#[cfg(all(doctest, feature = "table"))]
#[doc = include_str!("../docs/embedding.md")]
struct EmbeddingPage;
