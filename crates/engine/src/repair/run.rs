//! A repair from its beginning to its end.

use std::path::Path;
#[cfg(feature = "fs")]
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use super::decide::{KeySink, SavedKey, VersionChooser};
use super::key_batch::{KeyBatch, KeyQueue};
use super::lost::Losses;
use super::members::OldFile;
use super::merge::Merge;
use super::salvage::Salvage;
use super::tables::{NewTable, NewTables, Shape, manifest, manifest_name, verify};
use super::{RepairRequest, ledger, roles, shape};
use crate::engine::Engine;
use crate::report::{ErrorKind, RebuildStatus, RepairData, RepairReport, RepairStatus};
use crate::run::{HAS_THREADS, number_of_jobs};
use crate::text::counted;
#[cfg(feature = "fs")]
use crate::walk::Files;
#[cfg(feature = "fs")]
use crate::write::{DirStorage, NewFolder, NoOutput};
use crate::write::{Failure, Input, Output, Result, write_file};

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
            None => {
                let report = engine.repair(&path, request, &mut NoOutput)?;
                Ok(RepairReport { wanted: target.map(Path::to_owned), ..report })
            }
        }
    }
}

fn repair(input: Input<'_>, request: &RepairRequest, output: &mut dyn Output) -> Result<RepairReport> {
    let mut salvage = Salvage::take(input, request, &mut *output)?;
    roles::decide(&mut salvage, input)?;
    has_entries(&salvage, input)?;
    let mut report = RepairReport { arguments: request.arguments(), ..RepairReport::default() };
    if !salvage.output.is_wanted() {
        report.data.status = RepairStatus::DryRun;
        decide(&salvage, input, request, &mut Nowhere, &mut report)?;
        return Ok(report);
    }
    let chosen = shape::choose(&salvage.members, &salvage.order, request, input)?;
    let tables = write(&salvage, input, request, chosen.shape, &mut report)?;
    let path = salvage.output.path_of(&manifest_name());
    let manifest = manifest(&tables, &salvage.comparator, report.data.sums.last_sequence, &path)?;
    let current = format!("{}\n", manifest_name());
    for (name, contents) in [(manifest_name(), manifest), ("CURRENT".to_owned(), current.into_bytes())] {
        write_file(salvage.output, &name, &contents)?;
    }
    drop(salvage);
    input.check()?;
    report.data.sums.tables = tables.len() as u64;
    report.data.sums.new_size = tables.iter().fold(0, |sum, table| sum.saturating_add(table.record.size));
    report.notes.extend(chosen.note);
    report.notes.extend(output.commit()?);
    report.data.verified = true;
    (report.data.policy, report.data.bits_per_key) = chosen.filters.unzip();
    report.data.target = Some(output.path_of(""));
    Ok(report)
}

/// Writes all tables, and reads each back. With more than one job, merging, writing and reading go on beside each other.
fn write(
    salvage: &Salvage<'_>,
    input: Input<'_>,
    request: &RepairRequest,
    shape: Shape,
    report: &mut RepairReport,
) -> Result<Vec<NewTable>> {
    let (order, output) = (shape.order, salvage.output);
    if !HAS_THREADS || number_of_jobs(input.engine.jobs) < 2 {
        let mut verified = Vec::new();
        let mut finish = |table| verify(table, output, order, input).map(|table| verified.push(table));
        let mut tables = NewTables::new(output, shape, input, &mut finish);
        decide(salvage, input, request, &mut tables, report)?;
        tables.finish()?;
        return Ok(verified);
    }
    thread::scope(|scope| {
        let not_started = |error| Failure::system("starting a thread for it", input.dir, &error);
        let (keys, batches) = sync_channel::<KeyBatch>(2);
        // Holds one table back, for an output may keep a table until it was read.
        let (finished, unread) = sync_channel::<NewTable>(1);
        let verify_all = move || unread.iter().map(|table| verify(table, output, order, input)).collect();
        let make_all = move || {
            // The other thread ends at the first fault, which it tells.
            let mut finish = |table| finished.send(table).map_err(|_| Failure::interrupted());
            let mut tables = NewTables::new(output, shape, input, &mut finish);
            batches.iter().try_for_each(|batch| batch.put_all(&mut tables))?;
            tables.finish()
        };
        let verifier = thread::Builder::new().spawn_scoped(scope, verify_all).map_err(not_started)?;
        let maker = thread::Builder::new().spawn_scoped(scope, make_all).map_err(not_started)?;
        let mut queue = KeyQueue::new(keys);
        let merged = decide(salvage, input, request, &mut queue, report).and_then(|()| queue.finish());
        drop(queue);
        let made = maker.join().unwrap_or_else(|_| Err(Failure::interrupted()));
        let verified: Result<Vec<_>> = verifier.join().unwrap_or_else(|_| Err(Failure::interrupted()));
        // A thread that has ended ends those before it.
        let tables = verified?;
        made.and(merged).map(|()| tables)
    })
}

/// Refuses a database from which nothing can be saved.
fn has_entries(salvage: &Salvage<'_>, input: Input<'_>) -> Result<()> {
    if salvage.members.iter().all(|member| entries(member) == 0) {
        let files = counted(salvage.members.len() as u64, "file");
        let why = format!("nothing can be saved: no block in {files} has its checksum");
        return Err(input.refused(why).of_kind(ErrorKind::Damaged));
    }
    Ok(())
}

fn entries(member: &OldFile) -> u64 {
    member
        .table()
        .map_or(0, |table| table.facts.entries.max(table.saved_partly))
        .max(member.log().map_or(0, |log| log.operations))
}

/// Merges all entries, passes the keys of the new database to `sink`, and fills the report.
fn decide(
    salvage: &Salvage<'_>,
    input: Input<'_>,
    request: &RepairRequest,
    sink: &mut dyn KeySink,
    report: &mut RepairReport,
) -> Result<()> {
    let Salvage { members, operations, order, .. } = salvage;
    let losses = Losses::new(ledger::table_losses(members), *order);
    let logs = ledger::log_losses(salvage);
    let mut chooser = VersionChooser::new(members, order, request.prefer, losses);
    let merge = Merge { input, members, operations, order };
    merge.run(|entry| chooser.add(&entry, sink))?;
    chooser.finish(sink)?;
    ledger::write(report, salvage, chooser, &logs);
    Ok(())
}

/// Drops all keys, for a dry run.
struct Nowhere;

impl KeySink for Nowhere {
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
        let data = RepairData { status, ..RepairData::default() };
        Self { data, error: Some(text), error_kind, notes, ..Self::default() }
    }
}
