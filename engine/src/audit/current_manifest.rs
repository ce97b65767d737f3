//! The MANIFEST that CURRENT names.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::Error;
use filterblock::database::{DatabaseListing, FileKind};

use crate::walk::{Folder, PathError, Storage, open_file, open_log};

/// The path of the MANIFEST that CURRENT names. `None`: CURRENT cannot be read or does not name a MANIFEST, or the
/// folder does not hold the MANIFEST of that name.
pub(crate) fn current(folder: &Folder, storage: Option<&Arc<dyn Storage>>) -> Option<PathBuf> {
    let path = folder.path().join("CURRENT");
    let mut listing = DatabaseListing::new([("CURRENT", 0)]);
    listing.supply_from(Ok(open(&path, true, storage).ok()?));
    let manifest = folder.path().join(listing.wanted()?);
    let mut manifests = folder.database().files().of_kind(FileKind::Manifest);
    manifests.any(|file| *file.path == *manifest).then_some(manifest)
}

/// The message for `error`, why the MANIFEST cannot be relied on, if CURRENT or the MANIFEST that it names is missing.
pub(crate) fn missing_manifest(error: &Error) -> Option<String> {
    let (Error::Io { source, .. }, Some(path)) = (error.without_path(), error.path()) else { return None };
    let name = path.file_name()?.to_str().filter(|_| source.kind() == io::ErrorKind::NotFound)?;
    Some(match FileKind::parse(name) {
        Some((FileKind::Manifest, _)) => format!("{name} is missing, and CURRENT names it"),
        _ => format!("{name} is missing"),
    })
}

/// Opens a MANIFEST or CURRENT.
pub(crate) fn open(
    path: &Path,
    listed: bool,
    storage: Option<&Arc<dyn Storage>>,
) -> Result<Box<dyn Read>, PathError> {
    match storage {
        None => Ok(Box::new(open_file(path, listed)?)),
        Some(storage) => Ok(Box::new(open_log(&**storage, path)?)),
    }
}
