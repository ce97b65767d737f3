//! Inspects everything found at the given paths.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use filterblock::database::LiveTable;
use filterblock::table::{ReadAt, ReadOptions};
use filterblock::{SharedPolicy, escape_path};

use super::read;
use super::table::{bare_block, look};
use crate::audit::rates::{FenceKeys, LookupWeights, ProbeBudget, TableWeight};
use crate::audit::stats::Reach;
use crate::audit::verify::{manifest, other};
use crate::engine::Engine;
use crate::report::{
    About, Checked, CheckedFolder, Code, Depth, ErrorKind, Fault, Frame, Inspected, Outcome, Problem, Remark,
    Subject, Totals, TotalsSum, Unreadable, Verdict, Verified,
};
use crate::run::{Event, ListedFolder, LogUse, TableFile, Task};
use crate::walk::{Folder, FoundFormat, InputPath, Inputs, OtherFile, TableRecord};

/// One result of an inspection.
#[derive(Debug)]
pub enum InspectLine {
    /// A folder whose tables follow.
    Folder(Box<CheckedFolder>),
    /// A table, or a bare filter block.
    Table(Box<Inspected>),
    /// A log or a MANIFEST that the user named, and its size in bytes.
    Other(Box<Verified>, u64),
    /// A path that could not be looked at, and the other format, if that is the reason.
    Unreadable(Unreadable, Option<FoundFormat>),
    /// The sums over the tables of a folder, after those tables.
    Totals(Box<Totals>),
}

impl Engine {
    /// Finds the facts about the tables that `inputs` lead to and about their filters, from as much of each table as
    /// the engine's depth allows. `sink` receives them folder by folder, with sums over the tables of each folder.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn inspect(
        &self,
        inputs: Inputs,
        sink: &mut impl FnMut(InspectLine) -> io::Result<()>,
    ) -> io::Result<Outcome> {
        let mut fold = Fold::new(self.depth, sink);
        let list_failed = self.run(inputs, &InspectTask::of(self), &mut |event| fold.take(event))?;
        Ok(Outcome { list_failed, ..fold.outcome })
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
        sink: &mut impl FnMut(InspectLine) -> io::Result<()>,
    ) -> io::Result<Outcome> {
        let mut fold = Fold::new(self.depth, sink);
        let effort = ProbeBudget::for_each_of(inputs.paths.len());
        for InputPath { input, path } in inputs.into_iter(self.files.storage()) {
            match path {
                Err(error) => {
                    fold.outcome.list_failed = true;
                    fold.unreadable(&Subject::of(&input), &error)?;
                }
                Ok(path) => {
                    let subject = Subject { path: &path, ..Subject::of(&input) };
                    match read(&path, policy, &**self.files.storage()) {
                        Ok(reader) => {
                            fold.table(&subject, None, false, Box::new(bare_block(reader, effort)))?
                        }
                        Err(error) => fold.unreadable(&subject, &error)?,
                    }
                }
            }
        }
        Ok(fold.outcome)
    }
}

pub(crate) struct InspectTask {
    pub(crate) read: ReadOptions,
    reach: Reach,
}

impl InspectTask {
    pub(crate) fn of(engine: &Engine) -> Self {
        let reach =
            if engine.few_reads { Reach::in_few_reads(engine.depth) } else { Reach::of_file(engine.depth) };
        Self { read: engine.read.clone(), reach }
    }
}

impl Task for InspectTask {
    type Found = Looked;

    // Fewer than by default, because each result holds the table's filters.
    const WAITING: usize = 4;

    fn logs(&self) -> LogUse {
        LogUse::Named
    }

    fn table<R: ReadAt>(&self, target: &TableFile, source: &R, _: &dyn Fn(u64)) -> Looked {
        Looked::Table(self.look(target, source))
    }

    fn other(&self, kind: OtherFile, target: &TableFile, contents: &mut dyn Read) -> Option<Looked> {
        let mut counted = contents.take(u64::MAX);
        let verdict = other(kind, target, &mut counted)?;
        Some(Looked::Other(Box::new(verdict), u64::MAX - counted.limit()))
    }
}

impl InspectTask {
    pub(crate) fn look<R: ReadAt>(&self, target: &TableFile, source: &R) -> Box<Inspected> {
        Box::new(look(source, &self.read, ProbeBudget::for_each_of(target.tables), self.reach))
    }
}

pub(crate) enum Looked {
    Table(Box<Inspected>),
    /// The verdict, and the bytes of the file.
    Other(Box<Checked>, u64),
}

pub(crate) fn unreadable(error: &Fault) -> Box<Inspected> {
    Box::new(Inspected::unopened(error.clone(), true))
}

/// The live tables of a folder that have no file.
pub(crate) fn missing_tables(place: &ListedFolder) -> impl Iterator<Item = Inspected> {
    place.folder.missing().map(|(path, live, record)| {
        let fault = Fault::new(missing_text(&place.folder, live), ErrorKind::Missing);
        let mut table = Inspected::unopened(fault, false);
        table.about(&Subject { path: &path, ..Subject::of(&place.input) }, Some(record), false);
        table
    })
}

pub(crate) fn missing_text(folder: &Folder, table: &LiveTable) -> String {
    let LiveTable { size, level, .. } = table;
    let copy = folder.copy_text(table);
    format!("is missing: the MANIFEST has a table of {size} bytes on level {level}{copy}")
}

