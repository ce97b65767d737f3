//! Databases in use, whose tables may vanish while a command works through the folder.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::report::Fault;
use crate::walk::{Folder, reopen};

/// How many times in a row a folder is listed again without progress.
pub(crate) const MAX_ROUNDS: u32 = 16;

/// A folder that is listed again because files vanished: the entries of a compacted table, or of a log that became a table,
/// are in new tables now.
pub(crate) struct Relist {
    folder: Arc<Folder>,
    /// Without progress so far.
    rounds: u32,
    max_rounds: u32,
    /// The tables that were missing when the folder was listed, once they are needed.
    missing: OnceLock<BTreeSet<PathBuf>>,
}

impl Relist {
    pub(crate) fn new(folder: Arc<Folder>, max_rounds: u32) -> Self {
        Self { folder, rounds: 0, max_rounds, missing: OnceLock::new() }
    }

    /// The folder as it was listed last.
    pub(crate) const fn folder(&self) -> &Arc<Folder> {
        &self.folder
    }

    /// True if another listing may tell where the entries of a file are that is not there. A table that was missing before
    /// has not vanished.
    pub(crate) fn is_worth_it(&self, path: &Path) -> bool {
        let missing = || self.folder.missing().map(|(path, ..)| path).collect();
        self.rounds < self.max_rounds && !self.missing.get_or_init(missing).contains(path)
    }

    /// Lists the folder again. `None`: too often, without progress in between.
    pub(crate) fn again(&mut self, has_progressed: bool) -> Result<Option<Arc<Folder>>, Fault> {
        self.rounds = if has_progressed { 0 } else { self.rounds + 1 };
        if self.rounds > self.max_rounds {
            return Ok(None);
        }
        self.folder = reopen(&self.folder)?;
        self.missing = OnceLock::new();
        Ok(Some(Arc::clone(&self.folder)))
    }
}

/// Continues with a database whose files vanished after `folder` was listed. Returns the files given up on.
/// `files` returns a folder's files to read. `look` reads a new one, and returns false if that has vanished as well.
pub(crate) fn retry_vanished(
    folder: &Arc<Folder>,
    files: impl Fn(&Arc<Folder>) -> Vec<PathBuf>,
    vanished: Vec<PathBuf>,
    mut look: impl FnMut(PathBuf, &Arc<Folder>) -> io::Result<bool>,
) -> io::Result<Vec<PathBuf>> {
    let mut seen = BTreeSet::from_iter(files(folder));
    seen.extend(folder.missing().map(|(path, ..)| path));
    let (mut relist, mut left) = (Relist::new(Arc::clone(folder), MAX_ROUNDS), vanished);
    while !left.is_empty()
        && let Ok(Some(now)) = relist.again(false)
    {
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
    fn a_table_that_was_missing_has_not_vanished_and_progress_starts_the_rounds_anew() {
        let (source, dir) = ("../../testdata/databases/levels", tempfile::tempdir().unwrap());
        for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(source)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
        }
        let [missing, vanished] = ["000005.ldb", "000007.ldb"].map(|name| dir.path().join(name));
        fs::remove_file(&missing).unwrap();
        let Ok(PathKind::Folder(folder)) = resolve(dir.path(), Files::default().storage()) else {
            panic!("a folder")
        };
        let mut relist = Relist::new(folder, 2);
        assert!(!relist.is_worth_it(&missing) && relist.is_worth_it(&vanished));
        fs::remove_file(&vanished).unwrap();
        assert!(relist.again(true).unwrap().is_some());
        assert!(!relist.is_worth_it(&vanished), "it is missing in the listing of now");
        // Any number of rounds with progress, and two without.
        assert!((0..5).all(|_| relist.again(true).unwrap().is_some()));
        assert!((0..2).all(|_| relist.again(false).unwrap().is_some()));
        assert!(!relist.is_worth_it(dir.path()) && relist.again(false).unwrap().is_none());
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
