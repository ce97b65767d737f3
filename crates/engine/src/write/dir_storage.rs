//! The files of a folder that is held open.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use filterblock::database::{DatabaseLock, FileKind};

use super::failure::{Failure, Result};
use super::{Dir, Purpose};
use crate::walk::{Source, Storage};

const NOWHERE: &str = "a link that leads nowhere";

/// The files of a database, which is locked against programs that would write to it. On Unix they are those of the
/// folder that was opened, whatever becomes of its path. Links to files are followed.
#[derive(Debug)]
pub struct DirStorage {
    dir: Dir,
    _lock: Option<DatabaseLock>,
}

#[derive(Default)]
struct Entries {
    /// The regular files, with their sizes.
    files: Vec<(String, u64)>,
    /// The other names, with what is there instead.
    others: Vec<(String, &'static str)>,
}

impl DirStorage {
    /// Opens the folder at `path`. Nothing is written: if there is no LOCK file, as in a copy, no lock is taken.
    ///
    /// # Errors
    ///
    /// If the folder cannot be opened, or another program has the database open.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = Dir::open(path, Purpose::Copy).and_then(|(_, dir)| {
            let lock = dir.lock_for_reading()?;
            Ok(Self { dir, _lock: lock })
        });
        opened.map_err(Failure::of_run)
    }

    /// A folder that is locked elsewhere.
    pub(crate) const fn of(dir: Dir) -> Self {
        Self { dir, _lock: None }
    }

    /// The folder's path: those of its files begin with it.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) const fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The name of the file at `path`, which is directly in the folder.
    fn name<'p>(&self, path: &'p Path) -> io::Result<&'p OsStr> {
        let name = path.file_name().filter(|_| path.parent() == Some(self.path()));
        name.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn entries(&self) -> io::Result<Entries> {
        let Entries { mut files, mut others } = Entries::default();
        let names = self.dir.names().map_err(|failure| io::Error::other(failure.text))?;
        for name in names.into_iter().filter_map(|name| name.into_string().ok()) {
            match self.dir.look_behind(&name) {
                Ok(Some(found)) if found.is_file() => files.push((name, found.len)),
                Ok(Some(found)) if found.is_folder() => others.push((name, "a folder")),
                Ok(Some(_)) => others.push((name, "a device or a pipe")),
                Ok(None) => others.push((name, NOWHERE)),
                Err(error) => {
                    // In a folder that may be listed only, no name can be looked at: the links are not to blame.
                    let is_link =
                        self.dir.look(&name).is_ok_and(|found| found.is_some_and(|found| found.is_link()));
                    match why_not_behind(&error).filter(|_| is_link) {
                        Some(why) => others.push((name, why)),
                        None if FileKind::parse(&name).is_none() => {}
                        // There may be a file.
                        None => return Err(io::Error::new(error.kind(), format!("{name}: {error}"))),
                    }
                }
            }
        }
        Ok(Entries { files, others })
    }
}

impl Storage for DirStorage {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<(String, u64)>>> {
        if path == self.path() {
            return Ok(Some(self.entries()?.files));
        }
        let found = self.dir.look_behind(self.name(path)?)?.ok_or(io::ErrorKind::NotFound)?;
        Ok(found.is_folder().then(Vec::new))
    }

    fn others(&self, path: &Path) -> io::Result<Vec<(String, &'static str)>> {
        if path == self.path() { Ok(self.entries()?.others) } else { Ok(Vec::new()) }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(self.dir.open_file(self.name(path)?)?))
    }
}

/// What is there instead of a file if a link fails so. `None`: the system failed, so there may be a file.
fn why_not_behind(error: &io::Error) -> Option<&'static str> {
    #[cfg(unix)]
    match rustix::io::Errno::from_io_error(error) {
        Some(rustix::io::Errno::LOOP) => return Some("a link that leads in a circle"),
        Some(rustix::io::Errno::NAMETOOLONG) => return Some(NOWHERE),
        _ => {}
    }
    // `ERROR_CANT_RESOLVE_FILENAME`.
    #[cfg(windows)]
    if error.raw_os_error() == Some(1921) {
        return Some("a link that leads in a circle");
    }
    match error.kind() {
        io::ErrorKind::NotADirectory => Some(NOWHERE),
        io::ErrorKind::PermissionDenied => Some("a link to where this user may not look"),
        _ => None,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    /// A link to an unreadable disk may be the live log.
    #[test]
    fn a_link_leads_nowhere_unless_the_system_fails() {
        for (error, why) in [
            (Errno::LOOP, Some("a link that leads in a circle")),
            (Errno::NOTDIR, Some(NOWHERE)),
            (Errno::NAMETOOLONG, Some(NOWHERE)),
            (Errno::ACCESS, Some("a link to where this user may not look")),
            (Errno::IO, None),
            (Errno::NOMEM, None),
            (Errno::STALE, None),
        ] {
            assert_eq!(why_not_behind(&error.into()), why, "{error}");
        }
    }
}
