//! LevelDB's filter blocks, the Bloom filters inside a table (`.ldb`, `.sst`) that let a reader skip
//! the data blocks which cannot hold a key: written byte for byte as LevelDB writes them, and read with
//! every answer LevelDB's answer.
//!
//! # Writing and reading filters
//!
//! [`FilterBlockBuilder`] goes into the writer of a table, [`FilterBlockReader`] into the reader:
//!
//! ```
//! use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};
//!
//! let policy = BloomFilterPolicy::new(10); // bits per key
//! let mut builder = FilterBlockBuilder::new(policy);
//! builder.start_block(0)?; // the next keys are in the data block at offset 0
//! builder.add_key(b"apple");
//! builder.start_block(4130)?; // the offset at which the next data block will lie
//! builder.add_key(b"pear");
//! let block = builder.finish()?; // goes into the file behind the data blocks
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
//! assert!(!table.may_contain(b"plum")?); // asked the filter, read no data block
//! # Ok::<(), filterblock::Error>(())
//! ```
//!
//! The tables of a database hold *internal keys*: the user key, then sequence number and type. Open and write them with the
//! option `internal_keys`; [`InternalFilterPolicy`] makes filters over the user key, as LevelDB does.
//!
//! # What else is here
//!
//! - [`FilterPolicy`] for filters of one's own, with two worked examples, and the [policies](policy) that come with the library.
//! - [`KeyHash`]: a key hashed once and asked for in many tables.
#![cfg_attr(feature = "table", doc = "- [`database`]: which tables of a folder are alive, by its MANIFEST.")]
//!
//! # Promises
//!
//! 1. **Compatible.** Filter blocks and tables equal LevelDB's byte for byte, and every answer equals LevelDB's, on damaged blocks too.
//!    With Snappy, LevelDB reads what is written here and the other way round.
//! 2. **Never a false negative.** In doubt (malformed, unknown, unreadable) the answer is "may match". Only where
//!    LevelDB says no, as for an empty filter, is it no.
//! 3. **No panic** on any bytes, nor on misuse that a `Result` can report. No memory and no work out of
//!    proportion to what is really there: lengths are checked against the file, and against limits the caller can set, before
//!    anything is allocated.
//! 4. **Errors speak:** [`Error`] says where, what was expected and what was found.
#![cfg_attr(not(feature = "simd"), forbid(unsafe_code))]
#![deny(unsafe_code)]
// What a file holds must not end in a panic. Exceptions stand beside the code, with their reasons.
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
pub mod policy;
#[cfg(feature = "table")]
pub mod table;

pub use bytes::escape::{Escaped, Quoted, escape, escape_path, quote};
pub use error::{Error, IoAction, Result, Structure};
pub use filter_block::{FilterBlockBuilder, FilterBlockReader};
pub use key::{InternalKey, KeyBuf, KeyFormat, Keys, KeysIter};
pub use policy::{AtomicBloomFilter, expected_false_positive_rate};
pub use policy::{BashoBloom2Policy, BashoInternalFilterPolicy};
pub use policy::{BloomFilterPolicy, FilterPolicy, FilterShape, InternalFilterPolicy, KeyHash, SharedPolicy};
pub use policy::{CassandraBloomPolicy, Murmur3BloomPolicy};
pub use policy::{LegacyBloomPolicy, LegacyHash, OpaquePolicy, Origin, PrefixPolicy};

/// The examples of README.md.
#[cfg(all(doctest, feature = "table"))]
#[doc = include_str!("../README.md")]
struct Readme;
