//! The folder of a database: whether it can be worked in, and its lock.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use filterblock::database::DatabaseLock;
use filterblock::escape_path;

use super::failure::{Failure, Fault, Result};
use crate::audit::error_kind::ErrorKind;
use crate::io::volume;

/// The absolute path of a database's folder.
pub(super) fn folder(path: &Path) -> Result<PathBuf> {
    let dir = fs::canonicalize(path).map_err(|error| Failure::system("looking for it", path, &error))?;
    if !dir.is_dir() {
        let text = format!("{}: expected the folder of a database, found a file", escape_path(path));
        return Err(Failure::Failed(Fault { text, kind: Some(ErrorKind::Unreadable) }));
    }
    let current = dir.join("CURRENT");
    match fs::symlink_metadata(&current) {
        Ok(_) => Ok(dir),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let why = "expected the folder of a database, found no file CURRENT in it";
            let text = format!("{}: {why}", escape_path(path));
            Err(Failure::Failed(Fault { text, kind: Some(ErrorKind::Missing) }))
        }
        Err(error) => Err(Failure::system("looking for it", &current, &error)),
    }
}

/// Refuses where locks, renames and links are not what this relies on.
pub(super) fn check_platform(dir: &Path) -> Result<()> {
    if cfg!(windows) {
        return Err(Failure::refused(
            dir,
            "expected another system than Windows for this; --to makes a copy",
        ));
    }
    let system = |error| Failure::system("looking at its file system", dir, &error);
    match volume::shared_file_system(dir).map_err(system)? {
        None => Ok(()),
        Some(name) => {
            let why = format!(
                "expected a local file system, found {name}, where another machine may have the database open; \
                 --to makes a copy"
            );
            Err(Failure::refused(dir, why))
        }
    }
}

/// Keeps all other programs out of the database.
pub(super) fn lock(dir: &Path) -> Result<DatabaseLock> {
    DatabaseLock::exclusive(dir).map_err(|error| Failure::of(error, dir))
}

/// Keeps programs out that would write. Nothing is written for it: `None` if there is no LOCK, as in
/// a database that no program has opened since it was copied.
pub(super) fn lock_for_reading(dir: &Path) -> Result<Option<DatabaseLock>> {
    DatabaseLock::shared(dir).map_err(|error| Failure::of(error, dir))
}
