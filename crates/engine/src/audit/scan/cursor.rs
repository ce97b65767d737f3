//! A scan: the entries of everything that the given paths lead to, one after another.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::{self, Debug};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use filterblock::table::{ReadAt as _, ReadOptions, Table};

use super::carve::rows::{CarvedRows, DecodeLimit};
use super::database::{DatabaseRows, Progress, unknown_order};
use super::range::ScanRequest;
use super::rows::{LogRows, Moved, Rows};
use super::table::{TableRows, has_internal_keys};
use crate::audit::correct::storage::CorrectedStorage;
use crate::audit::current_manifest::manifest_fault;
use crate::audit::file_type::explain;
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::reading::{decode_limit, limit_walks};
use crate::audit::state;
use crate::engine::Engine;
use crate::report::{ErrorKind, Fault, FileState, Outcome, Remark, Row, ScanLine, StateFault, Subject};
use crate::walk::{Files, Folder, Inputs, OtherFile, PathError, SharedFile, Target, Targets};
use crate::walk::{folder, is_named_log};
use crate::words::{count, error_text, repair_command};

/// The maximum number of times in a row that a database is read anew without an entry in between.
const MAX_ROUNDS: u32 = 16;

/// The maximum number of errors about one file that are reported.
const MAX_ERRORS: u64 = 10;

impl Engine {
    /// Begins a scan of the entries of the databases, tables and logs that `inputs` lead to. With an
    /// [`order`](Self::order), databases without a sound MANIFEST are merged as well.
    pub fn scan(&self, inputs: Inputs, request: ScanRequest) -> ScanCursor {
        let correction = request.corrects().then(|| Arc::new(self.corrected_storage()));
        ScanCursor {
            options: limit_walks(self.read.clone(), self.max_output),
            files: correction.clone().map_or_else(|| self.files.clone(), |storage| Files::new(storage)),
            correction,
            targets: self.targets(inputs),
            left: request.limit.unwrap_or(u64::MAX),
            engine: self.clone(),
            request: Arc::new(request),
            files_left: VecDeque::new(),
            shown: None,
            found: VecDeque::new(),
            line: None,
            at_entry: false,
            lacks_manifest: false,
            is_database: false,
            has_damage: false,
            folder: None,
            hinted: BTreeSet::new(),
            described: None,
            remarks: Vec::new(),
            outcome: Outcome::default(),
        }
    }
}

/// A scan that goes on when it is asked to. It takes no thread in between, and may move from one thread to another.
pub struct ScanCursor {
    pub(super) engine: Engine,
    pub(super) request: Arc<ScanRequest>,
    pub(super) options: ReadOptions,
    /// Those of the engine, corrected if requested.
    pub(super) files: Files,
    pub(super) correction: Option<Arc<CorrectedStorage>>,
    targets: Targets,
    /// The number of entries that may still be shown.
    left: u64,
    /// The files of the folder that are shown one by one, after the one that is being shown.
    files_left: VecDeque<Place>,
    /// The database or the file that is being shown.
    shown: Option<Shown>,
    /// Lines that come next.
    found: VecDeque<FoundLine>,
    /// The current line, unless that is an entry.
    line: Option<FoundLine>,
    at_entry: bool,
    /// The file belongs to a database without a sound MANIFEST, and is shown by itself.
    pub(super) lacks_manifest: bool,
    /// The files that are shown are merged as a database.
    pub(super) is_database: bool,
    /// Damage was found in the database that is being shown.
    has_damage: bool,
    /// The folder that is being shown. `None`: a file that was given by itself is shown.
    pub(super) folder: Option<Arc<Folder>>,
    /// The files to whose faults no more hints are added.
    pub(super) hinted: BTreeSet<PathBuf>,
    /// The file that had the last fault. `None` in it: it does not open as a table.
    pub(super) described: Option<(PathBuf, Option<OpenTable>)>,
    /// Remarks to show with the next result.
    remarks: Vec<Remark>,
    outcome: Outcome,
}

/// A table, and the encoding of its keys.
type OpenTable = (Table<SharedFile>, KeyEncoding);

/// A path to show: as the user gave it, and what it led to.
#[derive(Clone)]
struct Place {
    input: Arc<Path>,
    path: PathBuf,
}

impl Place {
    fn at(&self, path: &Path) -> Self {
        Self { input: Arc::clone(&self.input), path: path.to_owned() }
    }
}

struct FoundLine {
    place: Place,
    remarks: Vec<Remark>,
    what: What,
}

enum What {
    Fault(Fault),
    State(Box<StateFault>, Fault),
    End(u64),
}

