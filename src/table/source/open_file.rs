//! Opening files without waiting for pipes or reading devices.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

use crate::error::IoAction;
use crate::{Error, Result};

/// Opens the regular file at `path`, following links, for reading only and without a lock.
///
/// # Errors
///
/// [`Error::Io`], without the path, if `path` does not lead to a regular file, or if the file
/// cannot be opened.
pub(crate) fn open_file(path: &Path) -> Result<File> {
    try_open(path).map_err(|error| Error::io(IoAction::Open, 0, error))
}

/// Like [`open_file`], but with the bare [`io::Error`].
pub(crate) fn try_open(path: &Path) -> io::Result<File> {
    let regular = |metadata: Metadata| {
        if metadata.is_file() { Ok(()) } else { Err(io::Error::other("not a regular file")) }
    };
    // Opening a pipe would wait for its other end, so the file's type is checked before opening. It
    // is checked again afterwards, since the file may have been replaced in between.
    regular(fs::metadata(path)?)?;
    let file = File::open(path)?;
    regular(file.metadata()?)?;
    Ok(file)
}
