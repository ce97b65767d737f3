//! The tables and database folders that paths given on the command line stand for.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::Error;
use filterblock::database::{Database, DatabaseFile, FileKind, FileState, LiveTable, Manifest};
use filterblock::database::{StrayFile, TableStatus, UnreadableFile, log_has_writes};

use super::input::{PathError, failure, kind};
use crate::report::error_kind::ErrorKind;
use crate::walk::record::TableRecord;

/// The number of names to look at for a hint.
const MAX_NAMES_BELOW: u32 = 10_000;

/// A table, or a folder.
pub enum Source {
    File,
    Folder(Arc<Folder>),
}

/// Finds out what `path` stands for. Symbolic links are followed.
pub fn resolve(path: &Path) -> Result<Source, PathError> {
    PathError::refuse_url(path)?;
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        let folder = Folder::open(path)?;
        Ok(Source::Folder(Arc::new(folder)))
    } else if metadata.is_file() {
        Ok(Source::File)
    } else {
        let expected = "a table or a database folder".to_owned();
        Err(PathError::Unexpected { expected, found: kind(metadata.file_type()).to_owned() })
    }
}

/// Reads a folder once more.
pub fn reopen(folder: &Folder) -> Result<Arc<Folder>, PathError> {
    Folder::open(folder.path()).map(Arc::new)
}

/// A folder of tables, and the database in it if there is one.
#[derive(Debug)]
pub struct Folder {
    /// The database, as far as there is one: any folder opens.
    database: Database,
    /// Made of a listing, in which everything is a file.
    is_listing: bool,
}

impl Folder {
    /// Lists the folder, and reads the MANIFEST. Fails with the message of the system if it cannot
    /// be listed.
    pub(super) fn open(path: &Path) -> Result<Self, PathError> {
        let database = Database::open(path).map_err(|error| match error.without_path() {
            Error::Io { source, .. } => failure(source, false),
            error => PathError::Failed { message: error.to_string(), kind: ErrorKind::of(error) },
        })?;
        Ok(Self { database, is_listing: false })
    }

    /// A folder that lies elsewhere, with the database made of its listing.
    #[cfg(feature = "remote")]
    pub const fn of_listing(database: Database) -> Self {
        Self { database, is_listing: true }
    }

    pub fn path(&self) -> &Path {
        self.database.dir()
    }

    pub const fn database(&self) -> &Database {
        &self.database
    }

    /// Returns true if there is a MANIFEST, or a file that says there should be one: CURRENT, or a
    /// log that is not empty.
    pub fn is_database(&self) -> bool {
        self.database.files().is_database() || self.logs().next().is_some()
    }

    /// Returns true if there is a MANIFEST that can be relied on.
    pub fn has_records(&self) -> bool {
        self.database.manifest().is_ok()
    }

    /// The reason why the MANIFEST cannot be relied on, and the file at fault. `None` also if the
    /// folder is no database.
    pub fn manifest_error(&self) -> Option<(&Path, &Error)> {
        let error = self.database.manifest().err().filter(|_| self.is_database())?;
        Some((error.path().unwrap_or(self.path()), error.without_path()))
    }

    /// The offset of the record within which the MANIFEST ends, if it does.
    pub fn incomplete_tail(&self) -> Option<u64> {
        self.database.manifest().ok()?.incomplete_tail()
    }

    /// The name of the order of user keys; `None` if the MANIFEST cannot be relied on.
    pub fn comparator(&self) -> Option<&[u8]> {
        self.database.comparator()
    }

    /// Returns true if the order of user keys is known to be LevelDB's default one.
    pub fn is_bytewise(&self) -> bool {
        self.database.is_bytewise()
    }

