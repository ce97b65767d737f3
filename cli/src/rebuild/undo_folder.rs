//! The folder beside a database that keeps what a rebuild replaced.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use filterblock::database::FileKind;
use filterblock::quote;
use serde::{Deserialize, Serialize};

use super::failure::{Failure, Result};
use super::file_record::FileRecord;
use super::files;
use crate::audit::error_kind::ErrorKind;

/// What the name of the folder ends with, behind the database's.
const SUFFIX: &str = ".filterblock-undo";
/// The name of the record in it.
const RECORD: &str = "filterblock-undo";
const FORMAT: u32 = 1;

/// What `--undo` has to know.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct UndoRecord {
    format: u32,
    /// The MANIFEST before the rebuild.
    pub(super) original: FileRecord,
    pub(super) original_tables: Vec<TableFile>,
    /// The MANIFEST that the rebuild wrote. A database with another one was opened since.
    pub(super) rebuilt: FileRecord,
    pub(super) rebuilt_tables: Vec<String>,
    /// The live logs: what is written is written there first.
    pub(super) logs: Vec<FileRecord>,
    /// Logs from this number on are live.
    pub(super) first_live_log: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct TableFile {
    pub(super) name: String,
    pub(super) length: u64,
}

impl UndoRecord {
    pub(super) const fn new(original: FileRecord, rebuilt: FileRecord) -> Self {
        Self {
            format: FORMAT,
            original,
            original_tables: Vec::new(),
            rebuilt,
            rebuilt_tables: Vec::new(),
            logs: Vec::new(),
            first_live_log: 0,
        }
    }

    /// All names, with the kind that each has to be.
    fn names(&self) -> impl Iterator<Item = (FileKind, &String)> {
        let manifests = [&self.original.name, &self.rebuilt.name].into_iter();
        let tables = self.original_tables.iter().map(|table| &table.name).chain(&self.rebuilt_tables);
        let logs = self.logs.iter().map(|log| (FileKind::Log, &log.name));
        let tables = tables.map(|name| (FileKind::Table, name));
        manifests.map(|name| (FileKind::Manifest, name)).chain(tables).chain(logs)
    }
}

/// The folder, whether it is there or not.
pub(super) struct UndoFolder {
    path: PathBuf,
}

impl UndoFolder {
    /// The folder for the database in `dir`, whose path is absolute.
    pub(super) fn of(dir: &Path) -> Result<Self> {
        let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) else {
            return Err(Failure::refused(dir, "expected a folder within another one"));
        };
        let mut name = name.to_owned();
        name.push(SUFFIX);
        Ok(Self { path: parent.join(name) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn exists(&self) -> bool {
        // What cannot be looked at is there.
        !matches!(fs::symlink_metadata(&self.path), Err(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// Makes the folder: links to the files of these names in `dir`, and last the record. All of it
    /// is durable then.
    pub(super) fn make(
        &self,
        dir: &Path,
        names: impl Iterator<Item = String>,
        record: &UndoRecord,
    ) -> Result<()> {
        let system = |action: &str, path: &Path, error: io::Error| {
            Failure::system(action, path, &error).and("--no-undo does without this folder")
        };
        fs::create_dir(&self.path).map_err(|error| system("making the folder", &self.path, error))?;
        let like = fs::metadata(dir).and_then(|like| files::copy_rights(&File::open(&self.path)?, &like));
        like.map_err(|error| system("giving it owner and mode of the database's", &self.path, error))?;
        for name in names {
            let link = self.path.join(&name);
            fs::hard_link(dir.join(&name), &link)
                .map_err(|error| system("making a hard link", &link, error))?;
        }
        files::sync_folder(&self.path)?;
        let path = self.path.join(RECORD);
        files::write_note(&path, record, &dir.join("CURRENT"))?;
        files::sync_folder(&self.path)?;
        self.sync_parent()
    }

    /// Reads the record.
    pub(super) fn record(&self) -> Result<UndoRecord> {
        let path = self.path.join(RECORD);
        let refused = |found: String| {
            let why = format!("expected the record of a rebuild, found {found}");
            Failure::refused(&path, why)
                .and("without it, `filterblock rebuild --discard` is all that is left")
                .of_kind(ErrorKind::Damaged)
        };
        let contents = files::read_note(&path).map_err(|error| match error.kind() {
            // What `--discard` removes first.
            io::ErrorKind::NotFound => refused("no such file".to_owned()),
            _ => Failure::system("reading it", &path, &error),
        })?;
        let record: UndoRecord =
            serde_json::from_slice(&contents).map_err(|error| refused(error.to_string()))?;
        if record.format != FORMAT {
            return Err(refused(format!("one of format {}, not {FORMAT}", record.format)));
        }
        let is_wrong = |(kind, name): &(FileKind, &String)| {
            FileKind::parse(name).is_none_or(|(found, _)| found != *kind)
        };
        if let Some((_, name)) = record.names().find(is_wrong) {
            return Err(refused(format!("{} in it", quote(name.as_bytes()))));
        }
        Ok(record)
    }

    /// Refuses if the folder is not one of a rebuild's making, or has other files besides.
    pub(super) fn check_ours(&self) -> Result<()> {
        let system = |error: io::Error| Failure::system("listing it", &self.path, &error);
        // Behind a link may be anything.
        if !fs::symlink_metadata(&self.path).map_err(system)?.is_dir() {
            let why = "expected the folder with the tables before the rebuild, found no folder";
            return Err(Failure::refused(&self.path, why));
        }
        for entry in fs::read_dir(&self.path).map_err(system)? {
            let name = entry.map_err(system)?.file_name();
            let parsed = name.to_str().and_then(FileKind::parse);
            if name != RECORD && !matches!(parsed, Some((FileKind::Table | FileKind::Manifest, _))) {
                let name = quote(name.as_encoded_bytes());
                let why = format!("expected only files of a rebuild, found {name}; move it somewhere else");
                return Err(Failure::refused(&self.path, why));
            }
        }
        Ok(())
    }

    /// Removes the folder: the record first, so that no part of it is taken for the whole. Refuses
    /// if it has files of others.
    pub(super) fn remove(&self) -> Result<()> {
        if !self.exists() {
            return Ok(());
        }
        self.check_ours()?;
        let system = |error: io::Error| Failure::system("removing the folder", &self.path, &error);
        files::remove(&self.path.join(RECORD))?;
        files::sync_folder(&self.path)?;
        for entry in fs::read_dir(&self.path).map_err(system)? {
            let entry = entry.map_err(system)?;
            let name = entry.file_name();
            let parsed = name.to_str().and_then(FileKind::parse);
            if matches!(parsed, Some((FileKind::Table | FileKind::Manifest, _))) {
                files::remove(&entry.path())?;
            }
        }
        fs::remove_dir(&self.path).map_err(system)?;
        self.sync_parent()
    }

    fn sync_parent(&self) -> Result<()> {
        self.path.parent().map_or(Ok(()), files::sync_folder)
    }
}
