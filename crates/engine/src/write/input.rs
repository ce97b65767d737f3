//! The folder of the database that a rebuild or a repair reads.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use filterblock::database::Database;
use filterblock::escape_path;

use super::failure::{Failure, Result, not_a_folder};
use crate::engine::Engine;
use crate::report::{ErrorKind, Fault};
use crate::walk::{SharedFile, Source};

/// A folder, and the engine whose storage it is in.
#[derive(Clone, Copy)]
pub(crate) struct Input<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) dir: &'e Path,
}

impl Input<'_> {
    pub(crate) fn path_of(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.dir.join(name.as_ref())
    }

    /// Opens a file that may be closed and opened again at any time.
    pub(crate) fn open(&self, name: &str) -> io::Result<SharedFile> {
        self.engine.files.open(&self.path_of(name))
    }

    /// Opens a file that stays open.
    pub(crate) fn source(&self, name: &str) -> io::Result<Box<dyn Source>> {
        self.engine.files.storage().open(&self.path_of(name))
    }

    /// Opens a file that was listed before. If it is missing now, the failure says that it vanished.
    pub(crate) fn open_listed(&self, name: &str) -> Result<Box<dyn Source>> {
        self.source(name).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                let text = format!("{}: {}", escape_path(&self.path_of(name)), Fault::vanished());
                Failure::failed(text, Some(ErrorKind::Vanished))
            }
            _ => self.failed(name, &error),
        })
    }

    /// The names of files, and those with something else behind them.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let storage = self.engine.files.storage();
        let files = storage.list(self.dir).map_err(|error| self.not_listed(&error))?.unwrap_or_default();
        let others = storage.others(self.dir).map_err(|error| self.not_listed(&error))?;
        let files = files.into_iter().map(|(name, _)| name);
        Ok(files.chain(others.into_iter().map(|(name, _)| name)).collect())
    }

    /// The names of the files, CURRENT and the MANIFEST.
    pub(crate) fn database(&self) -> Result<Database> {
        let database = self.engine.files.storage().database(self.dir);
        let database = database.map_err(|error| {
            Failure::failed(format!("{}: {error}", escape_path(self.dir)), Some(error.kind))
        })?;
        database.ok_or_else(|| self.refused(not_a_folder(self.dir)))
    }

    pub(crate) fn refused(&self, why: impl Display) -> Failure {
        Failure::refused(self.dir, why)
    }

    /// The failure to read a file.
    pub(crate) fn failed(&self, name: &str, error: &io::Error) -> Failure {
        let path = self.path_of(name);
        match is_locked(error) {
            true => Failure::in_use(format!("{}: another program has it open: close it", escape_path(&path))),
            false => Failure::system("reading it", &path, error),
        }
    }

    pub(crate) fn not_listed(&self, error: &io::Error) -> Failure {
        Failure::system("listing it", self.dir, error)
    }

    /// Fails once the program is asked to stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.engine.progress.is_interrupted() { Err(Failure::interrupted()) } else { Ok(()) }
    }
}

/// True if another program has the file open for itself alone, which only Windows knows.
pub(crate) fn is_locked(error: &io::Error) -> bool {
    // `ERROR_SHARING_VIOLATION` and `ERROR_LOCK_VIOLATION`.
    cfg!(windows) && matches!(error.raw_os_error(), Some(32 | 33))
}
