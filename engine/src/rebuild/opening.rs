//! Opening tables, and the filters that they have now.

use std::{fs::File, io};

use filterblock::table::{ReadOptions, Table};
use filterblock::{FilterBlockReader, escape_path, policy::Origin};

use super::failure::{Failure, Result};
use super::files::Folder;
use crate::audit::{decode_limit, read_options};
use crate::report::{ErrorKind, FiltersReport};
use crate::walk::PathError;

/// Opens the table of this name, with the options for a database's tables, and a limit on the bytes decoded.
pub(super) fn open(dir: &Folder, name: &str) -> Result<(File, Table<File>)> {
    let path = &dir.path_of(name);
    let file = open_file(dir, name)?;
    let again = file.try_clone().map_err(|error| Failure::system("opening it", path, &error))?;
    let len = file.metadata().map_err(|error| Failure::system("looking at it", path, &error))?.len();
    let options = options().max_output(decode_limit(None, len));
    let table = Table::open(again, &options).map_err(|error| Failure::of(error, path))?;
    Ok((file, table.with_path(path)))
}

/// Opens a file that was listed before. If it is missing now, the failure says that it vanished.
pub(super) fn open_file(dir: &Folder, name: &str) -> Result<File> {
    dir.open_file(name).map_err(|error| {
        let path = dir.path_of(name);
        match error.kind() {
            io::ErrorKind::NotFound => {
                let text = format!("{}: {}", escape_path(&path), PathError::vanished());
                Failure::failed(text, Some(ErrorKind::Vanished))
            }
            _ => Failure::system("opening it", &path, &error),
        }
    })
}

/// The options for the tables of a database.
pub(super) fn options() -> ReadOptions {
    read_options().internal_keys(true)
}

/// Looks at the filters of a table. `None`: no filter block with a name was found, or the table cannot be
/// opened and `keep_undecodable` is set.
pub(super) fn survey(dir: &Folder, name: &str, keep_undecodable: bool) -> Result<Option<FiltersReport>> {
    let table = match open(dir, name) {
        Err(failure) if failure.is_refusal() && keep_undecodable => return Ok(None),
        opened => opened?.1,
    };
    if table.origin() == Some(Origin::Basho) {
        let why = "expected a table of LevelDB's, found one of Riak's, which this does not write";
        return Err(Failure::refused(&dir.path_of(name), why).of_kind(ErrorKind::Unsupported));
    }
    let Some((policy, handle)) = table.filter_name().zip(table.filter_handle()) else { return Ok(None) };
    let sound = table.filter().filter(|filter| filter.check().is_ok());
    Ok(Some(FiltersReport {
        policy: policy.to_owned(),
        size: handle.size,
        base_lg: sound.map(FilterBlockReader::base_lg),
        bits_per_key: None,
    }))
}