struct Shown {
    place: Place,
    rows: Shows,
    entries: u64,
    errors: BTreeMap<PathBuf, u64>,
    remarks: Vec<Remark>,
    /// How many times in a row a database was read anew without an entry, and the entries before.
    rounds: (u32, u64),
    /// The tables that were missing when the database was listed, once they are needed.
    missing: OnceLock<BTreeSet<PathBuf>>,
}

enum Shows {
    Database(Box<DatabaseRows>),
    File(Box<dyn Rows + Send>),
}

/// Where a step of a [`ScanCursor`] has led.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScanStep {
    /// To the next [line](ScanCursor::line).
    Line,
    /// Past some thousand entries that are not shown.
    Pause,
    /// To the end.
    End,
}

impl ScanCursor {
    /// Moves to the next line, or past some thousand entries that are not shown.
    pub fn step(&mut self) -> ScanStep {
        self.at_entry = false;
        loop {
            if self.line.is_some() || !self.found.is_empty() {
                self.line = self.found.pop_front();
            }
            if self.line.is_some() {
                return ScanStep::Line;
            }
            if let Some(shown) = self.shown.as_mut().filter(|_| self.left > 0) {
                match shown.rows.advance() {
                    Ok(Moved::ToEntry) => {
                        self.left -= 1;
                        shown.entries += 1;
                        self.at_entry = true;
                        return ScanStep::Line;
                    }
                    Ok(Moved::On) => return ScanStep::Pause,
                    Ok(Moved::ToEnd) => {
                        let note = shown.rows.note().map(|note| Remark::new(&shown.place.path, note));
                        shown.remarks.extend(note);
                        self.end();
                    }
                    Err(fault) => self.failed_at(fault),
                }
            } else if self.shown.is_some() {
                self.end();
            } else if let Some(place) = self.files_left.pop_front() {
                let in_database = self.folder.as_ref().is_some_and(|folder| folder.is_database());
                self.file(place, in_database, true);
            } else {
                match self.targets.next() {
                    Some(target) => self.begin(target),
                    None => return ScanStep::End,
                }
            }
        }
    }

