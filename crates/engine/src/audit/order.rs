//! The order of user keys: likely ones where no MANIFEST names one, and tables that break bytewise order.

use std::cmp::Ordering;
use std::path::Path;

use filterblock::KeyFormat;
use filterblock::database::{Database, Opener};
use filterblock::table::{
    BytewiseComparator, Comparator as _, IdbComparator, ReadAt, ReadOptions, SharedComparator, Table,
    known_comparator,
};

use crate::report::{ErrorKind, Fault};

/// An order that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyOrder {
    /// Byte by byte, LevelDB's default.
    Bytewise,
    /// That of Chromium's IndexedDB, `idb_cmp1`.
    Idb,
}

impl KeyOrder {
    /// `None`: unknown.
    pub(crate) fn of(name: &[u8]) -> Option<Self> {
        match name {
            name if name == BytewiseComparator.name().as_bytes() => Some(Self::Bytewise),
            name if name == IdbComparator::NAME.as_bytes() => Some(Self::Idb),
            _ => None,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Bytewise => "leveldb.BytewiseComparator",
            Self::Idb => IdbComparator::NAME,
        }
    }

    /// The library's comparator of this order.
    pub fn comparator(&self) -> SharedComparator {
        known_comparator(self.name().as_bytes()).unwrap_or_else(|| std::sync::Arc::new(BytewiseComparator))
    }

    #[inline]
    pub(crate) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Self::Bytewise => a.cmp(b),
            Self::Idb => IdbComparator.compare(a, b),
        }
    }

    #[inline]
    pub(crate) fn compare_internal(&self, a: &[u8], b: &[u8]) -> Ordering {
        KeyFormat::LevelDb.compare(a, b, |a, b| self.compare(a, b))
    }

    /// True if only identical bytes equal the key, so that a filter with it never hides an equal one.
    pub(crate) fn can_be_filtered(&self, user_key: &[u8]) -> bool {
        match self {
            Self::Bytewise => true,
            Self::Idb => IdbComparator::is_exact(user_key),
        }
    }
}

/// Tables whose index or first block is not in bytewise order, by number. Opens every table, and reads just these.
pub(crate) fn misordered<O: Opener>(
    database: &Database,
    opener: &mut O,
    options: &ReadOptions,
) -> Vec<(u64, Fault)> {
    let mut found = Vec::new();
    for table in database.tables() {
        let Some(path) = table.file.path() else { continue };
        // A table that does not open is reported in its turn.
        let Some(opened) = opener.open_table(path).ok().and_then(|file| Table::open(file, options).ok())
        else {
            continue;
        };
        let what = if !is_bytewise(&opened) {
            "the index is"
        } else if !begins_bytewise(&opened) {
            "keys are"
        } else {
            continue;
        };
        found.push((table.number, fault(path, what)));
    }
    found
}

fn fault(path: &Path, what: &str) -> Fault {
    let message = format!("{what} not in bytewise order, so keys of the range may not be found");
    Fault { path: Some(path.into()), ..Fault::new(message, ErrorKind::Damaged) }
}

/// True if the user keys of the index ascend, as far as it can be read.
fn is_bytewise<R: ReadAt>(table: &Table<R>) -> bool {
    let format = table.key_format();
    let (mut index, mut previous) = (table.index(), Vec::new());
    while let Ok(true) = index.next() {
        let Some((key, _)) = format.split(index.key()) else { break };
        if *previous > *key {
            return false;
        }
        previous.clear();
        previous.extend_from_slice(key);
    }
    true
}

/// True if the first and last user key of the first block ascend, as far as it can be read. The index does not tell if
/// this is the only block.
fn begins_bytewise<R: ReadAt>(table: &Table<R>) -> bool {
    let first = table.data_blocks().next().and_then(Result::ok);
    let Some(mut block) = first.and_then(|first| table.block_cursor(first).ok()) else { return true };
    let Ok(true) = block.next() else { return true };
    let first = block.key().to_vec();
    let Ok(true) = block.seek_to_last() else { return true };
    let format = table.key_format();
    let ends = format.user_key(&first).zip(format.user_key(block.key()));
    ends.is_none_or(|(first, last)| first <= last)
}
