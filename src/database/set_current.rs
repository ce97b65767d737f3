//! Naming another MANIFEST in `CURRENT` (`SetCurrentFile` in LevelDB's `db/filename.cc`).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::names::FileKind;
use crate::error::IoAction;
use crate::{Error, Result};

/// Makes the MANIFEST with this number the one that `CURRENT` names, in the database folder `dir`.
///
/// The new `CURRENT` is written as `NNNNNN.dbtmp` with the number of the MANIFEST, synced and
/// renamed, and then the folder is synced: whatever happens in between, `CURRENT` names the old
/// MANIFEST or the new one. A file left over under the temporary name is replaced. On Unix, mode,
/// owner and group are those of the previous `CURRENT`, if there is one, so that everyone who could
/// read the previous file can read the new one.
///
/// The MANIFEST itself has to be synced beforehand, and so has the folder with its name. Nobody else
/// may have the database open
#[cfg_attr(feature = "lock", doc = "([`DatabaseLock`](crate::database::DatabaseLock)).")]
#[cfg_attr(not(feature = "lock"), doc = "(`DatabaseLock`, with the feature `lock`).")]
///
/// # Errors
///
/// [`Error::Io`], with the file's path. The temporary file is removed if possible, and `CURRENT` is
/// as it was. If the error is about the folder itself, however, `CURRENT` has already been
/// replaced, but the change may not survive a loss of power.
pub fn set_current(dir: impl AsRef<Path>, manifest_number: u64) -> Result<()> {
    let dir = dir.as_ref();
    let temporary = dir.join(FileKind::Temporary.file_name(manifest_number));
    let current = dir.join(FileKind::Current.file_name(0));
    let contents = format!("{}\n", FileKind::Manifest.file_name(manifest_number));
    // The file is created anew: a file left over may be a link to somewhere else.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Error::io(IoAction::Remove, 0, error).with_path(temporary));
        }
        _ => {}
    }
    let replaced = write_temporary(&temporary, &current, contents.as_bytes())
        .map_err(|error| error.with_path(&temporary))
        .and_then(|()| {
            let renamed = fs::rename(&temporary, &current);
            renamed.map_err(|error| Error::io(IoAction::Rename, 0, error).with_path(&current))
        });
    if let Err(error) = replaced {
        // If the removal fails too, LevelDB removes the file when it opens the database.
        _ = fs::remove_file(&temporary);
        return Err(error);
    }
    sync_folder(dir)
}

/// Makes sure that files created, renamed or removed in the folder `dir` remain so after a loss of
/// power. The files' contents have to be synced one by one.
///
/// This does nothing on systems other than Unix, such as Windows, where folders cannot be synced.
///
/// # Errors
///
/// [`Error::Io`], with the folder's path.
pub fn sync_folder(dir: impl AsRef<Path>) -> Result<()> {
    #[cfg(unix)]
    {
        let dir = dir.as_ref();
        let folder = File::open(dir).map_err(|error| Error::io(IoAction::Open, 0, error).with_path(dir))?;
        folder.sync_all().map_err(|error| Error::io(IoAction::Sync, 0, error).with_path(dir))?;
    }
    #[cfg(not(unix))]
    let _ = dir;
    Ok(())
}

/// Writes and syncs the new `CURRENT` under its temporary name.
fn write_temporary(temporary: &Path, current: &Path, contents: &[u8]) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    let mut file = options.open(temporary).map_err(|error| Error::io(IoAction::Create, 0, error))?;
    let write = IoAction::Write { len: contents.len() as u64 };
    file.write_all(contents).map_err(|error| Error::io(write, 0, error))?;
    match fs::metadata(current) {
        Ok(before) => keep_owner_and_mode(&file, &before)
            .map_err(|error| Error::io(IoAction::SetAttributes, 0, error))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io(IoAction::LookUp, 0, error).with_path(current)),
    }
    file.sync_all().map_err(|error| Error::io(IoAction::Sync, 0, error))
}

/// Gives `file` the owner, the group and the mode of the file that it replaces.
#[cfg(unix)]
fn keep_owner_and_mode(file: &File, before: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};

    let now = file.metadata()?;
    let changed = |before: u32, now: u32| (before != now).then_some(before);
    let (owner, group) = (changed(before.uid(), now.uid()), changed(before.gid(), now.gid()));
    if owner.is_some() || group.is_some() {
        fchown(file, owner, group)?;
    }
    if before.mode() != now.mode() {
        file.set_permissions(before.permissions())?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn keep_owner_and_mode(_: &File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}