    /// The line that the last step led to: an entry, a fault, or the end of a file or database.
    pub fn line(&self) -> Option<ScanLine<'_>> {
        if let Some(FoundLine { place, remarks, what }) = &self.line {
            let subject = Subject { input: &place.input, path: &place.path, remarks };
            return Some(match what {
                What::Fault(fault) => ScanLine::Fault(subject, fault),
                What::State(state, fault) => ScanLine::State(subject, state, fault),
                What::End(entries) => ScanLine::End(subject, *entries),
            });
        }
        let shown = self.shown.as_ref().filter(|_| self.at_entry)?;
        let mut row = shown.rows.row()?;
        row.corrected = self.correction().and_then(|correction| correction.bit(row.path, row.offset));
        if self.lacks_manifest {
            row.state = Some(if is_named_log(row.path) { FileState::Log } else { FileState::Unknown });
        }
        Some(ScanLine::Entry(&shown.place.input, row))
    }

    /// What the scan has come to so far.
    pub const fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Calls `show` with all lines that follow.
    ///
    /// # Errors
    ///
    /// Those of `show`.
    pub fn for_each(mut self, mut show: impl FnMut(ScanLine<'_>) -> io::Result<()>) -> io::Result<Outcome> {
        loop {
            match self.step() {
                ScanStep::Line => self.line().map_or(Ok(()), &mut show)?,
                ScanStep::Pause => {}
                ScanStep::End => return Ok(self.outcome),
            }
        }
    }

    fn begin(&mut self, target: Target) {
        (self.is_database, self.has_damage, self.lacks_manifest, self.folder) = (false, false, false, None);
        self.remarks.clear();
        match target {
            Target::ListFailed { input, error } => {
                self.outcome.list_failed = true;
                self.failed(Place { path: input.to_path_buf(), input }, error);
            }
            Target::Failed { input, path, error } => self.failed(Place { input, path }, error),
            Target::Folder { input, path, folder } => self.begin_folder(Place { input, path }, folder),
            Target::File { input, path, folder } => self.file(Place { input, path }, folder.is_some(), false),
        }
    }

    fn begin_folder(&mut self, place: Place, folder: Arc<Folder>) {
        let folder = self.corrected(folder);
        self.folder = Some(Arc::clone(&folder));
        for (path, error) in folder.skipped() {
            self.failed(place.at(path), error);
        }
        if self.request.carves() {
            return self.files(&place, &folder);
        }
        for fault in state::faults(&folder) {
            // A scan of all versions shows the tables that the MANIFEST does not list, too.
            let message = if self.request.all { fault.text() } else { fault.in_scan() };
            self.outcome.count(ErrorKind::Damaged);
            self.has_damage |= matches!(fault, StateFault::Unlisted(_));
            self.state(&place, Vec::new(), fault, Fault::new(message, ErrorKind::Damaged));
        }
        let is_ordered = folder.has_records() || self.engine.order.is_some();
        if let (Some((path, bare)), Err(error)) = (folder.manifest_error(), folder.database().manifest()) {
            let why = manifest_fault(error);
            let merged = format!("{why}, so all tables and logs are used, and deleted keys may come back");
            let fault = StateFault::NoManifest(why);
            let message = if is_ordered { merged } else { fault.in_scan() };
            let hint = self.options_hint(path, &bare.into(), true);
            self.outcome.count(ErrorKind::Unreadable);
            let command = repair_command(&place.path);
            let remarks = vec![Remark::remedy(format_args!("the newest values: {command}"))];
            let said = Fault::new(message + &hint, ErrorKind::of(error));
            self.outcome.count(said.kind);
            self.state(&place, remarks, fault, said);
        }
        if is_ordered && (folder.is_database() || self.has_internal_keys(&folder)) {
            return self.database(place, &folder);
        }
        if !folder.is_database() && folder.tables().nth(1).is_some() {
            let text = "no MANIFEST, so each table is shown by itself, with old values and deleted keys";
            self.remarks.push(Remark::new(&place.path, text));
        }
        self.files(&place, &folder);
    }

    /// Returns true if a folder's tables have internal keys: by the request, or if some open and all of these seem so.
    fn has_internal_keys(&self, folder: &Folder) -> bool {
        let opened = folder.tables().filter_map(|path| {
            let table = Table::open(self.open(path, true).ok()?, &self.options);
            Some(has_internal_keys(&table.ok()?))
        });
        self.request.internal_keys.unwrap_or_else(|| opened.reduce(|all, one| all && one).unwrap_or_default())
    }

    /// The tables and logs of a folder are shown one by one.
    fn files(&mut self, place: &Place, folder: &Folder) {
        self.lacks_manifest = folder.is_database() && !self.request.carves();
        let files = folder.tables().chain(folder.logs().map(|(log, _)| &*log.path));
        self.files_left.extend(files.map(|path| place.at(path)));
    }

    fn database(&mut self, place: Place, folder: &Arc<Folder>) {
        self.is_database = true;
        match self.database_rows(folder, Progress::default()) {
            Some(rows) => self.shown = Some(Shown::new(place, rows)),
            None => self.unordered(place, folder),
        }
    }

    /// `None`: the MANIFEST names an order of keys that is not known, which is the only error with these options.
    fn database_rows(&self, folder: &Arc<Folder>, progress: Progress) -> Option<Shows> {
        self.correction().iter().for_each(|correction| correction.begin(folder.database()));
        let request = Arc::clone(&self.request);
        let (files, order) = (self.files.clone(), self.engine.order);
        let rows = DatabaseRows::new(Arc::clone(folder), files, &self.options, request, progress, order);
        Some(Shows::Database(Box::new(rows.ok()?)))
    }

    fn unordered(&mut self, place: Place, folder: &Folder) {
        self.fault(place, unknown_order(folder));
    }

    /// Reads a database anew of which a file was removed because it is no longer used, and goes on after the last entry.
    fn again(&mut self) {
        let Some(shown) = &self.shown else { return };
        let Shows::Database(rows) = &shown.rows else { return };
        let folder = match folder::reopen(rows.folder()) {
            Ok(folder) => self.corrected(folder),
            Err(error) => {
                self.failed(shown.place.clone(), error);
                return self.end();
            }
        };
        let Some(Shown { place, rows: Shows::Database(rows), entries, errors, remarks, rounds, .. }) =
            self.shown.take()
        else {
            return;
        };
        let rounds = (if entries > rounds.1 { 0 } else { rounds.0 + 1 }, entries);
        match self.database_rows(&folder, rows.into_shown()) {
            Some(rows) => {
                let missing = OnceLock::new();
                self.shown = Some(Shown { place, rows, entries, errors, remarks, rounds, missing });
            }
            None => self.unordered(place, &folder),
        }
    }

    /// `in_database`: a table's keys are internal keys, unless the request says otherwise. `listed`: found in a folder.
    fn file(&mut self, place: Place, in_database: bool, listed: bool) {
        let (request, path) = (Arc::clone(&self.request), place.path.clone());
        if is_named_log(&path) {
            return match self.open_log(&path, listed) {
                Ok(contents) => self.show_file(place, LogRows::new(contents, path, request)),
                Err(error) => self.failed(place, error),
            };
        }
        let file = match self.open(&path, listed) {
            Ok(file) => file,
            Err(error) => return self.failed(place, error),
        };
        let internal = request.internal_keys.or(in_database.then_some(true));
        if request.carves() {
            let limit = decode_limit(self.engine.max_output, file.len().unwrap_or_default());
            let limit = DecodeLimit::new(Arc::clone(&self.engine.meter), limit);
            return match CarvedRows::new(file, &self.options, limit, path, request, internal) {
                Ok(rows) => self.show_file(place, rows),
                Err(error) => self.failed(place, error.into()),
            };
        }
        let error = match TableRows::new(file, &self.options, path, request, internal) {
            Ok(rows) => return self.show_file(place, rows),
            Err(error) => error,
        };
        let file = self.open(&place.path, listed).ok();
        if let Some(kind) =
            file.as_ref().filter(|_| !listed).and_then(|file| OtherFile::of(&place.path, file))
        {
            let text = match kind {
                OtherFile::Log => "a log under another name: give it one that ends with .log",
                kind => kind.refusal(),
            };
            return self.failed(place, PathError::failed(ErrorKind::Unsupported, text));
        }
        let text = error_text(&error);
        let meaning = match file {
            Some(file) => explain(&file, &error, text),
            None => text,
        };
        self.fault(place, Fault { meaning: Some(Box::new(meaning)), ..error.into() });
    }

    fn show_file(&mut self, place: Place, rows: impl Rows + Send + 'static) {
        self.shown = Some(Shown::new(place, Shows::File(Box::new(rows))));
    }

    /// A fault of what is being shown.
    fn failed_at(&mut self, fault: Fault) {
        let Some(shown) = &mut self.shown else { return };
        if shown.has_vanished(&fault) {
            return self.again();
        }
        let path = fault.path.as_deref().unwrap_or(&shown.place.path).to_owned();
        let place = shown.place.at(&path);
        let errors = shown.errors.entry(path).or_default();
        *errors += 1;
        match *errors > MAX_ERRORS {
            true => self.outcome.count(fault.kind),
            false => self.fault(place, fault),
        }
    }

    /// Ends what is being shown.
    fn end(&mut self) {
        let Some(Shown { place, entries, errors, remarks: found, .. }) = self.shown.take() else { return };
        let mut remarks = std::mem::take(&mut self.remarks);
        let more = errors.iter().filter(|(_, errors)| **errors > MAX_ERRORS);
        remarks.extend(more.map(|(path, errors)| {
            Remark::new(path, format_args!("… and {} more in this file", count(errors - MAX_ERRORS)))
        }));
        remarks.extend(found);
        if self.is_database && std::mem::take(&mut self.has_damage) {
            let command = repair_command(&place.path);
            remarks.push(Remark::remedy(format_args!("to save all of it: {command}")));
        }
        let corrected = self.correction().into_iter().flat_map(|correction| correction.tell(&place.path));
        remarks.extend(corrected.map(|(path, text)| Remark::new(&path, text)));
        self.found.push_back(FoundLine { place, remarks, what: What::End(entries) });
    }

    fn failed(&mut self, place: Place, error: PathError) {
        let fault = Fault::new(error.to_string(), error.kind());
        let fault = match error {
            PathError::Failed { .. } => fault,
            // The other kinds of error name what was expected.
            error => {
                let (expected, found) = error.into_parts("");
                Fault { expected: Some(expected), found: Some(found), ..fault }
            }
        };
        self.outcome.count(ErrorKind::Unreadable);
        self.fault(place, fault);
    }

    fn fault(&mut self, place: Place, fault: Fault) {
        self.outcome.count(fault.kind);
        self.has_damage |= matches!(fault.kind, ErrorKind::Damaged | ErrorKind::Missing);
        let message = self.meaning(&place.path, &fault);
        let what = What::Fault(Fault { message, ..fault });
        self.found.push_back(FoundLine { place, remarks: Vec::new(), what });
    }

    fn state(&mut self, place: &Place, remarks: Vec<Remark>, fault: StateFault, said: Fault) {
        let what = What::State(Box::new(fault), said);
        self.found.push_back(FoundLine { place: place.clone(), remarks, what });
    }
}

