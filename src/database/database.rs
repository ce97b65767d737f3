//! A database: its MANIFEST, compared with the files that are there (`DBImpl::RemoveObsoleteFiles`
//! in LevelDB's `db/db_impl.cc`), and its entries, from tables and logs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::{DatabaseFiles, FileState, path_in};
use super::live_tables::LiveTable;
use super::manifest::Manifest;
use super::names::{FileKind, table_names};
use crate::{Error, InternalKey, Result};

/// A database in a folder or a listing, for reading only.
///
/// [`open`](Self::open) reads a database in a folder, and [`from_listing`](Self::from_listing) or
/// [`DatabaseListing`](super::DatabaseListing) a database that is anywhere else. Opening reads
/// `CURRENT` and the MANIFEST, but no table and no log. Nothing is written or locked.
///
/// Nothing is reported as missing or obsolete in case of doubt. Without a MANIFEST that is sound from
/// end to end, every table's status is [`Unknown`](TableStatus::Unknown), every log may be live,
/// and [`manifest`](Self::manifest) gives the reason. A file whose metadata could not be read is
/// [`Unreadable`](FileState::Unreadable), not missing.
///
/// A MANIFEST that ends within a record is taken to be sound, as in LevelDB, which uses the records
/// before it. [`Manifest::incomplete_tail`] reports such an end.
///
/// The MANIFEST takes memory up to its limit, by default [`Manifest::DEFAULT_MEMORY_LIMIT`], and
/// each file takes a few hundred bytes. A clone shares them.
///
/// ```
/// use filterblock::database::{Database, FileState, TableStatus};
///
/// let database = Database::open("testdata/databases/levels")?;
/// for table in database.tables() {
///     match (table.status, table.file) {
///         (TableStatus::Live(recorded), FileState::Present(file)) => {
///             println!("{} on level {}: {} bytes", file.path.display(), recorded.level, file.len);
///         }
///         (TableStatus::Live(_), FileState::Unreadable(file)) => println!("{}", file.error),
///         (TableStatus::Live(_), FileState::Missing) => println!("{} is missing", table.number),
///         _ => println!("{} is not live, as far as is known", table.number),
///     }
/// }
/// // The tables on levels 0, 1 and 2 may hold this key, and are searched in this order.
/// let tables: Vec<u64> = database.tables_for(b"item/0001/919").map(|table| table.number).collect();
/// assert_eq!(tables, [9, 7, 5]);
/// # Ok::<(), filterblock::Error>(())
/// ```
#[derive(Clone)]
pub struct Database(Arc<Parts>);

struct Parts {
    /// The folder, or the location of the listing; empty if the database is from a listing without a location.
    dir: PathBuf,
    files: DatabaseFiles,
    manifest: Result<Manifest>,
}

/// A table of a database: a live one, with or without a file, or a table's file that is not known
/// to be live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseTable<'a> {
    /// The number that its file is named after.
    pub number: u64,
    /// Its role in the database.
    pub status: TableStatus<'a>,
    /// Its file. [`DatabaseFile::len`](super::DatabaseFile::len) is the file's actual size.
    pub file: FileState<'a>,
}

/// The role of a table in a database, according to the MANIFEST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableStatus<'a> {
    /// Part of the database, with level, size and range of keys as recorded. Its file may be
    /// missing nevertheless.
    Live(&'a LiveTable),
    /// A file that the database no longer uses, most often a table that was compacted. The MANIFEST
    /// lists no live table with its number, which is below [`Manifest::next_file_number`]. LevelDB
    /// removes the file when it next opens the database.
    ///
    /// In a database that is open, it may also be a table that a compaction is still writing.
    Obsolete,
    /// A file that the MANIFEST does not account for:
    ///
    /// - Its number is not below [`Manifest::next_file_number`], so no edit that is on disk has
    ///   added or removed it. It is still being written, is left over from a crash, comes from
    ///   another database, or is newer than the MANIFEST. LevelDB removes the file when it next
    ///   opens the database.
    /// - Or its number is live, but LevelDB opens the table under another name: `000005.sst` next to
    ///   `000005.ldb`, or `5.ldb`. LevelDB neither reads nor removes the file.
    Unlisted,
    /// A file that may or may not be live. Either there is no sound MANIFEST, or LevelDB opens this
    /// file only if it cannot open another one, which could not be read.
    Unknown,
}

/// A log of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseLog<'a> {
    /// The number that its file is named after: the higher, the newer.
    pub number: u64,
    /// Set if its writes may be in no table yet, or if there is no sound MANIFEST.
    pub is_live: bool,
    /// Its file, never missing.
    pub file: FileState<'a>,
}

impl<'a> DatabaseTable<'a> {
    /// The MANIFEST's record of the table, if it is live.
    pub const fn recorded(&self) -> Option<&'a LiveTable> {
        match self.status {
            TableStatus::Live(recorded) => Some(recorded),
            _ => None,
        }
    }

    /// Returns `true` if the table is live and has no file.
    pub const fn is_missing(&self) -> bool {
        matches!(self.file, FileState::Missing)
    }
}

