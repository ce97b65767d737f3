//! The entries of a database, from its tables and logs.

use std::fmt;
use std::path::Path;

use super::database::{DatabaseLog, DatabaseTable};
use crate::InternalKey;

/// An entry of a database.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseEntry<'a> {
    /// The key, with sequence number and type. Type 0 is a deletion.
    pub key: InternalKey<'a>,
    /// The value, empty for a deletion.
    pub value: &'a [u8],
    /// The file that holds the entry.
    pub file: EntryFile<'a>,
    /// The offset in that file, in bytes, of the entry's data block in a table, or of its record in
    /// a log.
    pub offset: u64,
}

/// The file that holds an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryFile<'a> {
    /// A table.
    Table(DatabaseTable<'a>),
    /// A log.
    Log(DatabaseLog<'a>),
}

impl<'a> EntryFile<'a> {
    /// The file's path, as [`FileState::path`](super::FileState::path) returns it.
    pub fn path(&self) -> Option<&'a Path> {
        match self {
            Self::Table(table) => table.file.path(),
            Self::Log(log) => log.file.path(),
        }
    }
}

impl fmt::Debug for DatabaseEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseEntry")
            .field("user_key_len", &self.key.user_key.len())
            .field("sequence", &self.key.sequence)
            .field("kind", &self.key.kind)
            .field("value_len", &self.value.len())
            .field("file", &self.file)
            .field("offset", &self.offset)
            .finish()
    }
}