    /// The MANIFEST's record of the table at `path` in this folder. `None` if the MANIFEST cannot be
    /// relied on, or does not tell whether the table is live.
    pub fn record(&self, path: &Path) -> Option<TableRecord<'_>> {
        let manifest = self.database.manifest().ok()?;
        let name = path.file_name().and_then(|name| name.to_str());
        if name.and_then(FileKind::parse).is_some_and(|(kind, _)| kind != FileKind::Table) {
            return None;
        }
        let table = name.and_then(|name| self.database.table_named(name));
        let live = match table.map(|table| table.status) {
            Some(TableStatus::Live(live)) => Some(live),
            Some(TableStatus::Unknown) => return None,
            _ => None,
        };
        let is_unlisted = table.is_some_and(|table| table.status == TableStatus::Unlisted);
        Some(TableRecord { is_unlisted, ..record(manifest, live) })
    }

    /// The live tables that are not there, with the usual path and the MANIFEST's record of each.
    /// Those that cannot be looked at are [`skipped`](Self::skipped) instead.
    pub fn missing(&self) -> impl Iterator<Item = (PathBuf, &LiveTable, TableRecord<'_>)> {
        let manifest = self.database.manifest().ok();
        let missing = manifest
            .into_iter()
            .flat_map(|manifest| self.database.missing().map(|table| (table, record(manifest, Some(table)))));
        missing.map(|(table, record)| (self.database.table_path(table.number), table, record))
    }

    /// Returns true if it is no database and holds no table, readable or not.
    pub fn is_nothing(&self) -> bool {
        !self.is_database() && self.tables().next().is_none() && self.skipped().is_empty()
    }

    /// The reason why a folder without tables that is no database cannot be looked at.
    pub fn nothing_here(&self) -> PathError {
        let found = match has_tables_below(self.path()) {
            true => "neither, but tables in folders below it, which --recursive looks into",
            false => "neither",
        };
        PathError::Unexpected { expected: Self::EXPECTED.to_owned(), found: found.to_owned() }
    }

    /// The same of a folder in object storage.
    #[cfg(feature = "remote")]
    pub fn nothing_among(has_folders: bool) -> PathError {
        let found = match has_folders {
            true => "neither, but folders in it, which --recursive looks into",
            false => "neither",
        };
        PathError::Unexpected { expected: Self::EXPECTED.to_owned(), found: found.to_owned() }
    }

    /// The reason why a folder cannot be looked at with those below it.
    pub fn nothing_below() -> PathError {
        let found = "neither, nor in the folders below it".to_owned();
        PathError::Unexpected { expected: Self::EXPECTED.to_owned(), found }
    }

    const EXPECTED: &str = "a database, or a folder with tables (.ldb, .sst)";

    /// The `.ldb` and `.sst` files, in the order of their numbers. Those without a number come last.
    pub fn tables(&self) -> impl Iterator<Item = &Path> {
        let files = self.database.files();
        let numbered = files.of_kind(FileKind::Table).filter(|file| !file.is_link);
        let is_regular =
            |stray: &&StrayFile| stray.file_type.map_or(self.is_listing, |file_type| file_type.is_file());
        let strays = files.strays().filter(is_regular);
        numbered.map(|file| &*file.path).chain(strays.map(|stray| &*stray.path))
    }

    /// The logs that are not empty files, oldest first, and whether each may hold writes that are in
    /// no table yet.
    pub fn logs(&self) -> impl Iterator<Item = (&DatabaseFile, bool)> {
        let logs = self.database.logs().filter_map(|log| match log.file {
            FileState::Present(file) => Some((file, log.is_live)),
            _ => None,
        });
        logs.filter(|(file, _)| !file.is_link && file.len > 0)
    }

    /// The logs that are not empty files and may hold writes that are in no table yet.
    pub fn filled_logs(&self) -> impl Iterator<Item = &Path> {
        self.logs().filter(|(_, is_live)| *is_live).map(|(file, _)| &*file.path)
    }

    /// Those of them that hold writes. A log that cannot be read to its end counts, and `on_error`
    /// is called.
    pub fn logs_with_data(&self, mut on_error: impl FnMut(&Path, &Error)) -> Vec<&Path> {
        let with_data = self.filled_logs().filter(|log| {
            log_has_writes(log).unwrap_or_else(|error| {
                // Its writes are in a table by now.
                let has_vanished = ErrorKind::of(&error) == ErrorKind::Missing;
                if !has_vanished {
                    on_error(log, error.without_path());
                }
                !has_vanished
            })
        });
        with_data.collect()
    }

    /// The tables and logs that ought to be looked at and are not, and why, in the order of their
    /// numbers.
    pub fn skipped(&self) -> Vec<(&Path, PathError)> {
        let files = self.database.files();
        let links = files.iter().filter(|file| file.is_link);
        let links = links.map(|file| (file.kind, file.number, &*file.path, PathError::skipped_link()));
        let unreadable = files.unreadable();
        let unreadable =
            unreadable.map(|file| (file.kind, file.number, &*file.path, unreadable_reason(file)));
        let strays = files.strays().filter_map(|stray| {
            let name = stray.path.file_name().and_then(|name| FileKind::parse(name.to_str()?));
            let found = match stray.file_type {
                Some(file_type) if file_type.is_file() => return None,
                Some(file_type) => kind(file_type),
                None if self.is_listing => return None,
                None => "something else",
            };
            let (kind, number) = name.unwrap_or((FileKind::Table, u64::MAX));
            Some((kind, number, &*stray.path, PathError::Skipped { found }))
        });
        let all = links.chain(unreadable).chain(strays);
        let mut all: Vec<_> =
            all.filter(|(kind, ..)| matches!(kind, FileKind::Table | FileKind::Log)).collect();
        all.sort_by_key(|&(_, number, path, _)| (number, path));
        all.into_iter().map(|(_, _, path, error)| (path, error)).collect()
    }
}

