//! Alters records as if a program had taken less care, to see that the checks notice.

use filterblock_crash_states::Operation;

use super::case::Places;
use super::check::Check;
use super::left_out::*;
use super::mode::{Mode, TARGET, UNDO_FOLDER};

/// A way to take less care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alteration {
    /// New tables get their names without a sync of the folder between them.
    NoSyncBetweenTables,
    /// The oldest of the new tables gets its name first.
    OldestTableFirst,
    /// The contents of new tables are not synced.
    NoSyncOfTables,
    /// The contents of the new MANIFEST are not synced.
    NoSyncOfManifest,
    /// CURRENT names the new MANIFEST before the MANIFEST is written.
    CurrentBeforeManifest,
    /// The old tables are removed while the folder's new CURRENT may still be lost.
    NoSyncOfCommit,
    /// The marker is written when the new tables have their names already.
    MarkerAfterTables,
    /// The marker is never written.
    NoMarker,
    /// The marker is removed while the old tables may still come back.
    NoSyncBeforeMarkerGoes,
    /// The marker's contents are not synced.
    NoSyncOfMarker,
    /// The marker's name is not synced before the work that the marker announces is done.
    NoSyncOfMarkersName,
    /// The contents of the new CURRENT are not synced.
    NoSyncOfCurrent,
    /// The contents of the record in the undo folder are not synced.
    NoSyncOfUndoRecord,
    /// The names in the undo folder are not synced.
    NoSyncOfUndoFolder,
    /// The name of the undo folder is not synced.
    NoSyncOfUndoFoldersName,
    /// The links that `--undo` makes are not synced.
    NoSyncOfLinks,
    /// The contents of the files that `--to` makes are not synced.
    NoSyncOfCopies,
    /// The names in the folder that `--to` makes are not synced.
    NoSyncOfTarget,
    /// The name of the folder that `--to` makes is not synced.
    NoSyncOfTargetsName,
    /// The run after a kill removes files before it has synced the database's folder.
    NoSyncBeforeRecovery,
}

impl Alteration {
    /// All alterations.
    pub const ALL: [Self; 20] = [
        Self::NoSyncBetweenTables,
        Self::OldestTableFirst,
        Self::NoSyncOfTables,
        Self::NoSyncOfManifest,
        Self::CurrentBeforeManifest,
        Self::NoSyncOfCommit,
        Self::MarkerAfterTables,
        Self::NoMarker,
        Self::NoSyncBeforeMarkerGoes,
        Self::NoSyncOfMarker,
        Self::NoSyncOfMarkersName,
        Self::NoSyncOfCurrent,
        Self::NoSyncOfUndoRecord,
        Self::NoSyncOfUndoFolder,
        Self::NoSyncOfUndoFoldersName,
        Self::NoSyncOfLinks,
        Self::NoSyncOfCopies,
        Self::NoSyncOfTarget,
        Self::NoSyncOfTargetsName,
        Self::NoSyncBeforeRecovery,
    ];

    /// Returns the check that fails with this alteration.
    pub const fn noticed_by(self) -> Check {
        match self {
            Self::NoSyncBetweenTables | Self::OldestTableFirst => Check::Repair,
            Self::NoSyncOfTables
            | Self::NoSyncOfManifest
            | Self::CurrentBeforeManifest
            | Self::NoSyncOfCommit
            | Self::NoSyncOfCurrent
            | Self::NoSyncOfLinks
            | Self::NoSyncOfCopies
            | Self::NoSyncOfTarget
            | Self::NoSyncBeforeRecovery => Check::LevelDb,
            Self::MarkerAfterTables
            | Self::NoMarker
            | Self::NoSyncBeforeMarkerGoes
            | Self::NoSyncOfMarker
            | Self::NoSyncOfMarkersName => Check::Again,
            Self::NoSyncOfUndoRecord | Self::NoSyncOfUndoFolder | Self::NoSyncOfUndoFoldersName => {
                Check::Undo
            }
            Self::NoSyncOfTargetsName => Check::Durable,
        }
    }

    /// Returns the mode in which the program runs.
    pub const fn mode(self) -> Mode {
        match self {
            Self::NoSyncOfLinks => Mode::Undo,
            Self::NoSyncOfCopies | Self::NoSyncOfTarget | Self::NoSyncOfTargetsName => Mode::To,
            _ => Mode::InPlace,
        }
    }

