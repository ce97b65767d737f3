//! Opening tables.

use std::fs::File;
use std::io;

use filterblock::escape_path;
use filterblock::table::{ReadOptions, Table};

use super::failure::{Failure, Fault, Result};
use super::files::Folder;
use crate::audit::reading::{decode_limit, read_options};
use crate::report::error_kind::ErrorKind;
use crate::walk::input::PathError;

/// Opens the table of this name, with the options of a database's tables, and a limit on what is decoded of it.
pub(super) fn open(dir: &Folder, name: &str) -> Result<(File, Table<File>)> {
    let path = &dir.path_of(name);
    let file = open_file(dir, name)?;
    let again = file.try_clone().map_err(|error| Failure::system("opening it", path, &error))?;
    let len = file.metadata().map_err(|error| Failure::system("looking at it", path, &error))?.len();
    let options = options().max_output(decode_limit(None, len));
    let table = Table::open(again, &options).map_err(|error| Failure::of(error, path))?;
    Ok((file, table.with_path(path)))
}

/// Opens a file that was there a moment ago.
pub(super) fn open_file(dir: &Folder, name: &str) -> Result<File> {
    dir.open_file(name).map_err(|error| {
        let path = dir.path_of(name);
        match error.kind() {
            io::ErrorKind::NotFound => {
                let text = format!("{}: {}", escape_path(&path), PathError::vanished());
                Failure::Failed(Fault { text, kind: Some(ErrorKind::Vanished) })
            }
            _ => Failure::system("opening it", &path, &error),
        }
    })
}

/// The options for the tables of a database.
pub(super) fn options() -> ReadOptions {
    read_options().internal_keys(true)
}
