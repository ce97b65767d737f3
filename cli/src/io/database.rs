//! Database folders, and the records that their MANIFEST has of the tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::Error;
use filterblock::database::{DatabaseFiles, FileKind, LiveTable, Manifest, log_has_writes};

use super::input::{Folder, PathError};
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::record::TableRecord;

/// A folder with a MANIFEST, or with a file that says there should be one.
pub(crate) struct Database {
    pub(crate) folder: PathBuf,
    files: DatabaseFiles,
    /// The MANIFEST, or why it cannot be relied on.
    pub(crate) manifest: Result<Manifest, Error>,
    /// The live tables by number, as indices into the MANIFEST's list.
    by_number: BTreeMap<u64, usize>,
    /// The tables, by number, that begin before another one of their level ends, and that other one
    /// as an index into the MANIFEST's list.
    overlapped: BTreeMap<u64, usize>,
}

impl Database {
    /// The database in `folder`; `None` if the folder is not a database. Fails if it cannot be listed.
    pub(crate) fn find(folder: &Path) -> Result<Option<Self>, PathError> {
        let files = DatabaseFiles::list(folder).map_err(|error| {
            PathError::Failed(match error.without_path() {
                Error::Io { source, .. } => format!("listing the folder: {source}"),
                error => error.to_string(),
            })
        })?;
        let has_kind =
            |kind| files.of_kind(kind).next().is_some() || files.unreadable().any(|file| file.kind == kind);
        if !has_kind(FileKind::Current) && !has_kind(FileKind::Manifest) {
            return Ok(None);
        }
        let manifest = Manifest::read(folder);
        let mut by_number = BTreeMap::new();
        for (at, table) in manifest.iter().flat_map(|manifest| manifest.tables().iter().enumerate()) {
            by_number.entry(table.number).or_insert(at);
        }
        let overlapped = manifest.as_ref().map_or_else(|_| BTreeMap::new(), overlapped);
        Ok(Some(Self { folder: folder.to_owned(), files, manifest, by_number, overlapped }))
    }

    /// The MANIFEST's record of the table at `path`; `None` if the MANIFEST cannot be relied on.
    pub(crate) fn record(&self, path: &Path) -> Option<TableRecord<'_>> {
        let manifest = self.manifest.as_ref().ok()?;
        let live = self.live(path);
        let overlapped = live.and_then(|live| manifest.tables().get(*self.overlapped.get(&live.number)?));
        Some(TableRecord {
            comparator: manifest.comparator(),
            is_bytewise: manifest.is_bytewise(),
            live,
            overlapped,
        })
    }

    fn live(&self, path: &Path) -> Option<&LiveTable> {
        let name = path.file_name()?;
        let number = path.file_stem()?.to_str()?.parse().ok()?;
        let at = *self.by_number.get(&number)?;
        // Of several files with one number, LevelDB takes one.
        let taken = self.files.table(number).ok()??.path.file_name()?;
        (taken == name).then(|| self.manifest.as_ref().ok()?.tables().get(at)).flatten()
    }

    /// Returns true if the log at `path` may hold writes that are in no table yet.
    pub(crate) fn is_log_live(&self, path: &Path) -> bool {
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        match (&self.manifest, number) {
            (Ok(manifest), Some(number)) => manifest.is_log_live(number),
            _ => true,
        }
    }

    /// The live tables that are not there. Those that cannot be looked at are not among them: they
    /// show when the folder is listed.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &LiveTable> {
        let tables = self.manifest.as_ref().map_or(&[][..], Manifest::tables);
        tables.iter().filter(|table| self.files.table(table.number) == Ok(None))
    }

    /// The usual path of a live table.
    pub(crate) fn path_of(&self, table: &LiveTable) -> PathBuf {
        self.folder.join(format!("{:06}.ldb", table.number))
    }

    /// The name of the order of user keys; `None` if the MANIFEST cannot be relied on.
    pub(crate) fn comparator(&self) -> Option<&[u8]> {
        self.manifest.as_ref().ok()?.comparator()
    }

    pub(crate) fn is_bytewise(&self) -> bool {
        self.manifest.as_ref().is_ok_and(Manifest::is_bytewise)
    }
}

/// The number of folders remembered, for lists of paths that alternate between folders.
const MAX_FOLDERS: usize = 16;

/// Remembers the last databases that tables given by their paths lie in.
#[derive(Default)]
pub(crate) struct DatabaseCache {
    /// Folders, the most recently used last.
    folders: Vec<(PathBuf, Option<Arc<Database>>)>,
}

