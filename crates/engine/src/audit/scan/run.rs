//! The entries of everything that the given paths lead to.

mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use filterblock::table::{ReadAt, ReadOptions, Table};

use super::carve::rows::{CarvedRows, DecodeLimit};
use super::correction::{CorrectingOpener, Correction};
use super::database::{DatabaseRows, Progress, unknown_order};
use super::openers::{has_vanished, is_log};
use super::range::{ScanOutcome, ScanRequest};
use super::rows::{LogRows, Moved, Rows};
use super::steps::{finish, pause};
use super::table::{TableRows, has_internal_keys};
use crate::audit::current_manifest::manifest_fault;
use crate::audit::file_type::explain;
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::reading::{decode_limit, limit_walks};
use crate::audit::state;
use crate::engine::{Engine, Sink};
use crate::report::{ErrorKind, Fault, FileState, Remark, ScanLine, StateFault, Subject};
use crate::walk::{Discovered, Folder, Inputs, OtherFile, PathError, folder};
use crate::words::{count, error_text, repair_command};

/// The maximum number of times in a row that a database is read anew without an entry in between.
const MAX_ROUNDS: u32 = 16;

/// The maximum number of errors about one file that are reported.
const MAX_ERRORS: u64 = 10;

impl Engine {
    /// Gives `sink` the entries of the databases, tables and logs that `inputs` lead to. With an
    /// [`order`](Self::order), databases without a sound MANIFEST are merged as well.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn scan(
        &self,
        inputs: Inputs,
        request: &ScanRequest,
        sink: &mut impl for<'a> Sink<ScanLine<'a>>,
    ) -> io::Result<ScanOutcome> {
        finish(self.scan_pausing(inputs, request, sink))
    }

    /// As [`scan`](Self::scan), with pauses where the sink wants them and where entries are skipped.
    pub(super) async fn scan_pausing<S: for<'a> Sink<ScanLine<'a>>>(
        &self,
        inputs: Inputs,
        request: &ScanRequest,
        sink: &mut S,
    ) -> io::Result<ScanOutcome> {
        let options = limit_walks(self.read.clone(), self.max_output);
        let mut scan = Scan {
            engine: self,
            request,
            correction: request.corrects().then(|| Correction::new(&self.read, self.max_output)),
            options,
            sink,
            left: request.limit.unwrap_or(u64::MAX),
            lacks_manifest: false,
            is_database: false,
            has_damage: false,
            folder: None,
            hinted: BTreeSet::new(),
            described: None,
            remarks: Vec::new(),
            outcome: ScanOutcome::default(),
        };
        for found in self.sources(inputs) {
            scan.take(found).await?;
        }
        Ok(scan.outcome)
    }
}

type Described = (Table<Box<dyn ReadAt + Send + Sync>>, KeyEncoding);

struct Scan<'a, S> {
    engine: &'a Engine,
    request: &'a ScanRequest,
    options: ReadOptions,
    correction: Option<Correction>,
    sink: &'a mut S,
    /// The number of entries that may still be shown.
    left: u64,
    /// The file belongs to a database without a sound MANIFEST, and is shown by itself.
    lacks_manifest: bool,
    /// The files that are shown are merged as a database.
    is_database: bool,
    /// Damage was found in the database that is being shown.
    has_damage: bool,
    /// The folder that is being shown. `None`: a file that was given by itself is shown.
    folder: Option<Arc<Folder>>,
    /// The files to whose faults no more hints are added.
    hinted: BTreeSet<PathBuf>,
    /// The file that had the last fault. `None` in it: it does not open as a table.
    described: Option<(PathBuf, Option<Described>)>,
    /// Remarks to show with the next result.
    remarks: Vec<Remark>,
    outcome: ScanOutcome,
}

#[derive(Default)]
struct Shown {
    entries: u64,
    errors: BTreeMap<PathBuf, u64>,
    remarks: Vec<Remark>,
}

impl<'a, S: for<'l> Sink<ScanLine<'l>>> Scan<'a, S> {
    async fn take(&mut self, found: Discovered) -> io::Result<()> {
        (self.is_database, self.has_damage, self.folder) = (false, false, None);
        match found {
            Discovered::ListFailed { input, error } => {
                self.outcome.list_failed = true;
                self.failed(Subject::of(&input), error)
            }
            Discovered::Failed { input, path, error } => {
                self.failed(Subject { path: &path, ..Subject::of(&input) }, error)
            }
            Discovered::Folder { input, path, folder } => {
                self.folder(Subject { path: &path, ..Subject::of(&input) }, &folder).await
            }
            Discovered::Table { input, path, folder, .. } => {
                self.file(Subject { path: &path, ..Subject::of(&input) }, folder.is_some(), false).await
            }
        }
    }

