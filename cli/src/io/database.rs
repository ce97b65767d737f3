//! What the MANIFEST of a database folder says of the tables in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::Error;
use filterblock::database::{DatabaseFiles, FileKind, LiveTable, Manifest, log_holds_data};

use crate::audit::key_encoding::Reading;
use crate::io::input::Folder;

/// A folder with a MANIFEST, or with something that says there should be one.
pub(crate) struct Database {
    pub(crate) folder: PathBuf,
    files: DatabaseFiles,
    /// What it says, or why it cannot be relied on.
    pub(crate) manifest: Result<Manifest, Error>,
    /// Which of the live tables have a number: places in the MANIFEST's list.
    by_number: BTreeMap<u64, usize>,
    /// The tables that begin before another one of their level ends, by number, and that other one's place in the MANIFEST's list.
    overlapped: BTreeMap<u64, usize>,
}

impl Database {
    /// The database in `folder`; `None` if it is a folder like any other. Fails where the folder cannot be listed.
    pub(crate) fn find(folder: &Path) -> Result<Option<Self>, String> {
        let files = DatabaseFiles::list(folder).map_err(|error| match error.without_path() {
            Error::Io { source, .. } => format!("listing the folder: {source}"),
            error => error.to_string(),
        })?;
        let is_one =
            |kind| files.of_kind(kind).next().is_some() || files.unreadable().any(|file| file.kind == kind);
        if !is_one(FileKind::Current) && !is_one(FileKind::Manifest) {
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

    /// What the MANIFEST records about the table at `path`; `None` if it is not one of the live ones.
    pub(crate) fn live(&self, path: &Path) -> Option<&LiveTable> {
        let name = path.file_name()?;
        let number = path.file_stem()?.to_str()?.parse().ok()?;
        let at = *self.by_number.get(&number)?;
        // Of several files with one number, LevelDB takes one.
        let taken = self.files.table(number).ok()??.path.file_name()?;
        (taken == name).then(|| self.manifest.as_ref().ok()?.tables().get(at)).flatten()
    }

    /// The table of the same level that ends behind this live one's beginning, which only level 0 allows.
    pub(crate) fn overlapped(&self, table: &LiveTable) -> Option<&LiveTable> {
        self.manifest.as_ref().ok()?.tables().get(*self.overlapped.get(&table.number)?)
    }

    /// Whether what is in the log at `path` may be in no table yet.
    pub(crate) fn is_log_live(&self, path: &Path) -> bool {
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        match (&self.manifest, number) {
            (Ok(manifest), Some(number)) => manifest.is_log_live(number),
            _ => true,
        }
    }

    /// The live tables that are not there. What is there and cannot be looked at is not among them: listing the folder tells.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &LiveTable> {
        let tables = self.manifest.as_ref().map_or(&[][..], Manifest::tables);
        tables.iter().filter(|table| self.files.table(table.number) == Ok(None))
    }

    /// Where a live table that is not there would be.
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

/// How many folders are kept in mind, for lists that go from one to the other and back.
const MAX_FOLDERS: usize = 16;

/// The databases that tables given by their paths lie in. Keeps the last ones: neighbours are looked for in them.
#[derive(Default)]
pub(crate) struct Surroundings {
    /// Folders, the one asked for last at the end.
    folders: Vec<(PathBuf, Option<Arc<Database>>)>,
}

impl Surroundings {
    /// The database that the file at `path` lies in. Where the folder cannot be listed, that is handed to `complain`, once.
    pub(crate) fn of(&mut self, path: &Path, complain: impl FnOnce(&Path, String)) -> Option<Arc<Database>> {
        let folder = folder_of(path);
        if let Some(at) = self.folders.iter().position(|(known, _)| known == folder) {
            let known = self.folders.remove(at);
            let database = known.1.clone();
            self.folders.push(known);
            return database;
        }
        let found = Database::find(folder).unwrap_or_else(|error| {
            complain(folder, error);
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

/// Finds tables that overlap where none may (`VersionSet::Builder::MaybeAddFile` in LevelDB's `db/version_set.cc`).
fn overlapped(manifest: &Manifest) -> BTreeMap<u64, usize> {
    let mut found = BTreeMap::new();
    if !manifest.is_bytewise() {
        return found;
    }
    let compare = |a: &[u8], b: &[u8]| Reading::Internal.compare(a, b);
    let mut tables: Vec<(usize, &LiveTable)> =
        manifest.tables().iter().enumerate().filter(|(_, table)| table.level > 0).collect();
    tables.sort_by(|(_, a), (_, b)| a.level.cmp(&b.level).then_with(|| compare(&a.smallest, &b.smallest)));
    // Of the level so far, the table that reaches furthest.
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
    /// The logs that are not empty and not in tables yet.
    pub(crate) fn filled_logs(&self, database: Option<&Database>) -> impl Iterator<Item = &Path> {
        let live =
            self.logs.iter().filter(move |log| database.is_none_or(|database| database.is_log_live(log)));
        live.filter(|log| fs::metadata(log).map_or(true, |log| log.len() > 0)).map(PathBuf::as_path)
    }

    /// Those of them with writes in them. A log that cannot be read to its end may have some, which is said.
    pub(crate) fn logs_with_data(
        &self,
        database: Option<&Database>,
        mut complain: impl FnMut(&Path, &Error),
    ) -> Vec<&Path> {
        let with_data = self.filled_logs(database).filter(|log| {
            log_holds_data(log).unwrap_or_else(|error| {
                complain(log, error.without_path());
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
        let mut surroundings = Surroundings::default();
        let mut complaints = 0;
        for (path, is_one) in
            [("000005.ldb", true), ("x.ldb", true), ("missing/1.ldb", false), ("missing/2.ldb", false)]
        {
            let found = surroundings.of(&folder.path().join(path), |_, _| complaints += 1);
            assert_eq!(found.is_some(), is_one, "{path}");
        }
        assert_eq!(complaints, 1);
    }

    /// Not passed over as no database.
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
