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
    /// LevelDB's own under the name `leveldb.BuiltinBloomFilter`, as goleveldb writes them.
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
    /// `idb_cmp1`, of Chromium's IndexedDB. Keys that cannot be decoded are equal to all others.
    Idb = 3,
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
    /// `max_open_files`; `None` is LevelDB's default of 1,000.
    pub max_open_files: Option<u32>,
    /// True if compactions, and whatever else LevelDB would do in the background, are held back
    /// until the database is closed. Only for reading: a write to a full memtable waits for ever.
    pub hold_background: bool,
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
            max_open_files: None,
            hold_background: false,
        }
    }
}

/// The counts of filters and files since the database was opened.
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
    /// Files of tables that were opened.
    pub opened: u64,
}

/// An open database. Dropping it closes it.
#[derive(Debug)]
pub struct Store {
    raw: ffi::Store,
    holds_background: bool,
}

/// LevelDB's `kNumLevels`.
const NUM_LEVELS: u8 = 7;

impl Store {
    /// Opens or creates the database in a folder.
    pub fn open(folder: &Path, options: &StoreOptions) -> Result<Self> {
        let raw = ffi::Store::open(folder, options)?;
        Ok(Self { raw, holds_background: options.hold_background })
    }

    /// Applies the writes.
    pub fn write(&mut self, batch: &WriteBatch) -> Result<()> {
        self.raw.write(&batch.script)
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.raw.get(key)
    }

    /// Passes all live entries to `entry` until it returns false.
    pub fn scan(&self, mut entry: impl FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.raw.scan(&mut entry)
    }

    /// Returns all live entries.
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
    ///
    /// # Panics
    ///
    /// If work in the background is held back.
    pub fn compact(&self, range: Option<(&[u8], &[u8])>) {
        assert!(!self.holds_background, "it would wait for ever");
        self.raw.compact(range);
    }

    /// Compacts the tables of one level that overlap a range of keys, or all tables of the level, into the next
    /// level. Waits for that (`DBImpl::TEST_CompactRange`). The memtable stays.
    ///
    /// # Panics
    ///
    /// If there is no next level, or work in the background is held back.
    pub fn compact_level(&self, level: u8, range: Option<(&[u8], &[u8])>) {
        assert!(level + 1 < NUM_LEVELS, "level {level} is the last one");
        assert!(!self.holds_background, "it would wait for ever");
        self.raw.compact_level(level, range);
    }

    /// Keeps the present state, whatever is written later, until the database is closed.
    pub fn hold_snapshot(&mut self) {
        self.raw.hold_snapshot();
    }

    /// Returns one of LevelDB's properties, such as `leveldb.num-files-at-level0`.
    pub fn property(&self, name: &str) -> Option<String> {
        self.raw.property(name)
    }

    /// The counts of filters and files.
    pub fn counts(&self) -> Counts {
        self.raw.counts()
    }

    /// Returns the number of each table that was opened, and the reads from it.
    pub fn table_reads(&self) -> Vec<(u64, u64)> {
        self.raw.table_reads()
    }
}

/// `RepairDB`: makes a database from the tables and logs in a folder.
pub fn repair_store(folder: &Path, options: &StoreOptions) -> Result<()> {
    ffi::repair_store(folder, options)
}