impl Database {
    pub(super) fn new(dir: PathBuf, files: DatabaseFiles, manifest: Result<Manifest>) -> Self {
        Self(Arc::new(Parts { dir, files, manifest }))
    }

    /// Adds the files with these names that are there by now, unless the database has been cloned.
    pub(super) fn look_again(&mut self, names: impl IntoIterator<Item = String>) {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            parts.files.look_again(&parts.dir, names);
        }
    }

    /// The folder, as it was given. For a database from a listing, the location given to
    /// [`DatabaseListing::in_dir`](super::DatabaseListing::in_dir), or an empty path without one.
    pub fn dir(&self) -> &Path {
        &self.0.dir
    }

    /// The database with the same files and another MANIFEST, such as a corrected one. No file is looked for again.
    #[must_use]
    pub fn with_manifest(&self, manifest: Manifest) -> Self {
        Self::new(self.0.dir.clone(), self.0.files.clone(), Ok(manifest))
    }

    /// The files of tables and logs, and all other files with names that LevelDB or goleveldb uses.
    pub fn files(&self) -> &DatabaseFiles {
        &self.0.files
    }

    /// The MANIFEST.
    ///
    /// # Errors
    ///
    /// Why no MANIFEST is used, with the path of `CURRENT` or the MANIFEST: the errors of
    /// [`Manifest::read`]. All tables may be live then.
    ///
    /// The error borrows from the database: before `?`, convert it by `map_err`, such as to its text.
    pub fn manifest(&self) -> std::result::Result<&Manifest, &Error> {
        self.0.manifest.as_ref()
    }

    /// The name of the comparator that orders the user keys: [`Manifest::comparator`]. `None` if the
    /// MANIFEST records no name, or if there is no sound MANIFEST.
    pub fn comparator(&self) -> Option<&[u8]> {
        self.manifest().ok()?.comparator()
    }

    /// Returns `true` if user keys are known to be ordered byte by byte, as LevelDB orders them by
    /// default.
    pub fn is_bytewise(&self) -> bool {
        self.manifest().is_ok_and(Manifest::is_bytewise)
    }

    /// All tables: the live ones by level and number, then the other files by number and name. Among
    /// the other files, those that could not be read come last.
    ///
    /// This costs a few binary searches for each table.
    pub fn tables(&self) -> impl Iterator<Item = DatabaseTable<'_>> {
        self.live().chain(self.table_files().filter(|table| table.recorded().is_none()))
    }

    /// The table in the file with this name, which is the part of a path after the folder. `None`
    /// if the name is not that of a table, or if there is no such file, as for tables that are
    /// [`missing`](Self::missing).
    pub fn table_named(&self, name: &str) -> Option<DatabaseTable<'_>> {
        let (FileKind::Table, number) = FileKind::parse(name)? else { return None };
        let is_it = |path: &Path| path.file_name().is_some_and(|found| found == name);
        let file =
            self.0.files.of_number(FileKind::Table, number).find(|file| file.path().is_some_and(is_it));
        Some(self.in_file(number, file?))
    }

    /// The live tables whose files are missing, by level and number. Tables whose files are there
    /// but could not be read are not among them.
    ///
    /// Empty without a sound MANIFEST.
    pub fn missing(&self) -> impl Iterator<Item = &LiveTable> {
        self.live().filter(DatabaseTable::is_missing).filter_map(|table| table.recorded())
    }

    /// The logs that the MANIFEST names and that are missing, by number: [`Manifest::log_number`] and
    /// [`Manifest::prev_log_number`], unless they are 0. LevelDB makes a log before the MANIFEST names it, so
    /// the newest writes may be lost. Logs that could not be read are not among them.
    ///
    /// Empty without a sound MANIFEST.
    pub fn missing_logs(&self) -> impl Iterator<Item = u64> {
        let named = self.manifest().map_or([0; 2], |manifest| {
            let (log, before) = (manifest.log_number(), manifest.prev_log_number());
            if before == log { [0, log] } else { [before.min(log), before.max(log)] }
        });
        let is_missing =
            |log: &u64| *log != 0 && self.0.files.of_number(FileKind::Log, *log).next().is_none();
        named.into_iter().filter(is_missing)
    }

    /// The path of a new table with this number, which is also where a missing table would be.
    pub fn table_path(&self, number: u64) -> PathBuf {
        path_in(&self.0.dir, FileKind::Table.file_name(number))
    }

    /// The tables that a lookup of `user_key` searches, in the order that [`Manifest::tables_for`] gives. A lookup
    /// searches the logs before them.
    ///
    /// With a sound MANIFEST, if all these tables are present and none of them has an entry of the
    /// key, no live table has such an entry. A table that is unreadable or missing may have one.
    ///
    /// Without a sound MANIFEST these are all files of tables, in descending order of their
    /// numbers. That order means nothing: among the entries in all tables, the one with the highest
    /// sequence number is the newest.
    pub fn tables_for<'a>(&'a self, user_key: &'a [u8]) -> impl Iterator<Item = DatabaseTable<'a>> + 'a {
        let live = self.manifest().ok().map(|manifest| manifest.tables_for(user_key));
        let all = self.manifest().is_err().then(|| {
            let mut all: Vec<_> = self.table_files().collect();
            all.sort_by_key(|table| std::cmp::Reverse(table.number));
            all
        });
        live.into_iter().flatten().map(|recorded| self.with_file(recorded)).chain(all.into_iter().flatten())
    }

    /// All logs, oldest first. To find out whether a live log holds writes, call
    /// [`log_has_writes`](super::log_has_writes) with its path, or
    /// [`batch_has_writes`](super::batch_has_writes) with its contents.
    pub fn logs(&self) -> impl Iterator<Item = DatabaseLog<'_>> {
        let is_live = |number| self.manifest().map_or(true, |manifest| manifest.is_log_live(number));
        let logs = self.0.files.all_of(FileKind::Log);
        let logs = logs.map(|(number, file)| DatabaseLog { number, is_live: is_live(number), file });
        let mut logs: Vec<_> = logs.collect();
        logs.sort_by_key(|log| log.number);
        logs.into_iter()
    }

    fn live(&self) -> impl Iterator<Item = DatabaseTable<'_>> {
        self.manifest().map_or(&[][..], Manifest::tables).iter().map(|recorded| self.with_file(recorded))
    }

    fn with_file<'a>(&'a self, recorded: &'a LiveTable) -> DatabaseTable<'a> {
        let file = match self.0.files.table(recorded.number) {
            Ok(Some(file)) => FileState::Present(file),
            Err(file) => FileState::Unreadable(file),
            Ok(None) => FileState::Missing,
        };
        DatabaseTable { number: recorded.number, status: TableStatus::Live(recorded), file }
    }

    fn table_files(&self) -> impl Iterator<Item = DatabaseTable<'_>> {
        self.0.files.all_of(FileKind::Table).map(|(number, file)| self.in_file(number, file))
    }

    fn in_file<'a>(&'a self, number: u64, file: FileState<'a>) -> DatabaseTable<'a> {
        DatabaseTable { number, status: self.status(number, file), file }
    }

    fn status(&self, number: u64, file: FileState<'_>) -> TableStatus<'_> {
        let Ok(manifest) = &self.0.manifest else { return TableStatus::Unknown };
        let Some(recorded) = manifest.table(number) else {
            let is_given_away = number < manifest.next_file_number();
            return if is_given_away { TableStatus::Obsolete } else { TableStatus::Unlisted };
        };
        let [_, second] = table_names(number);
        let is_second = file.path().and_then(Path::file_name).is_some_and(|name| name == &*second);
        match self.0.files.table(number) {
            Ok(Some(opened)) if file.path() == Some(&opened.path) => TableStatus::Live(recorded),
            Err(opened) if file.path() == Some(&opened.path) => TableStatus::Live(recorded),
            // If LevelDB cannot open the file with the first name, it opens the one with the
            // second.
            Err(_) if is_second => TableStatus::Unknown,
            _ => TableStatus::Unlisted,
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("dir", &self.0.dir)
            .field("files", &self.0.files.iter().count())
            .field("unreadable", &self.0.files.unreadable().count())
            .field("manifest", &self.0.manifest)
            .finish()
    }
}

/// An entry of a database.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseEntry<'a> {
    /// The key, with sequence number and type. Type 0 is a deletion.
    pub key: InternalKey<'a>,
    /// The value, empty for a deletion.
    pub value: &'a [u8],
    /// The file that holds the entry.
    pub file: EntryFile<'a>,
    /// The offset in that file, in bytes, of the entry's data block in a table, or of its record in
    /// a log.
    pub offset: u64,
}

/// The file that holds an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryFile<'a> {
    /// A table.
    Table(DatabaseTable<'a>),
    /// A log.
    Log(DatabaseLog<'a>),
}

impl<'a> EntryFile<'a> {
    /// The file's path, as [`FileState::path`](super::FileState::path) returns it.
    pub fn path(&self) -> Option<&'a Path> {
        match self {
            Self::Table(table) => table.file.path(),
            Self::Log(log) => log.file.path(),
        }
    }
}

impl fmt::Debug for DatabaseEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseEntry")
            .field("user_key_len", &self.key.user_key.len())
            .field("sequence", &self.key.sequence)
            .field("kind", &self.key.kind)
            .field("value_len", &self.value.len())
            .field("file", &self.file)
            .field("offset", &self.offset)
            .finish()
    }
}
