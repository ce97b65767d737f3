//! The tables and logs that a scan merges.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::database::{Database, DatabaseTable, EntryFile, TableStatus};
use super::file_pool::{FilePool, PooledFile};
use super::live_tables::LiveTable;
use super::memtable::Memtable;
use super::opener::Opener;
use super::place::Place;
use crate::error::IoAction;
use crate::table::{Comparator, Cursor, ReadOptions, Table};
use crate::{Error, KeyFormat, Result};

/// Opens tables, and keeps only some of their files open.
pub(super) struct TableOpener<O: Opener> {
    pub(super) options: ReadOptions,
    pub(super) files: FilePool<O>,
    pub(super) database: Database,
}

/// The key to start at.
pub(super) struct Start {
    pub(super) user_key: Vec<u8>,
    /// An internal key that no version of `user_key` precedes, whatever the type of the version.
    pub(super) target: Vec<u8>,
}

/// The direction of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Way {
    #[default]
    Forward,
    Back,
}

/// A source of entries in the order of their keys. `'o` is the lifetime of the opener.
#[expect(clippy::large_enum_variant, reason = "there are few, and most are of the larger kind")]
pub(super) enum Source<'o, O: Opener> {
    /// `next` is the index after that of the current entry.
    Logs {
        table: Arc<Memtable>,
        next: usize,
    },
    Tables(Run<'o, O>),
}

/// Tables that follow each other in the order of keys.
pub(super) struct Run<'o, O: Opener> {
    tables: Vec<Place>,
    /// The number of tables up to and including the current one. If no table is current, the run is
    /// positioned after this many tables.
    opened: usize,
    pub(super) current: Option<Current<'o, O>>,
    /// Set once the run's keys have been found to be out of order, which is reported only once.
    pub(super) unordered: bool,
    /// The numbers of the tables for which an error about the form of their keys has been returned.
    doubted: Vec<u64>,
}

/// The table that a run is at.
pub(super) struct Current<'o, O: Opener> {
    pub(super) table: Place,
    pub(super) format: KeyFormat,
    pub(super) cursor: Cursor<'o, PooledFile<O>>,
    place: CursorPosition,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CursorPosition {
    /// Before the first entry, or the first at or after the start.
    Before,
    Within,
    Behind,
}

