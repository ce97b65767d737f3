//! The size of a live table, which its MANIFEST records: LevelDB looks for the footer at the end of that many bytes.

use filterblock::database::{Database, DatabaseTable, LiveTable, Opener};
use filterblock::table::ReadAt as _;

use crate::report::{ErrorKind, Fault};

/// The size expected and the size found, in words, if a live table of `size` bytes has another size than the MANIFEST
/// records.
pub(crate) fn size_conflict(live: &LiveTable, size: u64) -> Option<(String, String)> {
    (live.size != size)
        .then(|| (format!("{} bytes, as the MANIFEST has it", live.size), format!("{size} bytes")))
}

/// The fault that a live table of `size` bytes has another size than the MANIFEST records. Its file is then not the one
/// that the MANIFEST means, or not all of it. `None`: it has the recorded size.
pub fn size_fault(live: &LiveTable, size: u64) -> Option<Fault> {
    let (expected, found) = size_conflict(live, size)?;
    let message = format!("table-size: expected {expected}, found {found}; a newer value may be lost");
    let (expected, found) = (Some(expected), Some(found));
    Some(Fault { expected, found, ..Fault::new(message, ErrorKind::Damaged) })
}

/// The live tables whose files have other sizes than the MANIFEST records, with these sizes. A table that was still
/// being written when the folder was listed has grown since: the size that counts is that of the file when it is open.
pub fn contradicted<'d, O: Opener>(database: &'d Database, opener: &mut O) -> Vec<(DatabaseTable<'d>, u64)> {
    let mut found = Vec::new();
    for table in database.tables() {
        let Some(live) =
            table.recorded().filter(|live| table.file.size().is_some_and(|len| len != live.size))
        else {
            continue;
        };
        let file = table.file.path().and_then(|path| opener.open_table(path).ok());
        // A table that does not open is reported when it is its turn.
        if let Some(len) = file.and_then(|file| file.len().ok()).filter(|len| *len != live.size) {
            found.push((table, len));
        }
    }
    found
}
