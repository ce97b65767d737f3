//! Databases in use: tables that vanish while a command goes through the folder.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::io::folder::{Folder, reopen};

/// The most times that a folder is read for tables that vanished.
const MAX_ROUNDS: u32 = 16;

/// Goes on with a database of which files vanished after `folder` was read: the entries of a table
/// that was compacted, or of a log that was written to a table, are in tables that were made for
/// them.
///
/// `files` names the files to look at in a folder. `look` looks at one that was not among them
/// before, and returns false if it has vanished, too. Returns the files given up on.
pub(super) fn go_on(
    folder: &Folder,
    files: impl Fn(&Folder) -> Vec<PathBuf>,
    vanished: Vec<PathBuf>,
    mut look: impl FnMut(PathBuf, &Arc<Folder>) -> io::Result<bool>,
) -> io::Result<Vec<PathBuf>> {
    let mut seen: BTreeSet<PathBuf> = files(folder).into_iter().collect();
    seen.extend(folder.missing().map(|(path, ..)| path));
    let mut left = vanished;
    for _ in 0..MAX_ROUNDS {
        if left.is_empty() {
            break;
        }
        let Ok(now) = reopen(folder) else { break };
        // Those that are still there for the database, and not on the disk.
        left.clear();
        left.extend(now.missing().map(|(path, ..)| path).filter(|path| !seen.contains(path)));
        let is_gone = !left.is_empty();
        for path in files(&now) {
            if seen.insert(path.clone()) && !look(path.clone(), &now)? {
                left.push(path);
            }
        }
        if is_gone {
            break;
        }
    }
    Ok(left)
}
