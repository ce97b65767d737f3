//! Finds the tables to tune at each path, and tunes them.

use std::collections::BTreeSet;
use std::{io, path::Path, sync::Arc};

use filterblock::Error;
use filterblock::table::{ReadAt, Table};

use super::input::{Input, Request, TableInfo};
use super::routes::Routes;
use super::tuner::tune;
use crate::audit::current_manifest::{is_goleveldb, missing_manifest};
use crate::audit::file_type::explain;
use crate::audit::inspect::missing_text;
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::order::Order;
use crate::audit::state;
use crate::audit::stats::encoding_of;
use crate::engine::{Engine, Sink};
use crate::report::{Action, ErrorKind, StateFault, TuneFailure, Tuned, Tuning};
use crate::walk::{Discovered, Folder, Inputs, OtherFile, PathError, Sources, Storage, open_named, reopen};
use crate::words::{DECIDE, RESTORE, UNDECODABLE, repair_command};

/// The maximum number of attempts to tune a database whose tables keep vanishing.
const ATTEMPTS: u32 = 4;

type Result<T> = std::result::Result<T, TuneFailure>;

impl From<PathError> for TuneFailure {
    fn from(error: PathError) -> Self {
        Self { other_format: error.other_format().cloned(), ..Self::new(error.to_string(), error.kind()) }
    }
}

/// The outcome of tuning.
#[derive(Clone, Default, Debug)]
pub struct TuneOutcome {
    /// A list of paths could not be read to its end.
    pub list_failed: bool,
    /// Some path could not be tuned.
    pub has_failures: bool,
    /// A database is damaged, some table could not be read, and is left out of all numbers, or filters deny stored
    /// keys.
    pub has_faults: bool,
}

impl Engine {
    /// Finds the filters that would best serve the databases and tables that `inputs` lead to.
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
        let (recursive, storage) = (inputs.recursive, inputs.storage.clone());
        for found in Sources::new(inputs.into_iter(), recursive, storage.clone()) {
            outcome.list_failed |= matches!(found, Discovered::ListFailed { .. });
            let tuned = tuned(found, storage.as_ref(), request, self);
            match &tuned.result {
                Ok(tuning) => outcome.has_faults |= tuning.is_damaged || !tuning.faults.is_empty(),
                Err(failure) if failure.first.is_some() => outcome.has_faults = true,
                Err(_) => outcome.has_failures = true,
            }
            sink.line(tuned)?;
            if self.watch.is_interrupted() {
                break;
            }
        }
        Ok(outcome)
    }

    /// Finds the filters that would best serve the one database or table that `inputs` lead to.
    ///
    /// # Errors
    ///
    /// If there is no database or table, if it cannot be read, or if its MANIFEST cannot be relied on.
    pub(crate) fn tune_one(&self, inputs: Inputs, request: &Request) -> Result<Tuning> {
        let mut result = Err(TuneFailure::new("found nothing to tune".to_owned(), None));
        // The sink takes everything.
        let _ = self.tune(inputs, request, &mut |tuned: Tuned| {
            result = tuned.result;
            Ok(())
        });
        result
    }
}

/// Tunes the database or table found at one of the given paths.
fn tuned(found: Discovered, storage: Option<&Arc<dyn Storage>>, request: &Request, engine: &Engine) -> Tuned {
    match found {
        Discovered::ListFailed { input, error } => {
            Tuned { path: input.to_path_buf(), input, result: Err(error.into()) }
        }
        Discovered::Failed { input, path, error } => Tuned { input, path, result: Err(error.into()) },
        Discovered::Folder { input, path, folder: found } => {
            Tuned { input, path, result: folder(&found, request, engine) }
        }
        Discovered::Table { input, path, .. } => {
            let result = table(&path, storage, request, engine);
            Tuned { input, path, result }
        }
    }
}

/// Tunes the database in a folder. Begins anew if tables vanish because a program compacts the database.
///
/// # Errors
///
/// If the folder is not a database, has no MANIFEST that can be relied on, or cannot be listed again.
fn folder(folder: &Arc<Folder>, request: &Request, engine: &Engine) -> Result<Tuning> {
    let mut folder = Arc::clone(folder);
    let mut attempt = 1;
    loop {
        let tuning = folder_once(&folder, request, engine)?;
        if tuning.faults.is_empty() || attempt == ATTEMPTS || !folder.has_vanished_tables() {
            return Ok(tuning);
        }
        attempt += 1;
        folder = reopen(&folder)?;
    }
}

/// The failure for the reason why the MANIFEST cannot be relied on.
fn failure_of(folder: &Folder, error: &Error) -> TuneFailure {
    let text = missing_manifest(error).unwrap_or_else(|| error.to_string());
    let failure = TuneFailure::new(text, Some(ErrorKind::of(error)));
    let is_damage = matches!(failure.kind, Some(ErrorKind::Damaged | ErrorKind::Missing));
    TuneFailure { first: is_damage.then(|| repair_command(folder.path())), ..failure }
}

