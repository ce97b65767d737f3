//! The lock on a database (`LockFile` in LevelDB's `util/env_posix.cc` and `util/env_windows.cc`,
//! `newFileLock` in goleveldb's `leveldb/storage/file_storage_unix.go`).

use std::collections::HashSet;
use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::lock_file::{FileId, LockFile};
use crate::error::IoAction;
use crate::{Error, Result};

/// The files on which this process holds locks.
static HELD: Mutex<Option<HashSet<FileId>>> = Mutex::new(None);

/// The lock on a database, which is released when the value is dropped. While an
/// [`exclusive`](Self::exclusive) lock is held, nobody else can open the database with LevelDB or
/// goleveldb, and nobody else had it open when the lock was taken. A [`shared`](Self::shared) lock
/// keeps out all who do not take a shared lock themselves.
///
/// Programs lock the file `LOCK` in the database's folder: on Unix, LevelDB with `fcntl` and
/// goleveldb with `flock`. A lock of one kind does not keep out the other, so both are taken here.
/// `LOCK` stays where it is, with its contents.
///
/// **While the lock is held, nothing else in this process may open and close `LOCK`**: closing any descriptor
/// of a file drops the process's `fcntl` locks on it. Even code that only reads the file drops them, for
/// example when it copies the folder. A second `DatabaseLock` is not a danger: it is refused before it opens
/// the file.
///
/// Locks are advisory. On some network file systems other machines do not see them.
///
/// ```no_run
/// use filterblock::database::DatabaseLock;
///
/// match DatabaseLock::exclusive("database") {
///     Ok(_lock) => println!("nobody else has it open"),
///     Err(error) if error.is_in_use() => println!("{error}"),
///     Err(error) => return Err(error),
/// }
/// # Ok::<(), filterblock::Error>(())
/// ```
#[must_use = "the lock is released when this is dropped"]
pub struct DatabaseLock {
    /// The locked file; `None` once the lock is released.
    file: Option<File>,
    id: FileId,
    path: PathBuf,
    is_exclusive: bool,
}

impl DatabaseLock {
    /// Takes the lock that programs take to open the database in the folder `dir`. This does not
    /// wait.
    ///
    /// If there is no `LOCK`, it is created as LevelDB creates it. On Unix its owner and group are
    /// then those of the folder, if that is allowed, so that the database's own program can lock it
    /// afterwards.
    ///
    /// # Errors
    ///
    /// With the path of `LOCK`:
    ///
    /// - [`Error::InUse`] if another process has the database open, or this one holds a lock on it.
    /// - [`Error::Io`] if `LOCK` cannot be opened for writing, created or locked, is a symbolic
    ///   link or not a regular file, or is removed or replaced while it is being locked.
    pub fn exclusive(dir: impl AsRef<Path>) -> Result<Self> {
        Self::exclusive_of(&LockFile::in_dir(dir.as_ref())?)
    }

    /// Like [`exclusive`](Self::exclusive), but in an open folder, wherever its path leads by now. `dir` is used only
    /// for messages and for [`path`](Self::path).
    ///
    /// # Errors
    ///
    /// Those of [`exclusive`](Self::exclusive).
    #[cfg(unix)]
    pub fn exclusive_at(folder: impl AsFd, dir: impl AsRef<Path>) -> Result<Self> {
        Self::exclusive_of(&LockFile::at(folder.as_fd(), dir.as_ref())?)
    }

    fn exclusive_of(file: &LockFile) -> Result<Self> {
        lock(file, true, &mut held())
            // For an exclusive lock, a missing file is created, so there is always a lock.
            .and_then(|lock| lock.ok_or_else(|| Error::io(IoAction::Open, 0, io::ErrorKind::NotFound.into())))
            .map_err(|error| error.with_path(file.path()))
    }

    /// Takes a lock under which the database can be read: nobody has it open for writing, and
    /// nobody can open it for writing as long as the lock is held. Other processes can hold such a
    /// lock at the same time. This does not wait.
    ///
    /// `LOCK` is only opened for reading, and never created, so this works on file systems that are
    /// read-only.
    ///
    /// Returns `None` if there is no `LOCK`: nothing is locked then.
    ///
    /// # Errors
    ///
    /// Those of [`exclusive`](Self::exclusive).
    pub fn shared(dir: impl AsRef<Path>) -> Result<Option<Self>> {
        match LockFile::in_dir(dir.as_ref()) {
            // A missing folder has no LOCK either.
            Err(error) if is_not_found(&error) => Ok(None),
            file => Self::shared_of(&file?),
        }
    }

    /// Like [`shared`](Self::shared), but in an open folder, wherever its path leads by now. `dir` is used only for
    /// messages and for [`path`](Self::path).
    ///
    /// # Errors
    ///
    /// Those of [`shared`](Self::shared).
    #[cfg(unix)]
    pub fn shared_at(folder: impl AsFd, dir: impl AsRef<Path>) -> Result<Option<Self>> {
        Self::shared_of(&LockFile::at(folder.as_fd(), dir.as_ref())?)
    }

    fn shared_of(file: &LockFile) -> Result<Option<Self>> {
        lock(file, false, &mut held()).map_err(|error| error.with_path(file.path()))
    }

