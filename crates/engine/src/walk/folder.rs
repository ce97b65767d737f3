//! The tables and database folders to which the given paths lead.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use filterblock::database::{
    Database, DatabaseFile, FileKind, FileState, LiveTable, Manifest, StrayFile, TableStatus, UnreadableFile,
    batch_has_writes,
};
use filterblock::table::ReadAt;
use filterblock::{Error, escape_path};

use super::format::{FoundFormat, Open};
use super::input::kind;
use super::into_local;
use super::storage::{LocalStorage, Source, Storage, open};
use super::windowed::Sequential;
use crate::report::{ErrorKind, Fault};

/// The search for databases below a folder ends at this number of names.
const MAX_NAMES_BELOW: u32 = 10_000;

/// The end of the name of the folder that keeps what a rebuild replaced, after the database's name.
pub(crate) const UNDO_SUFFIX: &str = ".filterblock-undo";
/// The name of the record in the folder that keeps what a rebuild replaced.
pub(crate) const UNDO_RECORD: &str = "filterblock-undo";

pub(crate) enum PathKind {
    File,
    Folder(Arc<Folder>),
}

/// Finds the file or folder that `path` and symbolic links lead to. Fails for encrypted files and databases, and for
/// databases of other formats.
pub(crate) fn resolve(path: &Path, storage: &Arc<dyn Storage>) -> Result<PathKind, Fault> {
    let folder = Folder::open(path, storage)?;
    let open = |path: &Path| Some(storage.open(path).ok()? as Box<dyn ReadAt>);
    let other_format = match &folder {
        Some(folder) => folder.other_format(&open),
        None => open(path).and_then(|file| FoundFormat::of_file(path, &*file)),
    };
    match other_format {
        Some(found) => Err(found.into()),
        None => Ok(folder.map_or(PathKind::File, |folder| PathKind::Folder(Arc::new(folder)))),
    }
}

/// The other format of a database in a folder of the local file system.
pub fn other_format(database: &Database) -> Option<FoundFormat> {
    FoundFormat::of_database(database, &|path| Some(LocalStorage.open(path).ok()? as Box<dyn ReadAt>))
}

/// Returns true if `path` leads to a file, a database, or a folder with tables, or with tables or logs to skip.
pub fn is_input(path: &Path) -> bool {
    let local: Arc<dyn Storage> = Arc::new(LocalStorage);
    match resolve(&into_local(path.to_owned()), &local) {
        Ok(PathKind::File) => true,
        Ok(PathKind::Folder(folder)) => !folder.is_nothing(),
        Err(error) => error.other_format().is_some(),
    }
}

pub(crate) fn reopen(folder: &Folder) -> Result<Arc<Folder>, Fault> {
    Folder::open(folder.path(), &folder.storage)?.map(Arc::new).ok_or_else(Fault::vanished)
}

/// A remark on the file `name`, which is probably a missing table.
pub(crate) fn copy_text(name: &str) -> String {
    format!("; {} has its size, and `repair` takes it for this table", escape_path(Path::new(name)))
}

/// A folder of tables, and the database in it if there is one.
#[derive(Debug)]
pub struct Folder {
    /// The database, as far as there is one: any folder can be opened as a database.
    database: Database,
    storage: Arc<dyn Storage>,
    /// The names of files that are named as copies of tables are, by the number of the table and their size.
    copies: OnceLock<BTreeMap<(u64, u64), String>>,
}

impl Folder {
    /// Lists the folder at `path`, and reads the MANIFEST. `None` if a file is there. Fails if the folder cannot be listed.
    pub(super) fn open(path: &Path, storage: &Arc<dyn Storage>) -> Result<Option<Self>, Fault> {
        let database = storage.database(path)?;
        let storage = Arc::clone(storage);
        Ok(database.map(|database| Self { database, storage, copies: OnceLock::new() }))
    }

    pub fn path(&self) -> &Path {
        self.database.dir()
    }

    /// The folder with the same files under another MANIFEST.
    pub(crate) fn with_manifest(&self, manifest: Manifest) -> Self {
        let database = self.database.with_manifest(manifest);
        Self { database, storage: Arc::clone(&self.storage), copies: OnceLock::new() }
    }

    pub const fn database(&self) -> &Database {
        &self.database
    }

