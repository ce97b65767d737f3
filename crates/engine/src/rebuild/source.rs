//! The database before the rebuild, and checks that it can be rebuilt.

use std::path::Path;

use filterblock::database::{Database, FileKind, FileState, LiveTable, Manifest};
use filterblock::table::IdbComparator;
use filterblock::{escape_path, quote};

use super::file_digest::{FileDigest, current};
use crate::audit::state::faults_of;
use crate::report::{ErrorKind, RebuildStatus, StateFault};
use crate::text::{counted, error_text};
use crate::walk::{Sequential, copy_text};
use crate::write::failure::is_system;
use crate::write::{Failure, Input, Result, encode_manifest};

/// The highest file number that is accepted: goleveldb's numbers have 63 bits, and new files need higher numbers.
const MAX_NUMBER: u64 = 1 << 62;

/// The number of file numbers that are left free for a program that opens the database after a crash. goleveldb
/// refuses a database with both `000010.sst` and `000010.ldb`: the first would be a leftover, and the second a table
/// that goleveldb has just made from a log, before it removes leftovers. If both were named `.ldb`, the new table
/// would replace the leftover.
const OPENING: u64 = 1000;

/// A database with all its live tables in place.
pub(super) struct SourceDatabase<'e> {
    pub(super) input: Input<'e>,
    pub(super) manifest: Manifest,
    pub(super) manifest_file: FileDigest,
    /// The live tables, ordered by number, the oldest first.
    pub(super) tables: Vec<SourceTable>,
    /// The names of the logs that may hold writes which are in no table yet.
    pub(super) logs: Vec<String>,
    /// The first number for new files, greater than every number that was used.
    pub(super) first_free: u64,
}

#[derive(Clone)]
pub(super) struct SourceTable {
    pub(super) record: LiveTable,
    pub(super) name: String,
}

impl<'e> SourceDatabase<'e> {
    /// Reads the database. Refuses it if it is damaged. A MANIFEST that ends within a record, as a killed
    /// program leaves it, is accepted if only leftovers are missing in it. The new MANIFEST, in place too, has the
    /// state before that record, which LevelDB opens.
    pub(super) fn read(input: Input<'e>) -> Result<Self> {
        Self::try_read(input).map_err(|failure| failure.while_reading(input.dir))
    }

    fn try_read(input: Input<'e>) -> Result<Self> {
        let manifest_file = current(input)?;
        let database = input.database()?;
        check_state(input, &database, &manifest_file)?;
        let mut tables = live_tables(&database)?;
        tables.sort_by_key(|table| table.record.number);
        let mut pairs = tables.iter().zip(tables.iter().skip(1));
        if let Some((twice, _)) = pairs.find(|(a, b)| a.record.number == b.record.number) {
            let why = format!("table {} is on two levels", twice.record.number);
            let failure = Failure::refused(&input.path_of(&manifest_file.name), why);
            return Err(failure.of_kind(ErrorKind::Damaged));
        }
        let logs = database.logs().filter(|log| log.is_live);
        let logs = logs.filter_map(|log| Some(log.file.path()?.file_name()?.to_str()?.to_owned())).collect();
        let manifest = manifest(&database)?.clone();
        let mut first_free = first_free(input, &manifest)?;
        if tables.iter().any(|table| table.name.ends_with(".sst")) {
            first_free = first_free.saturating_add(OPENING);
        }
        Ok(Self { input, manifest, manifest_file, tables, logs, first_free })
    }

    /// Refuses a comparator that may treat keys of different bytes as equal: a filter from one would rule out the
    /// others. That of Chromium's IndexedDB is known, so its keys are checked instead, when a table is rewritten.
    pub(super) fn check_comparator(&self) -> Result<()> {
        if self.manifest.is_bytewise() || self.has_idb_keys() {
            return Ok(());
        }
        let name = self.manifest.comparator().unwrap_or_default();
        let why = format!("keys are ordered by {}, not known here", quote(name));
        let remedy = "--assume-bytewise-equality, if it never takes different bytes for equal";
        Err(self.input.refused(why).remedy(remedy))
    }

    pub(super) fn has_idb_keys(&self) -> bool {
        self.manifest.comparator() == Some(IdbComparator::NAME.as_bytes())
    }

    /// Fails if CURRENT, the MANIFEST or the logs have changed. `logs`: the earlier [`log_records`](Self::log_records).
    pub(super) fn check_unchanged(&self, logs: &[FileDigest]) -> Result<()> {
        if current(self.input)? == self.manifest_file && self.log_records()? == logs {
            return Ok(());
        }
        Err(Failure::in_use(format!(
            "{}: another program has opened it meanwhile: close that, and begin again",
            escape_path(self.input.dir)
        )))
    }

