//! New tables that replace the old ones in the same folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use filterblock::database::{FileKind, LiveTable};

use super::file_digest::{FileDigest, current, set_current};
use super::journal::{Action, Journal};
use super::recovery::{self, Recovered};
use super::request::RebuildOptions;
use super::undo_folder::{Contents, FoundUndo, Rights, TableFile, UndoRecord};
use super::work::{NewTable, RebuildTable, RebuildWork};
use super::{place::DatabaseFolder, source::SourceDatabase};
use crate::engine::Engine;
use crate::report::{RebuildReport, RebuildStatus};
use crate::text::path_word;
use crate::write::{Failure, InPlace, Result};

/// Rebuilds a database in its folder. After an error, it is as before, unless only the sync after the commit failed.
pub(super) fn run(
    engine: &Engine,
    dir: &Path,
    request: &RebuildOptions,
    keeps_undo: bool,
) -> Result<RebuildReport> {
    let command = "filterblock rebuild DB --in-place …";
    let place = &match request.dry_run {
        true => DatabaseFolder::open_for_reading(engine, dir, command)?,
        false => DatabaseFolder::open(engine, dir, command)?,
    };
    let mut report = RebuildReport::default();
    let recovered = match request.dry_run {
        true => Recovered::Nothing,
        false => recovery::recover(place)?,
    };
    report.notes.extend(recovery::note(&recovered, &place.dir));
    if recovered.is_end_of(&as_text(request)) {
        report.data.status = RebuildStatus::Finished;
        report.data.undo = undo_path(place)?;
        return Ok(report);
    }
    let rebuilt = rebuild(request, keeps_undo, place, report);
    rebuilt.map_err(|failure| recovery::also(failure, &recovered))
}

/// The requested filters as text, to compare them with those of a run that was cut off.
fn as_text(request: &RebuildOptions) -> String {
    format!("{:?}", request.filters)
}

/// Rebuilds an open database. The remains of an earlier run have been cleared away, except in a dry run.
fn rebuild(
    request: &RebuildOptions,
    keeps_undo: bool,
    place: &DatabaseFolder,
    mut report: RebuildReport,
) -> Result<RebuildReport> {
    let DatabaseFolder { dir, undo, .. } = place;
    if let Some(found) = undo.find()? {
        check_decided(place, &found)?;
    }
    let source = SourceDatabase::read(place.input())?;
    if let Some(table) = source.tables.first()
        && keeps_undo
        && !request.dry_run
    {
        undo.try_out(&table.name)?;
    }
    let work = RebuildWork::new(source, request, !request.dry_run)?;
    report.data.policy = work.filters.name();
    if work.source.tables.is_empty() {
        return Ok(report);
    }
    let jobs = work.newest_first();
    let (bytes, files) = work.size();
    let ready = place.input().check().and_then(|()| dir.check_room(bytes, files));
    ready.map_err(|failure| failure.and_state(AS_BEFORE))?;
    if request.dry_run {
        let done = work.rewrite(&jobs, None, |job| job.new_name())?;
        report.tables.extend(done.into_iter().map(|done| done.report));
    } else {
        let commit = Commit { work: &work, request, keeps_undo, place, jobs: &jobs };
        let (done, manifest) = commit.run().map_err(|failure| commit.give_up(failure))?;
        report.tables.extend(done.into_iter().map(|done| done.report));
        report.data.manifest = Some(manifest);
        // The new tables are live now. Clearing away can wait for the next run.
        if let Err(failure) = recovery::recover(place) {
            report.notes.push(failure.and("the next rebuild clears it away").to_string());
        }
    }
    conclude(place, &mut report);
    Ok(report)
}

/// Completes the report. The rebuild is done, so errors become notes.
fn conclude(place: &DatabaseFolder, report: &mut RebuildReport) {
    match undo_path(place) {
        Ok(path) => report.data.undo = path,
        Err(failure) => report.notes.push(failure.to_string()),
    }
    report.notes.extend(place.dir.note_of_lost_group(place.dir.path()));
}

fn undo_path(place: &DatabaseFolder) -> Result<Option<PathBuf>> {
    let found = place.undo.find()?;
    Ok(found.filter(|found| found.contents == Contents::All).map(|_| place.undo.path()))
}

/// Refuses while an earlier rebuild has yet to be undone or discarded.
fn check_decided(place: &DatabaseFolder, found: &FoundUndo) -> Result<()> {
    let command = |option| format!("filterblock rebuild --{option} {}", path_word(place.dir.path()));
    let discard = format!("to delete the old tables: {}", command("discard"));
    let failure = |why| Failure::refused(place.dir.path(), why).remedy(&*discard);
    Err(match found.contents {
        Contents::Nothing => return Ok(()),
        Contents::Rest => failure("an earlier --discard was cut off: finish it first"),
        Contents::All if found.record(&place.dir)?.rebuilt == current(place.input())? => {
            failure("an earlier rebuild can still be undone: --discard or --undo first")
                .remedy(format!("to go back: {}", command("undo")))
        }
        Contents::All => failure(
            "the tables from before an earlier rebuild are kept, but it was opened since: --discard first",
        ),
    })
}

