//! Inspects everything found at the given paths.

use std::io::{self, Read};
use std::{collections::BTreeMap, path::PathBuf};

use filterblock::database::LiveTable;
use filterblock::table::{ReadAt, ReadOptions};
use filterblock::{Result, SharedPolicy};

use super::read;
use super::table::{bare_block, look};
use crate::audit::rates::{LookupWeights, Marks, ProbeBudget, TableEntries};
use crate::audit::state;
use crate::audit::stats::Reach;
use crate::audit::verify::other;
use crate::engine::{Engine, Sink};
use crate::report::{
    self, About, Depth, ErrorKind, Frame, Inspected, Other, Remark, Subject, Table, Totals, Unreadable,
    Verdict, Verified, VerifyStatus,
};
use crate::run::{Event, InputFile, ListedFolder, LogUse, Observer, Survey};
use crate::walk::{Folder, InputPath, Inputs, OtherFile, PathError, TableRecord};

/// One result of an inspection.
#[derive(Debug)]
pub enum InspectLine {
    /// A folder whose tables follow.
    Folder(report::Folder),
    /// A table, or a bare filter block.
    Table(Box<Inspected>),
    /// A log or a MANIFEST that the user named.
    Other(Box<Other>),
    /// A path that could not be looked at.
    Unreadable(Unreadable),
    /// The sums over the tables of a folder, after those tables.
    Totals(Box<Totals>),
}

/// The outcome of an inspection.
#[derive(Clone, Default, Debug)]
pub struct InspectOutcome {
    /// A table, a filter block, a log or a MANIFEST is damaged or missing, or a table cannot be read.
    pub damage: bool,
    /// A path, a log, a MANIFEST or a part of a table could not be read, or no threads could be started.
    pub unreadable: bool,
    /// A list of paths could not be read to its end.
    pub list_failed: bool,
}

impl Engine {
    /// Finds the facts about the tables that `inputs` lead to and about their filters, from as much of each table as
    /// the engine's depth allows. `sink` receives them folder by folder, with sums over the tables of each folder.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn inspect(&self, inputs: Inputs, sink: &mut impl Sink<InspectLine>) -> io::Result<InspectOutcome> {
        let survey = InspectSurvey::of(self);
        let mut fold = Fold::new(self.depth, sink);
        self.run(inputs, &survey.into(), &mut |event| fold.take(event))?;
        Ok(fold.outcome)
    }

    /// Inspects bare filter blocks, without their tables. `policy`: their policy; `None`: LevelDB's is assumed.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn inspect_blocks(
        &self,
        inputs: Inputs,
        policy: Option<&SharedPolicy>,
        sink: &mut impl Sink<InspectLine>,
    ) -> io::Result<InspectOutcome> {
        let mut fold = Fold::new(self.depth, sink);
        let effort = ProbeBudget::for_each_of(inputs.paths.len());
        for InputPath { input, path } in inputs.into_iter() {
            match path {
                Err(error) => fold.take(Event::ListFailed { input, error })?,
                Ok(path) => {
                    let subject = Subject { path: &path, ..Subject::of(&input) };
                    match read(&path, policy) {
                        Ok(reader) => fold.table(
                            &subject,
                            None,
                            false,
                            bare_block(reader, policy.is_none(), effort).into(),
                        )?,
                        Err(error) => fold.unreadable(&subject, &error)?,
                    }
                }
            }
        }
        Ok(fold.outcome)
    }
}

/// Looks at tables as `inspect` does.
pub(crate) struct InspectSurvey {
    pub(crate) read: ReadOptions,
    /// The parts of files that are read.
    reach: Reach,
}

impl InspectSurvey {
    pub(crate) fn of(engine: &Engine) -> Self {
        let reach =
            if engine.few_reads { Reach::in_few_reads(engine.depth) } else { Reach::of_file(engine.depth) };
        Self { read: engine.read.clone(), reach }
    }
}

impl Survey for InspectSurvey {
    type Found = Looked;

    // Fewer than by default, because each result holds the table's filters.
    const WAITING: usize = 4;

    fn logs(&self) -> LogUse {
        LogUse::Named
    }

