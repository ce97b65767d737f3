//! Files and folders, with errors that name them. What is written is durable when a call returns.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use serde::Serialize;

use super::failure::{Failure, Result};

/// Writes a file that must not be there yet, and syncs it. Its name is durable once its folder is
/// synced. It gets owner and mode of the file at `like`: whoever could read that can read this.
pub(super) fn write_new(path: &Path, contents: &[u8], like: &Path) -> Result<()> {
    let write = || {
        let mut file = create_new(path)?;
        file.write_all(contents)?;
        copy_rights(&file, &fs::metadata(like)?)?;
        file.sync_all()
    };
    write().map_err(|error| Failure::system("writing it", path, &error))
}

/// The most bytes of a file that one run leaves for another: enough for two million tables.
const MAX_NOTE: usize = 256 << 20;

/// Writes what another run has to know, as [`write_new`] does.
pub(super) fn write_note(path: &Path, note: &impl Serialize, like: &Path) -> Result<()> {
    let contents = serde_json::to_vec_pretty(note)
        .map_err(|error| Failure::system("writing it", path, &error.into()))?;
    if contents.len() > MAX_NOTE {
        let why = format!("expected at most {MAX_NOTE} bytes to note, found {}", contents.len());
        return Err(Failure::refused(path, why).and("--batch and --no-undo do with less"));
    }
    write_new(path, &contents, like)
}

/// Reads what [`write_note`] has written.
pub(super) fn read_note(path: &Path) -> io::Result<Vec<u8>> {
    let contents = read_at_most(path, MAX_NOTE)?;
    contents.ok_or_else(|| io::Error::other(format!("expected at most {MAX_NOTE} bytes, found more")))
}

/// Reads a regular file. `None`: it has more than `most` bytes.
pub(super) fn read_at_most(path: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut contents = Vec::new();
    open(path)?.take(most as u64 + 1).read_to_end(&mut contents)?;
    Ok((contents.len() <= most).then_some(contents))
}

/// Opens a regular file for reading. Anything else is an error: opening a pipe would wait for its
/// other end.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let check = |metadata: Metadata| match metadata.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("expected a regular file, found something else")),
    };
    check(fs::metadata(path)?)?;
    let file = File::open(path)?;
    // It may be another one by now.
    check(file.metadata()?)?;
    Ok(file)
}

/// Creates a file for reading and writing.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).open(path)
}

pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Failure::system("giving it its name", to, &error))
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::system("removing it", path, &error))
        }
        _ => Ok(()),
    }
}

/// Makes the names in a folder durable.
pub(super) fn sync_folder(path: &Path) -> Result<()> {
    filterblock::database::sync_folder(path).map_err(|error| Failure::of(error, path))
}

/// Gives `to` the owner, the mode and the times of the file that `like` describes.
pub(super) fn copy_attributes(to: &File, like: &Metadata) -> io::Result<()> {
    copy_rights(to, like)?;
    let times = fs::FileTimes::new().set_accessed(like.accessed()?).set_modified(like.modified()?);
    to.set_times(times)
}

/// Gives `to` the owner and the mode of the file that `like` describes.
pub(super) fn copy_rights(to: &File, like: &Metadata) -> io::Result<()> {
    copy_owner(to, like)?;
    to.set_permissions(like.permissions())
}

/// Gives `to` the owner of the file that `like` describes.
pub(super) fn copy_owner(to: &File, like: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        let now = to.metadata()?;
        if (now.uid(), now.gid()) != (like.uid(), like.gid()) {
            fchown(to, Some(like.uid()), Some(like.gid()))?;
        }
    }
    #[cfg(not(unix))]
    let _ = (to, like);
    Ok(())
}

/// Tells whether `now` describes the same file as `before`, unchanged as far as the system tells.
pub(super) fn is_unchanged(before: &Metadata, now: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if (before.dev(), before.ino()) != (now.dev(), now.ino()) {
            return false;
        }
    }
    before.len() == now.len() && before.modified().ok() == now.modified().ok()
}

/// Copies a file under a new name, with its attributes.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    let copy = || {
        let mut source = open(from)?;
        let before = source.metadata()?;
        let mut target = create_new(to)?;
        // Shares the data where the file system can.
        io::copy(&mut source, &mut target)?;
        copy_attributes(&target, &before)?;
        target.sync_all()
    };
    copy().map_err(|error| Failure::system("copying it", from, &error))
}
