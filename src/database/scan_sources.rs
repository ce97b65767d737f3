//! The tables and logs that a scan merges.

use std::path::Path;
use std::sync::Arc;

use super::database::DatabaseTable;
use super::live_tables::LiveTable;
use super::memtable::Memtable;
use super::open_files::{OpenFiles, PooledFile};
use super::opener::Opener;
use crate::error::IoAction;
use crate::table::{Comparator, Cursor, ReadOptions, Table};
use crate::{Error, KeyFormat, Origin, Result};

/// Opens tables, and keeps only so many of their files open.
pub(super) struct TableOpener<O: Opener> {
    pub(super) options: ReadOptions,
    pub(super) files: Arc<OpenFiles<O>>,
}

/// The key to start at.
pub(super) struct Start {
    pub(super) user_key: Vec<u8>,
    /// The internal key before all versions of it, whatever their types.
    pub(super) target: Vec<u8>,
}

/// Entries in the order of their keys.
#[expect(clippy::large_enum_variant, reason = "there are few, and most are of the larger kind")]
pub(super) enum Source<'d, O: Opener> {
    /// `next` is the place behind the current entry.
    Logs {
        table: Memtable<'d>,
        next: usize,
    },
    Tables(Run<'d, O>),
}

/// Tables that follow each other in the order of keys.
pub(super) struct Run<'d, O: Opener> {
    tables: Vec<DatabaseTable<'d>>,
    /// The number of tables that have been opened.
    opened: usize,
    pub(super) current: Option<Current<'d, O>>,
    /// An error about the order of its keys was returned.
    pub(super) unordered: bool,
}

/// The table that a run is at.
pub(super) struct Current<'d, O: Opener> {
    pub(super) table: DatabaseTable<'d>,
    pub(super) format: KeyFormat,
    pub(super) cursor: Cursor<'d, PooledFile<O>>,
    is_sought: bool,
}

impl<O: Opener> Source<'_, O> {
    /// Moves to before the first entry at or after `start`, or to where it is sought from.
    pub(super) fn seek(&mut self, start: Option<&Start>, order: &dyn Comparator) {
        match self {
            Self::Logs { table, next } => {
                *next = start.map_or(0, |start| table.seek(&start.user_key, order));
            }
            Self::Tables(run) => {
                let ends_before = |table: &&DatabaseTable<'_>| {
                    let keys = table.recorded().and_then(LiveTable::user_keys);
                    keys.zip(start)
                        .is_some_and(|((_, largest), start)| order.compare(largest, &start.user_key).is_lt())
                };
                run.opened = run.tables.iter().take_while(ends_before).count();
                run.current = None;
            }
        }
    }

    /// Moves to the next entry. Returns false if there is none.
    pub(super) fn step(&mut self, start: Option<&Start>, tables: &TableOpener<O>) -> Result<bool> {
        match self {
            Self::Logs { table, next } => {
                *next = next.saturating_add(1);
                Ok(table.get(next.saturating_sub(1)).is_some())
            }
            Self::Tables(run) => run.step(start, tables),
        }
    }

    /// User key and tag of the current entry. `None` if its key is too short.
    #[inline]
    pub(super) fn key(&self) -> Option<(&[u8], u64)> {
        match self {
            Self::Logs { table, next } => {
                let (key, ..) = table.get(next.checked_sub(1)?)?;
                Some((key.user_key, key.sequence << 8 | u64::from(key.kind)))
            }
            Self::Tables(run) => {
                let current = run.current.as_ref()?;
                current.format.split(current.cursor.key())
            }
        }
    }
}

impl<O: Opener> TableOpener<O> {
    /// Opens the table at `path`, as [`Table::open_path`] does.
    fn open(&self, path: &Path) -> Result<Table<PooledFile<O>>> {
        let file = self.files.open(path).map_err(|error| Error::io(IoAction::Open, 0, error));
        let table = file.and_then(|file| Table::open(file, &self.options));
        table.map(|table| table.with_path(path)).map_err(|error| error.with_path(path))
    }

    /// The error for a live table that has no file.
    pub(super) fn missing(&self, path: &Path) -> Error {
        Error::io(IoAction::Open, 0, self.files.why_missing(path)).with_path(path)
    }
}

impl<'d, O: Opener> Run<'d, O> {
    pub(super) const fn new(tables: Vec<DatabaseTable<'d>>) -> Self {
        Self { tables, opened: 0, current: None, unordered: false }
    }

    fn step(&mut self, start: Option<&Start>, tables: &TableOpener<O>) -> Result<bool> {
        loop {
            if let Some(Current { cursor, is_sought, .. }) = &mut self.current {
                let moved = match start.filter(|_| !*is_sought) {
                    Some(start) => cursor.seek(&start.target),
                    None => cursor.next(),
                };
                // The same is tried again once the range is there.
                if moved.as_ref().is_err_and(Error::needs_range) {
                    return moved;
                }
                *is_sought = true;
                match moved {
                    Ok(true) => return Ok(true),
                    Ok(false) => self.current = None,
                    Err(error) => {
                        // One error for all that is left of a table that is gone.
                        if cursor.table().source().is_lost() {
                            self.current = None;
                        } else {
                            cursor.skip_block();
                        }
                        return Err(error);
                    }
                }
            }
            let Some(&table) = self.tables.get(self.opened) else { return Ok(false) };
            let opened = table.file.path().map(|path| tables.open(path)).transpose();
            if !opened.as_ref().is_err_and(Error::needs_range) {
                self.opened = self.opened.saturating_add(1);
            }
            let Some(opened) = opened? else { continue };
            let cursor = opened.into_cursor();
            let is_bashos = cursor.table().origin() == Some(Origin::Basho);
            let format = if is_bashos { KeyFormat::Basho } else { KeyFormat::LevelDb };
            self.current = Some(Current { table, format, cursor, is_sought: false });
        }
    }
}

/// Arranges tables of the levels from 1 on in runs: one for each level, unless tables overlap.
pub(super) fn runs<'d>(
    mut tables: Vec<DatabaseTable<'d>>,
    order: &dyn Comparator,
) -> Vec<Vec<DatabaseTable<'d>>> {
    let level = |table: &DatabaseTable<'_>| table.recorded().map(|recorded| recorded.level);
    let keys = |table: &DatabaseTable<'d>| table.recorded().and_then(LiveTable::user_keys);
    tables.sort_by(|a, b| {
        let (a_keys, b_keys) = (keys(a).unwrap_or_default(), keys(b).unwrap_or_default());
        level(a).cmp(&level(b)).then_with(|| order.compare(a_keys.0, b_keys.0))
    });
    let mut runs: Vec<Vec<DatabaseTable<'d>>> = Vec::new();
    for table in tables {
        let follows = |last: &DatabaseTable<'d>| match (keys(last), keys(&table)) {
            (Some((_, largest)), Some((smallest, _))) => {
                level(last) == level(&table) && order.compare(largest, smallest).is_lt()
            }
            _ => false,
        };
        match runs.last_mut() {
            Some(run) if run.last().is_some_and(follows) => run.push(table),
            _ => runs.push(vec![table]),
        }
    }
    runs
}
