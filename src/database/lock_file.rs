//! The file `LOCK` of a database, found through the folder that it is in: on Unix through an open descriptor, so that
//! nobody can replace the folder between two steps; elsewhere through its path.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::names::FileKind;
use crate::error::IoAction;
use crate::{Error, Result};

/// The file `LOCK`, which need not exist.
pub(super) struct LockFile {
    #[cfg(unix)]
    folder: OwnedFd,
    path: PathBuf,
}

/// A file's identity: device and inode on Unix, the path elsewhere.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct FileId(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] PathBuf);

impl LockFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn lock_path(dir: &Path) -> PathBuf {
    dir.join(FileKind::Lock.file_name(0))
}

fn check_regular(is_file: bool, is_link: bool) -> io::Result<()> {
    match (is_file, is_link) {
        (true, _) => Ok(()),
        (_, true) => Err(io::Error::other("a symbolic link")),
        _ => Err(io::Error::other("not a regular file")),
    }
}

#[cfg(unix)]
impl LockFile {
    /// The file in the folder at this path.
    pub(super) fn in_dir(dir: &Path) -> Result<Self> {
        use rustix::fs::{Mode, OFlags};
        // A descriptor with `PATH` needs no permission to list the folder.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(dir, flags, Mode::empty())
            .map_err(|error| Error::io(IoAction::Open, 0, error.into()).with_path(lock_path(dir)))?;
        Ok(Self { folder, path: lock_path(dir) })
    }

    /// The file in an open folder. `dir` is the folder's path, for messages.
    pub(super) fn at(folder: BorrowedFd<'_>, dir: &Path) -> Result<Self> {
        let folder = folder.try_clone_to_owned();
        let folder = folder.map_err(|error| Error::io(IoAction::Open, 0, error).with_path(lock_path(dir)))?;
        Ok(Self { folder, path: lock_path(dir) })
    }

    /// The identity of the file, which has to be a regular one. `None` if there is no file.
    pub(super) fn id(&self) -> Result<Option<FileId>> {
        use rustix::fs::{AtFlags, FileType, statat};
        use rustix::io::Errno;
        let found = match statat(&self.folder, self.name(), AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            found => found.map_err(|error| Error::io(IoAction::LookUp, 0, error.into()))?,
        };
        let kind = FileType::from_raw_mode(found.st_mode);
        check_regular(kind == FileType::RegularFile, kind == FileType::Symlink)
            .map_err(|error| Error::io(IoAction::Open, 0, error))?;
        Ok(Some(FileId::of(&found)))
    }

    /// The identity of an open file.
    pub(super) fn id_of(&self, file: &File) -> Result<FileId> {
        let found = rustix::fs::fstat(file).map_err(|error| Error::io(IoAction::LookUp, 0, error.into()))?;
        let is_file = rustix::fs::FileType::from_raw_mode(found.st_mode).is_file();
        check_regular(is_file, false).map_err(|error| Error::io(IoAction::Open, 0, error))?;
        Ok(FileId::of(&found))
    }

    /// Opens the file. This neither follows a link nor waits for a pipe that has taken its place.
    pub(super) fn open(&self, writable: bool) -> io::Result<File> {
        use rustix::fs::OFlags;
        let access = if writable { OFlags::RDWR } else { OFlags::RDONLY };
        self.open_with(access | OFlags::NOFOLLOW | OFlags::NONBLOCK)
    }

    /// Creates the file as LevelDB does, and gives it to the folder's owner and group if that is allowed.
    pub(super) fn create(&self) -> io::Result<File> {
        use rustix::fs::{Gid, OFlags, Uid};
        let file = self.open_with(OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
        if let Ok(folder) = rustix::fs::fstat(&self.folder) {
            let (owner, group) = (Uid::from_raw(folder.st_uid), Gid::from_raw(folder.st_gid));
            // Without the right to do so, the file stays with the user who runs this, as with LevelDB.
            _ = rustix::fs::fchown(&file, Some(owner), Some(group));
        }
        Ok(file)
    }

    fn open_with(&self, flags: rustix::fs::OFlags) -> io::Result<File> {
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        let flags = flags | rustix::fs::OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.folder, self.name(), flags, mode)?.into())
    }

    fn name(&self) -> &std::ffi::OsStr {
        self.path.file_name().unwrap_or_default()
    }
}

#[cfg(unix)]
impl FileId {
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    fn of(status: &rustix::fs::Stat) -> Self {
        Self((status.st_dev as u64, status.st_ino as u64))
    }
}

#[cfg(not(unix))]
impl LockFile {
    /// The file in the folder at this path.
    pub(super) fn in_dir(dir: &Path) -> Result<Self> {
        Ok(Self { path: lock_path(dir) })
    }

    /// The identity of the file, which has to be a regular one. `None` if there is no file.
    pub(super) fn id(&self) -> Result<Option<FileId>> {
        match std::fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(IoAction::LookUp, 0, error)),
            Ok(found) => self.id_with(&found).map(Some),
        }
    }

    /// The identity of an open file.
    pub(super) fn id_of(&self, file: &File) -> Result<FileId> {
        let found = file.metadata().map_err(|error| Error::io(IoAction::LookUp, 0, error))?;
        self.id_with(&found)
    }

    fn id_with(&self, found: &std::fs::Metadata) -> Result<FileId> {
        check_regular(found.is_file(), found.is_symlink())
            .map_err(|error| Error::io(IoAction::Open, 0, error))?;
        let path = self.path.canonicalize().map_err(|error| Error::io(IoAction::LookUp, 0, error))?;
        Ok(FileId(path))
    }

    pub(super) fn open(&self, writable: bool) -> io::Result<File> {
        File::options().read(true).write(writable).open(&self.path)
    }

    pub(super) fn create(&self) -> io::Result<File> {
        File::options().read(true).write(true).create_new(true).open(&self.path)
    }
}