    /// Returns true if there is a MANIFEST, CURRENT, or a log that is neither empty nor a link, or if an empty log or LOG shows
    /// that the tables are those of a database that lost both. LOCK does not: own LSM trees have one, too.
    pub fn is_database(&self) -> bool {
        let files = self.database.files();
        let has = |kind| files.of_kind(kind).next().is_some();
        let has_lost = || has(FileKind::Table) && (has(FileKind::Log) || has(FileKind::InfoLog));
        files.is_database() || self.logs().next().is_some() || has_lost()
    }

    /// The other format of the database. If `open` opens nothing, only names and what was read so far tell it.
    pub(crate) fn other_format(&self, open: &Open<'_>) -> Option<FoundFormat> {
        FoundFormat::of_database(&self.database, open).filter(|_| !self.is_nothing())
    }

    /// Returns true if there is a MANIFEST that can be relied on.
    pub fn has_records(&self) -> bool {
        self.database.manifest().is_ok()
    }

    /// Why the MANIFEST cannot be used, and the file at fault. `None` also if the folder is not a database.
    pub fn manifest_error(&self) -> Option<(&Path, &Error)> {
        let error = self.database.manifest().err().filter(|_| self.is_database())?;
        Some((error.path().unwrap_or(self.path()), error.without_path()))
    }

    /// The offset of the record within which a sound MANIFEST ends; `None`: it ends after a complete record.
    pub fn incomplete_tail(&self) -> Option<u64> {
        self.database.manifest().ok()?.incomplete_tail()
    }

    /// The name of the MANIFEST, if there is only one, and the number of its records.
    pub fn manifest_records(&self) -> Option<(String, u64)> {
        let records = self.database.manifest().ok()?.records();
        let mut files = self.database.files().of_kind(FileKind::Manifest);
        let name = files.next().filter(|_| files.next().is_none()).and_then(|file| file.path.file_name());
        Some((
            name.map_or_else(|| "MANIFEST".to_owned(), |name| name.to_string_lossy().into_owned()),
            records,
        ))
    }

    /// The name of the comparator of user keys. `None` if the MANIFEST cannot be used, or names none.
    pub fn comparator(&self) -> Option<&[u8]> {
        self.database.comparator()
    }

    /// Returns true if the order of user keys is known to be LevelDB's default order.
    pub fn is_bytewise(&self) -> bool {
        self.database.is_bytewise()
    }