fn folder_once(folder: &Arc<Folder>, request: &Request, engine: &Engine) -> Result<Tuning> {
    let database = folder.database();
    if !folder.is_database() {
        let text = "expected a database, found tables without a MANIFEST: give them one by one".to_owned();
        return Err(TuneFailure::new(text, ErrorKind::Missing));
    }
    let manifest = database.manifest().map_err(|error| failure_of(folder, error))?;
    let faults = state::faults(folder);
    let mut titles = faults.iter().map(StateFault::title).collect::<Vec<_>>().join("; ");
    if let Some(warning) = faults.iter().find_map(StateFault::warning) {
        titles += &format!(". Filters come later. {warning}");
        let first = Some(repair_command(folder.path()));
        return Err(TuneFailure { first, ..TuneFailure::new(titles, ErrorKind::Damaged) });
    }
    let path = |number| match database.files().table(number) {
        Ok(Some(file)) => file.path.clone(),
        _ => database.table_path(number),
    };
    let missing = BTreeSet::from_iter(folder.missing().map(|(_, table, _)| table.number));
    let tables = manifest.tables().iter().map(|table| TableInfo {
        path: path(table.number),
        level: Some(table.level),
        size: table.size,
        missing: missing.contains(&table.number).then(|| missing_text(folder, table)),
    });
    let order = manifest.comparator().and_then(Order::of);
    let input = Input {
        tables: tables.collect(),
        storage: folder.storage().cloned(),
        read: &engine.read,
        jobs: engine.jobs,
        manifest: order.map(|_| manifest),
        order: order.unwrap_or(Order::Bytewise),
        routes: order.filter(|_| !manifest.is_bytewise()).map(|order| Routes::new(manifest.tables(), order)),
        encoding: KeyEncoding::Internal,
        is_goleveldb: is_goleveldb(folder),
    };
    let mut tuning = tune(&input, request, &*engine.watch);
    if !faults.is_empty() {
        tuning.is_damaged = true;
        tuning.notes.push(format!("{titles}; to save what is left: {}", repair_command(folder.path())));
    }
    if tuning.advice.action == Action::Rebuild {
        for why in refusals(folder, &tuning) {
            tuning.advice.text += &format!(". {why}");
            // A command that is refused is none to run.
            if why == RESTORE {
                tuning.advice.arguments = None;
            }
        }
    }
    if !folder.logs_with_data(|_, _| {}).is_empty() {
        tuning.notes.push(log_note(&tuning));
    }
    Ok(tuning)
}

/// Remarks on the reasons for which `rebuild` refuses the database, each with what the user can do about it.
fn refusals(folder: &Folder, tuning: &Tuning) -> Vec<&'static str> {
    let mut refusals = Vec::new();
    // The page in the browser has findings instead, and shows this advice only if there are none.
    if cfg!(not(target_family = "wasm")) {
        let faults = || tuning.faults.iter().filter(|fault| fault.denied == 0);
        let is_left_out = |kind| faults().any(|fault| fault.kind == Some(kind));
        if tuning.is_damaged || is_left_out(ErrorKind::Missing) || is_left_out(ErrorKind::Damaged) {
            refusals.push(RESTORE);
        }
        if is_left_out(ErrorKind::Unsupported) {
            refusals.push(UNDECODABLE);
        }
    }
    if folder.has_undo() {
        refusals.push(DECIDE);
    }
    refusals
}

/// A note on the writes that are only in the log.
fn log_note(tuning: &Tuning) -> String {
    let of_program = tuning.settings.iter().find(|tried| tried.in_use);
    let rate = of_program.and_then(|tried| tried.outcome.rates.lookups.or(tried.outcome.rates.neighbours));
    let reads = rate.map_or("one data block".to_owned(), |rate| format!("{:.3} data blocks", rate.rate));
    format!(
        "the log holds writes that are in no table yet, and in no number here: the next program that opens the database \
         makes a table of them on level 0, with the filters that it sets itself, for which an absent key reads up to \
         {reads} more"
    )
}

/// Tunes a table given by itself.
///
/// # Errors
///
/// If the file cannot be opened as a table, or the encoding of its keys cannot be found.
fn table(
    path: &Path,
    storage: Option<&Arc<dyn Storage>>,
    request: &Request,
    engine: &Engine,
) -> Result<Tuning> {
    let source: Box<dyn ReadAt> = open_named(storage, path)?;
    let source: &dyn ReadAt = &source;
    if let Some(kind) = OtherFile::of(path, source) {
        let text = match kind {
            OtherFile::Log => "a log has no filters; give a database or a table",
            OtherFile::Manifest => "a MANIFEST has no filters; give a database or a table",
            _ => kind.refusal(),
        };
        return Err(TuneFailure::new(text, ErrorKind::Unsupported));
    }
    let failure = |error: Error| {
        let failure = TuneFailure::of(&error);
        let explained = explain(source, &error, failure.text.clone());
        TuneFailure { text: explained.unwrap_or(failure.text), ..failure }
    };
    let table = Table::open(source, &engine.read).map_err(failure)?;
    let encoding = encoding_of(&table).map_err(failure)?;
    let tables =
        vec![TableInfo { path: path.to_owned(), level: None, size: table.file_size(), missing: None }];
    let input = Input {
        tables,
        storage: storage.cloned(),
        read: &engine.read,
        jobs: engine.jobs,
        manifest: None,
        order: Order::Bytewise,
        routes: None,
        encoding,
        is_goleveldb: false,
    };
    Ok(tune(&input, request, &*engine.watch))
}