    /// Returns true if the run after a kill is altered, not the first one.
    pub const fn is_of_second_run(self) -> bool {
        matches!(self, Self::NoSyncBeforeRecovery)
    }

    /// Returns the operations of a program with this alteration. `None` if they are the same, as in a database of one
    /// table.
    pub fn apply(self, operations: &[Operation], places: &Places) -> Option<Vec<Operation>> {
        let mut altered = operations.to_vec();
        match self {
            Self::NoSyncBetweenTables => remove_folder_sync_after(&mut altered, is_new_table),
            Self::OldestTableFirst => reverse(&mut altered, is_new_table),
            Self::NoSyncOfTables => remove_file_syncs(&mut altered, |path| has_extension(path, "dbtmp")),
            Self::NoSyncOfManifest => remove_file_syncs(&mut altered, |path| starts_with(path, "MANIFEST")),
            Self::CurrentBeforeManifest => {
                let commit = take_whole_file(&mut altered, is_commit);
                insert_before(
                    &mut altered,
                    commit,
                    |operation| matches!(operation, Operation::Create { path, .. } if starts_with(path, "MANIFEST")),
                );
            }
            Self::NoSyncOfCommit => {
                let commit = altered.iter().position(is_commit).unwrap_or(0);
                let removal = altered[commit..].iter().position(is_removal).unwrap_or(0);
                remove_folder_syncs(&mut altered, commit..commit + removal, places.database);
            }
            Self::MarkerAfterTables => {
                let first = take_whole_file(&mut altered, is_marker);
                let second = take_whole_file(&mut altered, is_marker);
                let marker = [first, second].concat();
                insert_before(
                    &mut altered,
                    marker,
                    |operation| matches!(operation, Operation::Create { path, .. } if starts_with(path, "MANIFEST")),
                );
            }
            Self::NoMarker => {
                while !take_whole_file(&mut altered, is_marker).is_empty() {}
                altered.retain(|operation| !is_end_of_marker(operation));
            }
            Self::NoSyncBeforeMarkerGoes => {
                if let Some(at) = altered.iter().position(is_end_of_marker) {
                    let sync =
                        altered[..at].iter().rposition(|op| matches!(op, Operation::SyncFolder { .. }));
                    if let Some(sync) = sync {
                        altered.remove(sync);
                    }
                }
            }
            Self::NoSyncOfMarker => remove_syncs_of_what_becomes(&mut altered, is_marker),
            Self::NoSyncOfMarkersName => remove_folder_sync_after(&mut altered, is_marker),
            Self::NoSyncOfCurrent => remove_syncs_of_what_becomes(&mut altered, is_commit),
            Self::NoSyncOfUndoRecord => {
                remove_file_syncs(&mut altered, |path| path.ends_with("filterblock-undo"))
            }
            Self::NoSyncOfUndoFolder => remove_new_folder_syncs(&mut altered, UNDO_FOLDER),
            Self::NoSyncOfUndoFoldersName => {
                let commit = altered.iter().position(is_commit).unwrap_or(0);
                remove_folder_syncs(&mut altered, 0..commit, places.top);
            }
            Self::NoSyncOfLinks => {
                let is_link = |operation: &Operation| matches!(operation, Operation::Link { .. });
                let first = altered.iter().position(is_link).unwrap_or(0);
                let commit = altered.iter().position(is_commit).unwrap_or(0);
                remove_folder_syncs(&mut altered, first..commit, places.database);
            }
            Self::NoSyncOfCopies => remove_file_syncs(&mut altered, |_| true),
            Self::NoSyncOfTarget => remove_new_folder_syncs(&mut altered, TARGET),
            Self::NoSyncOfTargetsName => {
                let end = altered.len();
                remove_folder_syncs(&mut altered, 0..end, places.top);
            }
            Self::NoSyncBeforeRecovery => {
                let first = altered.iter().position(is_removal).unwrap_or(0);
                remove_folder_syncs(&mut altered, 0..first, places.database);
            }
        }
        (altered != operations).then_some(altered)
    }
}
