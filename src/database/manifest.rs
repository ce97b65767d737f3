//! The MANIFEST as a whole (`VersionSet::Recover` in LevelDB's `db/version_set.cc`).

use std::fmt;
use std::io::Read;
use std::path::Path;

use bytes::Bytes;

use super::by_range::ByRange;
use super::current::current_manifest;
use super::edit::{Field, NUM_LEVELS, fields};
use super::live_tables::{LiveTable, LiveTables};
use super::log::{LogReader, LogRecord};
use super::version_edit::VersionEdit;
use crate::bytes::escape::quote;
use crate::table::source::open_file;
use crate::table::{BytewiseComparator, Comparator, known_comparator};
use crate::{Error, Result, Structure};

/// The contents of a MANIFEST: the live tables, and the names and numbers needed to open the
/// database.
///
/// [`read`](Self::read) and [`parse`](Self::parse) return a `Manifest` only if every complete record
/// of the file is sound.
#[derive(Clone, Default)]
pub struct Manifest {
    comparator: Option<Bytes>,
    log_number: Option<u64>,
    prev_log_number: u64,
    next_file_number: Option<u64>,
    last_sequence: Option<u64>,
    /// The live tables, sorted by level, then by number.
    tables: Vec<LiveTable>,
    /// The index of the tables' ranges of keys, if the order of keys is known.
    by_range: Option<ByRange>,
    /// The compact pointers, sorted by level.
    compact_pointers: Vec<(u8, Bytes)>,
    records: u64,
    incomplete_tail: Option<u64>,
}

/// A MANIFEST as far as it could be read, returned by [`Manifest::scan`].
#[derive(Debug)]
#[must_use]
pub struct ManifestScan {
    /// The contents of the records before the damage, and perhaps of a part of the damaged record.
    /// With damage, show them, but do not rely on them: live tables may be missing, and others
    /// included. Numbers that have not been read are 0.
    pub manifest: Manifest,
    /// The first damage, if there is any.
    pub damage: Option<Error>,
}

impl ManifestScan {
    /// The MANIFEST if it is sound.
    ///
    /// # Errors
    ///
    /// The damage.
    pub fn into_result(self) -> Result<Manifest> {
        self.damage.map_or(Ok(self.manifest), Err)
    }
}

impl Manifest {
    /// The memory that the live tables of a MANIFEST may take, in bytes, unless another limit is
    /// given: 256 MiB, which is enough for about a million tables. While the MANIFEST is read, its
    /// longest record may take as much again.
    pub const DEFAULT_MEMORY_LIMIT: usize = 256 << 20;

    /// Reads the MANIFEST that `CURRENT` names in the database folder `dir`.
    ///
    /// This costs one pass over the file, and a sort of the live tables by their keys.
    /// [`incomplete_tail`](Self::incomplete_tail) reports a last record that is cut short.
    ///
    /// # Errors
    ///
    /// With the file's path:
    ///
    /// - [`Error::Io`] if `CURRENT` or the MANIFEST cannot be read, is missing, or is not a
    ///   regular file.
    /// - [`Error::Corrupt`] if `CURRENT` does not name a MANIFEST of the same folder, a record of
    ///   the MANIFEST is damaged or contradicts another, or no record has a number that is
    ///   required.
    /// - [`Error::Unsupported`] for a record of another format.
    /// - [`Error::Limit`] for a MANIFEST that would take more than
    ///   [`DEFAULT_MEMORY_LIMIT`](Self::DEFAULT_MEMORY_LIMIT), or whose comparator has a name of
    ///   more than 4 KiB.
    pub fn read(dir: impl AsRef<Path>) -> Result<Self> {
        let path = current_manifest(dir.as_ref())?;
        let file = open_file(&path).map(|file| Self::scan(file, Self::DEFAULT_MEMORY_LIMIT));
        file.and_then(ManifestScan::into_result).map_err(|error| error.with_path(&path))
    }

