//! A second database, with new filters, in a folder of its own.

use std::path::Path;

use filterblock::database::FileKind;

use super::place::check_is_database;
use super::request::{Options, check};
use super::{source::SourceDatabase, work::RebuildWork};
use crate::write::failure::{Failure, Result};
use crate::write::output::Output as _;
use crate::write::{Dir, DirStorage, NewFolder};
use crate::{report::Report, run::Watch};

/// Writes the rebuilt database to `target`, complete or not at all. Tables and logs keep their names.
/// After an error, there is no second database, unless only the last sync of the parent failed.
pub(super) fn run(dir: &Path, request: &Options, target: &Path, watch: &dyn Watch) -> Result<Report> {
    // Both paths are resolved before anything is done.
    let old = DirStorage::open(dir)?;
    let mut new = NewFolder::new(target, &old)?;
    let dir = old.dir();
    check_is_database(dir)?;
    let source = SourceDatabase::read(dir)?;
    let logs = source.log_records()?;
    let work = RebuildWork::new(source, request, watch)?;
    let (source, jobs) = (&work.source, work.jobs_with_old_numbers());
    let mut report = Report { policy: work.filters.name(), ..Report::default() };
    let (bytes, files) = work.size();
    if request.dry_run {
        new.check_room(bytes, files)?;
        let done = work.rewrite(&jobs, |_| None)?;
        report.tables.extend(done.into_iter().map(|done| done.report));
        return Ok(report);
    }
    new.begin(bytes, files)?;
    let folder = new.dir().map_err(|error| Failure::system("opening it", target, &error))?;
    let done = work.rewrite(&jobs, |job| Some((folder, job.table.name.clone())))?;
    for log in &source.logs {
        check(watch)?;
        dir.copy(log, folder, log)?;
    }
    let manifest_name = &source.manifest_file.name;
    let number = FileKind::parse(manifest_name).map_or(0, |(_, number)| number);
    let mut tables: Vec<_> = done.iter().map(|done| done.record.clone()).collect();
    tables.sort_by_key(|table| (table.level, table.number));
    let manifest = source.manifest_with(&tables, number, source.log_number_of_copy())?;
    write_like(dir, manifest_name, folder, &manifest)?;
    work.verify(folder, &manifest, &done)?;
    source.check_unchanged(&logs)?;
    write_like(dir, "CURRENT", folder, format!("{manifest_name}\n").as_bytes())?;
    check(watch)?;
    report.tables.extend(done.into_iter().map(|done| done.report));
    report.manifest = Some(manifest_name.clone());
    report.notes.extend(new.commit()?);
    report.target = Some(new.path_of(""));
    Ok(report)
}

/// Writes a file with the permissions of the file of the same name in `dir`.
fn write_like(dir: &Dir, name: &str, new: &Dir, contents: &[u8]) -> Result<()> {
    let like = dir.open_file(name);
    let like = like.map_err(|error| Failure::system("opening it", &dir.path_of(name), &error))?;
    new.write_new(name, contents, Some(&like))
}
