//! What is left to do after the commit, and after a run that was cut off.

use std::collections::BTreeSet;
use std::path::Path;

use filterblock::database::{FileKind, Manifest};
use filterblock::escape_path;

use super::failure::{Failure, Result};
use super::file_record::current;
use super::files;
use super::marker::{Action, Marker};
use super::undo_folder::UndoFolder;

/// What a run that was cut off had left.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Recovered {
    /// Nothing: there was no marker.
    Nothing,
    /// It had not committed. Its files are removed, and the database is as it was before.
    Abandoned,
    /// It had committed. The files that it replaced are removed.
    Finished(Box<Marker>),
    /// The database was opened by another program since. Only temporary files and the marker go.
    Forgotten,
}

impl Recovered {
    /// Tells whether all of a run with these options is done now.
    pub(super) fn is_end_of(&self, options: &str) -> bool {
        let Self::Finished(marker) = self else { return false };
        marker.action == Action::Rebuild && marker.is_last && marker.options == options
    }

    /// Tells whether `--undo` was finished by this.
    pub(super) fn is_end_of_undo(&self) -> bool {
        matches!(self, Self::Finished(marker) if marker.action == Action::Undo)
    }
}

/// Clears away what the last run left in `dir`, whose lock is held: backwards if it had not
/// committed, forwards if it had.
///
/// CURRENT and the MANIFEST tell which. If neither is as the marker has it, another program has
/// opened the database, has removed what it does not know, and may have used the same numbers.
pub(super) fn recover(dir: &Path) -> Result<Recovered> {
    let Some(marker) = Marker::read(dir)? else {
        // One that was being written is of no use.
        Marker::remove_temporary(dir)?;
        return Ok(Recovered::Nothing);
    };
    let found = current(dir)?;
    let undo = UndoFolder::of(dir)?;
    let recovered = if Some(&found) == marker.new.as_ref() {
        // After a rebuild these have the lowest numbers, and may go in any order.
        remove_all(dir, &marker.old_files, marker.action == Action::Undo)?;
        if marker.action == Action::Undo {
            undo.remove()?;
        }
        Recovered::Finished(Box::new(marker))
    } else if found == marker.old {
        remove_temporaries(dir, &marker.new_files)?;
        remove_all(dir, &marker.new_files, true)?;
        if marker.action == Action::Rebuild && marker.keeps_undo {
            undo.remove()?;
        }
        Recovered::Abandoned
    } else {
        // LevelDB keeps such a file if it has made a table of the same number since.
        remove_temporaries(dir, &marker.new_files)?;
        Recovered::Forgotten
    };
    Marker::remove(dir)?;
    Ok(recovered)
}

/// Removes the files of these names that the database does not use.
///
/// `one_by_one`: each is durably gone before the next one goes. With the lowest number first, what is
/// left are then the newest tables, so that `RepairDB`, which takes higher numbers for newer, finds
/// nothing outdated.
fn remove_all(dir: &Path, names: &[String], one_by_one: bool) -> Result<()> {
    let manifest = Manifest::read(dir).map_err(|error| Failure::of(error, dir))?;
    let live: BTreeSet<u64> = manifest.tables().iter().map(|table| table.number).collect();
    let current = super::file_record::current_name(dir)?;
    for name in names {
        let is_live = match FileKind::parse(name) {
            Some((FileKind::Table, number)) => live.contains(&number),
            Some((FileKind::Manifest, _)) => *name == current,
            _ => true,
        };
        let path = dir.join(name);
        if !is_live && std::fs::symlink_metadata(&path).is_ok() {
            files::remove(&path)?;
            if one_by_one {
                files::sync_folder(dir)?;
            }
        }
    }
    files::sync_folder(dir)
}

/// Removes the temporary files from which those of these names were to be made.
fn remove_temporaries(dir: &Path, names: &[String]) -> Result<()> {
    for (_, number) in names.iter().filter_map(|name| FileKind::parse(name)) {
        files::remove(&dir.join(FileKind::Temporary.file_name(number)))?;
    }
    Ok(())
}

/// Says what was done about a run that was cut off.
pub(super) fn note(recovered: &Recovered, dir: &Path) -> Option<String> {
    words(recovered).map(|what| format!("{}: {what}", escape_path(dir)))
}

/// Adds what was done about a run that was cut off to a failure of this one.
pub(super) fn also(failure: Failure, recovered: &Recovered) -> Failure {
    match words(recovered) {
        Some(what) => failure.and(what),
        None => failure,
    }
}

const fn words(recovered: &Recovered) -> Option<&'static str> {
    Some(match recovered {
        Recovered::Nothing => return None,
        Recovered::Abandoned => {
            "an earlier run was cut off before its commit; what it had written is removed"
        }
        Recovered::Finished(_) => "an earlier run was cut off behind its commit; it is finished now",
        Recovered::Forgotten => {
            "an earlier run was cut off, and the database was opened since; its marker is removed"
        }
    })
}