    /// Reads the contents of a MANIFEST. Any bytes can be given; the memory taken is proportional
    /// to their number.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read), without a path.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Self::scan(bytes, Self::DEFAULT_MEMORY_LIMIT).into_result()
    }

    /// Reads a MANIFEST from its start up to the first damage.
    ///
    /// The longest record may take up to `memory_limit` bytes, and the live tables as much again.
    pub fn scan(mut source: impl Read, memory_limit: usize) -> ManifestScan {
        Self::scan_any(&mut source, memory_limit)
    }

    fn scan_any(source: &mut dyn Read, memory_limit: usize) -> ManifestScan {
        let mut manifest = Self::default();
        let mut tables = LiveTables::new(memory_limit as u64);
        let mut log = LogReader::new(source).max_record_len(memory_limit);
        let read = manifest.apply_all(&mut log, &mut tables);
        (manifest.tables, manifest.compact_pointers) = tables.into_parts();
        let order = manifest.comparator().and_then(known_comparator);
        manifest.by_range = order.map(|order| ByRange::new(&manifest.tables, order));
        ManifestScan { manifest, damage: read.err() }
    }

    /// The name of the comparator that orders the user keys, at most 4 KiB long. `None` if no record
    /// has a name; LevelDB and goleveldb always record one.
    pub fn comparator(&self) -> Option<&[u8]> {
        self.comparator.as_deref()
    }

    /// Returns `true` if user keys are ordered byte by byte, as LevelDB orders them by default.
    pub fn is_bytewise(&self) -> bool {
        self.comparator() == Some(BytewiseComparator.name().as_bytes())
    }

    /// Returns the lowest number of the logs whose writes may be in no table yet, apart from
    /// [`prev_log_number`](Self::prev_log_number).
    pub fn log_number(&self) -> u64 {
        self.log_number.unwrap_or_default()
    }

    /// Returns the number of one more log whose writes may be in no table yet, or 0 if there is no such log. Only
    /// early versions of LevelDB used this number.
    pub fn prev_log_number(&self) -> u64 {
        self.prev_log_number
    }

    /// Returns `true` if the log with this number may hold writes that are in no table yet
    /// (`DBImpl::Recover` in LevelDB's `db/db_impl.cc`).
    pub fn is_log_live(&self, number: u64) -> bool {
        number >= self.log_number() || number == self.prev_log_number
    }

    /// The number that the next new file gets.
    pub fn next_file_number(&self) -> u64 {
        self.next_file_number.unwrap_or_default()
    }

    /// The greatest sequence number used so far, except for writes that only logs hold.
    pub fn last_sequence(&self) -> u64 {
        self.last_sequence.unwrap_or_default()
    }

    /// The live tables of all levels: by level, and by number within each.
    pub fn tables(&self) -> &[LiveTable] {
        &self.tables
    }

    /// The live tables of one level, by number.
    pub fn level(&self, level: u8) -> &[LiveTable] {
        let start = self.tables.partition_point(|table| table.level < level);
        let end = self.tables.partition_point(|table| table.level <= level);
        debug_assert!(start <= end, "tables are sorted by level");
        // The fallback errs on the side of returning tables that are not needed.
        self.tables.get(start..end).unwrap_or(&self.tables)
    }

    /// The live tables that a lookup of `user_key` searches, in this order: those of level 0,
    /// newest first, then those of level 1, and so on (`Version::Get` in LevelDB's
    /// `db/version_set.cc`).
    ///
    /// These are the tables whose range of keys includes the key: on each of the levels 1 to 6,
    /// usually at most one. If several tables of a level have entries of this one key, returns them
    /// all, those with the newest entries first. A lookup needs only the one that its sequence number
    /// falls into. If tables overlap although they must not, or a range is damaged, returns all tables
    /// that may hold the key.
    ///
    /// Compares ranges only in a [known](known_comparator) key order. In any other, returns all tables, those of each
    /// of the levels 1 to 6 in the order of their numbers.
    ///
    /// In a known order, if the ranges are sound, this costs one pass over level 0, and a few binary searches on each
    /// of the levels 1 to 6.
    pub fn tables_for<'a>(&'a self, user_key: &'a [u8]) -> impl Iterator<Item = &'a LiveTable> + 'a {
        let by_range = self.by_range.as_ref();
        let may_hold = move |table: &&LiveTable| {
            by_range.is_none_or(|by_range| table.may_hold(user_key, by_range.order()))
        };
        let levels = (1..NUM_LEVELS).flat_map(move |level| {
            let ranged = by_range.map(|by_range| by_range.may_hold(&self.tables, level, user_key));
            let all = by_range.is_none().then(|| self.level(level));
            ranged.into_iter().flatten().chain(all.into_iter().flatten())
        });
        self.level(0).iter().rev().filter(may_hold).chain(levels)
    }

    /// The live table with this number. If two levels name it, the one on the level with the lower number is
    /// returned.
    pub fn table(&self, number: u64) -> Option<&LiveTable> {
        (0..NUM_LEVELS).find_map(|level| {
            let tables = self.level(level);
            let at = tables.binary_search_by_key(&number, |table| table.number).ok()?;
            tables.get(at)
        })
    }

    /// A live table on the same level that comes before `table`, by first key and then by number, and
    /// ends within or after it: of several such tables, the one that reaches furthest. Only level 0
    /// allows such overlaps: on any other level, LevelDB looks up a key in only one of the tables
    /// that overlap.
    ///
    /// `None` if there is no such table, if `table` is on level 0, or if the order of keys is not a
    /// [known](known_comparator) one, since overlaps are unknown then.
    pub fn overlapped_by(&self, table: &LiveTable) -> Option<&LiveTable> {
        self.by_range.as_ref()?.overlapped_by(&self.tables, table)
    }

    /// The edit that creates the state of this MANIFEST from nothing: the first record of a new
    /// MANIFEST (`VersionSet::WriteSnapshot`, with the numbers that `LogAndApply` adds).
    pub fn snapshot(&self) -> VersionEdit {
        VersionEdit {
            comparator: self.comparator.clone(),
            log_number: self.log_number,
            prev_log_number: Some(self.prev_log_number),
            next_file_number: self.next_file_number,
            last_sequence: self.last_sequence,
            compact_pointers: self.compact_pointers.clone(),
            deleted_tables: Vec::new(),
            new_tables: self.tables.clone(),
        }
    }

    /// The number of records that were read.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The offset, in bytes, of the record within which the file ends, if it ends within one.
    ///
    /// LevelDB opens such a database silently and uses the records before that one: the writer
    /// stopped there. A damaged length that reaches beyond the file looks the same, and the records
    /// after it are lost. A file cut between two records looks complete.
    pub fn incomplete_tail(&self) -> Option<u64> {
        self.incomplete_tail
    }

    fn apply_all(&mut self, log: &mut LogReader<&mut dyn Read>, tables: &mut LiveTables) -> Result<()> {
        while let Some(record) = log.read_record()? {
            self.apply(record, tables)?;
            self.records = self.records.saturating_add(1);
        }
        self.incomplete_tail = log.incomplete_tail();
        let missing = |what: &'static str| {
            let found = format!("none in {} records", self.records);
            Error::corrupt(Structure::Manifest, 0, what, found)
        };
        self.next_file_number.ok_or_else(|| missing("a next file number"))?;
        self.log_number.ok_or_else(|| missing("a log number"))?;
        self.last_sequence.ok_or_else(|| missing("a last sequence"))?;
        Ok(())
    }

    /// Applies one version edit: its deletions first, then its additions, whatever their order.
    fn apply(&mut self, record: LogRecord<'_>, tables: &mut LiveTables) -> Result<()> {
        for field in fields(record.data, record.offset) {
            match field? {
                Field::Comparator(name) => self.set_comparator(name, record.offset)?,
                Field::LogNumber(number) => self.log_number = Some(number),
                Field::PrevLogNumber(number) => self.prev_log_number = number,
                Field::NextFileNumber(number) => self.next_file_number = Some(number),
                Field::LastSequence(sequence) => self.last_sequence = Some(sequence),
                Field::DeletedTable { level, number } => tables.delete(level, number),
                Field::CompactPointer { level, key } => {
                    tables.set_compact_pointer(level, key, record.offset)?;
                }
                Field::NewTable(_) => {}
            }
        }
        for field in fields(record.data, record.offset) {
            if let Field::NewTable(table) = field? {
                tables.add(&table, record.offset)?;
            }
        }
        Ok(())
    }

    fn set_comparator(&mut self, name: &[u8], offset: u64) -> Result<()> {
        match &self.comparator {
            Some(known) if known != name => Err(Error::corrupt(
                Structure::VersionEdit,
                offset,
                format!("comparator {} as recorded before", quote(known)),
                quote(name).to_string(),
            )),
            Some(_) => Ok(()),
            None => {
                self.comparator = Some(Bytes::copy_from_slice(name));
                Ok(())
            }
        }
    }
}

impl PartialEq for Manifest {
    fn eq(&self, other: &Self) -> bool {
        self.snapshot() == other.snapshot()
            && (self.records, self.incomplete_tail) == (other.records, other.incomplete_tail)
    }
}

impl Eq for Manifest {}

impl fmt::Debug for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manifest")
            .field("comparator", &self.comparator().map(crate::escape))
            .field("log_number", &self.log_number)
            .field("prev_log_number", &self.prev_log_number)
            .field("next_file_number", &self.next_file_number)
            .field("last_sequence", &self.last_sequence)
            .field("tables", &self.tables.len())
            .field("records", &self.records)
            .field("incomplete_tail", &self.incomplete_tail)
            .finish()
    }
}
