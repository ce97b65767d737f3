//! A second database, with new filters, in a folder of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use filterblock::database::FileKind;

use super::failure::{Failure, Result};
use super::files;
use super::place::{folder, lock_for_reading};
use super::report::Report;
use super::request::Request;
use super::source::Source;
use super::table::Target;
use super::watch::Watch;
use super::work::Work;

/// Makes the database anew in the folder `target`, which appears whole or not at all. Tables and
/// logs keep their names.
///
/// # Errors
///
/// There is no such folder then.
pub(crate) fn run(request: &Request, target: &Path, watch: Watch<'_>) -> Result<Report> {
    let dir = &folder(&request.dir)?;
    let (parent, target) = &check_target(target, dir)?;
    let _lock = lock_for_reading(dir)?;
    let source = Source::read(dir)?;
    let logs = source.log_records()?;
    let work = Work::new(source, request, watch)?;
    let (source, jobs) = (&work.source, work.jobs_with_old_numbers());
    let mut report = Report { policy: work.filters.name(), ..Report::default() };
    work.check_room(parent, &jobs)?;
    if request.dry_run {
        let done = work.rewrite(&jobs, |_| Target::Nowhere)?;
        report.tables.extend(done.into_iter().map(|done| done.report));
        report.sort();
        return Ok(report);
    }

    // Removed when this returns, unless it got its name.
    let unfinished = tempfile::Builder::new()
        .prefix(".filterblock-")
        .tempdir_in(parent)
        .map_err(|error| Failure::system("making a folder in it", parent, &error))?;
    let new = unfinished.path();
    let done = work.rewrite(&jobs, |job| Target::Apart(new.join(&job.table.name)))?;
    for log in &source.logs {
        watch.check()?;
        files::copy(log, &new.join(log.file_name().unwrap_or_default()))?;
    }
    let name = &source.manifest_file.name;
    let number = FileKind::parse(name).map_or(0, |(_, number)| number);
    let mut tables: Vec<_> = done.iter().map(|done| done.record.clone()).collect();
    tables.sort_by_key(|table| (table.level, table.number));
    let manifest = source.manifest_with(&tables, number)?;
    files::write_new(&new.join(name), &manifest, &dir.join(name))?;
    work.verify(new, &manifest, &done)?;
    source.check_unchanged(&logs)?;
    files::sync_folder(new)?;
    files::write_new(&new.join("CURRENT"), format!("{name}\n").as_bytes(), &dir.join("CURRENT"))?;
    give_attributes(new, dir)?;
    files::sync_folder(new)?;
    watch.check()?;
    files::rename(new, target)?;
    // It has its name.
    let _ = unfinished.keep();
    files::sync_folder(parent)?;

    report.tables.extend(done.into_iter().map(|done| done.report));
    report.sort();
    report.manifest = Some(name.clone());
    report.verified = request.verify;
    report.target = Some(target.clone());
    Ok(report)
}

/// The folder that the new one is to be in, and its path there. There has to be no such folder yet,
/// or an empty one.
fn check_target(target: &Path, dir: &Path) -> Result<(PathBuf, PathBuf)> {
    let system = |path: &Path, error| Failure::system("looking for it", path, &error);
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) => Path::new("."),
        None => return Err(Failure::refused(target, "expected a folder that is not there yet")),
    };
    let parent = fs::canonicalize(parent).map_err(|error| system(parent, error))?;
    let Some(name) = target.file_name() else {
        return Err(Failure::refused(target, "expected a path that ends with a name"));
    };
    if parent.starts_with(dir) {
        return Err(Failure::refused(target, "expected a folder outside the database"));
    }
    let path = parent.join(name);
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((parent, path)),
        Err(error) => return Err(system(&path, error)),
        Ok(metadata) if !metadata.is_dir() => {}
        Ok(_) => {
            let mut entries = fs::read_dir(&path).map_err(|error| system(&path, error))?;
            if entries.next().is_none() {
                return Ok((parent, path));
            }
        }
    }
    Err(Failure::refused(&path, "expected no folder of this name, or an empty one, found something there"))
}

/// Gives the new folder the owner and the mode of the old one.
fn give_attributes(new: &Path, like: &Path) -> Result<()> {
    let give = || {
        let like = fs::metadata(like)?;
        // Folders cannot be opened as files on Windows.
        if cfg!(unix) {
            files::copy_attributes(&File::open(new)?, &like)?;
        }
        Ok(())
    };
    give().map_err(|error| Failure::system("giving it owner and mode of the old folder", new, &error))
}
