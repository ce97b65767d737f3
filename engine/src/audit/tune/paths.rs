//! From what was found at a path to the tables to tune.

use std::{fs::File, io, path::Path, sync::Arc};

use filterblock::Error;
use filterblock::table::{ReadOptions, Table};

use super::input::{Input, Request, TableInfo};
use super::tuner::tune;
use crate::engine::{Engine, Sink};
use crate::report::{ErrorKind, TuneFailure, Tuned, Tuning};
use crate::run::{Watch, threads};
use crate::walk::{Discovered, Folder, Inputs, PathError, Sources, open_file, reopen};
use crate::{audit::foreign::explain, audit::key_encoding::KeyEncoding, audit::stats::encoding_of};

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

/// What came of tuning.
#[derive(Clone, Default, Debug)]
pub struct TuneOutcome {
    /// A list of paths could not be read to its end.
    pub list_failed: bool,
    /// There was nothing to find out about some path.
    pub has_failures: bool,
    /// Some table could not be read, and is part of no number.
    pub has_faults: bool,
    /// The reason why the system let no threads be started.
    pub not_started: Option<String>,
}

impl Engine {
    /// Finds out which filters would serve the databases and tables best that `inputs` lead to, files of this system.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn tune(
        &self,
        inputs: Inputs,
        request: &Request,
        sink: &mut impl Sink<Tuned>,
    ) -> io::Result<TuneOutcome> {
        let mut outcome = TuneOutcome::default();
        let pool = match threads(self.jobs) {
            Ok(pool) => pool,
            Err(reason) => return Ok(TuneOutcome { not_started: Some(reason), ..outcome }),
        };
        let recursive = inputs.recursive;
        for found in Sources::new(inputs.into_iter(), recursive, None) {
            outcome.list_failed |= matches!(found, Discovered::ListFailed { .. });
            let tuned = pool.install(|| tuned(found, request, &self.read, &*self.watch));
            outcome.has_failures |= tuned.result.is_err();
            outcome.has_faults |= tuned.result.as_ref().is_ok_and(|tuning| !tuning.faults.is_empty());
            sink.line(tuned)?;
            if self.watch.is_interrupted() {
                break;
            }
        }
        Ok(outcome)
    }

    /// Finds out which filters would serve the database or the table at `path` best.
    ///
    /// # Errors
    ///
    /// If there is none, if its MANIFEST cannot be relied on, or if no threads can be started.
    pub fn tune_path(&self, path: &Path, request: &Request) -> Result<Tuning> {
        let inputs = Inputs { paths: vec![path.to_owned()], ..Inputs::default() };
        let mut result = None;
        let outcome = self.tune(inputs, request, &mut |tuned: Tuned| {
            result = Some(tuned.result);
            Ok(())
        });
        let text = outcome.ok().and_then(|outcome| outcome.not_started).unwrap_or_default();
        result.unwrap_or(Err(TuneFailure { text, kind: None }))
    }
}

/// Tunes what was found at one of the paths given.
fn tuned(found: Discovered, request: &Request, read: &ReadOptions, watch: &dyn Watch) -> Tuned {
    match found {
        Discovered::ListFailed { input, error } => {
            Tuned { path: input.to_path_buf(), input, result: Err(error.into()) }
        }
        Discovered::Failed { input, path, error } => Tuned { input, path, result: Err(error.into()) },
        Discovered::Folder { input, path, folder: found } => {
            Tuned { input, path, result: folder(&found, request, read, watch) }
        }
        Discovered::Table { input, path, .. } => {
            let result = table(&path, request, read, watch);
            Tuned { input, path, result }
        }
    }
}

/// Tunes the database in a folder. Tables that vanish while a program compacts it make it begin anew.
///
/// # Errors
///
/// If it is no database, or has no MANIFEST that can be relied on.
fn folder(folder: &Arc<Folder>, request: &Request, read: &ReadOptions, watch: &dyn Watch) -> Result<Tuning> {
    let mut folder = Arc::clone(folder);
    let mut attempt = 1;
    loop {
        let tuning = folder_once(&folder, request, read, watch)?;
        let has_vanished = folder.tables().any(|path| !path.exists());
        if tuning.faults.is_empty() || !has_vanished || attempt == ATTEMPTS {
            return Ok(tuning);
        }
        attempt += 1;
        folder = reopen(&folder)?;
    }
}

fn folder_once(folder: &Folder, request: &Request, read: &ReadOptions, watch: &dyn Watch) -> Result<Tuning> {
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
    let mut tuning = tune(&input, request, watch);
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
fn table(path: &Path, request: &Request, read: &ReadOptions, watch: &dyn Watch) -> Result<Tuning> {
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
    Ok(tune(&Input { tables, read, manifest: None, encoding }, request, watch))
}
