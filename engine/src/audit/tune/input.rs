//! The tables to tune.

use filterblock::Result;
use filterblock::database::Manifest;
use filterblock::table::{ReadAt, Table};

use crate::audit::key_encoding::KeyEncoding;
use crate::audit::policies::Policy;

/// Opens tables by their place in [`Input::tables`].
pub trait TableFiles: Sync {
    type Source: ReadAt;

    /// Opens a table with the policies of [`read_options`](crate::audit::reading::read_options), and
    /// keys as they are stored.
    fn open(&self, table: usize) -> Result<Table<Self::Source>>;
}

/// A table of those to tune.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableInfo {
    /// For messages.
    pub name: String,
    /// `None` for a single table.
    pub level: Option<u8>,
    /// In bytes, as the MANIFEST has it.
    pub size: u64,
}

/// The tables of a database, or a single one.
pub struct Input<'d, F> {
    pub files: F,
    /// For a database those of the MANIFEST, in its order: by level, then by number.
    pub tables: Vec<TableInfo>,
    /// `None` if the tables that a lookup comes to are not known: for a single table, and if keys
    /// are in an unknown order.
    pub manifest: Option<&'d Manifest>,
    /// The part of stored keys that filters are made of.
    pub encoding: KeyEncoding,
}

impl<F> Input<'_, F> {
    /// The level of a table.
    pub(super) fn level(&self, table: usize) -> Option<u8> {
        self.tables.get(table).and_then(|table| table.level)
    }

    /// The size of a table in bytes.
    pub(super) fn size(&self, table: usize) -> u64 {
        self.tables.get(table).map_or(0, |table| table.size)
    }
}

impl<F: TableFiles> Input<'_, F> {
    /// The places of the tables that a lookup of `key` comes to, in its order. All of them without a
    /// MANIFEST: those of one table.
    pub(super) fn visits(&self, key: &[u8]) -> Vec<u32> {
        let Some(manifest) = self.manifest else { return (0..self.tables.len() as u32).collect() };
        let all = manifest.tables();
        let place =
            |level, number| all.partition_point(|table| (table.level, table.number) < (level, number));
        manifest.tables_for(key).map(|table| place(table.level, table.number) as u32).collect()
    }

    pub(super) fn total_size(&self) -> u64 {
        self.tables.iter().fold(0, |sum, table| sum.saturating_add(table.size))
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
