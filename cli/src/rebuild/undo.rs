//! Back to the state before a rebuild in place, or the end of that possibility.

use std::fs;
use std::io;
use std::path::Path;

use filterblock::database::{FileKind, set_current};

use super::failure::{Failure, Result};
use super::file_record::current;
use super::files;
use super::marker::{Action, Marker};
use super::place::{check_platform, folder, lock};
use super::recovery;
use super::report::Report;
use super::undo_folder::{TableFile, UndoFolder, UndoRecord};
use crate::audit::error_kind::ErrorKind;

/// Brings the tables back that a rebuild replaced, if nothing was written since.
///
/// # Errors
///
/// The database is as it was.
pub(crate) fn undo(path: &Path) -> Result<Report> {
    let dir = &folder(path)?;
    check_platform(dir)?;
    let _lock = lock(dir)?;
    let recovered = recovery::recover(dir)?;
    let mut report = Report { finished_earlier: recovered.is_end_of_undo(), ..Report::default() };
    if !report.finished_earlier {
        bring_back_all(dir, &mut report).map_err(|failure| recovery::also(failure, &recovered))?;
    }
    report.notes.splice(..0, recovery::note(&recovered, dir));
    Ok(report)
}

fn bring_back_all(dir: &Path, report: &mut Report) -> Result<()> {
    let undo = UndoFolder::of(dir)?;
    check_exists(&undo)?;
    undo.check_ours()?;
    let record = undo.record()?;
    check_nothing_written(dir, &undo, &record)?;
    let result = bring_back(dir, &undo, &record);
    if let Err(failure) = result {
        return Err(match recovery::recover(dir) {
            Ok(recovered) if recovered.is_end_of_undo() => {
                failure.and("the old tables are in place all the same")
            }
            Ok(_) => failure.and("the database is as it was"),
            Err(other) => {
                failure.and(&format!("the database is as it was; {other}, and the next run clears it away"))
            }
        });
    }
    report.manifest = Some(record.original.name.clone());
    if let Err(failure) = recovery::recover(dir) {
        report.notes.push(failure.and("the next run clears it away").to_string());
    }
    Ok(())
}

/// Removes the folder with the tables that a rebuild replaced.
pub(crate) fn discard(path: &Path) -> Result<Report> {
    let dir = &folder(path)?;
    check_platform(dir)?;
    let _lock = lock(dir)?;
    let recovered = recovery::recover(dir)?;
    let undo = UndoFolder::of(dir)?;
    // The end of `--undo` has removed the folder.
    let finished_earlier = recovered.is_end_of_undo();
    if !finished_earlier {
        let removed = check_exists(&undo).and_then(|()| undo.remove());
        removed.map_err(|failure| recovery::also(failure, &recovered))?;
    }
    let notes = recovery::note(&recovered, dir).into_iter().collect();
    Ok(Report { notes, finished_earlier, ..Report::default() })
}

fn check_exists(undo: &UndoFolder) -> Result<()> {
    if undo.exists() {
        return Ok(());
    }
    let why = "expected the folder with the tables before the rebuild, found none";
    Err(Failure::refused(undo.path(), why).of_kind(ErrorKind::Missing))
}

/// Refuses if the database is not as the rebuild left it.
fn check_nothing_written(dir: &Path, undo: &UndoFolder, record: &UndoRecord) -> Result<()> {
    let written = |what: &str| {
        let why = format!(
            "{what} since the rebuild; undoing it would lose what was written. `filterblock rebuild --discard` \
             removes the tables before the rebuild"
        );
        Failure::refused(dir, why)
    };
    if current(dir)? != record.rebuilt {
        return Err(written("the database was opened"));
    }
    for log in &record.logs {
        let path = dir.join(&log.name);
        if !log.is_in(dir).map_err(|error| Failure::system("reading it", &path, &error))? {
            return Err(written(&format!("{} was changed", log.name)));
        }
    }
    let list = |error| Failure::system("listing it", dir, &error);
    for entry in fs::read_dir(dir).map_err(list)? {
        let name = entry.map_err(list)?.file_name();
        let Some((FileKind::Log, number)) = name.to_str().and_then(FileKind::parse) else { continue };
        let is_known = record.logs.iter().any(|log| *log.name == *name);
        if !is_known && number >= record.first_live_log {
            return Err(written(&format!("{} was written", name.to_string_lossy())));
        }
    }
    for table in &record.original_tables {
        check_table(undo, table)?;
    }
    let names = record.original_tables.iter().map(|table| &table.name).chain([&record.original.name]);
    for name in names {
        let there = dir.join(name);
        // A rebuild that could not clear away everything leaves the file itself.
        if fs::symlink_metadata(&there).is_ok() && !is_same(&undo.path().join(name), &there) {
            return Err(written(&format!("another {name} was written")));
        }
    }
    let path = undo.path().join(&record.original.name);
    match record.original.is_in(undo.path()) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let why = "expected the MANIFEST before the rebuild, found none or another";
            Err(Failure::refused(&path, why).of_kind(ErrorKind::Damaged))
        }
        Err(error) => Err(Failure::system("reading it", &path, &error)),
    }
}

/// Refuses if a table from before the rebuild is not there any more.
fn check_table(undo: &UndoFolder, table: &TableFile) -> Result<()> {
    let path = undo.path().join(&table.name);
    let found = match fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() && found.len() == table.length => return Ok(()),
        Ok(found) => found.len().to_string(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "no such file".to_owned(),
        Err(error) => return Err(Failure::system("looking for it", &path, &error)),
    };
    let why = format!("expected a table of {} bytes, found {found}", table.length);
    Err(Failure::refused(&path, why).of_kind(ErrorKind::Damaged))
}

fn bring_back(dir: &Path, undo: &UndoFolder, record: &UndoRecord) -> Result<()> {
    let mut marker = Marker::new(Action::Undo, record.rebuilt.clone());
    marker.new = Some(record.original.clone());
    let tables = record.original_tables.iter().map(|table| table.name.clone());
    marker.new_files = tables.chain([record.original.name.clone()]).collect();
    marker.old_files = record.rebuilt_tables.iter().cloned().chain([record.rebuilt.name.clone()]).collect();
    marker.write(dir)?;
    for name in &marker.new_files {
        let (from, to) = (undo.path().join(name), dir.join(name));
        match fs::hard_link(&from, &to) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_same(&from, &to) => {}
            Err(error) => return Err(Failure::system("making a hard link", &to, &error)),
        }
    }
    files::sync_folder(dir)?;
    let number = FileKind::parse(&record.original.name).map_or(0, |(_, number)| number);
    set_current(dir, number).map_err(|error| Failure::of(error, dir))
}

/// Tells whether two names are of one file.
fn is_same(a: &Path, b: &Path) -> bool {
    matches!((fs::symlink_metadata(a), fs::symlink_metadata(b)), (Ok(a), Ok(b)) if files::is_unchanged(&a, &b))
}