    fn table<R: ReadAt>(&self, target: &InputFile, source: &R, _: &dyn Observer) -> Result<Looked> {
        self.look(target, source).map(Looked::Table)
    }

    fn failed(&self, error: &filterblock::Error) -> Looked {
        Looked::Table(Self::unreadable(error))
    }

    fn other(&self, kind: OtherFile, target: &InputFile, contents: &mut dyn Read) -> Option<Looked> {
        let mut counted = contents.take(u64::MAX);
        let verdict = other(kind, target, &mut counted)?;
        Some(Looked::Other(Box::new(verdict), u64::MAX - counted.limit()))
    }

    fn has_vanished(&self, found: &Looked) -> bool {
        matches!(found, Looked::Table(found) if found.table.has_vanished())
    }
}

impl InspectSurvey {
    /// Looks at a table.
    pub(crate) fn look<R: ReadAt>(&self, target: &InputFile, source: &R) -> Result<Box<Inspected>> {
        look(source, &self.read, ProbeBudget::for_each_of(target.tables), self.reach).map(Box::new)
    }

    pub(crate) fn unreadable(error: &filterblock::Error) -> Box<Inspected> {
        Box::new(Table::unreadable(error.to_string(), ErrorKind::of(error)).into())
    }
}

/// The facts about a table, or the verdict on a file that is no table.
pub(crate) enum Looked {
    Table(Box<Inspected>),
    /// The verdict, and the number of bytes of the file.
    Other(Box<Verdict>, u64),
}

/// The facts about a table, or the reason why it cannot be opened.
pub(crate) fn or_unreadable(result: std::result::Result<Box<Inspected>, PathError>) -> Box<Inspected> {
    result.unwrap_or_else(|error| Box::new(Table::unreadable(error.to_string(), error.kind()).into()))
}

/// The live tables of a folder that have no file.
pub(crate) fn missing_tables(place: &ListedFolder) -> impl Iterator<Item = Table> {
    place.folder.missing().map(|(path, live, record)| {
        let mut table = Table::missing(missing_text(&place.folder, live));
        table.about(&Subject { path: &path, ..Subject::of(&place.input) }, Some(record), false);
        table
    })
}

/// The message that there is no file for a table of the MANIFEST of `folder`.
pub(crate) fn missing_text(folder: &Folder, table: &LiveTable) -> String {
    let LiveTable { size, level, .. } = table;
    let copy = folder.copy_text(table);
    format!("is missing: the MANIFEST has a table of {size} bytes on level {level}{copy}")
}

/// The weights of a folder's tables in the mean of the tables' false-positive rates. `entries`: the entries of
/// tables, by the tables' numbers.
pub(crate) fn lookup_weights(folder: &Folder, entries: &BTreeMap<u64, TableEntries>) -> LookupWeights {
    let Ok(manifest) = folder.database().manifest() else { return LookupWeights::default() };
    if !folder.is_bytewise() {
        return LookupWeights::default();
    }
    LookupWeights::of_tables(manifest.tables(), entries)
}

/// Makes lines from the events of a run.
struct Fold<'a, S> {
    outcome: InspectOutcome,
    /// The depth to which files are read.
    depth: Depth,
    /// The sums over the current folder.
    totals: Totals,
    sink: &'a mut S,
}

impl<'a, S: Sink<InspectLine>> Fold<'a, S> {
    fn new(depth: Depth, sink: &'a mut S) -> Self {
        Self { outcome: InspectOutcome::default(), depth, totals: Totals::default(), sink }
    }

