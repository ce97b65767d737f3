//! Records as programs would have made them that take less care, to see that the checks notice.

use std::path::Path;

use filterblock_crash_states::Operation;

use super::check::Check;

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
    /// CURRENT names the new MANIFEST before that is written.
    CurrentBeforeManifest,
    /// The old tables are removed while the folder's new CURRENT may still be lost.
    NoSyncOfCommit,
    /// The marker is written when the new tables have their names already.
    MarkerAfterTables,
    /// The marker is never written.
    NoMarker,
    /// The marker is removed while the old tables may still come back.
    NoSyncBeforeMarkerGoes,
}

impl Alteration {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::NoSyncBetweenTables,
        Self::OldestTableFirst,
        Self::NoSyncOfTables,
        Self::NoSyncOfManifest,
        Self::CurrentBeforeManifest,
        Self::NoSyncOfCommit,
        Self::MarkerAfterTables,
        Self::NoMarker,
        Self::NoSyncBeforeMarkerGoes,
    ];

    /// The check that fails then.
    pub const fn noticed_by(self) -> Check {
        match self {
            Self::NoSyncBetweenTables | Self::OldestTableFirst => Check::Repair,
            Self::NoSyncOfTables
            | Self::NoSyncOfManifest
            | Self::CurrentBeforeManifest
            | Self::NoSyncOfCommit => Check::LevelDb,
            Self::MarkerAfterTables | Self::NoMarker | Self::NoSyncBeforeMarkerGoes => Check::Again,
        }
    }

    /// The operations of a program that works like this. `None` if they are the same, as in a database of
    /// one table.
    pub fn apply(self, operations: &[Operation]) -> Option<Vec<Operation>> {
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
            Self::NoSyncOfCommit => remove_folder_sync_after(&mut altered, is_commit),
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
        }
        (altered != operations).then_some(altered)
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn starts_with(path: &Path, text: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(text))
}

fn is_new_table(operation: &Operation) -> bool {
    matches!(operation, Operation::Rename { to, .. } if has_extension(to, "ldb") || has_extension(to, "sst"))
}

fn is_commit(operation: &Operation) -> bool {
    matches!(operation, Operation::Rename { to, .. } if to.ends_with("CURRENT"))
}

fn is_marker(operation: &Operation) -> bool {
    matches!(operation, Operation::Rename { to, .. } if to.ends_with("filterblock-rebuild"))
}

fn is_end_of_marker(operation: &Operation) -> bool {
    matches!(operation, Operation::Unlink { path } if path.ends_with("filterblock-rebuild"))
}

fn remove_folder_sync_after(operations: &mut Vec<Operation>, is_it: impl Fn(&Operation) -> bool) {
    let mut after = false;
    operations.retain(|operation| {
        let remove = after && matches!(operation, Operation::SyncFolder { .. });
        after = is_it(operation);
        !remove
    });
}

fn reverse(operations: &mut [Operation], is_it: impl Fn(&Operation) -> bool) {
    let places: Vec<_> = (0..operations.len()).filter(|at| is_it(&operations[*at])).collect();
    for (a, b) in places.iter().zip(places.iter().rev()).take(places.len() / 2) {
        operations.swap(*a, *b);
    }
}

/// Removes the syncs of files that were created under such a name, but for CURRENT.
fn remove_file_syncs(operations: &mut Vec<Operation>, is_it: impl Fn(&Path) -> bool) {
    let mut inodes = Vec::new();
    for operation in &*operations {
        let Operation::Create { inode, path, .. } = operation else { continue };
        let becomes_current = operations.iter().any(
            |operation| matches!(operation, Operation::Rename { from, .. } if from == path && is_commit(operation)),
        );
        if is_it(path) && !becomes_current {
            inodes.push(*inode);
        }
    }
    operations.retain(|operation| !matches!(operation, Operation::Sync { inode } if inodes.contains(inode)));
}

/// Takes out the first rename of this kind, with all from the creation of its file to the next sync of
/// a folder. Nothing if there is none.
fn take_whole_file(
    operations: &mut Vec<Operation>,
    is_rename: impl Fn(&Operation) -> bool,
) -> Vec<Operation> {
    let Some(rename) = operations.iter().position(is_rename) else { return Vec::new() };
    let Operation::Rename { from, .. } = &operations[rename] else { return Vec::new() };
    let from = from.clone();
    let create = operations[..rename]
        .iter()
        .rposition(|operation| matches!(operation, Operation::Create { path, .. } if *path == from));
    let sync = operations[rename..].iter().position(|op| matches!(op, Operation::SyncFolder { .. }));
    operations.drain(create.unwrap_or(rename)..=rename + sync.unwrap_or(0)).collect()
}

fn insert_before(operations: &mut Vec<Operation>, new: Vec<Operation>, is_it: impl Fn(&Operation) -> bool) {
    let at = operations.iter().position(is_it).unwrap_or(operations.len());
    operations.splice(at..at, new);
}
