//! LevelDB's `TableBuilder` and `Table`.

use anyhow::Result;

use super::Script;
use super::{Compression, ffi};

/// LevelDB's options for a table.
#[derive(Debug, Clone, Copy)]
pub struct TableOptions {
    /// `block_size`: a data block is flushed once its estimated size reaches this.
    pub block_size: usize,
    /// `block_restart_interval`.
    pub restart_interval: u32,
    /// `compression`.
    pub compression: Compression,
    /// `filter_policy`: the built-in Bloom filter with this many bits a key, or none.
    pub bits_per_key: Option<u32>,
    /// True if keys are internal keys, as in the tables of a database.
    pub internal_keys: bool,
    /// `verify_checksums` and `paranoid_checks`, for reading.
    pub verify_checksums: bool,
}

impl Default for TableOptions {
    /// LevelDB's defaults, except for compression (none) and checksums (always).
    fn default() -> Self {
        Self {
            block_size: 4096,
            restart_interval: 16,
            compression: Compression::None,
            bits_per_key: None,
            internal_keys: false,
            verify_checksums: true,
        }
    }
}

/// Keys and values, ready to be passed to LevelDB.
#[derive(Debug, Default)]
pub struct Entries {
    pub(super) script: Script,
}

impl Entries {
    /// Makes a list without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an entry. Keys have to ascend: LevelDB leaves this to `assert`, and is compiled without assertions.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        self.script.bytes(key);
        self.script.bytes(value);
    }

    /// Removes all entries and keeps the memory for the next ones.
    pub fn clear(&mut self) {
        self.script.clear();
    }
}

impl<K: AsRef<[u8]>, V: AsRef<[u8]>> FromIterator<(K, V)> for Entries {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut result = Self::new();
        entries.into_iter().for_each(|(key, value)| result.push(key.as_ref(), value.as_ref()));
        result
    }
}

/// LevelDB's `TableBuilder`, writing to a function.
#[derive(Debug)]
pub struct TableBuilder<'a>(ffi::TableBuilder<'a>);

impl<'a> TableBuilder<'a> {
    /// Begins a table whose bytes go to `file`, piece by piece.
    pub fn new(options: &TableOptions, file: impl FnMut(&[u8]) + 'a) -> Self {
        Self(ffi::TableBuilder::new(options, Box::new(file)))
    }

    /// Adds entries after those added before.
    pub fn add(&mut self, entries: &Entries) {
        self.0.add(&entries.script);
    }

    /// The number of bytes written so far.
    pub fn file_size(&self) -> u64 {
        self.0.file_size()
    }

    /// Writes the rest. Without this call, the table stays a fragment.
    pub fn finish(self) -> Result<()> {
        self.0.finish()
    }
}

/// Builds a whole table in memory.
pub fn build_table(options: &TableOptions, entries: &Entries) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut builder = TableBuilder::new(options, |piece| file.extend_from_slice(piece));
    builder.add(entries);
    builder.finish()?;
    Ok(file)
}

/// LevelDB's `Table`.
#[derive(Debug)]
pub struct Table<'a>(ffi::Table<'a>);

impl<'a> Table<'a> {
    /// Opens a table in memory.
    pub fn open(options: &TableOptions, file: &'a [u8]) -> Result<Self> {
        Self::open_source(options, file.len() as u64, |offset, to: &mut [u8]| {
            let start = usize::try_from(offset).ok();
            match start.and_then(|start| file.get(start..start.checked_add(to.len())?)) {
                Some(bytes) => {
                    to.copy_from_slice(bytes);
                    true
                }
                None => false,
            }
        })
    }

    /// Opens a table through `read`, which fills its slice from an offset on, or returns false.
    pub fn open_source(
        options: &TableOptions,
        len: u64,
        read: impl Fn(u64, &mut [u8]) -> bool + 'a,
    ) -> Result<Self> {
        ffi::Table::open(options, len, Box::new(read)).map(Self)
    }

    /// Passes all entries to `entry` until it returns false.
    pub fn scan(&self, mut entry: impl FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.0.scan(&mut entry)
    }

    /// Returns all entries.
    pub fn entries(&self) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut entries = Vec::new();
        self.scan(|key, value| {
            entries.push((key.to_vec(), value.to_vec()));
            true
        })?;
        Ok(entries)
    }

    /// Returns the first entry at or after `key`, by an iterator, which does not ask the filter.
    pub fn seek(&self, key: &[u8]) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        self.0.seek(key)
    }

    /// Returns the result of `Table::InternalGet`: nothing if the filter denies `key`, otherwise the first entry at
    /// or after `key` in the one block that may hold it.
    pub fn internal_get(&self, key: &[u8]) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        self.0.get(key)
    }

    /// Returns how often the filter was asked, and how often it denied the key.
    pub fn filter_counts(&self) -> (u64, u64) {
        self.0.filter_counts()
    }
}