    fn take(&mut self, event: Event<Looked>) -> io::Result<()> {
        match event {
            Event::ListFailed { input, error } => {
                self.outcome.list_failed = true;
                self.unreadable(&Subject::of(&input), &error)
            }
            Event::Failed { target, error } => self.unreadable(&target.subject(&[]), &error),
            Event::Begin { place, logs, unread, passed_over } => {
                self.outcome.unreadable |= !passed_over.is_empty();
                unread.iter().for_each(|(_, error)| self.fault(error.kind()));
                let all = passed_over.iter().chain(&unread);
                let remarks = all.map(|(path, error)| Remark::new(path, error)).collect();
                self.begin(&place, logs, remarks)
            }
            Event::Table { target, result } => {
                let around = target.around.as_ref().map(|(folder, error)| Remark::new(folder, error));
                self.outcome.unreadable |= around.is_some();
                let subject = target.subject(around.as_slice());
                let found = match result {
                    Ok(Looked::Table(mut found)) => {
                        found.table.depth = Some(self.depth);
                        Ok(found)
                    }
                    Ok(Looked::Other(verdict, len)) => {
                        return self.other(&subject, About::Log, *verdict, len);
                    }
                    Err(error) => Err(error),
                };
                self.table(&subject, target.record(), target.listed, or_unreadable(found))
            }
            Event::Lost(target) => self.unreadable(&target.subject(&[]), &PathError::vanished()),
            Event::End(place) => {
                let frame = Frame::new("totals", &place.subject(&[]), None).into_owned();
                let mut totals = std::mem::take(&mut self.totals);
                totals.frame = frame;
                let entries = totals.take_entries();
                totals.weigh(&lookup_weights(&place.folder, &entries));
                self.sink.line(InspectLine::Totals(Box::new(totals)))
            }
            Event::Other { kind, target, result: Ok(Looked::Other(verdict, len)) } => {
                let about = if kind == OtherFile::Manifest { About::Manifest } else { About::Log };
                self.other(&target.subject(&[]), about, *verdict, len)
            }
            Event::Other { .. } => Ok(()),
        }
    }

    fn begin(
        &mut self,
        place: &ListedFolder,
        logs: Vec<PathBuf>,
        mut remarks: Vec<Remark>,
    ) -> io::Result<()> {
        if let Some(huge) = state::huge_manifest(&place.folder) {
            remarks.push(Remark::new(&place.path, huge.text(&place.path)));
        }
        let faults = state::faults(&place.folder);
        self.outcome.damage |= !faults.is_empty();
        let folder = report::Folder::new(&place.subject(&remarks), &place.folder, logs, faults);
        if let Some((_, error)) = place.folder.manifest_error() {
            self.fault(ErrorKind::of(error));
        }
        self.totals = Totals::default();
        self.sink.line(InspectLine::Folder(folder))?;
        missing_tables(place).try_for_each(|table| self.line(Box::new(table.into())))
    }

    /// Counts a fault of a MANIFEST or a log. A missing file is a fault of the database; a file that cannot be read may
    /// be sound.
    const fn fault(&mut self, kind: ErrorKind) {
        match kind {
            ErrorKind::Damaged | ErrorKind::Missing => self.outcome.damage = true,
            _ => self.outcome.unreadable = true,
        }
    }

    fn table(
        &mut self,
        subject: &Subject<'_>,
        record: Option<TableRecord<'_>>,
        listed: bool,
        mut found: Box<Inspected>,
    ) -> io::Result<()> {
        found.table.about(subject, record, listed);
        self.line(found)
    }

    fn line(&mut self, mut found: Box<Inspected>) -> io::Result<()> {
        self.outcome.damage |= found.table.is_damaged();
        self.outcome.unreadable |= found.table.unreadable;
        self.totals.add(&found.table);
        found.table.seen = None;
        found.table.marks = Marks::default();
        self.sink.line(InspectLine::Table(found))
    }

    fn other(&mut self, subject: &Subject<'_>, about: About, verdict: Verdict, len: u64) -> io::Result<()> {
        match verdict.status() {
            VerifyStatus::Findings => self.outcome.damage = true,
            VerifyStatus::Unreadable => self.outcome.unreadable = true,
            VerifyStatus::Sound | VerifyStatus::NotLive => {}
        }
        let verified = Verified::new(*subject, about, verdict);
        self.sink.line(InspectLine::Other(Box::new(Other::new(subject, verified, len))))
    }

    fn unreadable(&mut self, subject: &Subject<'_>, error: &PathError) -> io::Result<()> {
        self.outcome.unreadable = true;
        self.sink.line(InspectLine::Unreadable(Unreadable::new(subject, error)))
    }
}