    async fn folder(&mut self, subject: Subject<'_>, folder: &Arc<Folder>) -> io::Result<()> {
        let folder = &self.corrected(Arc::clone(folder));
        self.folder = Some(Arc::clone(folder));
        for (path, error) in folder.skipped() {
            self.failed(Subject { path, ..subject }, error)?;
        }
        if self.request.carves() {
            return self.files(subject, folder).await;
        }
        for fault in state::faults(folder) {
            // A scan of all versions shows the tables that the MANIFEST does not list, too.
            let message = if self.request.all { fault.text() } else { fault.in_scan() };
            let said = Fault::new(message, ErrorKind::Damaged);
            self.outcome.is_damaged = true;
            self.has_damage |= matches!(fault, StateFault::Unlisted(_));
            self.sink.line(ScanLine::State(subject, &fault, &said))?;
        }
        let is_ordered = folder.has_records() || self.engine.order.is_some();
        if let (Some((path, bare)), Err(error)) = (folder.manifest_error(), folder.database().manifest()) {
            let why = manifest_fault(error);
            let merged = format!("{why}, so all tables and logs are used, and deleted keys may come back");
            let fault = StateFault::NoManifest(why);
            let message = if is_ordered { merged } else { fault.in_scan() };
            let hint = self.options_hint(path, &bare.into(), true);
            self.outcome.has_failed = true;
            let command = repair_command(subject.path);
            let remarks = &[Remark::remedy(format_args!("the newest values: {command}"))];
            let said = Fault::new(message + &hint, ErrorKind::of(error));
            self.outcome.count(&said);
            self.sink.line(ScanLine::State(Subject { remarks, ..subject }, &fault, &said))?;
        }
        if is_ordered && (folder.is_database() || self.has_internal_keys(folder)) {
            return self.database(subject, folder).await;
        }
        if !folder.is_database() && folder.tables().nth(1).is_some() {
            let text = "no MANIFEST, so each table is shown by itself, with old values and deleted keys";
            self.remarks.push(Remark::new(subject.path, text));
        }
        self.files(subject, folder).await
    }

    /// Returns true if a folder's tables have internal keys: by the request, or if some open and all of these seem so.
    fn has_internal_keys(&self, folder: &Folder) -> bool {
        let opened = folder.tables().filter_map(|path| {
            let table = Table::open(self.open(path, true).ok()?, &self.options);
            Some(has_internal_keys(&table.ok()?))
        });
        self.request.internal_keys.unwrap_or_else(|| opened.reduce(|all, one| all && one).unwrap_or_default())
    }

    /// Shows the tables and logs of a folder one by one.
    async fn files(&mut self, subject: Subject<'_>, folder: &Folder) -> io::Result<()> {
        let in_database = folder.is_database();
        self.lacks_manifest = in_database && !self.request.carves();
        for path in folder.tables().chain(folder.logs().map(|(log, _)| &*log.path)) {
            self.file(Subject { path, ..subject }, in_database, true).await?;
        }
        self.remarks.clear();
        self.lacks_manifest = false;
        Ok(())
    }

    /// Shows a database's entries. Continues after the last one if a file was removed because it is no longer used.
    async fn database(&mut self, subject: Subject<'_>, folder: &Arc<Folder>) -> io::Result<()> {
        let correction = self.correction().map(|correction| correction.of(folder.database()));
        let (mut folder, request) = (Arc::clone(folder), self.request);
        let (mut progress, mut shown, mut rounds) = (Progress::default(), Shown::default(), 0);
        self.is_database = true;
        loop {
            let database = folder.database();
            let (range, all) = (&request.range, request.all);
            let opener =
                CorrectingOpener { opener: self.engine.files.clone(), correction: correction.clone() };
            let mut rows = match DatabaseRows::new(
                database,
                opener,
                &self.options,
                range,
                all,
                progress,
                self.engine.order,
            ) {
                Ok(rows) => rows,
                // With these options, only an order of keys that is not known is an error.
                Err(_) => {
                    return self.fault(subject, &unknown_order(&folder));
                }
            };
            let before = shown.entries;
            let missing = OnceLock::new();
            let goes_on = |fault: &Fault| rounds < MAX_ROUNDS && has_vanished(fault, &folder, &missing);
            if self.show_some(subject, &mut rows, &mut shown, &goes_on).await? {
                return self.end(subject, shown);
            }
            rounds = if shown.entries > before { 0 } else { rounds + 1 };
            progress = rows.into_shown();
            folder = match folder::reopen(&folder) {
                Ok(folder) => self.corrected(folder),
                Err(error) => {
                    self.failed(subject, error)?;
                    return self.end(subject, shown);
                }
            };
        }
    }