impl Shows {
    fn advance(&mut self) -> Result<Moved, Fault> {
        match self {
            Self::Database(rows) => rows.advance(),
            Self::File(rows) => rows.advance(),
        }
    }

    fn row(&self) -> Option<Row<'_>> {
        match self {
            Self::Database(rows) => rows.row(),
            Self::File(rows) => rows.row(),
        }
    }

    fn note(&self) -> Option<String> {
        match self {
            Self::Database(rows) => rows.note(),
            Self::File(rows) => rows.note(),
        }
    }
}

impl Shown {
    fn new(place: Place, rows: Shows) -> Self {
        let (errors, remarks, missing) = (BTreeMap::new(), Vec::new(), OnceLock::new());
        Self { place, rows, entries: 0, errors, remarks, rounds: (0, 0), missing }
    }

    /// Returns true if `fault` is that a listed file of a database is gone, and the database is to be read anew.
    fn has_vanished(&self, fault: &Fault) -> bool {
        let Shows::Database(rows) = &self.rows else { return false };
        let Some(path) = fault.path.as_ref().filter(|_| fault.kind == ErrorKind::Missing) else {
            return false;
        };
        let missing = || BTreeSet::from_iter(rows.folder().missing().map(|(path, ..)| path));
        self.rounds.0 < MAX_ROUNDS && !self.missing.get_or_init(missing).contains(&**path)
    }
}

