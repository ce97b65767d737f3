//! What the MANIFEST says of a database as a whole.

use std::io::{self, Write as _};

use filterblock::database::NUM_LEVELS;
use filterblock::escape;

use crate::console::Console;
use crate::database::Database;
use crate::show::{counted, size};

/// Says what is wrong with the MANIFEST, and which tables are missing. Returns whether there was anything to say.
pub(super) fn complain(database: &Database, console: &mut Console) -> bool {
    let mut said = false;
    if let Err(error) = &database.manifest {
        let path = error.path().unwrap_or(&database.folder);
        let error = error.without_path();
        console.complain(path, format_args!("{error}; all tables are taken to be live"));
        said = true;
    }
    for table in database.missing() {
        let message =
            format!("expected a table of {} bytes on level {}, found no file", table.size, table.level);
        console.complain(&database.path_of(table), message);
        said = true;
    }
    said
}

/// Writes the order of the keys, and how many tables each level has.
pub(super) fn write(database: &Database, console: &mut Console) -> io::Result<()> {
    let Ok(manifest) = &database.manifest else { return Ok(()) };
    if let Some(name) = manifest.comparator() {
        writeln!(console, "keys by {}", escape(name))?;
    }
    for level in 0..NUM_LEVELS {
        let tables = manifest.level(level);
        if !tables.is_empty() {
            let bytes = tables.iter().fold(0u64, |sum, table| sum.saturating_add(table.size));
            let tables = counted(tables.len() as u64, "table");
            writeln!(console, "level {level}: {tables}, {}", size(bytes))?;
        }
    }
    Ok(())
}