    /// `in_database`: a table's keys are internal keys, unless the request says otherwise. `listed`: found in a folder.
    async fn file(&mut self, subject: Subject<'_>, in_database: bool, listed: bool) -> io::Result<()> {
        let (path, ScanRequest { all, range, internal_keys, .. }) = (subject.path, self.request);
        if is_log(path) {
            return match self.open_log(path, listed) {
                Ok(contents) => self.show(subject, &mut LogRows::new(contents, path, range, *all)).await,
                Err(error) => self.failed(subject, error),
            };
        }
        let file = match self.open(path, listed) {
            Ok(file) => file,
            Err(error) => return self.failed(subject, error),
        };
        let internal = internal_keys.or(in_database.then_some(true));
        let options = &self.options;
        if self.request.carves() {
            let limit = decode_limit(self.engine.max_output, file.len().unwrap_or_default());
            let limit = DecodeLimit::new(Arc::clone(&self.engine.meter), limit);
            return match CarvedRows::new(file, options, limit, path, range, *all, internal) {
                Ok(mut rows) => self.show(subject, &mut rows).await,
                Err(error) => self.failed(subject, error.into()),
            };
        }
        match TableRows::new(file, options, path, range, *all, internal) {
            Ok(mut rows) => self.show(subject, &mut rows).await,
            Err(error) => {
                let file = self.open(path, listed).ok();
                if let Some(kind) =
                    file.as_ref().filter(|_| !listed).and_then(|file| OtherFile::of(path, file))
                {
                    let text = match kind {
                        OtherFile::Log => "a log under another name: give it one that ends with .log",
                        kind => kind.refusal(),
                    };
                    return self.failed(subject, PathError::failed(ErrorKind::Unsupported, text));
                }
                let text = error_text(&error);
                let meaning = match file {
                    Some(file) => explain(&file, &error, text),
                    None => text,
                };
                let meaning = Some(Box::new(meaning));
                self.fault(subject, &Fault { meaning, ..error.into() })
            }
        }
    }

    async fn show(&mut self, subject: Subject<'_>, rows: &mut impl Rows) -> io::Result<()> {
        let mut shown = Shown::default();
        self.show_some(subject, rows, &mut shown, &|_| false).await?;
        self.end(subject, shown)
    }

    /// Shows the entries up to the limit. Returns false at the first fault for which `stops_at` returns true.
    async fn show_some(
        &mut self,
        subject: Subject<'_>,
        rows: &mut impl Rows,
        shown: &mut Shown,
        stops_at: &impl Fn(&Fault) -> bool,
    ) -> io::Result<bool> {
        while self.left > 0 {
            match rows.advance() {
                Ok(Moved::On) => pause().await,
                Ok(Moved::ToEntry) => {
                    if let Some(mut row) = rows.row() {
                        let correction = self.correction();
                        row.corrected =
                            correction.and_then(|correction| correction.bit(row.path, row.offset));
                        if self.lacks_manifest {
                            row.state =
                                Some(if is_log(row.path) { FileState::Log } else { FileState::Unknown });
                        }
                        self.sink.line(ScanLine::Entry(subject.input, row))?;
                    }
                    self.left -= 1;
                    shown.entries += 1;
                    if self.sink.wants_pause() {
                        pause().await;
                    }
                }
                Ok(Moved::ToEnd) => {
                    shown.remarks.extend(rows.note().map(|note| Remark::new(subject.path, note)));
                    break;
                }
                Err(fault) if stops_at(&fault) => return Ok(false),
                Err(fault) => {
                    let path = fault.path.as_deref().unwrap_or(subject.path);
                    let errors = shown.errors.entry(path.to_owned()).or_default();
                    *errors += 1;
                    if *errors > MAX_ERRORS {
                        self.outcome.count(&fault);
                        continue;
                    }
                    self.fault(Subject { path, ..subject }, &fault)?;
                }
            }
        }
        Ok(true)
    }

    fn end(&mut self, subject: Subject<'_>, shown: Shown) -> io::Result<()> {
        let Shown { entries, errors, remarks: found } = shown;
        let mut remarks = std::mem::take(&mut self.remarks);
        let more = errors.iter().filter(|(_, errors)| **errors > MAX_ERRORS);
        remarks.extend(more.map(|(path, errors)| {
            Remark::new(path, format_args!("… and {} more in this file", count(errors - MAX_ERRORS)))
        }));
        remarks.extend(found);
        if self.is_database && std::mem::take(&mut self.has_damage) {
            let command = repair_command(subject.path);
            remarks.push(Remark::remedy(format_args!("to save all of it: {command}")));
        }
        let corrected = self.correction().into_iter().flat_map(|correction| correction.tell(subject.path));
        remarks.extend(corrected.map(|(path, text)| Remark::new(&path, text)));
        self.sink.line(ScanLine::End(Subject { remarks: &remarks, ..subject }, entries))
    }

    fn failed(&mut self, subject: Subject<'_>, error: PathError) -> io::Result<()> {
        let fault = Fault::new(error.to_string(), error.kind());
        let fault = match error {
            PathError::Failed { .. } => fault,
            // The other kinds of error name what was expected.
            error => {
                let (expected, found) = error.into_parts("");
                Fault { expected: Some(expected), found: Some(found), ..fault }
            }
        };
        self.outcome.has_failed = true;
        self.fault(subject, &fault)
    }

    fn fault(&mut self, subject: Subject<'_>, fault: &Fault) -> io::Result<()> {
        self.outcome.count(fault);
        self.has_damage |= matches!(fault.kind, ErrorKind::Damaged | ErrorKind::Missing);
        let message = self.meaning(subject.path, fault);
        self.sink.line(ScanLine::Fault(subject, &Fault { message, ..fault.clone() }))
    }
}
