//! Whole databases, through `leveldb/c.h`.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fmt, fs};

use anyhow::Result;
use filterblock::{FilterPolicy as _, SharedPolicy};

use super::Script;
use super::{Compression, ffi};

/// The filter policy of a database.
#[derive(Clone, Default)]
pub enum Filter {
    /// No filters.
    #[default]
    None,
    /// LevelDB's own Bloom filters with this many bits a key.
    BuiltIn(u32),
    /// A policy of ours, through `leveldb_filterpolicy_create`.
    Policy(SharedPolicy),
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::BuiltIn(bits) => f.debug_tuple("BuiltIn").field(bits).finish(),
            Self::Policy(policy) => f.debug_tuple("Policy").field(&policy.name()).finish(),
        }
    }
}

/// LevelDB's options for a database. LevelDB creates what is missing and verifies checksums on every read.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// `write_buffer_size`; LevelDB raises it to 64 KiB.
    pub write_buffer_size: usize,
    /// `max_file_size`; LevelDB raises it to 1 MiB.
    pub max_file_size: usize,
    /// `block_size`; LevelDB raises it to 1 KiB.
    pub block_size: usize,
    /// `compression`.
    pub compression: Compression,
    /// `filter_policy`.
    pub filter: Filter,
    /// True if keys are in descending order, by a comparator named `filterblock.testdata.Reversed`.
    pub reverse_order: bool,
    /// `paranoid_checks`.
    pub paranoid_checks: bool,
    /// `reuse_logs`: opening goes on with the last log and MANIFEST instead of starting new ones.
    pub reuse_logs: bool,
}

impl Default for DatabaseOptions {
    /// LevelDB's defaults.
    fn default() -> Self {
        Self {
            write_buffer_size: 4 << 20,
            max_file_size: 2 << 20,
            block_size: 4096,
            compression: Compression::Snappy,
            filter: Filter::None,
            reverse_order: false,
            paranoid_checks: false,
            reuse_logs: false,
        }
    }
}

/// Writes that take effect together.
#[derive(Debug, Default)]
pub struct WriteBatch {
    pub(super) script: Script,
}

impl WriteBatch {
    /// Makes a batch without writes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key.
    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        self.script.op(0);
        self.script.bytes(key);
        self.script.bytes(value);
    }

    /// Deletes a key.
    pub fn delete(&mut self, key: &[u8]) {
        self.script.op(1);
        self.script.bytes(key);
    }

    /// Removes all writes and keeps the memory for the next ones.
    pub fn clear(&mut self) {
        self.script.clear();
    }
}

/// An open database. Dropping it closes it.
#[derive(Debug)]
pub struct Database(ffi::Database);

impl Database {
    /// Opens or creates the database in a folder.
    pub fn open(folder: &Path, options: &DatabaseOptions) -> Result<Self> {
        ffi::Database::open(folder, options).map(Self)
    }

    /// Applies the writes.
    pub fn write(&mut self, batch: &WriteBatch) -> Result<()> {
        self.0.write(&batch.script)
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.0.get(key)
    }

    /// Passes all live entries to `entry` until it returns false.
    pub fn scan(&self, mut entry: impl FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.0.scan(&mut entry)
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

    /// Returns one of LevelDB's properties, such as `leveldb.num-files-at-level0`.
    pub fn property(&self, name: &str) -> Option<String> {
        self.0.property(name)
    }
}

/// `RepairDB`: makes a database from the tables and logs in a folder.
pub fn repair(folder: &Path, options: &DatabaseOptions) -> Result<()> {
    ffi::repair(folder, options)
}

/// The tables named `.ldb` in a database's folder: their names and contents.
pub fn tables_in(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut tables = BTreeMap::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name().to_string_lossy().into_owned();
        if name.ends_with(".ldb") {
            tables.insert(name, fs::read(file.path())?);
        }
    }
    Ok(tables)
}