impl<'o, O: Opener + 'o> Source<'o, O> {
    /// Moves to before the first entry at or after `start`; a new scan, without one, to before the first of all. A run only
    /// moves to the first table that may have such an entry, which stays open if it is: the next step then seeks the entry.
    pub(super) fn seek(&mut self, start: Option<&Start>, order: &dyn Comparator, database: &Database) {
        match self {
            Self::Logs { table, next } => {
                *next = start.map_or(0, |start| table.seek(&start.user_key, order));
            }
            Self::Tables(run) => {
                let ends_before = |table: &&Place| {
                    let Some(EntryFile::Table(table)) = database.file_at(table) else { return false };
                    let keys = table.recorded().and_then(LiveTable::user_keys);
                    keys.zip(start)
                        .is_some_and(|((_, largest), start)| order.compare(largest, &start.user_key).is_lt())
                };
                let before = run.tables.iter().take_while(ends_before).count();
                let is_same = run.opened == before.saturating_add(1);
                match run.current.as_mut().filter(|_| is_same) {
                    Some(current) => current.place = CursorPosition::Before,
                    None => (run.opened, run.current) = (before, None),
                }
            }
        }
    }

    /// Moves past the last entry.
    pub(super) fn seek_to_end(&mut self) {
        match self {
            Self::Logs { table, next } => *next = table.len().saturating_add(1),
            Self::Tables(run) => (run.opened, run.current) = (run.tables.len(), None),
        }
    }

    /// Moves to the next entry in a direction. Returns `false` if there is none.
    pub(super) fn go(&mut self, way: Way, start: Option<&Start>, tables: &TableOpener<O>) -> Result<bool> {
        match (self, way) {
            (Self::Logs { table, next }, Way::Forward) => {
                *next = next.saturating_add(1);
                Ok(table.get(next.saturating_sub(1)).is_some())
            }
            (Self::Logs { next, .. }, Way::Back) => {
                *next = next.saturating_sub(1);
                Ok(*next > 0)
            }
            (Self::Tables(run), Way::Forward) => run.step(start, tables),
            (Self::Tables(run), Way::Back) => run.step_back(tables),
        }
    }

    pub(super) fn is_at_entry(&self) -> bool {
        match self {
            Self::Logs { table, next } => next.checked_sub(1).is_some_and(|at| table.get(at).is_some()),
            Self::Tables(run) => run.current.as_ref().is_some_and(|current| current.cursor.valid()),
        }
    }

    /// The current entry's `value`, as bytes that outlive the entry: a view of its data block, or a
    /// copy.
    pub(super) fn value(&self, value: &[u8]) -> Bytes {
        match self {
            Self::Tables(Run { current: Some(current), .. }) => current.cursor.value_bytes(),
            _ => Bytes::copy_from_slice(value),
        }
    }

    /// The error for the current entry if it is not certain how its key is split. It is returned once for each table.
    #[inline]
    pub(super) fn doubt(&mut self) -> Option<Error> {
        let Self::Tables(run) = self else { return None };
        let Current { table, cursor, .. } = run.current.as_ref()?;
        let error = cursor.table().doubt_about(cursor.key())?;
        if run.doubted.contains(&table.number) {
            return None;
        }
        run.doubted.push(table.number);
        Some(error)
    }

    /// The file of the current entry.
    #[inline]
    pub(super) fn file(&self) -> Option<Place> {
        match self {
            Self::Logs { table, next } => Some(table.get(next.checked_sub(1)?)?.3),
            Self::Tables(run) => Some(run.current.as_ref()?.table),
        }
    }

    /// User key and tag of the current entry. `None` if there is no current entry, or if its key is too
    /// short.
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
        let file = self.files.open_with_index(path).map_err(|error| Error::io(IoAction::Open, 0, error));
        let table = file.and_then(|(file, index)| match index {
            Some(index) => Table::from_parts(file, index, None),
            None => Table::open(file, &self.options),
        });
        table.map(|table| table.with_path(path)).map_err(|error| error.with_path(path))
    }

    /// Opens a table to walk through its entries. `None` if the table has no file.
    fn cursor<'o>(&self, table: Place, place: CursorPosition) -> Result<Option<Current<'o, O>>>
    where
        O: 'o,
    {
        let file = self.database.file_at(&table);
        let Some(path) = file.and_then(|file| file.path()) else { return Ok(None) };
        let cursor = self.open(path)?.into_cursor();
        let format = cursor.table().key_format();
        Ok(Some(Current { table, format, cursor, place }))
    }

    /// The error for a live table that has no file.
    pub(super) fn missing(&self, path: &Path) -> Error {
        Error::io(IoAction::Open, 0, self.files.why_missing(path)).with_path(path)
    }
}

impl<'o, O: Opener> Current<'o, O> {
    fn go(
        &mut self,
        go: impl FnOnce(&mut Cursor<'o, PooledFile<O>>, CursorPosition) -> Result<bool>,
    ) -> Result<bool> {
        let moved = go(&mut self.cursor, self.place);
        // A step that lacks a range of the file is tried again once the range is there.
        if !moved.as_ref().is_err_and(Error::needs_range) {
            self.place = CursorPosition::Within;
        }
        // Results have room for an error, and are slow to move.
        if let Ok(moved) = moved { Ok(moved) } else { moved }
    }

    /// Returns `true` if nothing of the table is left in this direction after a step with the result
    /// `moved`. After damage, skips the block. A table that is gone yields one error for all
    /// that is left of it.
    fn is_done(&mut self, moved: &Result<bool>) -> bool {
        match moved {
            Ok(moved) => !moved,
            Err(error) if error.needs_range() => false,
            Err(_) if self.cursor.table().source().is_lost() => true,
            Err(_) => {
                self.cursor.skip_block();
                false
            }
        }
    }
}

impl<'o, O: Opener + 'o> Run<'o, O> {
    pub(super) const fn new(tables: Vec<Place>) -> Self {
        Self { tables, opened: 0, current: None, unordered: false, doubted: Vec::new() }
    }