    /// The MANIFEST's record of the table at `path`. `None` if `path` is no table, or no sound MANIFEST decides on it.
    pub fn record(&self, path: &Path) -> Option<TableRecord<'_>> {
        let manifest = self.database.manifest().ok()?;
        let name = path.file_name().and_then(|name| name.to_str());
        if name.and_then(FileKind::parse).is_some_and(|(kind, _)| kind != FileKind::Table) {
            return None;
        }
        let status = name.and_then(|name| self.database.table_named(name)).map(|table| table.status);
        let live = match status {
            Some(TableStatus::Live(live)) => Some(live),
            Some(TableStatus::Unknown) => return None,
            _ => None,
        };
        Some(TableRecord { is_unlisted: status == Some(TableStatus::Unlisted), ..record(manifest, live) })
    }

    /// The live tables without a file, each with its usual path. Those that cannot be read are `skipped` instead.
    pub fn missing(&self) -> impl Iterator<Item = (PathBuf, &LiveTable, TableRecord<'_>)> {
        self.database.manifest().into_iter().flat_map(|manifest| {
            let path = |table: &LiveTable| self.database.table_path(table.number);
            self.database.missing().map(move |table| (path(table), table, record(manifest, Some(table))))
        })
    }

    /// The name of a file that is probably the missing table `live`: it is named as copies are, and has its size.
    pub(crate) fn copy_of(&self, live: &LiveTable) -> Option<&str> {
        let copies = self.copies.get_or_init(|| {
            let strays = self.database.files().strays();
            let named = strays.filter_map(|stray| Some((stray, stray.path.file_name()?.to_str()?)));
            let copies = named.filter_map(|(stray, name)| match FileKind::parse_copy(name)? {
                (FileKind::Table, number) => Some(((number, stray.len), name.to_owned())),
                _ => None,
            });
            BTreeMap::from_iter(copies)
        });
        copies.get(&(live.number, live.size)).map(String::as_str)
    }

    /// A remark on the file that is probably the missing table `live`; empty if there is none.
    pub(crate) fn copy_text(&self, live: &LiveTable) -> String {
        self.copy_of(live).map(copy_text).unwrap_or_default()
    }

    pub const fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Opens a file that was found in the folder a moment ago.
    pub(crate) fn open_file(&self, path: &Path) -> Result<Box<dyn Source>, Fault> {
        open(&*self.storage, path, true)
    }

    /// Returns true if the undo folder is there.
    pub fn has_undo(&self) -> bool {
        let record = || {
            // A folder such as `.` has no name.
            let path = self.path().canonicalize().unwrap_or_else(|_| self.path().to_owned());
            let mut name = path.file_name()?.to_owned();
            name.push(UNDO_SUFFIX);
            self.storage.open(&path.with_file_name(name).join(UNDO_RECORD)).ok()
        };
        record().is_some()
    }

    /// Returns true if the folder is no database, and holds no table and nothing that is [`skipped`](Self::skipped).
    pub fn is_nothing(&self) -> bool {
        !self.is_database() && self.tables().next().is_none() && self.skipped().is_empty()
    }

    /// The regular `.ldb` and `.sst` files, in the order of their numbers. Files without a number come last.
    pub fn tables(&self) -> impl Iterator<Item = &Path> {
        let files = self.database.files();
        let numbered = files.of_kind(FileKind::Table).filter(|file| !file.is_link);
        let strays = files.strays().filter(|stray| is_regular(stray));
        numbered.map(|file| &*file.path).chain(strays.map(|stray| &*stray.path))
    }

    /// The number of bytes of the [`tables`](Self::tables).
    pub fn size_of_tables(&self) -> u64 {
        let files = self.database.files();
        let numbered = files.of_kind(FileKind::Table).filter(|file| !file.is_link).map(|file| file.len);
        let strays = files.strays().filter(|stray| is_regular(stray)).map(|stray| stray.len);
        numbered.chain(strays).fold(0, u64::saturating_add)
    }

    /// The filled logs that are not links, oldest first, each with true if it may hold writes that are in no table yet.
    pub fn logs(&self) -> impl Iterator<Item = (&DatabaseFile, bool)> {
        let logs = self.database.logs().filter_map(|log| match log.file {
            FileState::Present(file) => Some((file, log.is_live)),
            _ => None,
        });
        logs.filter(|(file, _)| !file.is_link && file.len > 0)
    }

    /// Returns true if the log at `path` may hold writes that are in no table yet.
    pub fn is_log_live(&self, path: &Path) -> bool {
        let number =
            path.file_name().and_then(|name| FileKind::parse(name.to_str()?)).map(|(_, number)| number);
        let manifest = self.database.manifest().ok();
        manifest.zip(number).is_none_or(|(manifest, number)| manifest.is_log_live(number))
    }

    /// The paths of the [`logs`](Self::logs) that may hold writes that are in no table yet.
    pub fn filled_logs(&self) -> impl Iterator<Item = &Path> {
        self.logs().filter(|(_, is_live)| *is_live).map(|(file, _)| &*file.path)
    }

    /// The `filled_logs` that hold writes. One that cannot be read as far as that counts; `on_error` gets the reason.
    pub fn logs_with_data(&self, mut on_error: impl FnMut(&Path, Fault)) -> Vec<&Path> {
        let reason = |error: Error| Fault::new(error.without_path().to_string(), ErrorKind::of(&error));
        let has_writes =
            |log: &Path| batch_has_writes(Sequential::new(self.storage.open(log)?)).map_err(reason);
        let with_data = self.filled_logs().filter(|log| match has_writes(log) {
            Ok(has_writes) => has_writes,
            // The log is gone: its writes are in a table by now.
            Err(error) if error.kind == ErrorKind::Missing => false,
            Err(error) => {
                on_error(log, error);
                true
            }
        });
        with_data.collect()
    }

    /// The tables and logs that ought to be looked at but are not, with the reasons, in the order of their numbers.
    pub fn skipped(&self) -> Vec<(&Path, Fault)> {
        let files = self.database.files();
        let links = files.iter().filter(|file| file.is_link);
        let links = links.map(|file| (file.kind, file.number, &*file.path, Fault::skipped(Fault::LINK)));
        let unreadable = files.unreadable();
        let unreadable = unreadable.map(|file| (file.kind, file.number, &*file.path, reason(file)));
        let strays = files.strays().filter_map(|stray| {
            let name = stray.path.file_name().and_then(|name| FileKind::parse(name.to_str()?));
            let found = match stray.file_type {
                Some(file_type) if !file_type.is_file() => kind(file_type),
                _ => return None,
            };
            let (kind, number) = name.unwrap_or((FileKind::Table, u64::MAX));
            Some((kind, number, &*stray.path, Fault::skipped(found)))
        });
        let mut all: Vec<_> = links.chain(unreadable).chain(strays).collect();
        all.retain(|(kind, ..)| matches!(kind, FileKind::Table | FileKind::Log));
        all.sort_by(|(_, a, a_path, _), (_, b, b_path, _)| (a, a_path).cmp(&(b, b_path)));
        all.into_iter().map(|(_, _, path, error)| (path, error)).collect()
    }
}

