//! A repair from its beginning to its end.

use std::path::Path;
#[cfg(feature = "fs")]
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use super::decide::{Decider, SavedKey, Sink};
use super::input::Input;
use super::lost::Losses;
use super::members::Member;
use super::merge::Merge;
use super::survey::Survey;
use super::tables::{NewTable, NewTables, Shape, manifest, manifest_name, verify};
use super::{RepairRequest, ledger, shape};
use crate::engine::Engine;
use crate::report::{ErrorKind, RebuildStatus, RepairReport, RepairStatus};
use crate::run::{HAS_THREADS, number_of_jobs};
#[cfg(feature = "fs")]
use crate::walk::Files;
use crate::words::counted;
use crate::write::output::write_file;
#[cfg(feature = "fs")]
use crate::write::{DirStorage, NewFolder, NoOutput};
use crate::write::{Failure, Output, Result};

impl Engine {
    /// Makes a new database in `output` from the readable parts of the one in the folder `database`, which stays as it is.
    ///
    /// Takes memory for one block of each table, and for 128 MiB of the entries of logs; the output sorts what is more.
    ///
    /// # Errors
    ///
    /// After an error, there is no new database, unless only the last sync failed.
    pub fn repair(
        &self,
        database: &Path,
        request: &RepairRequest,
        output: &mut dyn Output,
    ) -> Result<RepairReport> {
        let input = Input { engine: self, dir: database };
        repair(input, request, output).map_err(Failure::of_run)
    }

    /// Repairs the database in a folder of the local file system, which is held open and locked, to the folder `target`,
    /// which must not exist. `target`: `None`, or `is_dry_run`: nothing is written.
    ///
    /// # Errors
    ///
    /// Those of [`repair`](Self::repair), and if a folder cannot be used.
    #[cfg(feature = "fs")]
    pub fn repair_folder(
        &self,
        database: &Path,
        target: Option<&Path>,
        is_dry_run: bool,
        request: &RepairRequest,
    ) -> Result<RepairReport> {
        let old = DirStorage::open(database)?;
        let path = old.path().to_owned();
        let new = target.map(|target| NewFolder::new(target, &old)).transpose()?;
        let engine = self.clone().files(Files::new(Arc::new(old)));
        match new.filter(|_| !is_dry_run) {
            Some(mut new) => engine.repair(&path, request, &mut new),
            None => engine.repair(&path, request, &mut NoOutput),
        }
    }
}

fn repair(input: Input<'_>, request: &RepairRequest, output: &mut dyn Output) -> Result<RepairReport> {
    let survey = Survey::take(input, request, &mut *output)?;
    has_entries(&survey, input)?;
    let mut report = RepairReport::default();
    if !survey.output.is_wanted() {
        report.status = RepairStatus::DryRun;
        decide(&survey, input, request, &mut Nowhere, &mut report)?;
        return Ok(report);
    }
    let chosen = shape::choose(&survey.members, &survey.order, request, input)?;
    let tables = write(&survey, input, request, chosen.shape, &mut report)?;
    let path = survey.output.path_of(&manifest_name());
    let manifest = manifest(&tables, &survey.comparator, report.sums.last_sequence, &path)?;
    let current = format!("{}\n", manifest_name());
    for (name, contents) in [(manifest_name(), manifest), ("CURRENT".to_owned(), current.into_bytes())] {
        write_file(survey.output, &name, &contents)?;
        let left = survey.output.release(&name);
        left.map_err(|error| Failure::system("writing it", &survey.output.path_of(&name), &error))?;
    }
    drop(survey);
    input.check()?;
    report.sums.tables = tables.len() as u64;
    report.sums.new_size = tables.iter().fold(0, |sum, table| sum.saturating_add(table.record.size));
    report.notes.extend(chosen.note);
    report.notes.extend(output.commit()?);
    report.verified = true;
    (report.policy, report.bits_per_key) = chosen.filters.unzip();
    report.target = Some(output.path_of(""));
    Ok(report)
}

