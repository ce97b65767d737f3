//! System calls relative to open folders.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs::File, io, os::fd::OwnedFd, os::unix::ffi::OsStrExt as _};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, Stat};

use super::status::{FileType, Status};

/// An open folder. On Linux, permission to list it is not needed.
pub(super) type Handle = OwnedFd;

#[cfg(any(target_os = "linux", target_os = "android"))]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_FOLDER: u32 = 0o700;

/// Opens each folder from `/` to `path`, which must contain no links, as links are not followed. Calls `visit` with the
/// path and the status of each. Returns the last two folders; for `/`, the first is `None`.
pub(super) fn walk(
    path: &Path,
    mut visit: impl FnMut(&Path, &Status) -> io::Result<()>,
) -> io::Result<(Option<Handle>, Handle)> {
    let (mut above, mut folder) = (None, rustix::fs::open("/", FOLDER, Mode::empty())?);
    let mut reached = PathBuf::from("/");
    visit(&reached, &status_of(&folder)?)?;
    for component in path.components() {
        let name = match component {
            Component::RootDir => continue,
            Component::Normal(name) => name,
            _ => return Err(io::Error::other("expected a path without links")),
        };
        let next = open_folder(&folder, name)?;
        above = Some(std::mem::replace(&mut folder, next));
        reached.push(name);
        visit(&reached, &status_of(&folder)?)?;
    }
    Ok((above, folder))
}

pub(super) fn open_folder(folder: &Handle, name: &OsStr) -> io::Result<Handle> {
    Ok(rustix::fs::openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?)
}

/// Opens the folder itself again, to read its names or to sync it.
pub(super) fn reopen(folder: &Handle) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, c".", flags, Mode::empty())?.into())
}

pub(super) fn open(folder: &Handle, name: &OsStr, follow: bool) -> io::Result<File> {
    // If a pipe has taken the file's place, this does not wait for the pipe's other end.
    let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    flags.set(OFlags::NOFOLLOW, !follow);
    Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?.into())
}

pub(super) fn create(folder: &Handle, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(PRIVATE_FILE as _))?.into())
}

/// Renames a file or folder. Without `replaces`, it is an error if the new name is taken.
pub(super) fn rename(from: (&Handle, &OsStr), to: (&Handle, &OsStr), replaces: bool) -> io::Result<()> {
    if replaces {
        return Ok(rustix::fs::renameat(from.0, from.1, to.0, to.1)?);
    }
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
            // Not every file system knows this flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            renamed => return Ok(renamed?),
        }
    }
    match look(to.0, to.1, false)? {
        Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
        None => Ok(rustix::fs::renameat(from.0, from.1, to.0, to.1)?),
    }
}

pub(super) fn link(from: (&Handle, &OsStr), to: (&Handle, &OsStr)) -> io::Result<()> {
    Ok(rustix::fs::linkat(from.0, from.1, to.0, to.1, AtFlags::empty())?)
}

pub(super) fn remove(folder: &Handle, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?)
}

pub(super) fn make_folder(folder: &Handle, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(PRIVATE_FOLDER as _))?)
}

pub(super) fn remove_folder(folder: &Handle, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}

pub(super) fn names(folder: &Handle) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(reopen(folder)?)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

pub(super) fn look(folder: &Handle, name: &OsStr, follow: bool) -> io::Result<Option<Status>> {
    let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
    match rustix::fs::statat(folder, name, flags) {
        Ok(found) => Ok(Some(status(&found))),
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn status_of(file: impl std::os::fd::AsFd) -> io::Result<Status> {
    Ok(status(&rustix::fs::fstat(file)?))
}

#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
fn status(found: &Stat) -> Status {
    use rustix::fs::FileType as Raw;
    let file_type = match Raw::from_raw_mode(found.st_mode) {
        Raw::RegularFile => FileType::File,
        Raw::Directory => FileType::Dir,
        Raw::Symlink => FileType::Link,
        _ => FileType::Other,
    };
    let seconds = u64::try_from(found.st_mtime).unwrap_or(0);
    let since = Duration::from_secs(seconds) + Duration::from_nanos(found.st_mtime_nsec as u64);
    Status {
        file_type,
        len: found.st_size as u64,
        owner: found.st_uid,
        group: found.st_gid,
        mode: found.st_mode as u32 & 0o7777,
        id: (found.st_dev as u64, found.st_ino as u64),
        modified: SystemTime::UNIX_EPOCH.checked_add(since),
    }
}