/// Looks for names of tables in the folders below `folder`, at a limited number of names.
fn has_tables_below(folder: &Path) -> bool {
    let mut left = MAX_NAMES_BELOW;
    let mut folders = VecDeque::from([folder.to_owned()]);
    while let Some(path) = folders.pop_front() {
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            left -= 1;
            if left == 0 {
                return false;
            }
            let Ok(file_type) = entry.file_type() else { continue };
            if file_type.is_dir() {
                folders.push_back(entry.path());
            } else if path != folder
                && entry.path().extension().is_some_and(|end| end == "ldb" || end == "sst")
            {
                return true;
            }
        }
    }
    false
}

fn record<'d>(manifest: &'d Manifest, live: Option<&'d LiveTable>) -> TableRecord<'d> {
    TableRecord {
        comparator: manifest.comparator(),
        is_bytewise: manifest.is_bytewise(),
        live,
        is_unlisted: false,
        overlapped: live.and_then(|live| manifest.overlapped_by(live)),
    }
}

fn unreadable_reason(file: &UnreadableFile) -> PathError {
    if fs::symlink_metadata(&file.path).is_ok_and(|metadata| metadata.is_symlink()) {
        return PathError::skipped_link();
    }
    match file.error.without_path() {
        Error::Io { source, .. } => failure(source, true),
        error => PathError::Failed { message: error.to_string(), kind: ErrorKind::of(error) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &tempfile::TempDir) -> Arc<Folder> {
        let Ok(Source::Folder(folder)) = resolve(dir.path()) else { panic!("a folder") };
        folder
    }

    fn name(path: &Path) -> &str {
        path.file_name().unwrap().to_str().unwrap()
    }

    #[test]
    fn files_are_in_the_order_of_their_numbers() {
        let dir = tempfile::tempdir().unwrap();
        let names =
            ["10.ldb", "2.ldb", "000001.sst", "99999999999999999999.ldb", "x.ldb", "000002.ldb", "3.txt"];
        names.iter().for_each(|name| fs::write(dir.path().join(name), "").unwrap());
        let logs = ["9.log", "000010.log", "8.log", "x.log"];
        logs.iter().for_each(|name| fs::write(dir.path().join(name), [0; 3]).unwrap());
        fs::write(dir.path().join("7.log"), "").unwrap();
        let folder = open(&dir);
        let found: Vec<_> = folder.tables().map(name).collect();
        assert_eq!(
            found,
            ["000001.sst", "000002.ldb", "2.ldb", "10.ldb", "99999999999999999999.ldb", "x.ldb"]
        );
        assert_eq!(folder.filled_logs().map(name).collect::<Vec<_>>(), ["8.log", "9.log", "000010.log"]);
        assert_eq!(folder.skipped(), []);
    }

    #[test]
    fn a_folder_is_nothing_without_tables_and_a_manifest() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["000007.log", "notes.txt", "LOG"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::create_dir(dir.path().join("000001.tmp")).unwrap();
        assert!(open(&dir).is_nothing());
        for name in ["x.ldb", "000007.ldb"] {
            let path = dir.path().join(name);
            fs::write(&path, "").unwrap();
            assert!(!open(&dir).is_nothing(), "{name}");
            fs::remove_file(&path).unwrap();
            // Neither is there a table, but it should be looked at.
            fs::create_dir(&path).unwrap();
            assert!(!open(&dir).is_nothing(), "{name}");
            fs::remove_dir(path).unwrap();
        }
        fs::write(dir.path().join("000007.log"), "x").unwrap();
        assert!(!open(&dir).is_nothing() && open(&dir).is_database());
        fs::remove_file(dir.path().join("000007.log")).unwrap();
        fs::write(dir.path().join("CURRENT"), "x").unwrap();
        assert!(!open(&dir).is_nothing() && open(&dir).is_database());
    }

    #[test]
    fn tables_below_a_folder_are_hinted_at() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("a/b/c");
        fs::create_dir_all(&below).unwrap();
        let hint = || open(&dir).nothing_here().to_string();
        assert!(!hint().contains("--recursive"), "{}", hint());
        fs::write(below.join("000005.ldb"), "").unwrap();
        assert!(hint().contains("--recursive"), "{}", hint());
    }

    #[test]
    fn a_folder_without_a_manifest_is_no_database() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("000005.ldb"), "").unwrap();
        let folder = open(&dir);
        assert!(!folder.is_database() && folder.manifest_error().is_none());
        assert!(resolve(&dir.path().join("missing")).is_err());
        fs::write(dir.path().join("CURRENT"), "MANIFEST-000001\n").unwrap();
        let folder = open(&dir);
        assert!(folder.is_database() && !folder.has_records());
        let (path, _) = folder.manifest_error().unwrap();
        assert_eq!(path, dir.path().join("MANIFEST-000001"));
        assert_eq!((folder.missing().count(), folder.comparator()), (0, None));
        assert!(folder.record(&dir.path().join("000005.ldb")).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_whose_files_cannot_be_looked_at_is_a_database() {
        for name in ["CURRENT", "MANIFEST-000001"] {
            let dir = tempfile::tempdir().unwrap();
            std::os::unix::fs::symlink(name, dir.path().join(name)).unwrap();
            assert!(open(&dir).manifest_error().is_some(), "{name}");
        }
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("CURRENT"), "MANIFEST-000001\n").unwrap();
        std::os::unix::fs::symlink("000009.ldb", dir.path().join("000009.ldb")).unwrap();
        let folder = open(&dir);
        assert_eq!(folder.manifest_error().unwrap().0, dir.path().join("MANIFEST-000001"));
    }

    /// Links to a file, to a folder and to nothing, folders, and a link to itself.
    #[cfg(unix)]
    #[test]
    fn no_file_but_a_regular_one_is_looked_at() {
        use std::os::unix::fs::symlink;

        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("x"), "x").unwrap();
        symlink(path("x"), path("x.ldb")).unwrap();
        symlink(path("x"), path("2.ldb")).unwrap();
        symlink(path("x"), path("000003.log")).unwrap();
        symlink(dir.path(), path("000004.sst")).unwrap();
        symlink("nothing", path("000005.ldb")).unwrap();
        symlink("000006.log", path("000006.log")).unwrap();
        for name in ["000001.ldb", "10.log", "y.sst"] {
            fs::create_dir(path(name)).unwrap();
        }
        // These are neither tables nor logs.
        fs::create_dir(path("000007.tmp")).unwrap();
        fs::create_dir(path("x.log")).unwrap();
        symlink("LOCK", path("LOCK")).unwrap();
        symlink(path("x"), path("LOG")).unwrap();
        let folder = open(&dir);
        assert_eq!((folder.tables().count(), folder.filled_logs().count()), (0, 0));
        let skipped = folder.skipped();
        let skipped: Vec<_> = skipped.iter().map(|(path, error)| (name(path), error.to_string())).collect();
        let link = "skipped: expected a regular file, found a symbolic link (links are followed when named)";
        let is_folder = "skipped: expected a regular file, found a folder";
        let expected = [
            ("000001.ldb", is_folder),
            ("2.ldb", link),
            ("000003.log", link),
            ("000004.sst", link),
            ("000005.ldb", link),
            ("000006.log", link),
            ("10.log", is_folder),
            ("x.ldb", link),
            ("y.sst", is_folder),
        ];
        assert_eq!(skipped, expected.map(|(name, error)| (name, error.to_owned())));
    }
}
