//! A repair from its beginning to its end, and one that makes no database, for files in any [`Storage`]. There,
//! operations that do not fit into memory are sorted in temporary files.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use filterblock::database::FileKind;
use filterblock::table::ReadAt;

use super::decide::{Decider, SavedKey, Sink};
use super::input::{Input, LOST, Listing};
use super::lost::Losses;
use super::members::Member;
use super::merge::Merge;
use super::output::{Nowhere, Output};
use super::shape;
use super::survey::Survey;
use super::{RepairRequest, ledger};
use crate::rebuild::place::Original;
use crate::rebuild::request::check;
use crate::rebuild::to_folder::{Unfinished, check_target, open_target};
use crate::report::{ErrorKind, RebuildStatus, RepairReport, RepairStatus};
use crate::run::Watch;
use crate::walk::Storage;
use crate::words::counted;
use crate::write::{Dir, Failure, Purpose, Result};

/// Makes a new database from the readable parts of the one in the folder `dir`, which stays as it is.
///
/// # Errors
///
/// After an error, there is no new database, unless only the last sync of the parent failed.
pub fn repair(dir: &Path, request: &RepairRequest, watch: &dyn Watch) -> Result<RepairReport> {
    repair_or_fail(dir, request, watch).map_err(|failure| failure.of_run("written"))
}

fn repair_or_fail(dir: &Path, request: &RepairRequest, watch: &dyn Watch) -> Result<RepairReport> {
    // Both paths are resolved before anything is done.
    let (_, dir) = Dir::open(dir, Purpose::Copy)?;
    let (parent, name) = &open_target(&request.target)?;
    let original = Original::damaged(dir)?;
    let dir = &original.dir;
    check_target(&request.target, (parent, name), dir)?;
    let survey = Survey::take(dir, request, parent.path(), watch)?;
    has_entries(&survey, dir.path())?;
    let mut report = RepairReport::default();
    if request.dry_run {
        report.status = RepairStatus::DryRun;
        decide(&survey, dir, request, watch, &mut Nowhere, &mut report)?;
        return Ok(report);
    }
    let chosen = shape::choose(&survey.members, &survey.order, request, dir, watch)?;
    let unfinished = Unfinished::new(parent)?;
    let new = &unfinished.folder;
    let like = like(dir)?;
    let mut output = Output::new(new, chosen.shape, like.as_ref(), watch);
    decide(&survey, dir, request, watch, &mut output, &mut report)?;
    output.finish()?;
    let manifest = output.manifest(&survey.comparator, report.sums.last_sequence)?;
    let manifest_name = Output::manifest_name();
    new.write_new(&manifest_name, &manifest, like.as_ref())?;
    output.verify(&manifest)?;
    new.write_new("CURRENT", format!("{manifest_name}\n").as_bytes(), like.as_ref())?;
    new.copy_attributes(dir).map_err(|error| {
        Failure::system("giving it owner, mode and attributes of the old folder", new.path(), &error)
    })?;
    new.sync()?;
    check(watch)?;
    report.sums.tables = output.tables.len() as u64;
    report.sums.new_size = output.size();
    report.notes.extend(chosen.note);
    report.notes.extend(new.note_of_lost_group(&parent.path_of(name)));
    unfinished.finish(name)?;
    report.verified = true;
    (report.policy, report.bits_per_key) = chosen.filters.unzip();
    report.target = Some(parent.path_of(name));
    Ok(report)
}

/// Refuses a database from which nothing can be saved.
pub(super) fn has_entries(survey: &Survey, dir: &Path) -> Result<()> {
    if survey.members.iter().all(|member| entries(member) == 0) {
        let files = counted(survey.members.len() as u64, "file");
        let why = format!("nothing can be saved: no block in {files} has its checksum");
        return Err(Failure::refused(dir, why).of_kind(ErrorKind::Damaged));
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
pub(super) fn decide(
    survey: &Survey,
    input: &dyn Input,
    request: &RepairRequest,
    watch: &dyn Watch,
    sink: &mut dyn Sink,
    report: &mut RepairReport,
) -> Result<()> {
    let Survey { members, operations, order, .. } = survey;
    let losses = Losses::new(ledger::table_losses(members), *order);
    let logs = ledger::log_losses(survey);
    let mut decider = Decider::new(members, order, request.prefer, losses);
    let merge = Merge { input, members, operations, order, watch };
    merge.run(|entry| decider.add(&entry, sink))?;
    decider.finish(sink)?;
    ledger::write(report, survey, decider, &logs);
    Ok(())
}

/// A file of the database, whose permissions the new files get. `None`: there is none, or it cannot be opened.
fn like(dir: &Dir) -> Result<Option<File>> {
    let files = dir.files()?.files;
    let first = files.iter().find(|file| file.kind == FileKind::Table).or(files.first());
    Ok(first.and_then(|file| dir.open_file(&file.name).ok()))
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

/// Finds out what a repair of the database in the folder `dir` of `storage` would salvage. `each` gets every key that
/// the new database would have, in ascending order. The target of the request is not looked at, and no lock is taken.
///
/// # Errors
///
/// Those of [`repair`](super::repair) when it reads the database or writes temporary files.
pub fn dry_run(
    storage: &dyn Storage,
    dir: &Path,
    request: &RepairRequest,
    each: &mut dyn FnMut(SavedKey<'_>),
) -> Result<RepairReport> {
    let input = Stored { storage, dir };
    let survey = Survey::take(&input, request, &std::env::temp_dir(), &())?;
    has_entries(&survey, dir)?;
    let mut report = RepairReport { status: RepairStatus::DryRun, ..RepairReport::default() };
    decide(&survey, &input, request, &(), &mut Each(each), &mut report)?;
    Ok(report)
}

struct Each<'e>(&'e mut dyn FnMut(SavedKey<'_>));

impl Sink for Each<'_> {
    fn put(&mut self, key: SavedKey<'_>) -> Result<()> {
        (self.0)(key);
        Ok(())
    }
}

struct Stored<'s> {
    storage: &'s dyn Storage,
    dir: &'s Path,
}

impl Input for Stored<'_> {
    fn files(&self) -> Result<Listing> {
        let listed = self.storage.list(self.dir);
        let listed = listed.map_err(|error| Failure::system("listing it", self.dir, &error))?;
        let has_lost_folder = self.storage.list(&self.dir.join(LOST)).is_ok_and(|found| found.is_some());
        let mut listing = Listing { has_lost_folder, ..Listing::default() };
        listed.unwrap_or_default().into_iter().for_each(|(name, len)| listing.add(name, len));
        listing.sort();
        Ok(listing)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn ReadAt>> {
        Ok(self.storage.open(&self.dir.join(name))?)
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}
