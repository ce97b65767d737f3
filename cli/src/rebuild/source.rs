//! The database as it is before the rebuild, and whether it can be rebuilt.

use std::fs;
use std::path::{Path, PathBuf};

use filterblock::database::{Database, FileKind, FileState, LiveTable, LogWriter, Manifest};
use filterblock::{Error, escape_path, quote};

use super::failure::{Failure, Fault, Result};
use super::file_record::{FileRecord, current};
use crate::audit::error_kind::ErrorKind;

/// Higher numbers are refused: those of goleveldb have 63 bits, and more are to come.
const MAX_NUMBER: u64 = 1 << 62;

/// Numbers left to a program that opens the database after a crash. goleveldb refuses a database with
/// both `000010.sst` and `000010.ldb`: the first left over, the second the table that it has just made of
/// a log, before it removes what is left over. Of two names `.ldb` the new one replaces the old.
const OPENING: u64 = 1000;

/// A database with all its live tables in place.
pub(super) struct Source {
    pub(super) dir: PathBuf,
    pub(super) manifest: Manifest,
    pub(super) manifest_file: FileRecord,
    /// From the lowest number on: the oldest first.
    pub(super) tables: Vec<SourceTable>,
    /// The logs that may hold writes which are in no table yet.
    pub(super) logs: Vec<PathBuf>,
    /// The lowest number that no file has had.
    pub(super) first_free: u64,
}

/// A live table.
#[derive(Clone)]
pub(super) struct SourceTable {
    pub(super) record: LiveTable,
    pub(super) name: String,
}

impl Source {
    /// Reads the database in `dir`.
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let manifest_file = current(dir)?;
        let database = Database::open(dir).map_err(|error| Failure::of(error, dir))?;
        let manifest = match database.manifest() {
            Ok(manifest) => manifest.clone(),
            Err(error) => {
                let fault = Fault { text: error.to_string(), kind: Some(ErrorKind::of(error)) };
                let is_system = super::failure::is_system(error);
                return Err(if is_system { Failure::Failed(fault) } else { Failure::Refused(fault) });
            }
        };
        let mut tables = Vec::with_capacity(manifest.tables().len());
        for table in database.tables() {
            let Some(record) = table.recorded() else { continue };
            tables
                .push(SourceTable { record: record.clone(), name: present(&database, record, table.file)? });
        }
        tables.sort_by_key(|table| table.record.number);
        let mut pairs = tables.iter().zip(tables.iter().skip(1));
        if let Some((twice, _)) = pairs.find(|(a, b)| a.record.number == b.record.number) {
            let why = format!(
                "table {} is on two levels; only one table of a number was expected",
                twice.record.number
            );
            let failure = Failure::refused(&dir.join(&manifest_file.name), why);
            return Err(failure.of_kind(ErrorKind::Damaged));
        }
        let mut logs = Vec::new();
        for log in database.logs().filter(|log| log.is_live) {
            match log.file {
                FileState::Present(file) => logs.push(file.path.clone()),
                FileState::Unreadable(file) => return Err(unreadable(&file.error)),
                _ => {}
            }
        }
        let mut first_free = first_free(dir, &manifest)?;
        if tables.iter().any(|table| table.name.ends_with(".sst")) {
            first_free = first_free.saturating_add(OPENING);
        }
        Ok(Self { dir: dir.to_owned(), manifest, manifest_file, tables, logs, first_free })
    }

    /// Refuses a database whose comparator may take keys of different bytes for equal: filters would
    /// deny such keys.
    pub(super) fn check_comparator(&self) -> Result<()> {
        if self.manifest.is_bytewise() {
            return Ok(());
        }
        let name = self.manifest.comparator().unwrap_or_default();
        let why = format!(
            "expected keys in bytewise order, found the comparator {}; if it takes no keys of different bytes \
             for equal, add --assume-bytewise-equality",
            quote(name)
        );
        Err(Failure::refused(&self.dir, why))
    }

    /// Refuses what only a copy can be made of.
    pub(super) fn check_in_place(&self) -> Result<()> {
        let path = self.dir.join(&self.manifest_file.name);
        if let Some(offset) = self.manifest.incomplete_tail() {
            let why = format!(
                "expected whole records, found one that is cut off at offset {offset}; open the database once \
                 with its program, or make a copy with --to"
            );
            return Err(Failure::refused(&path, why).of_kind(ErrorKind::Damaged));
        }
        let names = ["CURRENT", "LOCK", &*self.manifest_file.name].map(str::to_owned);
        for name in names.into_iter().chain(self.tables.iter().map(|table| table.name.clone())) {
            let path = self.dir.join(name);
            if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
                let why =
                    "expected a regular file, found a symbolic link or something else; --to makes a copy";
                return Err(Failure::refused(&path, why));
            }
        }
        Ok(())
    }

    /// Refuses if CURRENT, the MANIFEST or `logs`, those of [`log_records`](Self::log_records), are no
    /// longer as they were read.
    pub(super) fn check_unchanged(&self, logs: &[FileRecord]) -> Result<()> {
        if current(&self.dir)? == self.manifest_file && self.log_records()? == logs {
            return Ok(());
        }
        Err(Failure::InUse(format!(
            "{}: the database was opened by another program meanwhile; close that, and begin again",
            escape_path(&self.dir)
        )))
    }

    /// The live logs as they are.
    pub(super) fn log_records(&self) -> Result<Vec<FileRecord>> {
        let record = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            FileRecord::read(&self.dir, name.unwrap_or_default())
                .map_err(|error| Failure::system("reading it", path, &error))
        };
        self.logs.iter().map(record).collect()
    }

    /// The contents of a MANIFEST of this number, which says of the database what its own one does, but
    /// for the tables: these ones.
    pub(super) fn manifest_with(&self, tables: &[LiveTable], number: u64) -> Result<Vec<u8>> {
        let mut edit = self.manifest.snapshot();
        edit.new_tables = tables.to_vec();
        edit.next_file_number = edit.next_file_number.max(Some(number.saturating_add(1)));
        let mut record = Vec::new();
        let mut log = LogWriter::new(Vec::new());
        let encoded = edit.encode(&mut record).and_then(|()| log.add_record(&record));
        encoded.map_err(|error| Failure::of(error, &self.dir))?;
        Ok(log.into_writer())
    }

    /// The size of all live tables, in bytes.
    pub(super) fn table_bytes(&self) -> u64 {
        self.tables.iter().fold(0, |sum, table| sum.saturating_add(table.record.size))
    }
}

