//! `filterblock scan`: the entries of databases, tables and logs.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::database::FileKind;
use filterblock::table::{ReadOptions, Table};

use super::scan_arguments::{Arguments, StoredKeys};
use crate::exit::EXIT_ERROR;
use crate::format::Format;
use crate::io::console::Console;
use crate::renderer::ScanRenderer;
use filterblock_engine::audit::foreign::explain;
use filterblock_engine::audit::reading::{decode_limit, limit_walks};
use filterblock_engine::audit::scan::carve::rows::{CarvedRows, DecodeLimit};
use filterblock_engine::audit::scan::database::DatabaseRows;
use filterblock_engine::audit::scan::log::LogRows;
use filterblock_engine::audit::scan::range::KeyRange;
use filterblock_engine::audit::scan::row::{Fault, Rows, State};
use filterblock_engine::audit::scan::table::{TableRows, has_internal_keys};
use filterblock_engine::report::error_kind::ErrorKind;
use filterblock_engine::report::subject::{Remark, Subject};
use filterblock_engine::walk::folder::{self, Folder};
use filterblock_engine::walk::folder_cache::FolderCache;
use filterblock_engine::walk::input::{self, PathError};
use filterblock_engine::walk::sources::{Discovered, Sources};

/// Something is damaged and was passed over.
const EXIT_DAMAGED: u8 = 1;

/// The most times that a database is read anew, one after the other, without an entry in between.
const MAX_ROUNDS: u32 = 16;

/// The most errors about one path that are told.
const MAX_ERRORS: u64 = 64;

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> u8 {
    show(arguments, Format::new(arguments.json).scan(arguments.parts()), console)
}

/// Shows by `renderer` what `arguments` ask for. Returns the exit status.
pub(super) fn show(arguments: &Arguments, renderer: Box<dyn ScanRenderer>, console: &mut Console) -> u8 {
    let range = match arguments.range() {
        Ok(range) => range,
        Err(message) => {
            console.message(message);
            return EXIT_ERROR;
        }
    };
    let mut scan = Scan {
        arguments,
        range,
        options: limit_walks(arguments.limits.read_options(), arguments.limits.max_output())
            .meter(console.meter()),
        renderer,
        left: arguments.limit.unwrap_or(u64::MAX),
        lacks_manifest: false,
        remarks: Vec::new(),
        list_failed: false,
        status: 0,
    };
    let result = scan.paths(console);
    let keeps_going = arguments.paths.keeps_going() && !scan.list_failed;
    let status = if keeps_going { 0 } else { scan.status };
    console.finish(result, status)
}

struct Scan<'a> {
    arguments: &'a Arguments,
    range: KeyRange,
    options: ReadOptions,
    renderer: Box<dyn ScanRenderer>,
    /// The number of entries that may still be shown.
    left: u64,
    /// The file is one of a database without a MANIFEST, and shown by itself.
    lacks_manifest: bool,
    /// Remarks to show with the next result.
    remarks: Vec<Remark>,
    list_failed: bool,
    status: u8,
}

/// The account of one path.
#[derive(Default)]
struct Shown {
    entries: u64,
    errors: u64,
    remarks: Vec<Remark>,
}

