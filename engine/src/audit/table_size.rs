//! The size of a live table, which its MANIFEST records: LevelDB looks for the footer at the end of that many bytes.

use filterblock::database::{Database, LiveTable, Opener};
use filterblock::table::ReadAt as _;

use crate::report::{ErrorKind, Fault};

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
        let message = format!("table-size: expected {expected}, found {size}; a newer value may be lost");
        let fault = Fault::new(message, ErrorKind::Damaged);
        let (path, expected, size) = (Some(path.to_owned()), Some(expected), Some(size));
        found.push((table.number, Fault { path, expected, found: size, ..fault }));
    }
    found
}