    fn step(&mut self, start: Option<&Start>, tables: &TableOpener<O>) -> Result<bool> {
        loop {
            if let Some(current) =
                self.current.as_mut().filter(|current| current.place != CursorPosition::Behind)
            {
                let moved =
                    current.go(|cursor, place| match start.filter(|_| place == CursorPosition::Before) {
                        Some(start) => cursor.seek(&start.target),
                        None => cursor.next(),
                    });
                if let Ok(true) = moved {
                    return Ok(true);
                }
                if !current.is_done(&moved) {
                    return moved;
                }
                self.current = None;
                moved?;
            }
            self.current = None;
            let Some(&table) = self.tables.get(self.opened) else { return Ok(false) };
            let opened = tables.cursor(table, CursorPosition::Before);
            if !opened.as_ref().is_err_and(Error::needs_range) {
                self.opened = self.opened.saturating_add(1);
            }
            self.current = opened?;
        }
    }

    fn step_back(&mut self, tables: &TableOpener<O>) -> Result<bool> {
        loop {
            if let Some(current) = self.current.as_mut() {
                let moved = current.go(|cursor, place| match place {
                    CursorPosition::Before => Ok(false),
                    CursorPosition::Within => cursor.prev(),
                    CursorPosition::Behind => cursor.seek_to_last(),
                });
                if !current.is_done(&moved) {
                    return moved;
                }
                self.current = None;
                self.opened = self.opened.saturating_sub(1);
                moved?;
            }
            let table = self.opened.checked_sub(1).and_then(|at| self.tables.get(at));
            let Some(&table) = table else { return Ok(false) };
            let opened = tables.cursor(table, CursorPosition::Behind);
            if matches!(&opened, Ok(None)) || opened.as_ref().is_err_and(|error| !error.needs_range()) {
                self.opened = self.opened.saturating_sub(1);
            }
            self.current = opened?;
        }
    }
}

/// The tables of a scan: those of each run, and the numbers of the live tables that have no file.
#[derive(Clone)]
pub(super) struct Arranged {
    pub(super) runs: Vec<Vec<Place>>,
    pub(super) missing: Vec<u64>,
}

impl Arranged {
    /// Arranges the database's tables: if `newest` is set, only those that are live or may be live.
    pub(super) fn of(database: &Database, newest: bool, order: &dyn Comparator) -> Self {
        let is_wanted = |table: &DatabaseTable<'_>| {
            !newest || matches!(table.status, TableStatus::Live(_) | TableStatus::Unknown)
        };
        let (mut single, mut levels, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for table in database.tables().filter(is_wanted) {
            match table.recorded() {
                _ if table.is_missing() => missing.push(table.number),
                Some(recorded) if recorded.level > 0 => levels.push(table),
                _ => single.push(vec![table]),
            }
        }
        single.extend(runs(levels, order));
        let place = |table| database.place_of(EntryFile::Table(table));
        let places = |run: Vec<_>| run.into_iter().filter_map(place).collect();
        Self { runs: single.into_iter().map(places).collect(), missing }
    }
}

/// Arranges tables of the levels above 0 in runs: one for each level, unless tables overlap or
/// their ranges are unknown.
fn runs<'d>(mut tables: Vec<DatabaseTable<'d>>, order: &dyn Comparator) -> Vec<Vec<DatabaseTable<'d>>> {
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