/// `entries`: by table number. They alone decide if the key order is not bytewise.
pub(crate) fn lookup_weights(folder: &Folder, entries: &BTreeMap<u64, TableWeight>) -> LookupWeights {
    let Ok(manifest) = folder.database().manifest() else { return LookupWeights::default() };
    if !folder.is_bytewise() {
        return LookupWeights::default();
    }
    LookupWeights::of_tables(manifest.tables(), entries)
}

fn unread_log(path: &Path, error: &Fault) -> Problem {
    match error.kind {
        ErrorKind::Damaged | ErrorKind::Missing => {
            let name = escape_path(path.file_name().map_or(path, Path::new)).to_string();
            let title = format!("{name} is damaged: its first write cannot be read");
            let problem = Problem::new(Code::LogDamaged, None, "a log that can be read", error.to_string());
            Problem { title: Some(title.clone()), plain: Some(title), ..problem.of_kind(error.kind) }
        }
        _ => Problem::unreadable("a log", error.clone()),
    }
}

struct Fold<'a, S> {
    outcome: Outcome,
    depth: Depth,
    /// Over the current folder.
    totals: TotalsSum,
    /// Of the current folder and its files so far. `None`: no folder has begun.
    worst: Option<Verdict>,
    sink: &'a mut S,
}

impl<'a, S: FnMut(InspectLine) -> io::Result<()>> Fold<'a, S> {
    fn new(depth: Depth, sink: &'a mut S) -> Self {
        Self { outcome: Outcome::default(), depth, totals: TotalsSum::default(), worst: None, sink }
    }

    fn take(&mut self, event: Event<Looked>) -> io::Result<()> {
        match event {
            Event::Failed(file, error) => self.unreadable(&file.subject(&[]), &error),
            Event::Folder { place, logs, unread, skipped } => {
                self.worst = Some(skipped.iter().map(|_| Verdict::CannotTell).max().unwrap_or_default());
                let unread_logs: Vec<_> =
                    unread.iter().map(|(path, error)| unread_log(path, error)).collect();
                let all = skipped.iter().chain(&unread);
                let remarks = all.map(|(path, error)| Remark::new(path, error)).collect();
                self.begin(&place, logs, unread_logs, remarks)
            }
            Event::Found(file, kind, Ok(Looked::Other(verdict, len))) => {
                let about = if kind == Some(OtherFile::Manifest) { About::Manifest } else { About::Log };
                self.see(verdict.verdict());
                let verified = Verified::new(file.subject(&[]), about, *verdict);
                (self.sink)(InspectLine::Other(Box::new(verified), len))
            }
            Event::Found(file, _, Ok(Looked::Table(mut found))) => {
                found.table.depth = Some(self.depth);
                self.table(&file.subject(&[]), file.record(), file.listed, found)
            }
            Event::Found(file, _, Err(error)) => {
                self.table(&file.subject(&[]), file.record(), file.listed, unreadable(&error))
            }
            Event::End(place) => {
                let frame = Frame::new("totals", &place.subject(&[]), None).into_owned();
                let verdict = self.worst.take().unwrap_or_default();
                self.see(verdict);
                let sum = std::mem::take(&mut self.totals);
                let weights = lookup_weights(&place.folder, sum.live_entries());
                let totals = Totals { frame, verdict, ..sum.totals(&weights) };
                (self.sink)(InspectLine::Totals(Box::new(totals)))
            }
        }
    }

    fn begin(
        &mut self,
        place: &ListedFolder,
        logs: Vec<PathBuf>,
        unread_logs: Vec<Problem>,
        remarks: Vec<Remark>,
    ) -> io::Result<()> {
        let (manifest, mut checked) = manifest(&place.folder);
        let manifest = manifest.map(|(path, problem)| match (problem.code, path.file_name()) {
            (Code::Unreadable, Some(name)) => {
                let plain = Some(format!("{} {}", escape_path(Path::new(name)), problem.text()));
                Problem { plain, ..problem }
            }
            _ => problem,
        });
        manifest.into_iter().chain(unread_logs).for_each(|problem| checked.problems.push(problem));
        self.see(checked.verdict());
        self.totals = TotalsSum::default();
        (self.sink)(InspectLine::Folder(Box::new(place.checked(logs, remarks, checked))))?;
        missing_tables(place).map(Box::new).try_for_each(|found| self.line(found))
    }

    /// Counts on its own, or for the folder that has begun.
    fn see(&mut self, verdict: Verdict) {
        match &mut self.worst {
            Some(worst) => *worst = verdict.max(*worst),
            None => self.outcome.verdicts.add(verdict),
        }
    }

    fn table(
        &mut self,
        subject: &Subject<'_>,
        record: Option<TableRecord<'_>>,
        listed: bool,
        mut found: Box<Inspected>,
    ) -> io::Result<()> {
        found.about(subject, record, listed);
        self.line(found)
    }

    fn line(&mut self, mut found: Box<Inspected>) -> io::Result<()> {
        self.see(found.table.verdict);
        self.totals.add(&found);
        (found.seen, found.marks) = (None, FenceKeys::default());
        (self.sink)(InspectLine::Table(found))
    }

    fn unreadable(&mut self, subject: &Subject<'_>, error: &Fault) -> io::Result<()> {
        self.see(Verdict::CannotTell);
        (self.sink)(InspectLine::Unreadable(Unreadable::new(subject, error), error.other_format().cloned()))
    }
}
