//! Opening tables.

use std::fs::File;
use std::path::Path;

use filterblock::escape_path;
use filterblock::table::{ReadOptions, Table};

use super::failure::{Failure, Fault, Result};
use crate::audit::reading::{decode_limit, read_options};
use crate::io::input::{self, PathError};

/// Opens the table at `path`, with the options of a database's tables, and a limit on what is decoded
/// of it.
pub(super) fn open(path: &Path) -> Result<(File, Table<File>)> {
    let file = input::open_file(path, true).map_err(|error| unopened(path, &error))?;
    let again = file.try_clone().map_err(|error| Failure::system("opening it", path, &error))?;
    let len = file.metadata().map_err(|error| Failure::system("looking at it", path, &error))?.len();
    let options = options().max_output(decode_limit(None, len));
    let table = Table::open(again, &options).map_err(|error| Failure::of(error, path))?;
    Ok((file, table.with_path(path)))
}

/// A file that cannot be opened.
pub(super) fn unopened(path: &Path, error: &PathError) -> Failure {
    let text = format!("{}: {error}", escape_path(path));
    Failure::Failed(Fault { text, kind: Some(error.kind()) })
}

/// The options for the tables of a database.
pub(super) fn options() -> ReadOptions {
    read_options().internal_keys(true)
}
