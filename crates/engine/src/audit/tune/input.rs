//! The tables to tune, and the request.

use std::path::{Path, PathBuf};

use filterblock::database::Manifest;
use filterblock::table::{ReadAt as _, ReadOptions, Table};

use crate::audit::current_manifest::size_conflict;
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::order::KeyOrder;
use crate::audit::policies::Policy;
use crate::report::{ErrorKind, TuneFailure};
use crate::walk::{Source, Storage, open};

pub(super) struct TableInfo {
    pub(super) path: PathBuf,
    /// `None` for a single table.
    pub(super) level: Option<u8>,
    /// In bytes, from the MANIFEST; of a single table, from its file.
    pub(super) size: u64,
    /// Why there is no file, though the MANIFEST has the table.
    pub(super) missing: Option<String>,
}

pub(super) struct Input<'d> {
    /// In the order of the MANIFEST: by level, then by number.
    pub(super) tables: Vec<TableInfo>,
    pub(super) storage: &'d dyn Storage,
    /// The options of [`read_options`](crate::audit::reading::read_options), with keys as they are stored.
    pub(super) read: &'d ReadOptions,
    /// Tables at a time; `None`: as many as processors.
    pub(super) jobs: Option<u16>,
    /// `None` if the tables that a lookup reaches are unknown: for a single table, or an unknown key order.
    pub(super) manifest: Option<&'d Manifest>,
    /// Bytewise if unknown.
    pub(super) order: KeyOrder,
    /// Decides which part of stored keys filters are made from.
    pub(super) encoding: KeyEncoding,
    /// goleveldb opened the database last.
    pub(super) is_goleveldb: bool,
}

impl Input<'_> {
    pub(super) fn open(&self, table: usize) -> Result<Table<Box<dyn Source>>, TuneFailure> {
        let table = self.tables.get(table);
        if let Some(text) = table.and_then(|table| table.missing.clone()) {
            return Err(TuneFailure::new(text, ErrorKind::Missing));
        }
        // Each table that is looked up has a path.
        let path = table.map_or(Path::new(""), |table| &*table.path);
        let file = open(self.storage, path, true)?;
        let recorded = table.map_or(0, |table| table.size);
        if let Some((expected, found)) = file.len().ok().and_then(|len| size_conflict(recorded, len)) {
            let text = format!("expected {expected}, found {found}");
            return Err(TuneFailure::new(text, ErrorKind::Damaged));
        }
        Ok(Table::open(file, self.read)?)
    }

    pub(super) fn level(&self, table: usize) -> Option<u8> {
        self.tables.get(table).and_then(|table| table.level)
    }

    pub(super) fn size(&self, table: usize) -> u64 {
        self.tables.get(table).map_or(0, |table| table.size)
    }

    pub(super) fn total_size(&self) -> u64 {
        self.tables.iter().fold(0, |sum, table| sum.saturating_add(table.size))
    }

    /// The tables that a lookup of `key` reaches, in that order; all tables if `manifest` is `None`.
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
    /// `None`: LevelDB's or goleveldb's, whichever more tables have, or else that of the program that opened it last.
    pub policy: Option<Policy>,
}
