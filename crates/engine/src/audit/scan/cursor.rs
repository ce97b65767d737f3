//! A scan: the entries of everything that the given paths lead to, one after another.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::{self, Debug};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::database::DatabaseRows;
use super::position::ScanPosition;
use super::range::ScanRequest;
use super::rows::Moved;
use super::source::{BoxedRows, OpenTable, ScanSource};
use crate::audit::current_manifest::manifest_fault;
use crate::audit::state;
use crate::engine::Engine;
use crate::report::{ErrorKind, Fault, FileRole, Outcome, Remark, ScanLine, StateFault, Subject};
use crate::run::{MAX_ROUNDS, Relist};
use crate::text::{count, repair_command, save_remedy};
use crate::walk::{Folder, Inputs, Target, Targets, is_named_log};

/// The maximum number of errors about one file that are reported.
const MAX_ERRORS: u64 = 10;

impl Engine {
    /// Begins a scan of the entries of the databases, tables and logs that `inputs` lead to. With an
    /// [`order`](Self::order), databases without a sound MANIFEST are merged as well.
    pub fn scan(&self, inputs: Inputs, request: ScanRequest) -> ScanCursor {
        ScanCursor {
            targets: self.targets(inputs),
            left: request.limit.unwrap_or(u64::MAX),
            source: ScanSource::new(self.clone(), request),
            files_left: VecDeque::new(),
            shown: None,
            found: VecDeque::new(),
            at: At::Between,
            lacks_manifest: false,
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
    pub(super) source: ScanSource,
    targets: Targets,
    /// The number of entries that may still be shown.
    left: u64,
    /// The files of the folder that are shown one by one, after the one that is being shown.
    files_left: VecDeque<Place>,
    /// The database or the file that is being shown.
    shown: Option<Shown>,
    /// Lines that come next. The first one may be the current one.
    found: VecDeque<FoundLine>,
    at: At,
    /// The file belongs to a database without a sound MANIFEST, and is shown by itself.
    pub(super) lacks_manifest: bool,
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

/// Where the cursor is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Between,
    /// At the entry of what is being shown.
    Entry,
    /// At the first line found.
    Line,
}

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
    rows: BoxedRows,
    /// `None`: a file is shown.
    database: Option<Relist>,
    entries: u64,
    errors: BTreeMap<PathBuf, u64>,
    /// The entries before the database was listed again last.
    entries_before: u64,
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
        if std::mem::replace(&mut self.at, At::Between) == At::Line {
            self.found.pop_front();
        }
        loop {
            if !self.found.is_empty() {
                self.at = At::Line;
                return ScanStep::Line;
            }
            if let Some(shown) = self.shown.as_mut().filter(|_| self.left > 0) {
                match shown.rows.advance() {
                    Ok(Moved::ToEntry) => {
                        self.left -= 1;
                        shown.entries += 1;
                        self.at = At::Entry;
                        return ScanStep::Line;
                    }
                    Ok(Moved::On) => return ScanStep::Pause,
                    Ok(Moved::ToEnd) => {
                        let note = shown.rows.note();
                        self.end(note);
                    }
                    Err(fault) => self.failed_at(fault),
                }
            } else if self.shown.is_some() {
                self.end(None);
            } else if let Some(place) = self.files_left.pop_front() {
                let in_database = self.folder.as_ref().is_some_and(|folder| folder.is_database());
                self.file(place, in_database, true);
            } else if let Some(target) = self.targets.next() {
                self.begin(target);
            } else {
                return ScanStep::End;
            }
        }
    }

