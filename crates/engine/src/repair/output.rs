//! The new database: tables that do not overlap, on one level.

use std::{fs::File, path::Path};

use filterblock::database::{FileKind, LiveTable, LogWriter, Manifest, VersionEdit};
use filterblock::table::{Compression, TableBuilder, WriteOptions};
use filterblock::{KeyFormat, SharedPolicy};

use super::decide::{SavedKey, Sink};
use super::order::KeyOrder;
use crate::audit::verify;
use crate::engine::Engine;
use crate::rebuild::request::check;
use crate::run::Watch;
use crate::walk::{READ_AHEAD, TableRecord, Windowed};
use crate::write::{Dir, Failure, NewFile, Result};

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

pub(super) struct Output<'o> {
    folder: &'o Dir,
    shape: Shape,
    /// The new files get its permissions.
    like: Option<&'o File>,
    watch: &'o dyn Watch,
    open: Option<(String, TableBuilder<NewFile>)>,
    key: Vec<u8>,
    pub(super) tables: Vec<NewTable>,
}

pub(super) struct NewTable {
    pub(super) name: String,
    record: LiveTable,
    entries: u64,
}

impl<'o> Output<'o> {
    pub(super) const fn new(
        folder: &'o Dir,
        shape: Shape,
        like: Option<&'o File>,
        watch: &'o dyn Watch,
    ) -> Self {
        Self { folder, shape, like, watch, open: None, key: Vec::new(), tables: Vec::new() }
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        let Some((name, builder)) = self.open.take() else { return Ok(()) };
        let path = self.folder.path_of(&name);
        let (file, summary) = builder.finish().map_err(|error| Failure::of(error.into_error(), &path))?;
        let rights = self.like.map_or(Ok(()), |like| file.copy_rights(like));
        rights
            .map_err(|error| Failure::system("giving it owner and mode of the old files", &path, &error))?;
        file.sync().map_err(|error| Failure::system("making it durable", &path, &error))?;
        let (smallest, largest) = summary.key_range.unwrap_or_default();
        let record = LiveTable::new(LEVEL, self.number(), summary.file_size, smallest, largest);
        self.watch.add(summary.file_size);
        self.tables.push(NewTable { name, record, entries: summary.num_entries });
        check(self.watch)
    }

    fn number(&self) -> u64 {
        MANIFEST.saturating_add(1).saturating_add(self.tables.len() as u64)
    }

    pub(super) fn size(&self) -> u64 {
        self.tables.iter().fold(0, |sum, table| sum.saturating_add(table.record.size))
    }

    pub(super) fn manifest(&self, comparator: &[u8], last_sequence: u64) -> Result<Vec<u8>> {
        let mut edit = VersionEdit::default();
        edit.comparator = Some(comparator.to_vec().into());
        let next = self.number();
        // There is no log, as after LevelDB's own repair.
        edit.log_number = Some(0);
        edit.prev_log_number = Some(0);
        edit.next_file_number = Some(next);
        edit.last_sequence = Some(last_sequence);
        edit.new_tables = self.tables.iter().map(|table| table.record.clone()).collect();
        let mut record = Vec::new();
        let mut log = LogWriter::new(Vec::new());
        let encoded = edit.encode(&mut record).and_then(|()| log.add_record(&record));
        encoded.map_err(|error| Failure::of(error, Path::new("MANIFEST")))?;
        Ok(log.into_writer())
    }

    pub(super) fn manifest_name() -> String {
        FileKind::Manifest.file_name(MANIFEST)
    }

    /// Reads the tables back, and checks them against `manifest`.
    pub(super) fn verify(&self, manifest: &[u8]) -> Result<()> {
        let manifest = Manifest::scan(manifest, Manifest::DEFAULT_MEMORY_LIMIT).into_result();
        let path = self.folder.path_of(Self::manifest_name());
        let manifest = manifest.map_err(|error| Failure::of(error, &path))?;
        self.tables.iter().try_for_each(|table| self.verify_table(&manifest, table))
    }

    fn verify_table(&self, manifest: &Manifest, table: &NewTable) -> Result<()> {
        let path = &self.folder.path_of(&table.name);
        let fault = |why: &dyn std::fmt::Display| {
            Failure::refused(path, why).and("this is a fault of this program, or of the disk")
        };
        let record = TableRecord {
            comparator: manifest.comparator(),
            is_bytewise: manifest.is_bytewise(),
            live: manifest.table(table.record.number),
            is_unlisted: false,
            overlapped: manifest.overlapped_by(&table.record),
        };
        if record.live != Some(&table.record) {
            return Err(fault(&"expected the table in the new MANIFEST, found none or another"));
        }
        let file = self.folder.open_file(&table.name);
        let file = file.map_err(|error| Failure::system("opening it", path, &error))?;
        let progress = |bytes| self.watch.add(bytes);
        let verdict = verify::table(
            Windowed::new(file, READ_AHEAD),
            Some(&record),
            false,
            &Engine::new(),
            false,
            &progress,
        );
        match verdict.problems.to_list().first() {
            Some(problem) => Err(fault(problem)),
            None if verdict.entries != table.entries => {
                Err(fault(&format!("expected {} entries, found {}", table.entries, verdict.entries)))
            }
            None => Ok(()),
        }
    }

    fn builder(&mut self) -> Result<&mut TableBuilder<NewFile>> {
        if self.open.is_none() {
            let mut name = FileKind::Table.file_name(self.number());
            if self.shape.is_sst {
                name = name.replace(".ldb", ".sst");
            }
            let path = self.folder.path_of(&name);
            let file = self.folder.create(&name);
            let file = file.map_err(|error| Failure::system("creating it", &path, &error))?;
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

impl Sink for Output<'_> {
    fn put(&mut self, SavedKey { user_key, sequence, value, .. }: SavedKey<'_>) -> Result<()> {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.extend_from_slice(user_key);
        key.extend_from_slice(&(sequence << 8 | 1).to_le_bytes());
        debug_assert_eq!(KeyFormat::LevelDb.user_key(&key), Some(user_key), "a tag has eight bytes");
        let most = self.shape.table_size;
        let folder = self.folder;
        let builder = self.builder()?;
        let added = builder.add(&key, value);
        let is_full = builder.file_size() >= most;
        if let Err(error) = added {
            let name = self.open.as_ref().map(|(name, _)| folder.path_of(name)).unwrap_or_default();
            return Err(Failure::of(error, &name));
        }
        self.key = key;
        if is_full { self.finish() } else { Ok(()) }
    }
}

/// Drops all keys, for a dry run.
pub(super) struct Nowhere;

impl Sink for Nowhere {
    fn put(&mut self, _: SavedKey<'_>) -> Result<()> {
        Ok(())
    }
}
