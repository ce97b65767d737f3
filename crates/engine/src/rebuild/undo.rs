//! Returning to the state before a rebuild in place, or giving up that possibility.

use std::{io, path::Path};

use filterblock::database::FileKind;

use super::file_digest::{current, set_current};
use super::journal::{Action, Journal};
use super::undo_folder::{Contents, FoundUndo, TableFile, UndoFolder, UndoRecord};
use super::{place::DatabaseFolder, recovery};
use crate::engine::Engine;
use crate::report::{ErrorKind, RebuildReport, RebuildStatus};
use crate::text::path_word;
use crate::write::failure::{Failure, Result};
use crate::write::{Dir, Status};

/// Brings back the tables that a rebuild replaced, if nothing was written since. After an error, the database is as it
/// was, unless only the sync after the commit failed.
pub(super) fn undo(engine: &Engine, path: &Path) -> Result<RebuildReport> {
    let place = &DatabaseFolder::open(engine, path, "filterblock rebuild --undo DB")?;
    let recovered = recovery::recover(place)?;
    let mut report = RebuildReport::default();
    if recovered.is_end_of_undo() {
        report.data.status = RebuildStatus::Finished;
    } else {
        bring_back_all(place, &mut report).map_err(|failure| recovery::also(failure, &recovered))?;
    }
    report.notes.splice(..0, recovery::note(&recovered, &place.dir));
    Ok(report)
}

fn bring_back_all(place: &DatabaseFolder, report: &mut RebuildReport) -> Result<()> {
    let found = existing(&place.undo)?;
    let record = found.record(&place.dir)?;
    check_nothing_written(place, &found, &record)?;
    let result = bring_back(&place.dir, &found, &record);
    if let Err(failure) = result {
        return Err(match recovery::recover(place) {
            Ok(recovered) if recovered.is_end_of_undo() => {
                failure.and_state("the old tables are in place all the same")
            }
            Ok(_) => failure.and_state("nothing was changed"),
            Err(other) => match place.dir.check_known() {
                Ok(()) => failure
                    .and_state(&format!("nothing was changed; {other}, and the next run clears it away")),
                // The failure already says that the state is not known.
                Err(_) => failure,
            },
        });
    }
    report.data.manifest = Some(record.original.name.clone());
    if let Err(failure) = recovery::recover(place) {
        report.notes.push(failure.and("the next run clears it away").to_string());
    }
    Ok(())
}

/// Removes the folder with the tables that a rebuild replaced.
pub(super) fn discard(engine: &Engine, path: &Path) -> Result<RebuildReport> {
    let place = &DatabaseFolder::open(engine, path, "filterblock rebuild --discard DB")?;
    let recovered = recovery::recover(place)?;
    let notes = recovery::note(&recovered, &place.dir).into_iter().collect();
    let mut report = RebuildReport { notes, ..RebuildReport::default() };
    if recovered.is_end_of_undo() {
        // The undo has removed the folder.
        report.data.status = RebuildStatus::Finished;
    } else {
        let removed = existing(&place.undo).and_then(|_| place.undo.remove());
        removed.map_err(|failure| recovery::also(failure, &recovered))?;
    }
    Ok(report)
}

fn existing(undo: &UndoFolder) -> Result<FoundUndo> {
    if let Some(found) = undo.find()?
        && found.contents != Contents::Nothing
    {
        return Ok(found);
    }
    let why = "no such folder: the tables from before the rebuild are not kept";
    Err(Failure::refused(&undo.path(), why).of_kind(ErrorKind::Missing))
}

