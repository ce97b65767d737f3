//! `filterblock tune`: finds out which filters would serve a database best.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use filterblock::table::{ReadOptions, Table};
use filterblock::{Error, LegacyHash, Result};
use rayon::ThreadPoolBuilder;

use super::arguments::{Limits, Paths, PolicyName, bytes};
use super::keys;
use crate::exit::EXIT_ERROR;
use crate::format::Format;
use crate::io::console::Console;
use crate::io::progress::Progress;
use filterblock_engine::audit::foreign::explain;
use filterblock_engine::audit::key_encoding::KeyEncoding;
use filterblock_engine::audit::stats::encoding::encoding_of;
use filterblock_engine::audit::tune::report::{TuneFailure, Tuning};
use filterblock_engine::audit::tune::{Input, Request, TableFiles, TableInfo, tune};
use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::subject::Subject;
use filterblock_engine::run::in_order::MAX_JOBS;
use filterblock_engine::run::watch::Watch as _;
use filterblock_engine::walk::folder::{self, Folder};
use filterblock_engine::walk::input::{self, PathError};
use filterblock_engine::walk::sources::{Discovered, Sources};

/// Some table could not be read, and is part of no number.
const EXIT_FAULTS: u8 = 1;
/// How often to begin anew if tables vanish meanwhile.
const ATTEMPTS: u32 = 4;

/// Find out which filters a database should have, and what the present ones cost
///
/// Makes filters of the database's own keys with 4 to 20 bits a key and several ranges, and asks
/// them for absent keys: random ones, stored ones that were changed, and your own (--lookups). From
/// the levels of the tables it tells how many data blocks a lookup reads now and would read then.
///
/// Of large databases some tables are decoded, 128 MiB in all; --all takes every table. Nothing is
/// written and nothing locked.
#[derive(Args)]
#[command(after_help = NOTES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    paths: Paths,
    /// The keys that the program looks up, one a line, as many times as it does; - is standard input
    #[arg(long, value_name = "FILE")]
    lookups: Option<PathBuf>,
    /// The keys of --lookups are in hexadecimal, or escaped as results show them
    #[arg(long, requires = "lookups")]
    hex: bool,
    /// The most bytes that filters may take, such as 5M; if not given, what they take today, or 10
    /// bits a key where tables have none
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    budget: Option<u64>,
    /// Decode every table
    #[arg(long)]
    all: bool,
    /// The policy that the program is set to; that of the tables if not given
    #[arg(long, value_name = "NAME", value_enum)]
    policy: Option<PolicyName>,
    #[command(flatten)]
    limits: Limits,
    /// Write JSON, one object a line: every setting tried, then the database
    #[arg(long)]
    json: bool,
    /// Show every setting tried
    #[arg(long, conflicts_with = "json")]
    wide: bool,
    /// Number of tables to look at at once; as many as there are processors if not given
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS))]
    jobs: Option<u16>,
}

const NOTES: &str = "\
Examples:
  filterblock tune ~/db                            would other filters serve better?
  filterblock tune ~/db --lookups keys.txt         by the keys that the program really looks up
  filterblock tune ~/db --budget 5M                the best that 5 MiB of filters can do
  filterblock tune --json ~/db | jq 'select(.object == \"tuning\").advice.text'

What the numbers mean, and how they are found: docs/tune.md, in the source of this program

Exit status: 0 done; 1 some table could not be read, and the numbers leave it out; 2 wrong usage, or
an input that is missing or cannot be read; 141 the reader of the output went away.";

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    let request = match arguments.request() {
        Ok(request) => request,
        Err(message) => {
            console.message(message);
            return EXIT_ERROR;
        }
    };
    let mut pool = ThreadPoolBuilder::new();
    if let Some(jobs) = arguments.jobs {
        pool = pool.num_threads(jobs.into());
    }
    let pool = match pool.build() {
        Ok(pool) => pool,
        Err(error) => {
            console.message(format_args!("starting threads: {error}"));
            return EXIT_ERROR;
        }
    };
    let options = arguments.limits.read_options().meter(console.meter());
    let mut renderer = Format::new(arguments.json).tune(arguments.wide);
    let (mut list_failed, mut has_failed, mut has_faults) = (false, false, false);
    let mut result = Ok(());
    for found in Sources::new(arguments.paths.iter(), arguments.paths.is_recursive(), None) {
        let progress = Progress::new(!arguments.json);
        list_failed |= matches!(found, Discovered::ListFailed { .. });
        let (input, path, tuned) = pool.install(|| tune_path(found, &request, &options, &progress));
        drop(progress);
        has_failed |= tuned.is_err();
        has_faults |= tuned.as_ref().is_ok_and(|tuning| !tuning.faults.is_empty());
        let subject = Subject { path: &path, ..Subject::of(&input) };
        result = result.and_then(|()| renderer.tuning(subject, tuned.as_ref(), console));
        if result.is_err() {
            break;
        }
    }
    let status = match () {
        () if list_failed => EXIT_ERROR,
        () if arguments.paths.keeps_going() => 0,
        () if has_failed => EXIT_ERROR,
        () if has_faults => EXIT_FAULTS,
        () => 0,
    };
    console.finish(result, status)
}

