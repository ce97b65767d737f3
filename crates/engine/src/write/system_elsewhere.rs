//! System calls by path, for systems where folders cannot be held open: there, `rebuild` works only with `--to`.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::status::{FileType, Status};

pub(super) type Handle = PathBuf;

pub(super) fn walk(
    path: &Path,
    mut visit: impl FnMut(&Path, &Status) -> io::Result<()>,
) -> io::Result<(Option<Handle>, Handle)> {
    let found = status(&fs::metadata(path)?);
    if !found.is_folder() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    visit(path, &found)?;
    Ok((path.parent().map(Path::to_owned), path.to_owned()))
}

pub(super) fn open_folder(folder: &Handle, name: &OsStr) -> io::Result<Handle> {
    match fs::symlink_metadata(folder.join(name))?.is_dir() {
        true => Ok(folder.join(name)),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

pub(super) fn open(folder: &Handle, name: &OsStr, _follow: bool) -> io::Result<File> {
    File::open(folder.join(name))
}

pub(super) fn create(folder: &Handle, name: &OsStr) -> io::Result<File> {
    File::options().read(true).write(true).create_new(true).open(folder.join(name))
}

pub(super) fn rename(from: (&Handle, &OsStr), to: (&Handle, &OsStr), replaces: bool) -> io::Result<()> {
    let to = to.0.join(to.1);
    if !replaces && fs::symlink_metadata(&to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from.0.join(from.1), to)
}

pub(super) fn link(from: (&Handle, &OsStr), to: (&Handle, &OsStr)) -> io::Result<()> {
    fs::hard_link(from.0.join(from.1), to.0.join(to.1))
}

pub(super) fn remove(folder: &Handle, name: &OsStr) -> io::Result<()> {
    fs::remove_file(folder.join(name))
}

pub(super) fn make_folder(folder: &Handle, name: &OsStr) -> io::Result<()> {
    fs::create_dir(folder.join(name))
}

pub(super) fn remove_folder(folder: &Handle, name: &OsStr) -> io::Result<()> {
    fs::remove_dir(folder.join(name))
}

pub(super) fn names(folder: &Handle) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

pub(super) fn look(folder: &Handle, name: &OsStr, follow: bool) -> io::Result<Option<Status>> {
    let path = folder.join(name);
    match if follow { fs::metadata(path) } else { fs::symlink_metadata(path) } {
        Ok(found) => Ok(Some(status(&found))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn status_of(file: &File) -> io::Result<Status> {
    Ok(status(&file.metadata()?))
}

fn status(found: &fs::Metadata) -> Status {
    let file_type = match found.file_type() {
        kind if kind.is_file() => FileType::File,
        kind if kind.is_dir() => FileType::Dir,
        kind if kind.is_symlink() => FileType::Link,
        _ => FileType::Other,
    };
    Status {
        file_type,
        len: found.len(),
        owner: 0,
        group: 0,
        mode: 0,
        id: (0, 0),
        modified: found.modified().ok(),
    }
}
