//! The tables to tune, and the request.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::database::Manifest;
use filterblock::table::{ReadAt, ReadOptions, Table};

use crate::audit::current_manifest::size_conflict;
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::order::Order;
use crate::audit::policies::Policy;
use crate::report::{ErrorKind, TuneFailure};
use crate::walk::{Storage, open_listed};

/// A table to tune.
pub(super) struct TableInfo {
    pub(super) path: PathBuf,
    /// The level; `None` for a single table.
    pub(super) level: Option<u8>,
    /// The size in bytes that the MANIFEST records; of a single table, that of its file.
    pub(super) size: u64,
    /// The message that there is no such file, though the MANIFEST has the table. `None`: there is a file.
    pub(super) missing: Option<String>,
}

/// The tables of a database, or a single table.
pub(super) struct Input<'d> {
    /// For a database, the tables of the MANIFEST, in its order: by level, then by number.
    pub(super) tables: Vec<TableInfo>,
    /// The storage of the files; `None`: the local file system.
    pub(super) storage: Option<Arc<dyn Storage>>,
    /// The options of [`read_options`](crate::audit::reading::read_options), with keys as they are stored.
    pub(super) read: &'d ReadOptions,
    /// The number of tables to work on at a time; `None`: as many as there are processors.
    pub(super) jobs: Option<u16>,
    /// The MANIFEST of the database. `None` if the tables that a lookup reaches are not known: for a single
    /// table, and if keys are in an unknown order.
    pub(super) manifest: Option<&'d Manifest>,
    /// The order of the keys; bytewise if it is not known.
    pub(super) order: Order,
    /// The encoding of stored keys, which decides the part that filters are made from.
    pub(super) encoding: KeyEncoding,
    /// goleveldb opened the database last.
    pub(super) is_goleveldb: bool,
}

impl Input<'_> {
    /// Opens a table by its index in `tables`.
    pub(super) fn open(&self, table: usize) -> Result<Table<Box<dyn ReadAt + Send + Sync>>, TuneFailure> {
        let table = self.tables.get(table);
        if let Some(text) = table.and_then(|table| table.missing.clone()) {
            return Err(TuneFailure::new(text, ErrorKind::Missing));
        }
        // Each table that is looked up has a path.
        let path = table.map_or(Path::new(""), |table| &*table.path);
        let file = open_listed(self.storage.as_ref(), path)?;
        let recorded = table.map_or(0, |table| table.size);
        if let Some((expected, found)) = file.len().ok().and_then(|len| size_conflict(recorded, len)) {
            let text = format!("expected {expected}, found {found}");
            return Err(TuneFailure::new(text, ErrorKind::Damaged));
        }
        Ok(Table::open(file, self.read)?)
    }

    /// The level of a table. `None`: the table was given by itself.
    pub(super) fn level(&self, table: usize) -> Option<u8> {
        self.tables.get(table).and_then(|table| table.level)
    }

    /// The size of a table in bytes.
    pub(super) fn size(&self, table: usize) -> u64 {
        self.tables.get(table).map_or(0, |table| table.size)
    }

    pub(super) fn total_size(&self) -> u64 {
        self.tables.iter().fold(0, |sum, table| sum.saturating_add(table.size))
    }

    /// The indices of the tables that a lookup of `key` reaches, in the order in which it reaches them. If
    /// `manifest` is `None`, the indices of all tables.
    pub(super) fn visits(&self, key: &[u8]) -> Vec<u32> {
        let Some(manifest) = self.manifest else { return (0..self.tables.len() as u32).collect() };
        let all = manifest.tables();
        let place =
            |level, number| all.partition_point(|table| (table.level, table.number) < (level, number));
        manifest.tables_for(key).map(|table| place(table.level, table.number) as u32).collect()
    }
}

/// A request to find out whether other filters would save more.
#[derive(Default, Debug)]
pub struct Request {
    /// The keys of the user's own lookups.
    pub lookups: Vec<Vec<u8>>,
    /// The maximum number of bytes that new filters may take.
    pub budget: Option<u64>,
    /// Every table is decoded.
    pub all: bool,
    /// The program's policy. `None`: LevelDB's or goleveldb's, whichever most tables have, or else that of the program
    /// that opened the database last.
    pub policy: Option<Policy>,
}