/// Refuses if the database is not as the rebuild left it, or a file of the undo folder is missing or has changed.
fn check_nothing_written(place: &DatabaseFolder, undo: &FoundUndo, record: &UndoRecord) -> Result<()> {
    let dir = &place.dir;
    let written = |what: &str| {
        let why = format!("{what} since the rebuild: --undo would lose writes");
        let discard =
            format!("to delete the old tables: filterblock rebuild --discard {}", path_word(dir.path()));
        Failure::refused(dir.path(), why).remedy(discard)
    };
    if current(place.input())? != record.rebuilt {
        return Err(written("was opened"));
    }
    for log in &record.logs {
        if !log.is_in(dir).map_err(|error| Failure::system("reading it", &dir.path_of(&log.name), &error))? {
            return Err(written(&format!("{} was changed", log.name)));
        }
    }
    for name in dir.names()? {
        let Some((FileKind::Log, number)) = name.to_str().and_then(FileKind::parse) else { continue };
        let is_known = record.logs.iter().any(|log| *log.name == *name);
        if !is_known && number >= record.first_live_log {
            return Err(written(&format!("{} was written", name.to_string_lossy())));
        }
    }
    for table in &record.original_tables {
        check_table(&place.undo, undo, table)?;
    }
    let names = record.original_tables.iter().map(|table| &table.name).chain([&record.original.name]);
    for name in names {
        // If the rebuild could not clear away everything, the same file may still be there.
        if is_there(dir, name)? && !is_same(&undo.folder, dir, name)? {
            return Err(written(&format!("another {name} was written")));
        }
    }
    let name = &record.original.name;
    let path = undo.folder.path_of(name);
    match record.original.is_in(&undo.folder) {
        Ok(true) => {}
        Ok(false) => {
            let why = "is missing, or not the MANIFEST from before the rebuild";
            return Err(Failure::refused(&path, why).of_kind(ErrorKind::Damaged));
        }
        Err(error) => return Err(Failure::system("reading it", &path, &error)),
    }
    look(&undo.folder, name)?.map_or(Ok(()), |found| place.undo.check_file(&found, name, None))
}

/// Refuses if a table from before the rebuild is missing or has changed.
fn check_table(undo: &UndoFolder, found: &FoundUndo, table: &TableFile) -> Result<()> {
    let path = found.folder.path_of(&table.name);
    let why = match look(&found.folder, &table.name)? {
        Some(found) if found.is_file() && found.len == table.length => {
            return undo.check_file(&found, &table.name, table.rights);
        }
        Some(found) => format!("has {} bytes, and had {} before the rebuild", found.len, table.length),
        None => "is missing".to_owned(),
    };
    Err(Failure::refused(&path, why).of_kind(ErrorKind::Damaged))
}

fn bring_back(dir: &Dir, undo: &FoundUndo, record: &UndoRecord) -> Result<()> {
    let mut journal = Journal::new(Action::Undo, record.rebuilt.clone());
    journal.new = Some(record.original.clone());
    let tables = record.original_tables.iter().map(|table| table.name.clone());
    journal.new_files = tables.chain([record.original.name.clone()]).collect();
    journal.old_files = record.rebuilt_tables.iter().cloned().chain([record.rebuilt.name.clone()]).collect();
    journal.write(dir)?;
    for name in &journal.new_files {
        match undo.folder.link(name, dir, name) {
            Ok(()) => {}
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists && is_same(&undo.folder, dir, name)? => {}
            Err(error) => return Err(Failure::system("making a hard link", &dir.path_of(name), &error)),
        }
    }
    dir.sync()?;
    let number = FileKind::parse(&record.original.name).map_or(0, |(_, number)| number);
    set_current(dir, number)
}

fn look(dir: &Dir, name: &str) -> Result<Option<Status>> {
    dir.look(name).map_err(|error| Failure::system("looking at it", &dir.path_of(name), &error))
}

fn is_there(dir: &Dir, name: &str) -> Result<bool> {
    Ok(look(dir, name)?.is_some())
}

/// Returns true if `name` is the same file, unchanged, in both folders.
fn is_same(a: &Dir, b: &Dir, name: &str) -> Result<bool> {
    Ok(matches!((look(a, name)?, look(b, name)?), (Some(a), Some(b)) if a.is_unchanged_since(&b)))
}
