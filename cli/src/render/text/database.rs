//! What the MANIFEST says of a database as a whole.

use std::io::{self, Write as _};

use filterblock::escape;

use crate::io::console::Console;
use crate::io::database::Database;
use crate::render::show::short_name;

/// Says what is wrong with the MANIFEST, and which tables are missing. Returns whether there was anything to say.
pub(crate) fn complain(database: &Database, console: &mut Console) -> bool {
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

/// Writes the order of the keys.
pub(crate) fn write(database: &Database, console: &mut Console) -> io::Result<()> {
    let comparator = database.comparator();
    comparator.map_or(Ok(()), |name| writeln!(console, "keys by {}", escape(&short_name(name))))
}
