//! A whole database: the MANIFEST beside the files that are there (`DBImpl::Recover` and
//! `DBImpl::RemoveObsoleteFiles` in LevelDB's `db/db_impl.cc`).

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use super::folder::{DatabaseFiles, FileState, path_in};
use super::live_tables::LiveTable;
use super::manifest::{Manifest, ManifestScan};
use super::names::{FileKind, table_names};
use crate::{Error, Result};

/// The most readings of a database that changes all the time.
const MAX_READINGS: u32 = 16;

/// A database as it lies in a folder or a listing, for reading only.
///
/// [`open`](Self::open) takes it from a folder, [`from_listing`](Self::from_listing) or
/// [`DatabaseListing`](super::DatabaseListing) from anywhere else. Opening reads `CURRENT` and the
/// MANIFEST, but no table and no log. Nothing is written or locked.
///
/// In doubt nothing is called missing or obsolete. Without a MANIFEST that is sound from end to
/// end, every table's status is [`Unknown`](TableStatus::Unknown), every log may be live, and
/// [`manifest`](Self::manifest) tells why. A file that the system would not let be looked at is
/// [`Unreadable`](FileState::Unreadable), not missing.
///
/// A MANIFEST that ends within a record counts as sound, as in LevelDB, which goes by the records
/// before. [`Manifest::incomplete_tail`] tells.
///
/// Memory: the MANIFEST's, up to its limit, and a few hundred bytes for each file.
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
/// // The tables on the levels 0, 1 and 2 may hold this key, and are asked in this order.
/// let asked: Vec<u64> = database.tables_for(b"item/0001/919").map(|table| table.number).collect();
/// assert_eq!(asked, [9, 7, 5]);
/// # Ok::<(), filterblock::Error>(())
/// ```
pub struct Database {
    /// Empty if the database lies in no folder.
    dir: PathBuf,
    files: DatabaseFiles,
    manifest: Result<Manifest>,
}

/// A table of a database: one that is live, or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseTable<'a> {
    /// The number that its file is named by.
    pub number: u64,
    /// Its part in the database.
    pub status: TableStatus<'a>,
    /// Its file. [`DatabaseFile::len`](super::DatabaseFile::len) is the size that it really has.
    pub file: FileState<'a>,
}

/// The part that a table has in a database, by the MANIFEST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableStatus<'a> {
    /// Part of the database, with level, size and range of keys as recorded. Its file may be
    /// missing nevertheless.
    Live(&'a LiveTable),
    /// A file that the database no longer uses, most often a table that was compacted. The MANIFEST
    /// does not name its number, which is below [`Manifest::next_file_number`]. LevelDB removes it
    /// when it opens the database next.
    ///
    /// In a database that is open, it may also be a table that a compaction is still writing.
    Obsolete,
    /// A file that the MANIFEST does not account for:
    ///
    /// - Its number is not below [`Manifest::next_file_number`], so no edit that is on disk has
    ///   named or removed it. It is still being written, was left behind by a crash, comes from
    ///   another database, or is newer than the MANIFEST. LevelDB removes it when it opens the
    ///   database next.
    /// - Or its number is live, but LevelDB opens the table under another name: `000005.sst` beside
    ///   `000005.ldb`, or `5.ldb`. LevelDB neither reads nor removes it.
    Unlisted,
    /// A file that may or may not be live. The MANIFEST is of no use, or LevelDB opens this file
    /// only if it cannot open another one, which could not be looked at.
    Unknown,
}

/// A log of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseLog<'a> {
    /// The number that its file is named by: the higher, the newer.
    pub number: u64,
    /// Set if its writes may be in no table yet, and also if the MANIFEST is of no use.
    pub is_live: bool,
    /// Its file, never missing.
    pub file: FileState<'a>,
}

