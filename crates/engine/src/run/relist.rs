//! Databases in use, whose tables may vanish while a command works through the folder.

use std::collections::BTreeSet;
use std::{io, path::PathBuf, sync::Arc};

use crate::walk::{Folder, reopen};

/// How many times a folder is listed again because files vanished.
const MAX_ROUNDS: u32 = 16;

/// Continues with a database whose files vanished after `folder` was listed: the entries of a compacted table, or of a
/// log that became a table, are now in new tables. Returns the files given up on.
/// `files` returns a folder's files to read. `look` reads a new one, and returns false if that has vanished as well.
pub(crate) fn retry_vanished(
    folder: &Arc<Folder>,
    files: impl Fn(&Arc<Folder>) -> Vec<PathBuf>,
    vanished: Vec<PathBuf>,
    mut look: impl FnMut(PathBuf, &Arc<Folder>) -> io::Result<bool>,
) -> io::Result<Vec<PathBuf>> {
    let mut seen = BTreeSet::from_iter(files(folder));
    seen.extend(folder.missing().map(|(path, ..)| path));
    let mut left = vanished;
    for _ in 0..MAX_ROUNDS {
        if left.is_empty() {
            break;
        }
        let Ok(now) = reopen(folder) else { break };
        // The tables not seen before that are live now, but are not on disk.
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::walk::Files;
    use crate::walk::folder::{PathKind, resolve};

    /// Continues with a folder of tables 1 and 2, of which 2 was replaced. `look` gets the number of looks,
    /// including this one, and the table. Returns the tables looked at, and the number of files given up on.
    fn after(mut look: impl FnMut(usize, &Path) -> bool) -> (Vec<String>, usize) {
        let dir = tempfile::tempdir().unwrap();
        ["000001.ldb", "000002.ldb"].iter().for_each(|name| fs::write(dir.path().join(name), "x").unwrap());
        let Ok(PathKind::Folder(folder)) = resolve(dir.path(), Files::default().storage()) else {
            panic!("a folder")
        };
        let vanished = dir.path().join("000002.ldb");
        fs::rename(&vanished, dir.path().join("000003.ldb")).unwrap();
        let files = |folder: &Arc<Folder>| folder.tables().map(Path::to_owned).collect();
        let mut looked_at = Vec::new();
        let lost = retry_vanished(&folder, files, vec![vanished], |path, _| {
            looked_at.push(path.file_name().unwrap().to_str().unwrap().to_owned());
            Ok(look(looked_at.len(), &path))
        });
        (looked_at, lost.unwrap().len())
    }

    #[test]
    fn tables_in_the_place_of_those_that_vanished_are_looked_at_once() {
        assert_eq!(after(|_, _| true), (vec!["000003.ldb".to_owned()], 0));
        // Table 3 vanishes, too.
        let again = after(|looks, path| {
            if looks == 1 {
                fs::rename(path, path.with_file_name("000004.ldb")).unwrap();
            }
            looks > 1
        });
        assert_eq!(again, (vec!["000003.ldb".to_owned(), "000004.ldb".to_owned()], 0));
    }

    #[test]
    fn a_folder_that_changes_all_the_time_is_given_up_on() {
        let (looked_at, lost) = after(|looks, path| {
            fs::rename(path, path.with_file_name(format!("{:06}.ldb", looks + 3))).unwrap();
            false
        });
        assert_eq!((looked_at.len(), lost), (MAX_ROUNDS as usize, 1));
    }
}