/// The error for a folder without a database. Names the first one below it: fewest levels below, then first by path.
pub(crate) fn nothing_at(folder: &Path) -> Fault {
    let (first, number, is_all) = databases_below(folder);
    let text = match first.map(|first| escape_path(&first).to_string()) {
        None => "no database here: no CURRENT, table (.ldb, .sst) or log".to_owned(),
        Some(only) if number == 1 && is_all => format!("no database here, but one below: {only}"),
        Some(first) => {
            let at_least = if is_all { "" } else { "at least " };
            format!("no database here, but {at_least}{number} below: {first}, …")
        }
    };
    Fault::new(text, ErrorKind::Missing)
}

/// The first folder below `folder` with tables or CURRENT, their number, and false if the search hit its limit.
fn databases_below(folder: &Path) -> (Option<PathBuf>, u64, bool) {
    let (mut first, mut number, mut left) = (None, 0, MAX_NAMES_BELOW);
    let mut folders = VecDeque::from_iter(cfg!(feature = "fs").then(|| folder.to_owned()));
    while let Some(path) = folders.pop_front() {
        let (mut below, mut is_one) = (Vec::new(), false);
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            left -= 1;
            if left == 0 {
                return (first, number, false);
            }
            let (Ok(file_type), name) = (entry.file_type(), entry.path()) else { continue };
            if !file_type.is_dir() {
                let is_table = || name.extension().is_some_and(|end| end == "ldb" || end == "sst");
                is_one |= path != folder && (entry.file_name() == "CURRENT" || is_table());
            } else if !name.as_os_str().as_encoded_bytes().ends_with(UNDO_SUFFIX.as_bytes()) {
                below.push(name);
            }
        }
        number += u64::from(is_one);
        first = first.or(is_one.then_some(path));
        below.sort();
        folders.extend(below);
    }
    (first, number, true)
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

/// A listing names only files, and has no types.
fn is_regular(stray: &StrayFile) -> bool {
    stray.file_type.is_none_or(|file_type| file_type.is_file())
}

fn reason(file: &UnreadableFile) -> Fault {
    if fs::symlink_metadata(&file.path).is_ok_and(|metadata| metadata.is_symlink()) {
        return Fault::skipped(Fault::LINK);
    }
    Fault::of(&file.error, true)
}

#[cfg(test)]
mod tests;

/// The record that a sound MANIFEST has of a table in its folder.
#[derive(Clone, Copy, Debug)]
pub struct TableRecord<'d> {
    /// `None`: the MANIFEST names no comparator.
    pub comparator: Option<&'d [u8]>,
    pub is_bytewise: bool,
    /// The live table. `None`: the database no longer uses the table, or does not use it yet.
    pub live: Option<&'d LiveTable>,
    /// Not in the MANIFEST: its number is new, or LevelDB opens another file for this number.
    pub is_unlisted: bool,
    /// Another table of the same level whose key range overlaps that of this table, which only level 0 allows.
    pub overlapped: Option<&'d LiveTable>,
}

impl TableRecord<'_> {
    /// Returns true if keys are in bytewise order: by the MANIFEST or, if none names an order, by the user (`claimed`).
    pub(crate) fn is_bytewise_or(record: Option<Self>, claimed: bool) -> bool {
        record.filter(|record| record.comparator.is_some()).map_or(claimed, |record| record.is_bytewise)
    }
}