struct Commit<'a> {
    work: &'a RebuildWork<'a>,
    request: &'a RebuildOptions,
    keeps_undo: bool,
    place: &'a DatabaseFolder,
    /// The tables, the newest first.
    jobs: &'a [RebuildTable<'a>],
}

impl Commit<'_> {
    /// Returns the new tables, and the new MANIFEST's name. Errors come before the commit, or from the sync after it.
    fn run(&self) -> Result<(Vec<NewTable>, String)> {
        let source = &self.work.source;
        let (dir, old) = (&self.place.dir, &source.manifest_file);
        let number = source.first_free.saturating_add(source.tables.len() as u64);
        let name = FileKind::Manifest.file_name(number);

        let mut journal = Journal::new(Action::Rebuild, old.clone());
        journal.options = as_text(self.request);
        journal.keeps_undo = self.keeps_undo;
        let oldest_first = || self.jobs.iter().rev();
        journal.new_files = oldest_first().map(RebuildTable::new_name).chain([name.clone()]).collect();
        let old_names = oldest_first().map(|job| job.table.name.clone());
        journal.old_files = old_names.chain([old.name.clone()]).collect();
        journal.write(dir)?;

        let temporary = |number| FileKind::Temporary.file_name(number);
        let done = self.work.rewrite(self.jobs, Some(&InPlace(dir)), |job| temporary(job.number))?;
        let tables = replaced(source.manifest.tables(), self.jobs, &done);
        let manifest = source.manifest_with(&tables, number, source.manifest.log_number())?;
        journal.new = Some(FileDigest::of_bytes(name.clone(), &manifest));
        journal.write(dir)?;

        // `RepairDB` considers the table with the higher number the newer one, so a table's new file must
        // never be there without those of all newer tables: the newest is renamed first, and is durable
        // before the next one.
        for job in self.jobs {
            source.input.check()?;
            dir.rename(temporary(job.number), job.new_name())?;
            dir.sync()?;
        }
        let before = dir.open_file(&old.name);
        let system = |error| Failure::system("opening it", &dir.path_of(&old.name), &error);
        dir.write_new(&name, &manifest, Some(&before.map_err(system)?))?;
        dir.sync()?;
        let new = FileDigest::of_bytes(name.clone(), &manifest);
        if self.keeps_undo {
            self.make_undo_folder(&new, &done)?;
        }
        source.input.check()?;
        set_current(dir, number)?;
        Ok((done, name))
    }

    /// Makes the undo folder. This comes before the commit, so that a failure to make the folder cannot
    /// follow the commit, and no program can open the database between the two steps.
    fn make_undo_folder(&self, new: &FileDigest, done: &[NewTable]) -> Result<()> {
        let (source, dir) = (&self.work.source, &self.place.dir);
        let mut record = UndoRecord::new(source.manifest_file.clone(), new.clone());
        let table = |job: &RebuildTable<'_>| {
            let (name, length) = (job.table.name.clone(), job.table.record.size);
            let system = |error| Failure::system("looking at it", &dir.path_of(&name), &error);
            let rights = dir.look(&name).map_err(system)?.map(|found| Rights::of(&found));
            Ok(TableFile { name, length, rights })
        };
        record.original_tables = self.jobs.iter().rev().map(table).collect::<Result<_>>()?;
        record.rebuilt_tables = done.iter().rev().map(|done| done.report.data.new_name.clone()).collect();
        record.logs = source.log_records()?;
        record.first_live_log = source.manifest.log_number();
        let names: Vec<_> = record.original_tables.iter().map(|table| table.name.clone()).collect();
        let names = names.into_iter().chain([source.manifest_file.name.clone()]);
        self.place.undo.make(names, &record)
    }

    /// Clears away what the run left after `failure`. If the commit has taken place, the new tables stay.
    fn give_up(&self, failure: Failure) -> Failure {
        match recovery::recover(self.place) {
            Ok(Recovered::Finished(_)) => failure.and_state("the new tables are in place all the same"),
            Ok(_) => failure.and_state(AS_BEFORE),
            Err(other) => match self.place.dir.check_known() {
                Ok(()) => failure.and_state(&format!(
                    "{AS_BEFORE}; {other}, and the next rebuild clears away what is left"
                )),
                // The failure already says that the state is not known.
                Err(_) => failure,
            },
        }
    }
}

const AS_BEFORE: &str = "nothing was changed";

/// The live tables, with those of `jobs` replaced by the new ones in `done`.
fn replaced(tables: &[LiveTable], jobs: &[RebuildTable<'_>], done: &[NewTable]) -> Vec<LiveTable> {
    let new: BTreeMap<u64, &LiveTable> =
        jobs.iter().zip(done).map(|(job, done)| (job.table.record.number, &done.record)).collect();
    tables.iter().map(|table| (*new.get(&table.number).unwrap_or(&table)).clone()).collect()
}
