//! Ways to leave operations out of a record, or to move them.

use std::ops::Range;
use std::path::Path;

use filterblock_crash_states::Operation;

pub(super) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

pub(super) fn starts_with(path: &Path, text: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(text))
}

pub(super) fn is_new_table(operation: &Operation) -> bool {
    matches!(operation, Operation::Rename { to, .. } if has_extension(to, "ldb") || has_extension(to, "sst"))
}

pub(super) fn is_commit(operation: &Operation) -> bool {
    matches!(operation, Operation::Rename { to, .. } if to.ends_with("CURRENT"))
}

pub(super) fn is_marker(operation: &Operation) -> bool {
    matches!(operation, Operation::Rename { to, .. } if to.ends_with("filterblock-rebuild"))
}

pub(super) fn is_end_of_marker(operation: &Operation) -> bool {
    matches!(operation, Operation::Unlink { path } if path.ends_with("filterblock-rebuild"))
}

pub(super) fn remove_folder_sync_after(operations: &mut Vec<Operation>, is_it: impl Fn(&Operation) -> bool) {
    let mut after = false;
    operations.retain(|operation| {
        let remove = after && matches!(operation, Operation::SyncFolder { .. });
        after = is_it(operation);
        !remove
    });
}

pub(super) fn reverse(operations: &mut [Operation], is_it: impl Fn(&Operation) -> bool) {
    let places: Vec<_> = (0..operations.len()).filter(|at| is_it(&operations[*at])).collect();
    for (a, b) in places.iter().zip(places.iter().rev()).take(places.len() / 2) {
        operations.swap(*a, *b);
    }
}

/// Removes the syncs of files that are created under a name that `is_it` accepts, except for the new CURRENT.
pub(super) fn remove_file_syncs(operations: &mut Vec<Operation>, is_it: impl Fn(&Path) -> bool) {
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

/// Takes out the first rename that `is_rename` accepts, with all operations from the creation of its file to the next
/// sync of a folder. Returns these operations; none if there is no such rename.
pub(super) fn take_whole_file(
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

pub(super) fn insert_before(
    operations: &mut Vec<Operation>,
    new: Vec<Operation>,
    is_it: impl Fn(&Operation) -> bool,
) {
    let at = operations.iter().position(is_it).unwrap_or(operations.len());
    operations.splice(at..at, new);
}

/// Removes the syncs of files that get their name by a rename that `is_rename` accepts.
pub(super) fn remove_syncs_of_what_becomes(
    operations: &mut Vec<Operation>,
    is_rename: impl Fn(&Operation) -> bool,
) {
    let mut inodes = Vec::new();
    for operation in operations.iter().filter(|operation| is_rename(operation)) {
        let Operation::Rename { from, .. } = operation else { continue };
        inodes.extend(operations.iter().filter_map(|operation| match operation {
            Operation::Create { inode, path, .. } if path == from => Some(*inode),
            _ => None,
        }));
    }
    operations.retain(|operation| !matches!(operation, Operation::Sync { inode } if inodes.contains(inode)));
}

/// Removes the syncs of a folder that is made under this name, or renamed to it.
pub(super) fn remove_new_folder_syncs(operations: &mut Vec<Operation>, name: &str) {
    let first_name = operations.iter().find_map(|operation| match operation {
        Operation::Rename { from, to } if to.ends_with(name) => Some(from.clone()),
        _ => None,
    });
    let inodes = operations.iter().filter_map(|operation| match operation {
        Operation::MakeFolder { inode, path, .. }
            if path.ends_with(name) || Some(path) == first_name.as_ref() =>
        {
            Some(*inode)
        }
        _ => None,
    });
    let inodes: Vec<_> = inodes.collect();
    operations
        .retain(|operation| !matches!(operation, Operation::SyncFolder { inode } if inodes.contains(inode)));
}

/// Removes the syncs of a folder among some of the operations.
pub(super) fn remove_folder_syncs(operations: &mut Vec<Operation>, among: Range<usize>, folder: u64) {
    let mut at = 0;
    operations.retain(|operation| {
        let is_among = among.contains(&at);
        at += 1;
        !(is_among && matches!(operation, Operation::SyncFolder { inode } if *inode == folder))
    });
}

/// Returns true if a file is removed, other than the new marker before it has its name.
pub(super) fn is_removal(operation: &Operation) -> bool {
    matches!(operation, Operation::Unlink { path } if !path.ends_with("filterblock-rebuild.tmp"))
}