/// A file whose metadata cannot be read.
fn unreadable(error: &Error) -> Failure {
    Failure::Failed(Fault { text: error.to_string(), kind: Some(ErrorKind::of(error)) })
}

/// The name of a live table's file, if that is there with the size it should have.
fn present(database: &Database, record: &LiveTable, file: FileState<'_>) -> Result<String> {
    let path = database.table_path(record.number);
    let file = match file {
        FileState::Present(file) => file,
        FileState::Unreadable(file) => return Err(unreadable(&file.error)),
        _ => {
            let why = format!(
                "expected a table of {} bytes on level {}, found no such file",
                record.size, record.level
            );
            return Err(Failure::refused(&path, why).of_kind(ErrorKind::Missing));
        }
    };
    if file.len != record.size {
        let why = format!("expected {} bytes, as the MANIFEST has it, found {}", record.size, file.len);
        return Err(Failure::refused(&file.path, why).of_kind(ErrorKind::Damaged));
    }
    let name = file.path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    name.ok_or_else(|| Failure::refused(&file.path, "expected a name in ASCII"))
}

/// The first number above all that the MANIFEST gives and all that are in the names of files.
fn first_free(dir: &Path, manifest: &Manifest) -> Result<u64> {
    let list = |error| Failure::system("listing it", dir, &error);
    let logs = [manifest.log_number(), manifest.prev_log_number()];
    let mut first =
        logs.map(|log| log.saturating_add(1)).into_iter().fold(manifest.next_file_number(), u64::max);
    for entry in fs::read_dir(dir).map_err(list)? {
        let name = entry.map_err(list)?.file_name();
        if let Some((_, number)) = name.to_str().and_then(FileKind::parse) {
            first = first.max(number.saturating_add(1));
        }
    }
    for table in manifest.tables() {
        first = first.max(table.number.saturating_add(1));
    }
    if first > MAX_NUMBER {
        let why = format!("expected numbers of files up to {MAX_NUMBER}, found {}", first.saturating_sub(1));
        return Err(Failure::refused(dir, why).of_kind(ErrorKind::Unsupported));
    }
    Ok(first)
}
