//! The MANIFEST that CURRENT names, the sizes that it records, and the program that opened the database last.

use std::io;
use std::path::{Path, PathBuf};

use filterblock::database::{Database, DatabaseListing, FileKind, LiveTable, Opener};
use filterblock::table::ReadAt;
use filterblock::{Error, Structure, escape_path};

use crate::report::{ErrorKind, Fault};
use crate::text::{counted, error_text};
use crate::walk::{Folder, Sequential};

/// Where CURRENT is missing, LevelDB makes a new database if the program sets `create_if_missing`, and deletes the tables
/// that are not in it: `DBImpl::Recover` and `RemoveObsoleteFiles` (db/db_impl.cc).
pub(crate) const NO_CURRENT: &str =
    "Do not open the database with its program: LevelDB may start a new one there, and delete these tables";

/// `None`: CURRENT cannot be read or names no MANIFEST, or the folder does not hold that MANIFEST.
pub(crate) fn current(folder: &Folder) -> Option<PathBuf> {
    let path = folder.path().join("CURRENT");
    let mut listing = DatabaseListing::new([("CURRENT", 0)]);
    listing.supply_from(Ok(Sequential::new(folder.open_file(&path).ok()?)));
    let manifest = folder.path().join(listing.wanted()?);
    let mut manifests = folder.database().files().of_kind(FileKind::Manifest);
    manifests.any(|file| *file.path == *manifest).then_some(manifest)
}

/// `error`: why the MANIFEST cannot be relied on. `None`: neither CURRENT nor the MANIFEST that it names is missing.
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

/// Expected and found, in words. LevelDB looks for the footer at the end of the recorded bytes.
pub(crate) fn size_conflict(recorded: u64, size: u64) -> Option<(String, String)> {
    (recorded != size).then(|| (format!("{recorded} bytes, as the MANIFEST has it"), format!("{size} bytes")))
}

/// The faults of live tables whose files have other sizes than the MANIFEST records, with the tables' numbers.
///
/// Only the size of the opened file counts: a table that was being written when the folder was listed may have its size
/// by then.
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
        let (path, expected, size) = (Some(path.into()), Some(expected.into()), Some(size.into()));
        found.push((table.number, Fault { path, expected, found: size, ..fault }));
    }
    found
}

/// goleveldb's LOG begins with this (`file_storage.go`), LevelDB's with a date.
const GOLEVELDB_LOG: &[u8] = b"=============== ";

/// True if goleveldb opened the database last, as LOG tells. Without LOG, LevelDB did.
pub(crate) fn is_goleveldb(folder: &Folder) -> bool {
    folder.open_file(&folder.path().join("LOG")).is_ok_and(|log| is_goleveldbs_log(&log))
}

pub(crate) fn is_goleveldbs_log(log: &impl ReadAt) -> bool {
    log.read_at(0, GOLEVELDB_LOG.len()).is_ok_and(|start| start == GOLEVELDB_LOG)
}