impl Arguments {
    fn request(&self) -> std::result::Result<Request, String> {
        let lookups = match &self.lookups {
            Some(path) => keys::read(Vec::new(), Some(path), self.hex)?,
            None => Vec::new(),
        };
        let policy = self.policy.map(|name| name.kind(LegacyHash::Unsigned));
        Ok(Request { lookups, budget: self.budget, all: self.all, policy })
    }
}

/// Tunes what a path leads to. Returns the path as it was given and the path found, too.
fn tune_path(
    found: Discovered,
    request: &Request,
    options: &ReadOptions,
    progress: &Progress,
) -> (Arc<Path>, PathBuf, std::result::Result<Tuning, TuneFailure>) {
    match found {
        Discovered::ListFailed { input, error } => {
            (Arc::clone(&input), input.to_path_buf(), Err(failure(&error)))
        }
        Discovered::Failed { input, path, error } => (input, path, Err(failure(&error))),
        Discovered::Folder { input, path, folder } => {
            (input, path, tune_folder(&folder, request, options, progress))
        }
        Discovered::Table { input, path, .. } => {
            let tuned = tune_table(&path, request, options, progress);
            (input, path, tuned)
        }
    }
}

fn failure(error: &PathError) -> TuneFailure {
    TuneFailure { text: error.to_string(), kind: Some(error.kind()) }
}

/// The files of a database's tables, in the order of the MANIFEST.
struct DatabaseFiles<'a> {
    paths: Vec<PathBuf>,
    options: &'a ReadOptions,
}

impl TableFiles for DatabaseFiles<'_> {
    type Source = File;

    fn open(&self, table: usize) -> Result<Table<File>> {
        // There is a path for each table that is asked for.
        open(self.paths.get(table).map_or(Path::new(""), PathBuf::as_path), self.options)
    }
}

fn open(path: &Path, options: &ReadOptions) -> Result<Table<File>> {
    Table::open_path(path, options)
}

/// Tunes the database in a folder. Tables that vanish while a program compacts it make it begin anew.
pub(super) fn tune_folder(
    folder: &Arc<Folder>,
    request: &Request,
    options: &ReadOptions,
    progress: &Progress,
) -> std::result::Result<Tuning, TuneFailure> {
    let mut folder = Arc::clone(folder);
    let mut attempt = 1;
    loop {
        let tuning = tune_once(&folder, request, options, progress)?;
        let has_vanished = folder.tables().any(|path| !path.exists());
        if tuning.faults.is_empty() || !has_vanished || attempt == ATTEMPTS {
            return Ok(tuning);
        }
        attempt += 1;
        folder = folder::reopen(&folder).map_err(|error| failure(&error))?;
    }
}

fn tune_once(
    folder: &Folder,
    request: &Request,
    options: &ReadOptions,
    progress: &Progress,
) -> std::result::Result<Tuning, TuneFailure> {
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
    let paths: Vec<PathBuf> = manifest.tables().iter().map(|table| path(table.number)).collect();
    let tables = manifest.tables().iter().zip(&paths).map(|(table, path)| TableInfo {
        name: file_name(path),
        level: Some(table.level),
        size: table.size,
    });
    let input = Input {
        tables: tables.collect(),
        files: DatabaseFiles { paths, options },
        manifest: Some(manifest).filter(|manifest| manifest.is_bytewise()),
        encoding: KeyEncoding::Internal,
    };
    let mut tuning =
        tune(&input, request, &|bytes| progress.expect(bytes, true), &|bytes| progress.add(bytes));
    let logs = folder.logs_with_data(|_, _| {});
    if !logs.is_empty() {
        tuning.notes.push(
            "the log holds writes that are in no table yet: a program that opens the database makes a table of \
             them, which is not in these numbers"
                .to_owned(),
        );
    }
    Ok(tuning)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// One table, without its database.
struct OneFile<'a> {
    path: &'a Path,
    options: &'a ReadOptions,
}

impl TableFiles for OneFile<'_> {
    type Source = File;

    fn open(&self, _: usize) -> Result<Table<File>> {
        open(self.path, self.options)
    }
}

/// Tunes a table given by itself.
pub(super) fn tune_table(
    path: &Path,
    request: &Request,
    options: &ReadOptions,
    progress: &Progress,
) -> std::result::Result<Tuning, TuneFailure> {
    let of = |error: &Error| {
        let text = error.without_path().to_string();
        let text =
            File::open(path).ok().and_then(|file| explain(&file, error, text.clone()).ok()).unwrap_or(text);
        TuneFailure { text, kind: Some(ErrorKind::of(error)) }
    };
    input::open_file(path, false).map_err(|error| failure(&error))?;
    let files = OneFile { path, options };
    let table = files.open(0).map_err(|error| of(&error))?;
    let encoding = encoding_of(&table).map_err(|error| of(&error))?;
    let tables = vec![TableInfo { name: file_name(path), level: None, size: table.file_size() }];
    let input = Input { files, tables, manifest: None, encoding };
    Ok(tune(&input, request, &|bytes| progress.expect(bytes, true), &|bytes| progress.add(bytes)))
}
