//! The steps after the commit, and those after a run that was cut off.

use std::collections::BTreeSet;

use filterblock::{database::FileKind, escape_path};

use super::journal::{Action, Journal};
use super::source::{SourceTable, live_tables};
use super::{file_digest::current, place::DatabaseFolder};
use crate::write::{Dir, Failure, Input, Result};

#[derive(PartialEq, Eq, Debug)]
pub(super) enum Recovered {
    /// There was no complete journal, so no run had been cut off between its journal and its end.
    Nothing,
    /// The run had not made the journal's commit: its new files are removed, and the database is as before that commit.
    Abandoned,
    /// The run had committed. The files that it replaced are removed.
    Finished(Box<Journal>),
    /// Not committed, and another program has opened the database since: temporary files and undo folder are removed.
    Overtaken,
    /// Another program has opened the database after a possible commit or an undo: temporary files and the journal go.
    Forgotten,
}

impl Recovered {
    /// Returns true if nothing is left to do for a run with these options.
    pub(super) fn is_end_of(&self, options: &str) -> bool {
        let Self::Finished(journal) = self else { return false };
        journal.action == Action::Rebuild && journal.options == options
    }

    pub(super) fn is_end_of_undo(&self) -> bool {
        matches!(self, Self::Finished(journal) if journal.action == Action::Undo)
    }
}

/// Clears away what the last run left: its new files if it had not committed, else the files that it replaced.
///
/// CURRENT and its MANIFEST decide which of the two is the case. Their present state is made durable first: the run
/// may have been killed between the commit and the sync of the folder, and a loss of power could then revert the
/// commit after the old tables are gone. If the MANIFEST is neither of those in the journal, another program has
/// opened the database. That program has removed files that it does not know, and may have used the same numbers.
pub(super) fn recover(place: &DatabaseFolder) -> Result<Recovered> {
    let DatabaseFolder { dir, undo, .. } = place;
    dir.check_known()?;
    let Some(journal) = Journal::read(dir)? else {
        // What a journal announces follows once it is complete, so after an unfinished one nothing is taken back.
        Journal::remove_temporary(dir)?;
        undo.remove_unfinished()?;
        return Ok(Recovered::Nothing);
    };
    dir.sync()?;
    if journal.keeps_undo || journal.action == Action::Undo {
        undo.sync()?;
    }
    let live = check_complete(place.input())?;
    undo.remove_unfinished()?;
    let found = current(place.input())?;
    let recovered = if Some(&found) == journal.new.as_ref() {
        // After a rebuild, the old files have lower numbers than the new ones, so they may be removed in any order.
        remove_all(dir, &journal.old_files, (&live, &found.name), journal.action == Action::Undo)?;
        if journal.action == Action::Undo {
            undo.remove()?;
        }
        Recovered::Finished(Box::new(journal))
    } else if found == journal.old {
        remove_temporaries(dir, &journal.new_files)?;
        remove_all(dir, &journal.new_files, (&live, &found.name), true)?;
        if journal.action == Action::Rebuild && journal.keeps_undo {
            undo.remove()?;
        }
        Recovered::Abandoned
    } else {
        // LevelDB keeps a temporary file if it has made a table of the same number since, so these are removed here.
        remove_temporaries(dir, &journal.new_files)?;
        // The commit removes all old tables from the database together: if one is live, the run had not committed.
        let is_old = live.iter().any(|table| journal.old_files.contains(&table.name));
        if is_old && journal.action == Action::Rebuild {
            if journal.keeps_undo {
                undo.remove()?;
            }
            Recovered::Overtaken
        } else {
            Recovered::Forgotten
        }
    };
    Journal::remove(dir)?;
    Ok(recovered)
}

/// Makes sure that all live tables are there, before files are removed that might be needed in place of one.
fn check_complete(input: Input<'_>) -> Result<Vec<SourceTable>> {
    let tables = input.database().and_then(|database| live_tables(&database));
    tables.map_err(|failure| {
        failure.and(
            "a run was cut off before, and nothing of what it left is removed while this is so: it may be all that is \
             left of the table. Copy the folder, and see docs/rebuild.md",
        )
    })
}

/// Removes those of `names` that the database does not use. `live`: its live tables, and its MANIFEST's name.
/// `one_by_one`: syncs each removal before the next. The lowest number goes first, so that the newest tables remain,
/// and `RepairDB`, which considers tables with higher numbers newer, finds nothing outdated.
fn remove_all(dir: &Dir, names: &[String], live: (&[SourceTable], &str), one_by_one: bool) -> Result<()> {
    let (tables, manifest) = live;
    let tables: BTreeSet<u64> = tables.iter().map(|table| table.record.number).collect();
    for name in names {
        let is_live = match FileKind::parse(name) {
            Some((FileKind::Table, number)) => tables.contains(&number),
            Some((FileKind::Manifest, _)) => *name == manifest,
            _ => true,
        };
        let looked = dir.look(name);
        let is_there =
            looked.map_err(|error| Failure::system("looking at it", &dir.path_of(name), &error))?;
        if !is_live && is_there.is_some() {
            dir.remove(name)?;
            if one_by_one {
                dir.sync()?;
            }
        }
    }
    dir.sync()
}

/// Removes the temporary files from which the files of these names were to be made.
fn remove_temporaries(dir: &Dir, names: &[String]) -> Result<()> {
    for (_, number) in names.iter().filter_map(|name| FileKind::parse(name)) {
        dir.remove(FileKind::Temporary.file_name(number))?;
    }
    Ok(())
}

/// A note on the handling of a run that was cut off; `None`: no run was cut off.
pub(super) fn note(recovered: &Recovered, dir: &Dir) -> Option<String> {
    words(recovered).map(|what| format!("{}: {what}", escape_path(dir.path())))
}

/// Adds to a failure of this run what was done about a run that was cut off.
pub(super) fn also(failure: Failure, recovered: &Recovered) -> Failure {
    match words(recovered) {
        Some(what) => failure.of_run().and(what),
        None => failure,
    }
}

const fn words(recovered: &Recovered) -> Option<&'static str> {
    Some(match recovered {
        Recovered::Nothing => return None,
        Recovered::Abandoned => {
            "an earlier run was cut off before its commit; what it had written is removed"
        }
        Recovered::Finished(_) => "an earlier run was cut off after its commit; it is finished now",
        Recovered::Overtaken => {
            "an earlier run was cut off before its commit, and the database was opened since; what was left of that \
             run is removed"
        }
        Recovered::Forgotten => {
            "an earlier run was cut off, and the database was opened since; its journal is removed"
        }
    })
}
