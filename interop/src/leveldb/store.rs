//! Whole databases through LevelDB's C++ interface: more filter policies, comparators and counts
//! than `leveldb/c.h` allows.

use std::fmt;
use std::path::Path;

use anyhow::Result;
use filterblock::{FilterPolicy as _, SharedPolicy};

use super::database::WriteBatch;
use super::{Compression, ffi};

/// The filter policy of a [`Store`]. All but [`Policy`](Self::Policy) are C++ code, independent of
/// the library.
#[derive(Clone, Default)]
pub enum StoreFilter {
    /// No filters.
    #[default]
    None,
    /// LevelDB's own, with these bits a key.
    BuiltIn(u32),
    /// The same under the name `leveldb.BuiltinBloomFilter`, as goleveldb writes it.
    Legacy(u32),
    /// `leveldb.BuiltinBloomFilter` with the hash of LevelDB up to 1.17 on x86.
    LegacySigned(u32),
    /// A policy of ours.
    Policy(SharedPolicy),
}

impl fmt::Debug for StoreFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::BuiltIn(bits) => f.debug_tuple("BuiltIn").field(bits).finish(),
            Self::Legacy(bits) => f.debug_tuple("Legacy").field(bits).finish(),
            Self::LegacySigned(bits) => f.debug_tuple("LegacySigned").field(bits).finish(),
            Self::Policy(policy) => f.debug_tuple("Policy").field(&policy.name()).finish(),
        }
    }
}

/// The order of the keys, by a comparator in C++.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// `leveldb.BytewiseComparator`
    #[default]
    Bytewise = 0,
    /// Descending: `filterblock.testdata.Reversed`.
    Reversed = 1,
    /// `filterblock.testdata.IgnoringCase`, to which keys that differ only in the case of ASCII
    /// letters are equal.
    IgnoringCase = 2,
}

/// LevelDB's options for a [`Store`]. Checksums are verified on every read.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// `write_buffer_size`; LevelDB raises it to 64 KiB.
    pub write_buffer_size: usize,
    /// `max_file_size`; LevelDB raises it to 1 MiB.
    pub max_file_size: usize,
    /// `block_size`; LevelDB raises it to 1 KiB.
    pub block_size: usize,
    /// `compression`.
    pub compression: Compression,
    /// `filter_policy`.
    pub filter: StoreFilter,
    /// `comparator`.
    pub order: Order,
    /// `paranoid_checks`.
    pub paranoid_checks: bool,
    /// True if the database must be there; otherwise it is created.
    pub must_exist: bool,
    /// True if each block is read from its file each time.
    pub without_block_cache: bool,
}

impl Default for StoreOptions {
    /// LevelDB's defaults; a missing database is created.
    fn default() -> Self {
        Self {
            write_buffer_size: 4 << 20,
            max_file_size: 2 << 20,
            block_size: 4096,
            compression: Compression::Snappy,
            filter: StoreFilter::None,
            order: Order::Bytewise,
            paranoid_checks: false,
            must_exist: false,
            without_block_cache: false,
        }
    }
}

/// What filters and files were asked for since the database was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Filters that were made.
    pub created: u64,
    /// Questions to filters.
    pub asked: u64,
    /// Keys that filters denied.
    pub denied: u64,
    /// Reads from tables.
    pub reads: u64,
    /// The bytes of these reads.
    pub read_bytes: u64,
}

/// An open database. Dropping it closes it.
#[derive(Debug)]
pub struct Store(ffi::Store);

impl Store {
    /// Opens or creates the database in a folder.
    pub fn open(folder: &Path, options: &StoreOptions) -> Result<Self> {
        ffi::Store::open(folder, options).map(Self)
    }

    /// Applies the writes.
    pub fn write(&mut self, batch: &WriteBatch) -> Result<()> {
        self.0.write(&batch.script)
    }

    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.0.get(key)
    }

    /// Passes all live entries to `entry` until it returns false.
    pub fn scan(&self, mut entry: impl FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.0.scan(&mut entry)
    }

    /// All live entries.
    pub fn entries(&self) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut entries = Vec::new();
        self.scan(|key, value| {
            entries.push((key.to_vec(), value.to_vec()));
            true
        })?;
        Ok(entries)
    }

    /// Compacts the tables that overlap a range of keys, or all tables. The memtable is first
    /// written to a table.
    pub fn compact(&self, range: Option<(&[u8], &[u8])>) {
        self.0.compact(range);
    }

    /// Keeps the present state, whatever is written later, until the database is closed.
    pub fn hold_snapshot(&mut self) {
        self.0.hold_snapshot();
    }

    /// Opens the tables whose range has the key, if they are not open yet, and asks no filter.
    pub fn open_tables(&self, key: &[u8]) {
        self.0.open_tables(key);
    }

    /// One of LevelDB's properties, such as `leveldb.num-files-at-level0`.
    pub fn property(&self, name: &str) -> Option<String> {
        self.0.property(name)
    }

    /// What was asked of filters and files.
    pub fn counts(&self) -> Counts {
        self.0.counts()
    }
}

/// `RepairDB`: makes a database from the tables and logs in a folder.
pub fn repair_store(folder: &Path, options: &StoreOptions) -> Result<()> {
    ffi::repair_store(folder, options)
}