    /// The line that the last step led to: an entry, a fault, or the end of a file or database.
    pub fn line(&self) -> Option<ScanLine<'_>> {
        if self.at == At::Entry {
            let shown = self.shown.as_ref()?;
            let mut row = shown.rows.row()?;
            row.corrected =
                self.source.correction().and_then(|correction| correction.bit(row.path, row.offset));
            if self.lacks_manifest {
                row.state = Some(if is_named_log(row.path) { FileRole::Log } else { FileRole::Unknown });
            }
            return Some(ScanLine::Entry(&shown.place.input, row));
        }
        let FoundLine { place, remarks, what } = self.found.front().filter(|_| self.at == At::Line)?;
        let subject = Subject { input: &place.input, path: &place.path, remarks };
        Some(match what {
            What::Fault(fault) => ScanLine::Fault(subject, fault),
            What::State(state, fault) => ScanLine::State(subject, state, fault),
            What::End(entries) => ScanLine::End(subject, *entries),
        })
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
        (self.has_damage, self.lacks_manifest, self.folder) = (false, false, None);
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
        let folder = self.source.corrected(folder);
        self.folder = Some(Arc::clone(&folder));
        for (path, error) in folder.skipped() {
            self.failed(place.at(path), error);
        }
        if self.source.request.carves() {
            return self.files(&place, &folder);
        }
        for fault in state::faults(&folder) {
            // A scan of all versions shows the tables that the MANIFEST does not list, too.
            let message = if self.source.request.all { fault.text() } else { fault.in_scan() };
            self.has_damage |= matches!(fault, StateFault::Unlisted(_));
            self.state(&place, Vec::new(), fault, Fault::new(message, ErrorKind::Damaged));
        }
        let is_ordered = folder.has_records() || self.source.engine.order.is_some();
        if let (Some((path, bare)), Err(error)) = (folder.manifest_error(), folder.database().manifest()) {
            let why = manifest_fault(error);
            let merged = format!("{why}, so all tables and logs are used, and deleted keys may come back");
            let fault = StateFault::NoManifest(why);
            let message = if is_ordered { merged } else { fault.in_scan() };
            let hint = self.options_hint(path, &bare.into(), true);
            self.outcome.count(ErrorKind::Unreadable);
            let command = repair_command(&place.path);
            let remarks = vec![Remark::remedy(format_args!("the newest values: {command}"))];
            self.state(&place, remarks, fault, Fault::new(message + &hint, ErrorKind::of(error)));
        }
        if is_ordered && (folder.is_database() || self.source.has_internal_keys(&folder)) {
            return match DatabaseRows::open(&folder, &self.source, ScanPosition::default()) {
                Ok(rows) => self.shown = Some(Shown::new(place, rows, Some(folder))),
                Err(fault) => self.fault(place, fault),
            };
        }
        if !folder.is_database() && folder.tables().nth(1).is_some() {
            let text = "no MANIFEST, so each table is shown by itself, with old values and deleted keys";
            self.remarks.push(Remark::new(&place.path, text));
        }
        self.files(&place, &folder);
    }

    /// The tables and logs of a folder are shown one by one.
    fn files(&mut self, place: &Place, folder: &Folder) {
        self.lacks_manifest = folder.is_database() && !self.source.request.carves();
        let files = folder.tables().chain(folder.logs().map(|(log, _)| &*log.path));
        self.files_left.extend(files.map(|path| place.at(path)));
    }

    /// Reads the database anew of which a file was removed because it is no longer used, and goes on after the last entry.
    fn again(&mut self) {
        let Some(mut shown) = self.shown.take() else { return };
        let has_progressed = shown.entries > shown.entries_before;
        let folder = match shown.database.as_mut().map(|relist| relist.again(has_progressed)) {
            Some(Ok(Some(folder))) => self.source.corrected(folder),
            Some(Err(error)) => {
                self.failed(shown.place.clone(), error);
                self.shown = Some(shown);
                return self.end(None);
            }
            Some(Ok(None)) | None => return,
        };
        shown.entries_before = shown.entries;
        match DatabaseRows::open(&folder, &self.source, shown.rows.into_position()) {
            Ok(rows) => self.shown = Some(Shown { rows, ..shown }),
            Err(fault) => self.fault(shown.place, fault),
        }
    }

    fn file(&mut self, place: Place, in_database: bool, listed: bool) {
        match self.source.file(&place.path, in_database, listed) {
            Ok(Ok(rows)) => self.shown = Some(Shown::new(place, rows, None)),
            Ok(Err(fault)) => self.fault(place, fault),
            Err(error) => self.failed(place, error),
        }
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
    fn end(&mut self, note: Option<String>) {
        let Some(Shown { place, database, entries, errors, .. }) = self.shown.take() else { return };
        let mut remarks = std::mem::take(&mut self.remarks);
        let more = errors.iter().filter(|(_, errors)| **errors > MAX_ERRORS);
        remarks.extend(more.map(|(path, errors)| {
            Remark::new(path, format_args!("… and {} more in this file", count(errors - MAX_ERRORS)))
        }));
        remarks.extend(note.map(|note| Remark::new(&place.path, note)));
        if database.is_some() && self.has_damage {
            remarks.push(Remark::remedy(save_remedy(&place.path)));
        }
        let corrected =
            self.source.correction().into_iter().flat_map(|correction| correction.tell(&place.path));
        remarks.extend(corrected.map(|(path, text)| Remark::new(&path, text)));
        self.found.push_back(FoundLine { place, remarks, what: What::End(entries) });
    }

    fn failed(&mut self, place: Place, error: Fault) {
        self.outcome.count(ErrorKind::Unreadable);
        self.fault(place, error);
    }

    fn fault(&mut self, place: Place, fault: Fault) {
        self.outcome.count(fault.kind);
        self.has_damage |= matches!(fault.kind, ErrorKind::Damaged | ErrorKind::Missing);
        let text = self.meaning(&place.path, &fault);
        let what = What::Fault(Fault { text, ..fault });
        self.found.push_back(FoundLine { place, remarks: Vec::new(), what });
    }

    /// Other files are shown with the one that is being shown, as a database.
    pub(super) fn is_merged(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.database.is_some())
    }

    fn state(&mut self, place: &Place, remarks: Vec<Remark>, fault: StateFault, said: Fault) {
        self.outcome.count(said.kind);
        let what = What::State(Box::new(fault), said);
        self.found.push_back(FoundLine { place: place.clone(), remarks, what });
    }
}

impl Shown {
    fn new(place: Place, rows: BoxedRows, database: Option<Arc<Folder>>) -> Self {
        let database = database.map(|folder| Relist::new(folder, MAX_ROUNDS));
        Self { place, rows, database, entries: 0, errors: BTreeMap::new(), entries_before: 0 }
    }

    /// Returns true if `fault` is that a listed file of a database is gone, and the database is to be read anew.
    fn has_vanished(&self, fault: &Fault) -> bool {
        match (&self.database, fault.kind, &fault.path) {
            (Some(relist), ErrorKind::Missing, Some(path)) => relist.is_worth_it(path),
            _ => false,
        }
    }
}

impl Debug for ScanCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScanCursor").field("request", &self.source.request).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};

    use super::*;
    use crate::KeyRange;
    use crate::walk::Files;

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