impl Debug for ScanCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScanCursor").field("request", &self.request).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use filterblock::table::{Compression, TableBuilder, WriteOptions};

    use super::*;
    use crate::KeyRange;

    #[test]
    fn a_step_ends_behind_some_thousand_entries_that_are_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = filterblock::database::LogWriter::new(Vec::new());
        for number in 0..10_000_u64 {
            let batch = [&number.to_le_bytes()[..], &[1, 0, 0, 0, 1, 1, b'k', 1, b'v']].concat();
            log.add_record(&batch).unwrap();
        }
        let path = folder.path().join("000003.log");
        std::fs::write(&path, log.into_writer()).unwrap();
        let inputs = Inputs { paths: vec![path], ..Inputs::default() };
        let range = KeyRange { prefix: Some(b"other".to_vec()), ..KeyRange::default() };
        let mut cursor = Engine::new().scan(inputs, ScanRequest { range, ..ScanRequest::default() });
        let mut steps = Vec::new();
        while steps.last() != Some(&ScanStep::End) {
            steps.push(cursor.step());
        }
        assert_eq!(steps, [ScanStep::Pause, ScanStep::Pause, ScanStep::Line, ScanStep::End]);
        assert_eq!(cursor.step(), ScanStep::End);
    }

    #[test]
    fn what_is_said_of_a_folder_is_not_said_of_the_next_path() {
        let mut memory = crate::MemoryStorage::default();
        memory.insert("a/1.ldb", "x");
        memory.insert("a/2.ldb", "x");
        memory.insert("b/000003.log", "");
        let paths = ["a", "b/000003.log"].map(PathBuf::from).to_vec();
        let engine = Engine::new().files(Files::new(Arc::new(memory)));
        let mut ends = Vec::new();
        let scan = engine.scan(Inputs { paths, ..Inputs::default() }, ScanRequest::default());
        let outcome = scan.for_each(|line| {
            if let ScanLine::End(subject, _) = line {
                ends.push((subject.path.to_owned(), subject.remarks.len()));
            }
            Ok(())
        });
        assert_eq!((ends, outcome.unwrap().verdicts.all()), (vec![("b/000003.log".into(), 0)], 2));
    }

    #[test]
    fn ten_faults_of_a_file_are_told_and_the_others_counted() {
        let options = WriteOptions::default().compression(Compression::None).block_size(1);
        let mut builder = TableBuilder::new(Vec::new(), options);
        (0..25_u8).for_each(|key| builder.add(&[key], &[0; 50]).unwrap());
        let mut file = builder.finish().unwrap().0;
        let table = Table::open(file.clone(), &ReadOptions::default()).unwrap();
        for handle in table.data_blocks() {
            file[handle.unwrap().offset as usize] ^= 1;
        }
        let mut memory = crate::MemoryStorage::default();
        memory.insert("x.ldb", file);
        let inputs = Inputs { paths: vec!["x.ldb".into()], ..Inputs::default() };
        let engine = Engine::new().files(Files::new(Arc::new(memory)));
        let (mut faults, mut remarks) = (0, Vec::new());
        let outcome = engine.scan(inputs, ScanRequest::default()).for_each(|line| {
            match line {
                ScanLine::End(subject, _) => remarks.extend(subject.remarks.iter().map(Remark::line)),
                _ => faults += 1,
            }
            Ok(())
        });
        assert_eq!((faults, outcome.unwrap().verdicts.all()), (10, 25));
        assert_eq!(remarks, ["x.ldb: … and 15 more in this file"]);
    }
}
