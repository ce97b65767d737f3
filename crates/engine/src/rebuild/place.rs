//! The folder of a database: its lock, and checks that it can be worked in.

use std::{path::Path, sync::Arc};

use filterblock::database::{DatabaseLock, FileKind};

use super::check_is_database;
use super::undo_folder::UndoFolder;
use crate::engine::Engine;
use crate::report::COPIES_ONLY;
use crate::text::path_word;
use crate::walk::Files;
use crate::write::failure::COPY;
use crate::write::{Dir, DirStorage, Failure, Input, Purpose, Result, is_root};

/// A database that is changed in place, or read for a dry run of such a change.
pub(super) struct DatabaseFolder {
    /// Reads the files of `dir`.
    engine: Engine,
    pub(super) dir: Dir,
    pub(super) undo: UndoFolder,
    _lock: Option<DatabaseLock>,
}

impl DatabaseFolder {
    /// Opens the database, and locks it against all other programs. `command`: for messages, with `DB` for the path.
    pub(super) fn open(engine: &Engine, path: &Path, command: &str) -> Result<Self> {
        Self::open_with(engine, path, command, |dir| lock(dir).map(Some))
    }

    /// Opens the database for reading, and locks it against programs that would write. Nothing is written: if the LOCK
    /// file is missing, as in a database that no program has opened since it was copied, no lock is taken.
    pub(super) fn open_for_reading(engine: &Engine, path: &Path, command: &str) -> Result<Self> {
        Self::open_with(engine, path, command, Dir::lock_for_reading)
    }

    fn open_with(
        engine: &Engine,
        path: &Path,
        command: &str,
        lock: impl Fn(&Dir) -> Result<Option<DatabaseLock>>,
    ) -> Result<Self> {
        let (above, dir) = Dir::open(path, Purpose::InPlace)?;
        let engine = engine.clone().files(Files::new(Arc::new(DirStorage::of(dir.clone()))));
        check_is_database(Input { engine: &engine, dir: dir.path() })?;
        check_owner(&dir, command)?;
        check_platform(&dir)?;
        let undo = UndoFolder::of(&dir, above)?;
        let lock = lock(&dir)?;
        check_links(&dir)?;
        Ok(Self { engine, dir, undo, _lock: lock })
    }

    pub(super) fn input(&self) -> Input<'_> {
        Input { engine: &self.engine, dir: self.dir.path() }
    }
}

/// Refuses links in place of files that hold data: the file itself has to be replaced.
fn check_links(dir: &Dir) -> Result<()> {
    for name in dir.names()? {
        let kind = name.to_str().and_then(FileKind::parse).map(|(kind, _)| kind);
        let is_data =
            matches!(kind, Some(FileKind::Table | FileKind::Log | FileKind::Manifest | FileKind::Current));
        let system = |error| Failure::system("looking at it", &dir.path_of(&name), &error);
        if is_data && dir.look(&name).map_err(system)?.is_some_and(|found| found.is_link()) {
            drop(dir.open_file(&name).map_err(system)?);
        }
    }
    Ok(())
}

/// Refuses to work as root in another user's folder: that user may replace anything in it between two steps.
fn check_owner(dir: &Dir, command: &str) -> Result<()> {
    let status = dir.status().map_err(|error| Failure::system("looking at it", dir.path(), &error))?;
    if !is_root() || status.owner == 0 {
        return Ok(());
    }
    let command = command.replace("DB", &path_word(dir.path()));
    let owner = status.owner;
    let why = format!("belongs to user {owner}, who could redirect root's writes");
    Err(Failure::refused(dir.path(), why).remedy(format!("run: sudo -u '#{owner}' {command}")))
}

/// Refuses a system or a file system on which locks, renames and links cannot be relied on.
fn check_platform(dir: &Dir) -> Result<()> {
    if COPIES_ONLY {
        return Err(Failure::refused(dir.path(), "not possible on Windows").remedy(COPY));
    }
    match dir.shared_file_system()? {
        None => Ok(()),
        Some(name) => {
            let why = format!("is on {name}, where another machine may have it open");
            Err(Failure::refused(dir.path(), why).remedy(COPY))
        }
    }
}

fn lock(dir: &Dir) -> Result<DatabaseLock> {
    #[cfg(unix)]
    let lock = DatabaseLock::exclusive_at(dir.descriptor(), dir.path());
    #[cfg(not(unix))]
    let lock = DatabaseLock::exclusive(dir.path());
    lock.map_err(|error| Failure::of(error, dir.path()))
}
