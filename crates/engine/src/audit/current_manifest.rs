//! The MANIFEST that CURRENT names, the sizes of live tables, which it records, and the program that opened the
//! database last. LevelDB looks for a table's footer at the end of as many bytes as the MANIFEST records.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::database::{Database, DatabaseListing, FileKind, LiveTable, Opener};
use filterblock::table::ReadAt;
use filterblock::{Error, Structure, escape_path};

use crate::report::{ErrorKind, Fault};
use crate::walk::{Folder, PathError, Storage, open_file, open_listed, open_log};
use crate::words::{counted, error_text};

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

/// Why the MANIFEST cannot be used, in a few words that name the file. `error`: that of reading it, with its path.
pub(crate) fn manifest_fault(error: &Error) -> String {
    let name = error.path().and_then(Path::file_name).map(|name| escape_path(Path::new(name)).to_string());
    let name = name.unwrap_or_else(|| "the MANIFEST".to_owned());
    missing_manifest(error).unwrap_or_else(|| match error.without_path() {
        Error::Io { .. } | Error::Corrupt { what: Structure::Current, .. } => {
            format!("{name} {}", error_text(error))
        }
        Error::Corrupt { .. } => format!("{name} is damaged"),
        error => format!("{name} is not read: {error}"),
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

/// The size expected and the size found, in words, if a live table of `size` bytes has another size than the MANIFEST
/// records.
pub(crate) fn size_conflict(recorded: u64, size: u64) -> Option<(String, String)> {
    (recorded != size).then(|| (format!("{recorded} bytes, as the MANIFEST has it"), format!("{size} bytes")))
}

/// The faults of live tables whose files have other sizes than the MANIFEST records, with the tables' numbers. Such a
/// file is not the one that the MANIFEST means, or only a part of it. A table that was still being written when the
/// folder was listed may have its recorded size when it is opened, so only the size of the opened file counts.
pub fn contradicted<O: Opener>(database: &Database, opener: &mut O) -> Vec<(u64, Fault)> {
    let mut found = Vec::new();
    for table in database.tables() {
        let listed = |live: &&LiveTable| table.file.size().is_some_and(|len| len != live.size);
        let (Some(live), Some(path)) = (table.recorded().filter(listed), table.file.path()) else { continue };
        // A table that does not open is reported in its turn.
        let Some(len) = opener.open_table(path).ok().and_then(|file| file.len().ok()) else { continue };
        let Some((expected, size)) = size_conflict(live.size, len) else { continue };
        let (bytes, recorded) = (counted(len, "byte"), counted(live.size, "byte"));
        let message = format!("has {bytes} and should have {recorded}; a newer value may be lost");
        let fault = Fault::new(message, ErrorKind::Damaged);
        let (path, expected, size) = (Some(path.into()), Some(expected), Some(size));
        found.push((table.number, Fault { path, expected, found: size, ..fault }));
    }
    found
}

/// The first bytes of goleveldb's LOG file (`file_storage.go`). LevelDB's LOG file begins with a date.
const GOLEVELDB_LOG: &[u8] = b"=============== ";

/// Returns true if goleveldb opened the database last, judging by the first bytes of the LOG file. Without
/// that file, the database is considered LevelDB's.
pub(crate) fn is_goleveldb(folder: &Folder) -> bool {
    open_listed(folder.storage(), &folder.path().join("LOG")).is_ok_and(|log| is_goleveldbs_log(&log))
}

/// Returns true if goleveldb wrote this LOG file.
pub(crate) fn is_goleveldbs_log(log: &impl ReadAt) -> bool {
    log.read_at(0, GOLEVELDB_LOG.len()).is_ok_and(|start| start == GOLEVELDB_LOG)
}