/// Writes all tables, and reads each back: beside the merge, if there may be a thread for it.
fn write(
    survey: &Survey<'_>,
    input: Input<'_>,
    request: &RepairRequest,
    shape: Shape,
    report: &mut RepairReport,
) -> Result<Vec<NewTable>> {
    let (order, output) = (shape.order, survey.output);
    if !HAS_THREADS {
        let mut verified = Vec::new();
        let mut finish = |table| verify(table, output, order, input).map(|table| verified.push(table));
        let mut tables = NewTables::new(output, shape, input, &mut finish);
        decide(survey, input, request, &mut tables, report).and_then(|()| tables.finish())?;
        return Ok(verified);
    }
    thread::scope(|scope| {
        // Holds one table back, for an output may keep a table until it was read.
        let (queue, finished) = sync_channel::<NewTable>(1);
        let verify_all = move || finished.iter().map(|table| verify(table, output, order, input)).collect();
        let thread = match number_of_jobs(input.engine.jobs) {
            0 | 1 => None,
            _ => thread::Builder::new().spawn_scoped(scope, verify_all).ok(),
        };
        let mut verified = Vec::new();
        let mut finish = |table| match &thread {
            // The thread ends at the first fault, which is told below.
            Some(_) => queue.send(table).map_err(|_| Failure::interrupted()),
            None => verify(table, output, order, input).map(|table| verified.push(table)),
        };
        let mut tables = NewTables::new(output, shape, input, &mut finish);
        let written = decide(survey, input, request, &mut tables, report).and_then(|()| tables.finish());
        drop(queue);
        let tables: Result<Vec<_>> = thread
            .map_or(Ok(verified), |thread| thread.join().unwrap_or_else(|_| Err(Failure::interrupted())));
        let tables = tables?;
        written.map(|()| tables)
    })
}

/// Refuses a database from which nothing can be saved.
fn has_entries(survey: &Survey<'_>, input: Input<'_>) -> Result<()> {
    if survey.members.iter().all(|member| entries(member) == 0) {
        let files = counted(survey.members.len() as u64, "file");
        let why = format!("nothing can be saved: no block in {files} has its checksum");
        return Err(input.refused(why).of_kind(ErrorKind::Damaged));
    }
    Ok(())
}

fn entries(member: &Member) -> u64 {
    member
        .table()
        .map_or(0, |table| table.facts.entries.max(table.saved_partly))
        .max(member.log().map_or(0, |log| log.operations))
}

/// Merges all entries, passes the keys of the new database to `sink`, and fills the report.
fn decide(
    survey: &Survey<'_>,
    input: Input<'_>,
    request: &RepairRequest,
    sink: &mut dyn Sink,
    report: &mut RepairReport,
) -> Result<()> {
    let Survey { members, operations, order, .. } = survey;
    let losses = Losses::new(ledger::table_losses(members), *order);
    let logs = ledger::log_losses(survey);
    let mut decider = Decider::new(members, order, request.prefer, losses);
    let merge = Merge { input, members, operations, order };
    merge.run(|entry| decider.add(&entry, sink))?;
    decider.finish(sink)?;
    ledger::write(report, survey, decider, &logs);
    Ok(())
}

/// Drops all keys, for a dry run.
struct Nowhere;

impl Sink for Nowhere {
    fn put(&mut self, _: SavedKey<'_>) -> Result<()> {
        Ok(())
    }
}

impl From<&Failure> for RepairReport {
    fn from(failure: &Failure) -> Self {
        let status = match failure.status {
            RebuildStatus::Refused => RepairStatus::Refused,
            RebuildStatus::InUse => RepairStatus::InUse,
            RebuildStatus::Interrupted => RepairStatus::Interrupted,
            _ => RepairStatus::Failed,
        };
        let Failure { text, kind: error_kind, remedies: notes, .. } = failure.clone();
        Self { status, error: Some(text), error_kind, notes, ..Self::default() }
    }
}
