//! From what was found at a path to the tables to tune.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use filterblock::Error;
use filterblock::table::{ReadOptions, Table};

use super::input::{Input, Request, TableInfo};
use super::tuner::tune;
use crate::audit::foreign::explain;
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::stats::encoding::encoding_of;
use crate::report::error_kind::ErrorKind;
use crate::report::tune::{TuneFailure, Tuned, Tuning};
use crate::run::progress::Progress;
use crate::walk::folder::{Folder, reopen};
use crate::walk::input::{PathError, open_file};
use crate::walk::sources::Found;

/// How often to begin anew if tables vanish meanwhile.
const ATTEMPTS: u32 = 4;

const LOG_HAS_WRITES: &str = "the log holds writes that are in no table yet: a program that opens the database makes a \
                              table of them, which is not in these numbers";

type Result<T> = std::result::Result<T, TuneFailure>;

impl From<PathError> for TuneFailure {
    fn from(error: PathError) -> Self {
        Self { text: error.to_string(), kind: Some(error.kind()) }
    }
}

/// Tunes what was found at one of the paths given.
pub fn found(found: Found, request: &Request, read: &ReadOptions, progress: &dyn Progress) -> Tuned {
    match found {
        Found::ListFailed { input, error } => {
            Tuned { path: input.to_path_buf(), input, result: Err(error.into()) }
        }
        Found::Failed { input, path, error } => Tuned { input, path, result: Err(error.into()) },
        Found::Folder { input, path, folder: found } => {
            Tuned { input, path, result: folder(&found, request, read, progress) }
        }
        Found::File { input, path } => {
            let result = table(&path, request, read, progress);
            Tuned { input, path, result }
        }
    }
}

/// Tunes the database in a folder. Tables that vanish while a program compacts it make it begin anew.
///
/// # Errors
///
/// If it is no database, or has no MANIFEST that can be relied on.
pub fn folder(
    folder: &Arc<Folder>,
    request: &Request,
    read: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Tuning> {
    let mut folder = Arc::clone(folder);
    let mut attempt = 1;
    loop {
        let tuning = folder_once(&folder, request, read, progress)?;
        let has_vanished = folder.tables().any(|path| !path.exists());
        if tuning.faults.is_empty() || !has_vanished || attempt == ATTEMPTS {
            return Ok(tuning);
        }
        attempt += 1;
        folder = reopen(&folder)?;
    }
}

fn folder_once(
    folder: &Folder,
    request: &Request,
    read: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Tuning> {
    let database = folder.database();
    if !folder.is_database() {
        let text = "expected a database, found tables without a MANIFEST: give them one by one".to_owned();
        return Err(TuneFailure { text, kind: Some(ErrorKind::Missing) });
    }
    let manifest = database
        .manifest()
        .map_err(|error| TuneFailure { text: error.to_string(), kind: Some(ErrorKind::of(error)) })?;
    let path = |number| match database.files().table(number) {
        Ok(Some(file)) => file.path.clone(),
        _ => database.table_path(number),
    };
    let tables = manifest.tables().iter().map(|table| TableInfo {
        path: path(table.number),
        level: Some(table.level),
        size: table.size,
    });
    let input = Input {
        tables: tables.collect(),
        read,
        manifest: Some(manifest).filter(|manifest| manifest.is_bytewise()),
        encoding: KeyEncoding::Internal,
    };
    let mut tuning = tune(&input, request, progress);
    if !folder.logs_with_data(|_, _| {}).is_empty() {
        tuning.notes.push(LOG_HAS_WRITES.to_owned());
    }
    Ok(tuning)
}

/// Tunes a table given by itself.
///
/// # Errors
///
/// If it cannot be opened as a table.
pub fn table(path: &Path, request: &Request, read: &ReadOptions, progress: &dyn Progress) -> Result<Tuning> {
    let failure = |error: Error| {
        let failure = TuneFailure::of(&error);
        let explained =
            File::open(path).ok().and_then(|file| explain(&file, &error, failure.text.clone()).ok());
        TuneFailure { text: explained.unwrap_or(failure.text), ..failure }
    };
    open_file(path, false)?;
    let table = Table::open_path(path, read).map_err(failure)?;
    let encoding = encoding_of(&table).map_err(failure)?;
    let tables = vec![TableInfo { path: path.to_owned(), level: None, size: table.file_size() }];
    Ok(tune(&Input { tables, read, manifest: None, encoding }, request, progress))
}
