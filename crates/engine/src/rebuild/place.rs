//! The folder of a database: its lock, and checks that it can be worked in.

use std::ffi::OsString;
use std::path::Path;

use filterblock::database::{DatabaseLock, FileKind};
use filterblock::escape_path;
use filterblock::table::ReadAt;

use super::source::read_database;
use super::undo_folder::UndoFolder;
use crate::report::{COPIES_ONLY, ErrorKind};
use crate::walk::FoundFormat;
use crate::walk::folder::nothing_at;
use crate::words::path_word;
use crate::write::failure::{COPY, Failure, Result};
use crate::write::{Dir, Purpose, is_root};

/// A database that is changed in place, or read for a dry run of such a change.
pub(super) struct DatabaseFolder {
    pub(super) dir: Dir,
    pub(super) undo: UndoFolder,
    _lock: Option<DatabaseLock>,
}

impl DatabaseFolder {
    /// Opens the database, and locks it against all other programs. `command`: for messages, with `DB` for the path.
    pub(super) fn open(path: &Path, command: &str) -> Result<Self> {
        Self::open_with(path, command, |dir| lock(dir).map(Some))
    }

    /// Opens the database for reading, and locks it against programs that would write. Nothing is written: if the LOCK
    /// file is missing, as in a database that no program has opened since it was copied, no lock is taken.
    pub(super) fn open_for_reading(path: &Path, command: &str) -> Result<Self> {
        Self::open_with(path, command, Dir::lock_for_reading)
    }

    fn open_with(
        path: &Path,
        command: &str,
        lock: impl Fn(&Dir) -> Result<Option<DatabaseLock>>,
    ) -> Result<Self> {
        let (above, dir) = Dir::open(path, Purpose::InPlace)?;
        check_is_database(&dir)?;
        check_owner(&dir, command)?;
        check_platform(&dir)?;
        let undo = UndoFolder::of(&dir, above)?;
        let lock = lock(&dir)?;
        Ok(Self { dir, undo, _lock: lock })
    }
}

/// Fails if the folder is not that of a database, or of one of another format.
pub(super) fn check_is_database(dir: &Dir) -> Result<()> {
    let database = read_database(dir).ok();
    let open =
        |path: &Path| -> Option<Box<dyn ReadAt>> { Some(Box::new(dir.open_file(path.file_name()?).ok()?)) };
    if let Some(found) = database.and_then(|database| FoundFormat::of_database(&database, &open)) {
        return Err(Failure::other_format(dir.path(), &found));
    }
    match dir.look("CURRENT") {
        Ok(Some(_)) => Ok(()),
        Ok(None) => {
            let is_of_database = |name: &OsString| {
                let kind = name.to_str().and_then(FileKind::parse).map(|(kind, _)| kind);
                matches!(kind, Some(FileKind::Table | FileKind::Log | FileKind::Manifest))
            };
            if dir.names()?.iter().any(is_of_database) {
                let failure = Failure::refused(dir.path(), "CURRENT is missing").of_kind(ErrorKind::Missing);
                return Err(failure.while_reading(dir.path()));
            }
            let text = format!("{}: {}", escape_path(dir.path()), nothing_at(dir.path()));
            Err(Failure::failed(text, Some(ErrorKind::Missing)))
        }
        Err(error) => Err(Failure::system("looking for it", &dir.path_of("CURRENT"), &error)),
    }
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
