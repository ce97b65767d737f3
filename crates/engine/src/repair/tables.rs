//! The tables of the new database, which do not overlap and are on one level, and its MANIFEST.

use std::path::Path;

use filterblock::SharedPolicy;
use filterblock::database::{FileKind, LiveTable, VersionEdit};
use filterblock::table::{Compression, TableBuilder, WriteOptions};

use super::decide::{KeySink, SavedKey};
use super::order::KeyOrder;
use crate::walk::TableRecord;
use crate::write::{Failure, Input, Output, OutputFile, Result, encode_manifest, read_back, release};

/// The deepest level: whatever is written later goes above it.
const LEVEL: u8 = 6;
/// Of the MANIFEST. Those of tables follow.
const MANIFEST: u64 = 2;

#[derive(Clone)]
pub(super) struct Shape {
    pub(super) order: KeyOrder,
    pub(super) block_size: usize,
    pub(super) compression: Compression,
    /// In bytes, at which a table ends.
    pub(super) table_size: u64,
    pub(super) policy: Option<SharedPolicy>,
    /// As by early versions of LevelDB.
    pub(super) is_sst: bool,
}

/// Takes keys in ascending order, and gives away each table that is finished.
pub(super) struct NewTables<'o> {
    output: &'o dyn Output,
    shape: Shape,
    input: Input<'o>,
    finished: &'o mut dyn FnMut(NewTable) -> Result<()>,
    open: Option<(String, TableBuilder<Box<dyn OutputFile>>)>,
    key: Vec<u8>,
    /// Of the next table.
    number: u64,
}

pub(super) struct NewTable {
    name: String,
    pub(super) record: LiveTable,
    entries: u64,
}

impl<'o> NewTables<'o> {
    pub(super) fn new(
        output: &'o dyn Output,
        shape: Shape,
        input: Input<'o>,
        finished: &'o mut dyn FnMut(NewTable) -> Result<()>,
    ) -> Self {
        Self { output, shape, input, finished, open: None, key: Vec::new(), number: MANIFEST + 1 }
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        let Some((name, builder)) = self.open.take() else { return Ok(()) };
        let path = self.output.path_of(&name);
        let (file, summary) = builder.finish().map_err(|error| Failure::of(error.into_error(), &path))?;
        file.finish().map_err(|error| Failure::system("making it durable", &path, &error))?;
        let (smallest, largest) = summary.key_range.unwrap_or_default();
        let record = LiveTable::new(LEVEL, self.number, summary.file_size, smallest, largest);
        self.number = self.number.saturating_add(1);
        self.input.engine.progress.add(summary.file_size);
        (self.finished)(NewTable { name, record, entries: summary.num_entries })?;
        self.input.check()
    }

    fn builder(&mut self) -> Result<&mut TableBuilder<Box<dyn OutputFile>>> {
        if self.open.is_none() {
            let mut name = FileKind::Table.file_name(self.number);
            if self.shape.is_sst {
                name = name.replace(".ldb", ".sst");
            }
            let file = self.output.create(&name, None);
            let file =
                file.map_err(|error| Failure::system("creating it", &self.output.path_of(&name), &error))?;
            let mut options = WriteOptions::default()
                .internal_keys(true)
                .block_size(self.shape.block_size)
                .compression(self.shape.compression)
                .comparator(self.shape.order.comparator());
            if let Some(policy) = &self.shape.policy {
                options = options.filter_policies(vec![policy.clone()]);
            }
            self.open = Some((name, TableBuilder::new(file, options)));
        }
        let open = self.open.as_mut().map(|(_, builder)| builder);
        open.ok_or_else(Failure::interrupted)
    }
}

impl KeySink for NewTables<'_> {
    fn put(&mut self, SavedKey { user_key, sequence, value }: SavedKey<'_>) -> Result<()> {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.extend_from_slice(user_key);
        key.extend_from_slice(&(sequence << 8 | 1).to_le_bytes());
        let most = self.shape.table_size;
        let builder = self.builder()?;
        let added = builder.add(&key, value);
        let is_full = builder.file_size() >= most;
        if let Err(error) = added {
            let name = self.open.as_ref().map(|(name, _)| self.output.path_of(name)).unwrap_or_default();
            return Err(Failure::of(error, &name));
        }
        self.key = key;
        if is_full { self.finish() } else { Ok(()) }
    }
}

/// Reads a new table back, and lets it leave.
pub(super) fn verify(
    table: NewTable,
    output: &dyn Output,
    order: KeyOrder,
    input: Input<'_>,
) -> Result<NewTable> {
    let path = &output.path_of(&table.name);
    let record = TableRecord {
        comparator: Some(order.name().as_bytes()),
        is_bytewise: order == KeyOrder::Bytewise,
        live: Some(&table.record),
        is_unlisted: false,
        overlapped: None,
    };
    let found = read_back(output, &table.name, &record, input.engine)?;
    if let Some(problem) = found.problems.to_list().first() {
        return Err(fault(path, problem));
    }
    if found.entries != table.entries {
        return Err(fault(path, &format!("expected {} entries, found {}", table.entries, found.entries)));
    }
    release(output, &table.name)?;
    Ok(table)
}

fn fault(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::refused(path, why).and("this is a fault of this program, or of the disk")
}

pub(super) fn manifest_name() -> String {
    FileKind::Manifest.file_name(MANIFEST)
}

/// The MANIFEST, which reads back as these tables, none of which overlaps another.
pub(super) fn manifest(
    tables: &[NewTable],
    comparator: &[u8],
    last_sequence: u64,
    path: &Path,
) -> Result<Vec<u8>> {
    let mut edit = VersionEdit::default();
    edit.comparator = Some(comparator.to_vec().into());
    // There is no log, as after LevelDB's own repair.
    edit.log_number = Some(0);
    edit.prev_log_number = Some(0);
    edit.next_file_number = Some((MANIFEST + 1).saturating_add(tables.len() as u64));
    edit.last_sequence = Some(last_sequence);
    edit.new_tables = tables.iter().map(|table| table.record.clone()).collect();
    let (written, read) = encode_manifest(&edit, path)?;
    match tables.iter().find(|table| read.overlapped_by(&table.record).is_some()) {
        None => Ok(written),
        Some(table) => Err(fault(path, &format!("{} overlaps another table", table.name))),
    }
}
