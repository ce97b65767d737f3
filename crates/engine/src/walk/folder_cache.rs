//! The parent folders of tables that are given by their paths.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{folder::Folder, storage::Storage};
use crate::report::ErrorKind;
use crate::report::Fault;

/// The greatest number of folders remembered, for lists of paths that alternate between folders.
const MAX_FOLDERS: usize = 16;

/// Remembers the parent folders of the files that were given most recently.
#[derive(Default)]
pub(crate) struct FolderCache {
    /// Folders, the most recently used last. `None`: the folder is not a database, or cannot be listed.
    folders: Vec<(PathBuf, Option<Arc<Folder>>)>,
}

impl FolderCache {
    /// The database of the file at `path`. Fails once for a folder that cannot be listed; from then on, it is `None`.
    pub(crate) fn around(
        &mut self,
        path: &Path,
        storage: &Arc<dyn Storage>,
    ) -> Result<Option<Arc<Folder>>, Fault> {
        let path = folder_of(path);
        let known =
            self.folders.iter().position(|(known, _)| known == path).map(|at| self.folders.remove(at));
        let mut failed = None;
        let (path, folder) = known.unwrap_or_else(|| {
            let opened = Folder::open(path, storage).unwrap_or_else(|error| {
                // Not every storage has a folder for each file.
                if error.kind == ErrorKind::Missing {
                    return None;
                }
                let message = format!("listing the folder: {error}");
                failed = Some(Fault { path: Some(path.into()), ..Fault::new(message, error.kind) });
                None
            });
            (path.to_owned(), opened.filter(Folder::is_database).map(Arc::new))
        });
        if self.folders.len() >= MAX_FOLDERS {
            self.folders.remove(0);
        }
        self.folders.push((path, folder.clone()));
        failed.map_or(Ok(folder), Err)
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::walk::LocalStorage;

    fn local() -> Arc<dyn Storage> {
        Arc::new(LocalStorage)
    }

    #[test]
    fn only_databases_are_found_around_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("CURRENT"), "MANIFEST-000001\n").unwrap();
        fs::create_dir(dir.path().join("other")).unwrap();
        let mut cache = FolderCache::default();
        for (path, is_one) in
            [("000005.ldb", true), ("x.ldb", true), ("missing/1.ldb", false), ("other/000005.ldb", false)]
        {
            let found = cache.around(&dir.path().join(path), &local()).unwrap();
            assert_eq!(found.is_some(), is_one, "{path}");
        }
    }

    #[test]
    fn folders_are_remembered_until_others_were_used_since() {
        let dir = tempfile::tempdir().unwrap();
        let path = |at: usize| {
            let folder = dir.path().join(at.to_string());
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("CURRENT"), "").unwrap();
            folder.join("000005.ldb")
        };
        let mut cache = FolderCache::default();
        let mut around = |at| cache.around(&path(at), &local()).unwrap().unwrap();
        let first: Vec<_> = (0..MAX_FOLDERS).map(&mut around).collect();
        assert!(Arc::ptr_eq(&around(0), &first[0]));
        around(MAX_FOLDERS);
        assert!(Arc::ptr_eq(&around(0), &first[0]));
        assert!(!Arc::ptr_eq(&around(1), &first[1]));
    }

    #[test]
    fn a_name_alone_lies_in_the_current_folder() {
        assert_eq!(folder_of(Path::new("000005.ldb")), Path::new("."));
        assert_eq!(folder_of(Path::new("db/000005.ldb")), Path::new("db"));
        assert_eq!(folder_of(Path::new("/000005.ldb")), Path::new("/"));
    }
}
