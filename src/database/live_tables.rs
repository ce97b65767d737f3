//! The tables that are live once version edits are applied (`VersionSet::Builder` in LevelDB's
//! `db/version_set.cc`).

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;

use super::edit::NewTable;
use crate::key::parts::{VALUE, kind};
use crate::table::Comparator;
use crate::{Error, KeyFormat, Result, Structure};

/// A table that belongs to the database, as the MANIFEST records it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveTable {
    /// The level, 0 to 6.
    pub level: u8,
    /// The number that its file is named after.
    pub number: u64,
    /// The size that its file has to have, in bytes: LevelDB expects the footer to end at this
    /// offset.
    pub size: u64,
    /// Its first key: an internal key, at least 8 bytes.
    pub smallest: Bytes,
    /// Its last key: an internal key, at least 8 bytes.
    pub largest: Bytes,
}

impl LiveTable {
    /// Returns a table on `level`, of `size` bytes, whose first and last keys are these internal
    /// keys: for [`VersionEdit::new_tables`](super::VersionEdit::new_tables).
    ///
    /// ```
    /// use filterblock::database::{LiveTable, VersionEdit};
    /// let (first, last) = (b"apple\x01\x07\0\0\0\0\0\0", b"pear\x01\x09\0\0\0\0\0\0");
    /// let mut edit = VersionEdit::default();
    /// edit.new_tables.push(LiveTable::new(1, 5, 4096, &first[..], &last[..]));
    /// edit.encode(&mut Vec::new())?;
    /// # Ok::<(), filterblock::Error>(())
    /// ```
    pub fn new(
        level: u8,
        number: u64,
        size: u64,
        smallest: impl Into<Bytes>,
        largest: impl Into<Bytes>,
    ) -> Self {
        Self { level, number, size, smallest: smallest.into(), largest: largest.into() }
    }

    pub(super) fn of_new(table: &NewTable<'_>) -> Self {
        let &NewTable { level, number, size, smallest, largest } = table;
        let (smallest, largest) = (Bytes::copy_from_slice(smallest), Bytes::copy_from_slice(largest));
        Self { level, number, size, smallest, largest }
    }

    pub(super) fn as_new(&self) -> NewTable<'_> {
        let &Self { level, number, size, ref smallest, ref largest } = self;
        NewTable { level, number, size, smallest, largest }
    }

    /// The user keys of the first and the last entry.
    ///
    /// `None` if either is not the key of a value or a deletion in LevelDB's format: other
    /// formats append more to the user key for types of their own.
    pub fn user_keys(&self) -> Option<(&[u8], &[u8])> {
        Some((user_key(&self.smallest)?, user_key(&self.largest)?))
    }

    /// The user keys of the first and the last entry. `None` if they are unknown, or if the first is
    /// after the last one in this order.
    fn range(&self, order: &dyn Comparator) -> Option<(&[u8], &[u8])> {
        self.user_keys().filter(|(smallest, largest)| order.compare(smallest, largest).is_le())
    }

    /// Returns `true` if the range of keys, in this order, includes `user_key`, or is unknown or
    /// unsound.
    pub(super) fn may_hold(&self, user_key: &[u8], order: &dyn Comparator) -> bool {
        self.range(order).is_none_or(|(smallest, largest)| {
            order.compare(smallest, user_key).is_le() && order.compare(user_key, largest).is_le()
        })
    }

    /// Returns `true` if the range of keys excludes no key, because it is unknown or unsound.
    pub(super) fn is_unranged(&self, order: &dyn Comparator) -> bool {
        self.range(order).is_none()
    }
}

fn user_key(internal_key: &[u8]) -> Option<&[u8]> {
    let (user_key, tag) = KeyFormat::LevelDb.split(internal_key)?;
    (kind(tag) <= VALUE).then_some(user_key)
}

impl fmt::Debug for LiveTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveTable")
            .field("level", &self.level)
            .field("number", &self.number)
            .field("size", &self.size)
            .field("smallest_len", &self.smallest.len())
            .field("largest_len", &self.largest.len())
            .finish()
    }
}

/// Collects live tables, within a memory limit.
pub(crate) struct LiveTables {
    tables: BTreeMap<(u8, u64), LiveTable>,
    /// For each level, the key at which the next compaction of that level starts, if it is recorded.
    compact_pointers: BTreeMap<u8, Bytes>,
    /// The memory of tables and compact pointers in bytes: an estimate that is too high rather than
    /// too low.
    memory: u64,
    limit: u64,
}

impl LiveTables {
    pub(crate) const fn new(limit: u64) -> Self {
        Self { tables: BTreeMap::new(), compact_pointers: BTreeMap::new(), memory: 0, limit }
    }

    /// Takes a table off its level. As in LevelDB, it is no error if there is none.
    pub(crate) fn delete(&mut self, level: u8, number: u64) {
        if let Some(table) = self.tables.remove(&(level, number)) {
            let freed = memory(table.smallest.len(), table.largest.len());
            debug_assert!(freed <= self.memory, "every table is counted");
            self.memory = self.memory.saturating_sub(freed);
        }
    }

    /// Adds a table that the record at `offset` names. goleveldb names some tables twice; that is
    /// fine as long as both records are the same.
    pub(crate) fn add(&mut self, table: &NewTable<'_>, offset: u64) -> Result<()> {
        let &NewTable { level, number, size, smallest, largest } = table;
        if let Some(known) = self.tables.get(&(level, number)) {
            if known.size == size && known.smallest == smallest && known.largest == largest {
                return Ok(());
            }
            return Err(Error::corrupt(
                Structure::VersionEdit,
                offset,
                format!("table {number} on level {level} as recorded before, with {} bytes", known.size),
                format!("it with {size} bytes or another range of keys"),
            ));
        }
        self.take(memory(smallest.len(), largest.len()), offset)?;
        self.tables.insert((level, number), LiveTable::of_new(table));
        Ok(())
    }

    /// Sets the key at which the next compaction of `level` starts.
    pub(crate) fn set_compact_pointer(&mut self, level: u8, key: &[u8], offset: u64) -> Result<()> {
        if let Some(old) = self.compact_pointers.remove(&level) {
            self.memory = self.memory.saturating_sub(old.len() as u64);
        }
        self.take(key.len() as u64, offset)?;
        self.compact_pointers.insert(level, Bytes::copy_from_slice(key));
        Ok(())
    }

    /// Counts memory that is about to be taken.
    fn take(&mut self, bytes: u64, offset: u64) -> Result<()> {
        let memory = self.memory.saturating_add(bytes);
        if memory > self.limit {
            return Err(Error::Limit { what: "live tables", offset, limit: self.limit, found: memory });
        }
        self.memory = memory;
        Ok(())
    }

    /// The tables by level and by number within each, and the compact pointers by level.
    pub(crate) fn into_parts(self) -> (Vec<LiveTable>, Vec<(u8, Bytes)>) {
        (self.tables.into_values().collect(), self.compact_pointers.into_iter().collect())
    }
}

/// The memory of a table with keys of these lengths. The entry is counted twice, to include the overhead of
/// the map.
fn memory(smallest_len: usize, largest_len: usize) -> u64 {
    const ENTRY: usize = 2 * size_of::<((u8, u64), LiveTable)>();
    ENTRY.saturating_add(smallest_len).saturating_add(largest_len) as u64
}