impl DatabaseCache {
    /// The database that the file at `path` lies in. If the folder cannot be listed, `on_error` is
    /// called, once for the folder.
    pub(crate) fn around(
        &mut self,
        path: &Path,
        on_error: impl FnOnce(&Path, PathError),
    ) -> Option<Arc<Database>> {
        let folder = folder_of(path);
        if let Some(at) = self.folders.iter().position(|(known, _)| known == folder) {
            let known = self.folders.remove(at);
            let database = known.1.clone();
            self.folders.push(known);
            return database;
        }
        let found = Database::find(folder).unwrap_or_else(|error| {
            on_error(folder, error);
            None
        });
        let database = found.map(Arc::new);
        if self.folders.len() >= MAX_FOLDERS {
            self.folders.remove(0);
        }
        self.folders.push((folder.to_owned(), database.clone()));
        database
    }
}

/// Finds tables that overlap on a level that does not allow it (`VersionSet::Builder::MaybeAddFile`
/// in LevelDB's `db/version_set.cc`).
fn overlapped(manifest: &Manifest) -> BTreeMap<u64, usize> {
    let mut found = BTreeMap::new();
    if !manifest.is_bytewise() {
        return found;
    }
    let compare = |a: &[u8], b: &[u8]| KeyEncoding::Internal.compare(a, b);
    let mut tables: Vec<(usize, &LiveTable)> =
        manifest.tables().iter().enumerate().filter(|(_, table)| table.level > 0).collect();
    tables.sort_by(|(_, a), (_, b)| a.level.cmp(&b.level).then_with(|| compare(&a.smallest, &b.smallest)));
    // The table of the level so far that reaches furthest.
    let mut furthest: Option<(usize, &LiveTable)> = None;
    for (at, table) in tables {
        let before = furthest.filter(|(_, before)| before.level == table.level);
        if let Some((before, _)) =
            before.filter(|(_, before)| compare(&before.largest, &table.smallest).is_ge())
        {
            found.insert(table.number, before);
        }
        if before.is_none_or(|(_, before)| compare(&before.largest, &table.largest).is_lt()) {
            furthest = Some((at, table));
        }
    }
    found
}

/// The folder that the file at `path` lies in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Folder {
    /// The logs that are not empty and may hold writes that are in no table yet.
    pub(crate) fn filled_logs(&self, database: Option<&Database>) -> impl Iterator<Item = &Path> {
        let live =
            self.logs.iter().filter(move |log| database.is_none_or(|database| database.is_log_live(log)));
        live.filter(|log| fs::metadata(log).map_or(true, |log| log.len() > 0)).map(PathBuf::as_path)
    }

    /// Those of them that hold writes. A log that cannot be read to its end counts, and `on_error`
    /// is called.
    pub(crate) fn logs_with_data(
        &self,
        database: Option<&Database>,
        mut on_error: impl FnMut(&Path, &Error),
    ) -> Vec<&Path> {
        let with_data = self.filled_logs(database).filter(|log| {
            log_has_writes(log).unwrap_or_else(|error| {
                on_error(log, error.without_path());
                true
            })
        });
        with_data.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_without_a_manifest_is_no_database() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("000005.ldb"), "").unwrap();
        assert!(Database::find(folder.path()).unwrap().is_none());
        assert!(Database::find(&folder.path().join("missing")).is_err());
        fs::write(folder.path().join("CURRENT"), "MANIFEST-000001\n").unwrap();
        let database = Database::find(folder.path()).unwrap().unwrap();
        assert!(database.manifest.is_err());
        assert_eq!((database.missing().count(), database.comparator()), (0, None));
        assert!(database.live(&folder.path().join("000005.ldb")).is_none());
        let mut cache = DatabaseCache::default();
        let mut errors = 0;
        for (path, is_one) in
            [("000005.ldb", true), ("x.ldb", true), ("missing/1.ldb", false), ("missing/2.ldb", false)]
        {
            let found = cache.around(&folder.path().join(path), |_, _| errors += 1);
            assert_eq!(found.is_some(), is_one, "{path}");
        }
        assert_eq!(errors, 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_whose_files_cannot_be_looked_at_is_a_database() {
        for name in ["CURRENT", "MANIFEST-000001"] {
            let folder = tempfile::tempdir().unwrap();
            std::os::unix::fs::symlink(name, folder.path().join(name)).unwrap();
            assert!(
                Database::find(folder.path()).unwrap().is_some_and(|database| database.manifest.is_err()),
                "{name}"
            );
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("CURRENT"), "MANIFEST-000001\n").unwrap();
        std::os::unix::fs::symlink("000009.ldb", folder.path().join("000009.ldb")).unwrap();
        let database = Database::find(folder.path()).unwrap().unwrap();
        assert_eq!(database.manifest.unwrap_err().path(), Some(&*folder.path().join("MANIFEST-000001")));
    }

    #[test]
    fn a_name_alone_lies_in_the_current_folder() {
        assert_eq!(folder_of(Path::new("000005.ldb")), Path::new("."));
        assert_eq!(folder_of(Path::new("db/000005.ldb")), Path::new("db"));
        assert_eq!(folder_of(Path::new("/000005.ldb")), Path::new("/"));
    }
}
