//! A second database, with new filters, in a folder of its own.

use std::hash::{BuildHasher as _, RandomState};
use std::{ffi::OsStr, io, path::Path};

use filterblock::database::FileKind;

use super::request::{Options, check};
use super::{place::Original, source::SourceDatabase, work::RebuildWork};
use crate::write::failure::{Failure, Result};
use crate::write::{Dir, Purpose};
use crate::{report::Report, run::Watch};

/// Writes the rebuilt database to `target`, complete or not at all. Tables and logs keep their names.
/// After an error, there is no second database, unless only the last sync of the parent failed.
pub(super) fn run(dir: &Path, request: &Options, target: &Path, watch: &dyn Watch) -> Result<Report> {
    // Both paths are resolved before anything is done.
    let (_, dir) = Dir::open(dir, Purpose::Copy)?;
    let (parent, name) = &open_target(target)?;
    let original = Original::new(dir)?;
    let dir = &original.dir;
    check_target(target, (parent, name), dir)?;
    let source = SourceDatabase::read(dir)?;
    let logs = source.log_records()?;
    let work = RebuildWork::new(source, request, watch)?;
    let (source, jobs) = (&work.source, work.jobs_with_old_numbers());
    let mut report = Report { policy: work.filters.name(), ..Report::default() };
    work.check_room(parent, &jobs)?;
    if request.dry_run {
        let done = work.rewrite(&jobs, |_| None)?;
        report.tables.extend(done.into_iter().map(|done| done.report));
        return Ok(report);
    }

    let unfinished = Unfinished::new(parent)?;
    let new = &unfinished.folder;
    let done = work.rewrite(&jobs, |job| Some((new, job.table.name.clone())))?;
    for log in &source.logs {
        check(watch)?;
        dir.copy(log, new, log)?;
    }
    let manifest_name = &source.manifest_file.name;
    let number = FileKind::parse(manifest_name).map_or(0, |(_, number)| number);
    let mut tables: Vec<_> = done.iter().map(|done| done.record.clone()).collect();
    tables.sort_by_key(|table| (table.level, table.number));
    let manifest = source.manifest_with(&tables, number, source.log_number_of_copy())?;
    write_like(dir, manifest_name, new, &manifest)?;
    work.verify(new, &manifest, &done)?;
    source.check_unchanged(&logs)?;
    write_like(dir, "CURRENT", new, format!("{manifest_name}\n").as_bytes())?;
    new.copy_attributes(dir).map_err(|error| {
        Failure::system("giving it owner, mode and attributes of the old folder", new.path(), &error)
    })?;
    new.sync()?;
    check(watch)?;
    report.notes.extend(new.note_of_lost_group(&parent.path_of(name)));
    unfinished.finish(name)?;

    report.tables.extend(done.into_iter().map(|done| done.report));
    report.manifest = Some(manifest_name.clone());
    report.target = Some(parent.path_of(name));
    Ok(report)
}

/// Writes a file with the permissions of the file of the same name in `dir`.
fn write_like(dir: &Dir, name: &str, new: &Dir, contents: &[u8]) -> Result<()> {
    let like = dir.open_file(name);
    let like = like.map_err(|error| Failure::system("opening it", &dir.path_of(name), &error))?;
    new.write_new(name, contents, Some(&like))
}

/// Returns the new folder's open parent, and the new folder's name in it.
pub(crate) fn open_target(target: &Path) -> Result<(Dir, &OsStr)> {
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) => Path::new("."),
        None => return Err(Failure::refused(target, "exists already")),
    };
    let Some(name) = target.file_name() else {
        return Err(Failure::refused(target, "does not end with a name"));
    };
    Ok((Dir::open_trusted(parent, Purpose::Copy)?, name))
}

/// Refuses a target in the database, or one that exists and is not an empty folder.
pub(crate) fn check_target(target: &Path, (parent, name): (&Dir, &OsStr), dir: &Dir) -> Result<()> {
    if parent.is_in(dir) {
        return Err(Failure::refused(target, "lies in the database itself"));
    }
    let path = parent.path_of(name);
    let system = |error| Failure::at_target("looking for it", &path, &error);
    let is_empty = match parent.look(name).map_err(system)? {
        None => true,
        Some(found) if !found.is_folder() => {
            return Err(Failure::refused(&path, "exists and is not a folder"));
        }
        Some(_) => parent.open_folder(name).map_err(system)?.names()?.is_empty(),
    };
    match is_empty {
        true => Ok(()),
        false => Err(Failure::refused(&path, "exists and is not empty")),
    }
}

/// A folder of a random name. Dropping it removes it and its files, unless [`finish`](Self::finish) has renamed it.
#[derive(Debug)]
pub(crate) struct Unfinished {
    parent: Dir,
    name: String,
    pub(crate) folder: Dir,
    is_kept: bool,
}

/// The greatest number of names that are tried for a new folder.
const TRIES: u32 = 8;

impl Unfinished {
    /// Makes a hidden folder in `parent`.
    pub(crate) fn new(parent: &Dir) -> Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            let name = format!(".filterblock-{:016x}", RandomState::new().hash_one(std::process::id()));
            match parent.make_folder(&name) {
                Ok(folder) => return Ok(Self { parent: parent.clone(), name, folder, is_kept: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => {
                    last = error;
                    break;
                }
            }
        }
        Err(Failure::at_target("making a folder in it", parent.path(), &last))
    }

    /// Renames the folder to `name`, replacing an empty folder of this name if there is one, and syncs the parent.
    pub(crate) fn finish(mut self, name: &OsStr) -> Result<()> {
        let path = self.parent.path_of(name);
        let system = |error| Failure::system("giving it its name", &path, &error);
        let own = self.folder.status().map_err(system)?;
        self.parent.move_folder(&self.name, &self.parent, name, true).map_err(system)?;
        let found = self.parent.look(name).map_err(system)?;
        // Another folder may have had the name that was renamed.
        if found.is_none_or(|found| found.id != own.id) {
            return Err(Failure::refused(&path, "another folder has taken its place meanwhile"));
        }
        self.is_kept = true;
        self.parent.sync()
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        for name in self.folder.names().unwrap_or_default() {
            _ = self.folder.remove(name);
        }
        _ = self.parent.remove_folder(&self.name);
    }
}
