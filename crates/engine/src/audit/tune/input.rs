//! The tables to tune, and the request.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use filterblock::database::Manifest;
use filterblock::escape_path;
use filterblock::table::{ReadAt as _, ReadOptions, Table};

use crate::audit::current_manifest::size_conflict;
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::order::KeyOrder;
use crate::audit::policies::Policy;
use crate::engine::Engine;
use crate::report::{ErrorKind, Fault};
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

/// Tables are numbered by their places in `tables`.
impl<'d> Input<'d> {
    /// Tables without a MANIFEST.
    pub(super) fn of(engine: &'d Engine, tables: Vec<TableInfo>, encoding: KeyEncoding) -> Self {
        Self {
            tables,
            storage: &**engine.files.storage(),
            read: &engine.read,
            jobs: engine.jobs,
            manifest: None,
            order: KeyOrder::Bytewise,
            encoding,
            is_goleveldb: false,
        }
    }

    pub(super) fn open(&self, table: usize) -> Result<Table<Box<dyn Source>>, Fault> {
        let TableInfo { path, size, missing, .. } = &self.tables[table];
        if let Some(text) = missing {
            return Err(Fault::new(text, ErrorKind::Missing));
        }
        let file = open(self.storage, path, true)?;
        if let Some((expected, found)) = file.len().ok().and_then(|len| size_conflict(*size, len)) {
            let text = format!("expected {expected}, found {found}");
            return Err(Fault::new(text, ErrorKind::Damaged));
        }
        Ok(Table::open(file, self.read)?)
    }

    pub(super) fn level(&self, table: usize) -> Option<u8> {
        self.tables[table].level
    }

    pub(super) fn size(&self, table: usize) -> u64 {
        self.tables[table].size
    }

    /// Of its file.
    pub(super) fn name(&self, table: usize) -> String {
        let name = self.tables[table].path.file_name();
        escape_path(Path::new(name.unwrap_or_default())).to_string()
    }

    pub(super) fn by_level(&self, tables: impl Iterator<Item = usize>) -> BTreeMap<Option<u8>, Vec<usize>> {
        let mut levels: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        tables.for_each(|table| levels.entry(self.level(table)).or_default().push(table));
        levels
    }

    /// The tables that a lookup of `key` reaches, in that order; all tables if `manifest` is `None`.
    pub(super) fn visits(&self, key: &[u8]) -> Vec<u32> {
        let Some(manifest) = self.manifest else { return (0..self.tables.len() as u32).collect() };
        let all = manifest.tables();
        let place =
            |level, number| all.partition_point(|table| (table.level, table.number) < (level, number));
        manifest.tables_for(key).map(|table| place(table.level, table.number) as u32).collect()
    }

    /// A bound: all tables of level 0 and one of each other level; all tables if the key order is unknown.
    pub(super) fn most_visits(&self) -> u64 {
        let top = self.tables.iter().filter(|table| table.level == Some(0)).count() as u64;
        match self.manifest {
            Some(_) => top + u64::from(filterblock::database::NUM_LEVELS),
            None => self.tables.len() as u64,
        }
    }
}

/// A request to find out whether other filters would save more.
#[derive(Default, Debug)]
pub struct TuneRequest {
    /// The keys of the user's own lookups.
    pub lookups: Vec<Vec<u8>>,
    /// The maximum number of bytes that new filters may take.
    pub budget: Option<u64>,
    /// Every table is decoded.
    pub all: bool,
    /// `None`: LevelDB's or goleveldb's, whichever more tables have, or else that of the program that opened it last.
    pub policy: Option<Policy>,
}