    /// Returns the live logs with the lengths and checksums that they have now.
    pub(super) fn log_records(&self) -> Result<Vec<FileDigest>> {
        let record = |name: &String| {
            let read = FileDigest::read(name, self.input.source(name).map(Sequential::new));
            read.map_err(|error| self.input.failed(name, &error))
        };
        self.logs.iter().map(record).collect()
    }

    /// The log number for a copy. goleveldb may have removed the log that it recorded, and begun another; a copy has no
    /// LOG file that tells so.
    pub(super) fn log_number_of_copy(&self) -> u64 {
        let recorded = self.manifest.log_number();
        let there = self.logs.iter().filter_map(|name| Some(FileKind::parse(name)?.1));
        let first = there.filter(|number| *number >= recorded && recorded > 0).min();
        first.unwrap_or(recorded)
    }

    /// Returns a MANIFEST of this number, like the database's, but with these tables and this log number.
    pub(super) fn manifest_with(
        &self,
        tables: &[LiveTable],
        number: u64,
        log_number: u64,
    ) -> Result<Vec<u8>> {
        let mut edit = self.manifest.snapshot();
        edit.new_tables = tables.to_vec();
        if log_number != self.manifest.log_number() {
            edit.log_number = Some(log_number);
        }
        edit.next_file_number = edit.next_file_number.max(Some(number.saturating_add(1)));
        Ok(encode_manifest(&edit, self.input.dir)?.0)
    }

    pub(super) fn table_bytes(&self) -> u64 {
        self.tables.iter().fold(0, |sum, table| sum.saturating_add(table.record.size))
    }
}

/// Refuses a database of which the next program that opens it may delete entries, and one whose log is missing. Files
/// that hold the only copy of entries would not be in the new MANIFEST, which a repair could still find by the old one.
fn check_state(input: Input<'_>, database: &Database, manifest_file: &FileDigest) -> Result<()> {
    let open = |path: &Path| input.engine.files.storage().open(path);
    let faults = faults_of(database, &|| Some(input.path_of(&manifest_file.name)), Some(&open));
    let titles = faults.iter().map(StateFault::title).collect::<Vec<_>>().join("; ");
    match faults.is_empty() {
        true => Ok(()),
        false => Err(input.refused(titles).of_kind(ErrorKind::Damaged)),
    }
}

fn manifest(database: &Database) -> Result<&Manifest> {
    database.manifest().map_err(|error| {
        let status = if is_system(error) { RebuildStatus::Failed } else { RebuildStatus::Refused };
        let path = error.path().unwrap_or(database.dir());
        let text = format!("{}: {}", escape_path(path), error_text(error));
        Failure { status, ..Failure::failed(text, Some(ErrorKind::of(error))) }
    })
}

/// Returns the live tables. Fails if a table's file is missing or does not have its recorded size.
pub(super) fn live_tables(database: &Database) -> Result<Vec<SourceTable>> {
    manifest(database)?;
    let live = database.tables().filter_map(|table| Some((table.recorded()?, table.file)));
    live.map(|(record, file)| {
        Ok(SourceTable { record: record.clone(), name: present(database, record, file)? })
    })
    .collect()
}

fn present(database: &Database, record: &LiveTable, file: FileState<'_>) -> Result<String> {
    let path = database.table_path(record.number);
    let FileState::Present(file) = file else {
        let mut strays = database.files().strays();
        let is_copy = |name: &str| FileKind::parse_copy(name) == Some((FileKind::Table, record.number));
        let copy = strays.find_map(|stray| {
            let name = stray.path.file_name()?.to_str()?;
            (is_copy(name) && stray.len == record.size).then(|| copy_text(name))
        });
        let why = format!("is missing{}", copy.unwrap_or_default());
        return Err(Failure::refused(&path, why).of_kind(ErrorKind::Missing));
    };
    if file.len != record.size {
        let (len, recorded) = (counted(file.len, "byte"), counted(record.size, "byte"));
        let why = format!("has {len} and should have {recorded}");
        return Err(Failure::refused(&file.path, why).of_kind(ErrorKind::Damaged));
    }
    let name = file.path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    name.ok_or_else(|| Failure::refused(&file.path, "its name is not in ASCII"))
}

/// The first number that is greater than those of all files, according to the MANIFEST and to the names in the folder.
fn first_free(input: Input<'_>, manifest: &Manifest) -> Result<u64> {
    let logs = [manifest.log_number(), manifest.prev_log_number()];
    let mut first =
        logs.map(|log| log.saturating_add(1)).into_iter().fold(manifest.next_file_number(), u64::max);
    for name in input.names()? {
        if let Some((_, number)) = FileKind::parse(&name) {
            first = first.max(number.saturating_add(1));
        }
    }
    for table in manifest.tables() {
        first = first.max(table.number.saturating_add(1));
    }
    if first > MAX_NUMBER {
        let why =
            format!("a file has the number {}, and the greatest is {MAX_NUMBER}", first.saturating_sub(1));
        return Err(input.refused(why).of_kind(ErrorKind::Unsupported));
    }
    Ok(first)
}
