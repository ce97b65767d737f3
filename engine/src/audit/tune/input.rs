//! The tables to tune, and what is asked for.

use std::fs::File;
use std::path::{Path, PathBuf};

use filterblock::table::{ReadOptions, Table};
use filterblock::{Result, database::Manifest};

use crate::{audit::key_encoding::KeyEncoding, audit::policies::Policy};

/// A table of those to tune.
pub(super) struct TableInfo {
    pub(super) path: PathBuf,
    /// `None` for a single table.
    pub(super) level: Option<u8>,
    /// In bytes, as the MANIFEST has it.
    pub(super) size: u64,
}

/// The tables of a database, or a single one.
pub(super) struct Input<'d> {
    /// For a database those of the MANIFEST, in its order: by level, then by number.
    pub(super) tables: Vec<TableInfo>,
    /// The policies of [`read_options`](crate::audit::reading::read_options), and keys as they are stored.
    pub(super) read: &'d ReadOptions,
    /// `None` if the tables that a lookup comes to are not known: for a single table, and if keys
    /// are in an unknown order.
    pub(super) manifest: Option<&'d Manifest>,
    /// The part of stored keys that filters are made of.
    pub(super) encoding: KeyEncoding,
}

impl Input<'_> {
    /// Opens a table by its place in `tables`.
    pub(super) fn open(&self, table: usize) -> Result<Table<File>> {
        // There is a path for each table that is asked for.
        Table::open_path(self.tables.get(table).map_or(Path::new(""), |table| &*table.path), self.read)
    }

    /// The level of a table.
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

    /// The places of the tables that a lookup of `key` comes to, in its order. All of them without a
    /// MANIFEST: those of one table.
    pub(super) fn visits(&self, key: &[u8]) -> Vec<u32> {
        let Some(manifest) = self.manifest else { return (0..self.tables.len() as u32).collect() };
        let all = manifest.tables();
        let place =
            |level, number| all.partition_point(|table| (table.level, table.number) < (level, number));
        manifest.tables_for(key).map(|table| place(table.level, table.number) as u32).collect()
    }
}

/// What is asked for.
#[derive(Default, Debug)]
pub struct Request {
    /// The user's own lookups.
    pub lookups: Vec<Vec<u8>>,
    /// The most bytes that filters may take.
    pub budget: Option<u64>,
    /// Every table is decoded.
    pub all: bool,
    /// The program's policy; that of the tables if `None`.
    pub policy: Option<Policy>,
}