    /// The path of the locked file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DatabaseLock {
    fn drop(&mut self) {
        let mut held = held();
        if let Some(file) = self.file.take() {
            // Closing is not enough: a process that was just started may still share the file.
            _ = file.unlock();
            // Closed while `held` keeps others from locking: closing it later would drop their
            // `fcntl` lock.
            drop(file);
        }
        if let Some(held) = &mut *held {
            held.remove(&self.id);
        }
    }
}

impl fmt::Debug for DatabaseLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseLock")
            .field("path", &self.path)
            .field("is_exclusive", &self.is_exclusive)
            .finish_non_exhaustive()
    }
}

fn held() -> MutexGuard<'static, Option<HashSet<FileId>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens and locks the file. If there is no file, it is created for an exclusive lock, and `None` is returned
/// for a shared one.
fn lock(
    file: &LockFile,
    exclusive: bool,
    held: &mut Option<HashSet<FileId>>,
) -> Result<Option<DatabaseLock>> {
    let held = held.get_or_insert_default();
    // The file is looked up rather than opened: opening and closing it would drop a lock that this
    // process holds.
    let known = file.id()?;
    if known.as_ref().is_some_and(|id| held.contains(id)) {
        return Err(Error::InUse { by: "this process" });
    }
    let opened = match (&known, exclusive) {
        (Some(_), _) => file.open(exclusive),
        (None, true) => file.create(),
        (None, false) => return Ok(None),
    };
    let opened = opened.map_err(|error| {
        if is_shared_by_nobody(&error) { in_use() } else { Error::io(IoAction::Open, 0, error) }
    })?;
    lock_opened(file, known, opened, exclusive, held).map(Some)
}

/// Locks `file`, which was opened at `place`. `known` is the identity of the file that was there
/// before, if any.
fn lock_opened(
    place: &LockFile,
    known: Option<FileId>,
    file: File,
    exclusive: bool,
    held: &mut HashSet<FileId>,
) -> Result<DatabaseLock> {
    let id = place.id_of(&file)?;
    lock_file(&file, exclusive)?;
    // Destroying a database removes the file, and a lock on a file without a name is worth nothing.
    let now = place.id()?;
    if known.is_some_and(|known| known != id) || now.as_ref() != Some(&id) {
        return Err(replaced());
    }
    held.insert(id.clone());
    Ok(DatabaseLock { file: Some(file), id, path: place.path().to_owned(), is_exclusive: exclusive })
}

/// Locks a file in all the ways that LevelDB and goleveldb use.
fn lock_file(file: &File, exclusive: bool) -> Result<()> {
    #[cfg(unix)]
    {
        use rustix::fs::{FlockOperation, fcntl_lock};
        use rustix::io::Errno;

        let operation = match exclusive {
            true => FlockOperation::NonBlockingLockExclusive,
            false => FlockOperation::NonBlockingLockShared,
        };
        match fcntl_lock(file, operation) {
            Ok(()) => {}
            Err(Errno::AGAIN | Errno::ACCESS) => return Err(in_use()),
            Err(error) => return Err(Error::io(IoAction::Lock, 0, error.into())),
        }
    }
    match if exclusive { file.try_lock() } else { file.try_lock_shared() } {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(in_use()),
        Err(TryLockError::Error(error)) => Err(Error::io(IoAction::Lock, 0, error)),
    }
}

/// Returns `true` if the error means that a process has the file open without sharing it, as
/// goleveldb does on Windows.
fn is_shared_by_nobody(error: &io::Error) -> bool {
    const ERROR_SHARING_VIOLATION: i32 = 32;
    cfg!(windows) && error.raw_os_error() == Some(ERROR_SHARING_VIOLATION)
}

fn is_not_found(error: &Error) -> bool {
    matches!(error.without_path(), Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

fn in_use() -> Error {
    Error::InUse { by: "another process" }
}

fn replaced() -> Error {
    Error::io(IoAction::Lock, 0, io::Error::other("it was removed or replaced meanwhile"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    /// LOCK is replaced or removed between the steps of locking it.
    #[test]
    #[cfg_attr(miri, ignore = "opens files as Miri does not")]
    fn a_file_that_is_exchanged_meanwhile_is_not_locked() {
        let folder = tempfile::tempdir().unwrap();
        let place = LockFile::in_dir(folder.path()).unwrap();
        let make = || {
            let other = folder.path().join("other");
            fs::write(&other, "").unwrap();
            fs::rename(other, place.path()).unwrap();
        };
        let id = || place.id().unwrap().unwrap();
        let open = || place.open(true).unwrap();
        let lock = |known, file| {
            let mut held = HashSet::new();
            let locked = lock_opened(&place, known, file, true, &mut held).map(drop);
            (locked.map_err(|error| error.to_string()), held.len())
        };
        let refused = (Err::<(), _>(replaced().to_string()), 0);

        make();
        let (first, file) = (id(), open());
        assert_eq!(lock(Some(first.clone()), file), (Ok(()), 1));
        // Replaced before it is opened.
        let kept = open();
        make();
        assert!(id() != first);
        assert_eq!(lock(Some(first), open()), refused);
        drop(kept);
        // Replaced between opening and locking.
        let (second, file) = (id(), open());
        make();
        assert_eq!(lock(Some(second), file), refused);
        let file = open();
        make();
        assert_eq!(lock(None, file), refused);
        // Removed between opening and locking.
        let (third, file) = (id(), open());
        fs::remove_file(place.path()).unwrap();
        assert_eq!(lock(Some(third), file), refused);
    }
}