impl<'a> DatabaseTable<'a> {
    /// The MANIFEST's record of it, if it is live.
    pub const fn recorded(&self) -> Option<&'a LiveTable> {
        match self.status {
            TableStatus::Live(recorded) => Some(recorded),
            _ => None,
        }
    }

    /// Tells whether the table is live and has no file.
    pub const fn is_missing(&self) -> bool {
        matches!(self.file, FileState::Missing)
    }
}

impl Database {
    /// Opens the database in the folder `dir`.
    ///
    /// A folder without a database opens, too. [`DatabaseFiles::is_database`] tells.
    ///
    /// A database in use is seen in one state. The folder is listed before the MANIFEST is read.
    /// Live tables that are not in the listing, and the log that the MANIFEST names, are looked for
    /// once more, since they may have been written meanwhile. If tables are missing then, or the
    /// MANIFEST is missing, damaged or cut off, all is read again, up to 16 times, until two
    /// readings on end agree.
    ///
    /// Later on, tables may vanish as the writer goes on. Whoever cannot open one opens the database
    /// again: its entries are in tables that are listed then.
    ///
    /// Costs one pass over the folder's names and one over the MANIFEST, which may take as much
    /// memory as [`Manifest::DEFAULT_MEMORY_LIMIT`]; twice that if something seems wrong.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], with the path, if the folder cannot be listed. What is wrong with `CURRENT`
    /// or the MANIFEST does not fail: it is kept for [`manifest`](Self::manifest).
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        Self::open_with_limit(dir, Manifest::DEFAULT_MEMORY_LIMIT)
    }

    /// As [`open`](Self::open), with `memory_limit` in bytes for the MANIFEST, as
    /// [`Manifest::scan`] has it.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with_limit(dir: impl AsRef<Path>, memory_limit: usize) -> Result<Self> {
        Self::open_settled(|| Self::read(dir.as_ref(), memory_limit))
    }

    /// Calls `read` until what seems wrong with the database is wrong in two readings on end, so
    /// that no writer's work in between is the reason.
    fn open_settled(mut read: impl FnMut() -> Result<Self>) -> Result<Self> {
        let mut database = read()?;
        for _ in 1..MAX_READINGS {
            if !database.is_doubtful() {
                break;
            }
            let before = std::mem::replace(&mut database, read()?);
            if database.is_confirmed_by(&before) {
                break;
            }
        }
        Ok(database)
    }

    /// Lists the folder, then reads the MANIFEST, then looks for files that came in between.
    ///
    /// In this order, whatever the MANIFEST names was either listed, or written since, or removed
    /// since. The other way round, a table could be removed and the log with newer writes be made
    /// without a trace of either.
    fn read(dir: &Path, memory_limit: usize) -> Result<Self> {
        let files = DatabaseFiles::list(dir)?;
        let manifest = Manifest::scan_folder(dir, memory_limit).and_then(ManifestScan::into_result);
        let mut database = Self::new(dir.to_owned(), files, manifest);
        database.catch_up();
        Ok(database)
    }

    /// Tells whether a writer at work could be the reason for what seems wrong: a MANIFEST that was
    /// replaced or is just being written, or tables that were removed after it was read.
    fn is_doubtful(&self) -> bool {
        match &self.manifest {
            Ok(manifest) => manifest.incomplete_tail().is_some() || self.missing().next().is_some(),
            Err(_) => self.files.is_database(),
        }
    }

    /// Tells whether all that seems wrong was so in an earlier reading, too. Numbers of tables are
    /// never used again: one that is live in both was so all the time in between, and was looked for
    /// in between.
    fn is_confirmed_by(&self, before: &Self) -> bool {
        match (&self.manifest, &before.manifest) {
            (Ok(now), Ok(then)) => {
                let missing: BTreeSet<u64> = before.missing().map(|table| table.number).collect();
                now.incomplete_tail() == then.incomplete_tail()
                    && self.missing().all(|table| missing.contains(&table.number))
            }
            (Err(now), Err(then)) => now.to_string() == then.to_string(),
            _ => false,
        }
    }

    pub(super) const fn new(dir: PathBuf, files: DatabaseFiles, manifest: Result<Manifest>) -> Self {
        Self { dir, files, manifest }
    }

    /// Adds files that were written after the listing and before the MANIFEST that names them.
    fn catch_up(&mut self) {
        let Ok(manifest) = &self.manifest else { return };
        let log = (FileKind::Log, manifest.log_number());
        let is_listed = self.files.iter().any(|file| (file.kind, file.number) == log)
            || self.files.unreadable().any(|file| (file.kind, file.number) == log);
        let log = (!is_listed).then(|| FileKind::Log.file_name(manifest.log_number()));
        // A number may be on two levels.
        let mut names: BTreeSet<String> =
            self.missing().flat_map(|table| table_names(table.number)).collect();
        names.extend(log);
        self.files.look_again(&self.dir, names);
    }

    /// The folder, as it was given. Empty if the database is from a listing.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The files of tables and logs, and all others with a name of LevelDB's or goleveldb's.
    pub const fn files(&self) -> &DatabaseFiles {
        &self.files
    }

    /// The MANIFEST.
    ///
    /// # Errors
    ///
    /// Why there is none that can be relied on, with the path of `CURRENT` or the MANIFEST: the
    /// errors of [`Manifest::read`]. All tables may be live then.
    pub const fn manifest(&self) -> std::result::Result<&Manifest, &Error> {
        self.manifest.as_ref()
    }

    /// The name of the comparator that orders the user keys: [`Manifest::comparator`]. `None` also
    /// without a sound MANIFEST.
    pub fn comparator(&self) -> Option<&[u8]> {
        self.manifest().ok()?.comparator()
    }

    /// Tells whether user keys are known to be ordered byte by byte, as LevelDB does by default.
    pub fn is_bytewise(&self) -> bool {
        self.manifest().is_ok_and(Manifest::is_bytewise)
    }

    /// All tables: the live ones by level and number, then the files that are not live by number and
    /// name, and last such files that could not be looked at.
    ///
    /// Costs a few binary searches for each table.
    pub fn tables(&self) -> impl Iterator<Item = DatabaseTable<'_>> {
        self.live().chain(self.table_files().filter(|table| table.recorded().is_none()))
    }

    /// The table in the file of this name, which is the part of a path behind the folder. `None` if
    /// there is no such file, as for tables that are [`missing`](Self::missing).
    pub fn table_named(&self, name: &str) -> Option<DatabaseTable<'_>> {
        let (FileKind::Table, number) = FileKind::parse(name)? else { return None };
        let is_it = |path: &Path| path.file_name().is_some_and(|found| found == name);
        let file = self.files.of_number(FileKind::Table, number).find(|file| file.path().is_some_and(is_it));
        Some(self.in_file(number, file?))
    }

    /// The live tables that are not there, by level and number. What is there and could not be
    /// looked at is not among them.
    ///
    /// There is none without a sound MANIFEST.
    pub fn missing(&self) -> impl Iterator<Item = &LiveTable> {
        self.live().filter(DatabaseTable::is_missing).filter_map(|table| table.recorded())
    }

    /// The path of a new table of this number, which is also where a missing one would be.
    pub fn table_path(&self, number: u64) -> PathBuf {
        path_in(&self.dir, FileKind::Table.file_name(number))
    }

    /// The tables that a lookup of `user_key` asks, in its order: [`Manifest::tables_for`]. Before
    /// them it looks into the logs.
    ///
    /// If all of them are present and none has an entry of the key, no table has. One that is
    /// unreadable or missing may have it.
    ///
    /// Without a sound MANIFEST these are all files of tables, by number from the highest on. That
    /// order tells nothing: the entry with the highest sequence number counts, of those in all
    /// tables.
    pub fn tables_for<'a>(&'a self, user_key: &'a [u8]) -> impl Iterator<Item = DatabaseTable<'a>> + 'a {
        let live = self.manifest().ok().map(|manifest| manifest.tables_for(user_key));
        let all = self.manifest().is_err().then(|| {
            let mut all: Vec<_> = self.table_files().collect();
            all.sort_by_key(|table| std::cmp::Reverse(table.number));
            all
        });
        live.into_iter().flatten().map(|recorded| self.with_file(recorded)).chain(all.into_iter().flatten())
    }

    /// All logs, oldest first. Of a live one, [`log_has_writes`](super::log_has_writes) tells from
    /// its file whether it holds writes, and [`batch_has_writes`](super::batch_has_writes) from its
    /// contents.
    pub fn logs(&self) -> impl Iterator<Item = DatabaseLog<'_>> {
        let is_live = |number| self.manifest().map_or(true, |manifest| manifest.is_log_live(number));
        let logs = self.files.all_of(FileKind::Log);
        let logs = logs.map(|(number, file)| DatabaseLog { number, is_live: is_live(number), file });
        let mut logs: Vec<_> = logs.collect();
        logs.sort_by_key(|log| log.number);
        logs.into_iter()
    }

    fn live(&self) -> impl Iterator<Item = DatabaseTable<'_>> {
        self.manifest().map_or(&[][..], Manifest::tables).iter().map(|recorded| self.with_file(recorded))
    }

    fn with_file<'a>(&'a self, recorded: &'a LiveTable) -> DatabaseTable<'a> {
        let file = match self.files.table(recorded.number) {
            Ok(Some(file)) => FileState::Present(file),
            Err(file) => FileState::Unreadable(file),
            Ok(None) => FileState::Missing,
        };
        DatabaseTable { number: recorded.number, status: TableStatus::Live(recorded), file }
    }

    fn table_files(&self) -> impl Iterator<Item = DatabaseTable<'_>> {
        self.files.all_of(FileKind::Table).map(|(number, file)| self.in_file(number, file))
    }

    fn in_file<'a>(&'a self, number: u64, file: FileState<'a>) -> DatabaseTable<'a> {
        DatabaseTable { number, status: self.status(number, file), file }
    }

    fn status(&self, number: u64, file: FileState<'_>) -> TableStatus<'_> {
        let Ok(manifest) = &self.manifest else { return TableStatus::Unknown };
        let Some(recorded) = manifest.table(number) else {
            let is_given_away = number < manifest.next_file_number();
            return if is_given_away { TableStatus::Obsolete } else { TableStatus::Unlisted };
        };
        let [_, second] = table_names(number);
        let is_second = file.path().and_then(Path::file_name).is_some_and(|name| name == &*second);
        match self.files.table(number) {
            Ok(Some(opened)) if file.path() == Some(&opened.path) => TableStatus::Live(recorded),
            Err(opened) if file.path() == Some(&opened.path) => TableStatus::Live(recorded),
            // If LevelDB cannot read the first, it reads the second.
            Err(_) if is_second => TableStatus::Unknown,
            _ => TableStatus::Unlisted,
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("dir", &self.dir)
            .field("files", &self.files.iter().count())
            .field("unreadable", &self.files.unreadable().count())
            .field("manifest", &self.manifest)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Files that were written after the folder was listed and before the MANIFEST was read.
    #[cfg_attr(miri, ignore = "reads large test data")]
    #[test]
    fn what_changes_between_two_readings_is_not_damage() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/databases/levels");
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        // Nobody looks into the tables.
        let tables = ["000005.ldb", "000007.ldb", "000009.ldb"];
        // Reads the database once in each of these states, and again from the first one on.
        let open = |states: &[&str]| {
            let mut readings = 0;
            let database = Database::open_settled(|| {
                for name in ["CURRENT", "MANIFEST-000008"] {
                    fs::copy(source.join(name), dir.join(name)).unwrap();
                }
                tables.iter().for_each(|name| fs::write(dir.join(name), "").unwrap());
                match states[readings % states.len()] {
                    "sound" => {}
                    "no MANIFEST" => fs::write(dir.join("CURRENT"), "MANIFEST-000777\n").unwrap(),
                    "cut" => {
                        // The first bytes of a record of 16.
                        let mut manifest = fs::read(source.join("MANIFEST-000008")).unwrap();
                        manifest.extend([0, 0, 0, 0, 16, 0, 1, 9]);
                        fs::write(dir.join("MANIFEST-000008"), manifest).unwrap();
                    }
                    table => fs::remove_file(dir.join(table)).unwrap(),
                }
                readings += 1;
                Database::read(dir, Manifest::DEFAULT_MEMORY_LIMIT)
            });
            let database = database.unwrap();
            let seems = match database.manifest() {
                Err(_) => "no MANIFEST".to_owned(),
                Ok(manifest) if manifest.incomplete_tail().is_some() => "cut".to_owned(),
                Ok(_) => format!("{:?}", database.missing().map(|table| table.number).collect::<Vec<_>>()),
            };
            (readings, seems)
        };
        for (states, readings, seems) in [
            (&["sound"][..], 1, "[]"),
            (&["000005.ldb", "sound"], 2, "[]"),
            (&["000005.ldb", "000005.ldb"], 2, "[5]"),
            (&["000005.ldb", "000007.ldb", "sound"], 3, "[]"),
            (&["000005.ldb", "000007.ldb", "000007.ldb"], 3, "[7]"),
            (&["no MANIFEST", "sound"], 2, "[]"),
            (&["no MANIFEST", "no MANIFEST"], 2, "no MANIFEST"),
            (&["no MANIFEST", "000005.ldb", "000005.ldb"], 3, "[5]"),
            (&["cut", "sound"], 2, "[]"),
            (&["cut", "cut"], 2, "cut"),
            (&["sound", "cut"], 1, "[]"),
        ] {
            assert_eq!(open(states), (readings, seems.to_owned()), "{states:?}");
        }
        // No two readings agree.
        assert_eq!(open(&["000005.ldb", "000007.ldb"]).0, MAX_READINGS as usize);
    }

    #[cfg_attr(miri, ignore = "reads large test data")]
    #[test]
    fn files_that_are_newer_than_the_listing_are_found() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/databases/levels");
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        for name in ["CURRENT", "MANIFEST-000008"] {
            fs::copy(source.join(name), dir.join(name)).unwrap();
        }
        fs::write(dir.join("000005.ldb"), "").unwrap();
        let listed = DatabaseFiles::list(dir).unwrap();
        for name in ["000007.sst", "000010.log", "000011.log"] {
            fs::write(dir.join(name), "").unwrap();
        }
        fs::write(dir.join("000012.ldb"), "").unwrap();

        let mut database = Database::new(dir.to_owned(), listed, Manifest::read(dir));
        let missing = |database: &Database| database.missing().map(|table| table.number).collect::<Vec<_>>();
        assert_eq!((missing(&database), database.logs().count()), (vec![9, 7], 0));
        database.catch_up();
        assert_eq!(missing(&database), [9]);
        assert_eq!(database.logs().map(|log| log.number).collect::<Vec<_>>(), [10]);
        let found = database.table_named("000007.sst").unwrap();
        assert_eq!(found.recorded().map(|table| table.level), Some(1));
        assert!(database.files().iter().is_sorted_by_key(|file| (file.kind, file.number)));
        assert_eq!(database.tables().count(), 3);

        // Nothing twice.
        let before = database.files().clone();
        database.catch_up();
        assert_eq!(*database.files(), before);
        // A folder is no table, whether it was listed or not.
        for _ in 0..2 {
            fs::create_dir_all(dir.join("000009.ldb")).unwrap();
            database.catch_up();
            assert_eq!((missing(&database), database.files().strays().count()), (vec![9], 1));
        }
    }
}