impl Scan<'_> {
    fn paths(&mut self, console: &mut Console) -> io::Result<()> {
        let mut folders = FolderCache::default();
        let arguments = self.arguments;
        for found in Sources::new(arguments.paths.iter(), arguments.paths.is_recursive()) {
            match found {
                Discovered::ListFailed { input, error } => {
                    self.list_failed = true;
                    self.failed(Subject::of(&input), error, console)?;
                }
                Discovered::Failed { input, path, error } => {
                    self.failed(Subject { path: &path, ..Subject::of(&input) }, error, console)?;
                }
                Discovered::Folder { input, path, folder } => {
                    self.folder(Subject { path: &path, ..Subject::of(&input) }, &folder, console)?;
                }
                Discovered::Table { input, path, .. } => {
                    let folder = folders.around(&path, |_, _| {});
                    let subject = Subject { path: &path, ..Subject::of(&input) };
                    self.file(subject, folder.is_some(), false, console)?;
                }
            }
        }
        Ok(())
    }

    fn folder(
        &mut self,
        subject: Subject<'_>,
        folder: &Arc<Folder>,
        console: &mut Console,
    ) -> io::Result<()> {
        for (path, error) in folder.skipped() {
            self.failed(Subject { path, ..subject }, error, console)?;
        }
        if self.arguments.carve {
            return self.files(subject, folder, console);
        }
        let is_ordered = folder.has_records() || self.arguments.comparator.is_some();
        if let Some((path, error)) = folder.manifest_error() {
            let how = match is_ordered {
                true => "all tables and logs are scanned",
                false => {
                    "tables and logs come one by one, with older versions of keys and keys that were deleted; \
                     --comparator bytewise merges them"
                }
            };
            let fault = Fault { message: format!("{error}; {how}"), ..error.into() };
            self.fault(Subject { path, ..subject }, &fault, EXIT_ERROR, console)?;
        }
        if is_ordered && (folder.is_database() || self.has_internal_keys(folder)) {
            return self.database(subject, folder, console);
        }
        if !folder.is_database() && folder.tables().nth(1).is_some() {
            let text = "there is no MANIFEST: tables come one by one, each in its own order";
            self.remarks.push(Remark::new(subject.path, text));
        }
        self.files(subject, folder, console)
    }

    /// Tells whether the tables of a folder hold a database's keys.
    fn has_internal_keys(&self, folder: &Folder) -> bool {
        if let Some(format) = self.arguments.key_format {
            return format == StoredKeys::Internal;
        }
        let opened = folder.tables().filter_map(|path| {
            let file = input::open_file(path, true).ok()?;
            Table::open(file, &self.options).ok()
        });
        opened.map(|table| has_internal_keys(&table)).reduce(|all, one| all && one).unwrap_or_default()
    }

    /// Shows the tables and logs of a folder one by one.
    fn files(&mut self, subject: Subject<'_>, folder: &Folder, console: &mut Console) -> io::Result<()> {
        let in_database = folder.is_database();
        self.lacks_manifest = in_database && !self.arguments.carve;
        for path in folder.tables().chain(folder.logs().map(|(log, _)| &*log.path)) {
            self.file(Subject { path, ..subject }, in_database, true, console)?;
        }
        self.remarks.clear();
        self.lacks_manifest = false;
        Ok(())
    }

    /// Goes on behind the last entry where a file was removed that the database no longer uses.
    fn database(
        &mut self,
        subject: Subject<'_>,
        folder: &Arc<Folder>,
        console: &mut Console,
    ) -> io::Result<()> {
        let (mut folder, range) = (Arc::clone(folder), self.range.clone());
        let (mut place, mut shown, mut rounds) = (None, Shown::default(), 0);
        loop {
            let made = DatabaseRows::new(folder.database(), &self.options, &range, self.arguments.all, place);
            let mut rows = match made {
                Ok(rows) => rows,
                Err(error) => {
                    let message = format!(
                        "{}: its tables cannot be merged in an order that is not known here; give them one by one",
                        error.without_path()
                    );
                    let fault = Fault { message, kind: ErrorKind::Unsupported, ..error.into() };
                    return self.fault(subject, &fault, EXIT_ERROR, console);
                }
            };
            let before = shown.entries;
            let missing = OnceCell::new();
            let goes_on = |fault: &Fault| rounds < MAX_ROUNDS && has_vanished(fault, &folder, &missing);
            if self.show_some(subject, &mut rows, &mut shown, &goes_on, console)? {
                return self.end(subject, shown, console);
            }
            rounds = if shown.entries > before { 0 } else { rounds + 1 };
            place = rows.into_place();
            folder = match folder::reopen(&folder) {
                Ok(folder) => folder,
                Err(error) => {
                    self.failed(subject, error, console)?;
                    return self.end(subject, shown, console);
                }
            };
        }
    }

    /// `in_database`: its keys are internal keys.
    fn file(
        &mut self,
        subject: Subject<'_>,
        in_database: bool,
        listed: bool,
        console: &mut Console,
    ) -> io::Result<()> {
        let path = subject.path;
        let file = match input::open_file(path, listed) {
            Ok(file) => file,
            Err(error) => return self.failed(subject, error, console),
        };
        let range = self.range.clone();
        let all = self.arguments.all;
        if is_log(path) {
            return self.show(subject, &mut LogRows::new(file, path, &range, all), console);
        }
        let internal = match self.arguments.key_format {
            Some(format) => Some(format == StoredKeys::Internal),
            None => in_database.then_some(true),
        };
        let options = &self.options;
        if self.arguments.carve {
            let file_size = file.metadata().map_or(0, |metadata| metadata.len());
            let limit = decode_limit(self.arguments.limits.max_output(), file_size);
            let limit = DecodeLimit::new(console.meter(), limit);
            return match CarvedRows::new(file, options, limit, path, &range, all, internal) {
                Ok(mut rows) => self.show(subject, &mut rows, console),
                Err(error) => self.failed(subject, error.into(), console),
            };
        }
        match TableRows::new(&file, options, path, &range, all, internal) {
            Ok(mut rows) => self.show(subject, &mut rows, console),
            Err(error) => {
                let text = error.without_path().to_string();
                let mut message = explain(&file, &error, text.clone()).unwrap_or(text);
                let kind = ErrorKind::of(&error);
                let is_damaged = kind == ErrorKind::Damaged;
                if is_damaged {
                    message.push_str("; --carve finds blocks without index and footer");
                }
                let status = if is_damaged { EXIT_DAMAGED } else { EXIT_ERROR };
                self.fault(subject, &Fault { message, ..error.into() }, status, console)
            }
        }
    }

    /// Shows all entries up to the limit.
    fn show(&mut self, subject: Subject<'_>, rows: &mut dyn Rows, console: &mut Console) -> io::Result<()> {
        let mut shown = Shown::default();
        self.show_some(subject, rows, &mut shown, &|_| false, console)?;
        self.end(subject, shown, console)
    }

    /// Shows the entries up to the limit. Returns false at the first fault that `stops_at` holds for.
    fn show_some(
        &mut self,
        subject: Subject<'_>,
        rows: &mut dyn Rows,
        shown: &mut Shown,
        stops_at: &dyn Fn(&Fault) -> bool,
        console: &mut Console,
    ) -> io::Result<bool> {
        while self.left > 0 {
            match rows.advance() {
                Ok(true) => {
                    if let Some(mut row) = rows.row() {
                        if self.lacks_manifest {
                            row.state = if is_log(row.path) { State::Log } else { State::Unknown };
                        }
                        self.renderer.entry(subject.input, &row, console)?;
                    }
                    self.left -= 1;
                    shown.entries += 1;
                }
                Ok(false) => {
                    shown.remarks.extend(rows.note().map(|note| Remark::new(subject.path, note)));
                    break;
                }
                Err(fault) if stops_at(&fault) => return Ok(false),
                Err(fault) => {
                    shown.errors += 1;
                    let status = if fault.kind == ErrorKind::Damaged { EXIT_DAMAGED } else { EXIT_ERROR };
                    if shown.errors > MAX_ERRORS {
                        self.status = self.status.max(status);
                        continue;
                    }
                    let path = fault.path.as_deref().unwrap_or(subject.path);
                    self.fault(Subject { path, ..subject }, &fault, status, console)?;
                }
            }
        }
        Ok(true)
    }

    fn end(&mut self, subject: Subject<'_>, shown: Shown, console: &mut Console) -> io::Result<()> {
        let Shown { entries, errors, remarks: found } = shown;
        let mut remarks = std::mem::take(&mut self.remarks);
        remarks.extend(found);
        if errors > MAX_ERRORS {
            remarks.push(Remark::new(subject.path, format_args!("{} more errors", errors - MAX_ERRORS)));
        }
        self.renderer.end(Subject { remarks: &remarks, ..subject }, entries, console)
    }

    /// A path could not be looked at.
    fn failed(&mut self, subject: Subject<'_>, error: PathError, console: &mut Console) -> io::Result<()> {
        let fault = Fault::new(error.to_string(), error.kind());
        let fault = match error {
            PathError::Failed { .. } => fault,
            // Both others say what they expected.
            error => {
                let (expected, found) = error.into_parts("");
                Fault { expected: Some(expected), found: Some(found), ..fault }
            }
        };
        self.fault(subject, &fault, EXIT_ERROR, console)
    }

    fn fault(
        &mut self,
        subject: Subject<'_>,
        fault: &Fault,
        status: u8,
        console: &mut Console,
    ) -> io::Result<()> {
        self.status = self.status.max(status);
        self.renderer.fault(subject, fault, console)
    }
}

/// Tells whether a file was there when `folder` was read, and is not now. `missing`: the tables that
/// were not there, once they are known.
fn has_vanished(fault: &Fault, folder: &Folder, missing: &OnceCell<BTreeSet<PathBuf>>) -> bool {
    let Some(path) = fault.path.as_ref().filter(|_| fault.kind == ErrorKind::Missing) else { return false };
    let missing = missing.get_or_init(|| folder.missing().map(|(path, ..)| path).collect());
    !missing.contains(path)
}

fn is_log(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(FileKind::parse).is_some_and(|(kind, _)| kind == FileKind::Log)
        || path.extension().is_some_and(|extension| extension == "log")
}
