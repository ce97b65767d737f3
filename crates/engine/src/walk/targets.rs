//! Finds the tables and folders that the given paths lead to, one after another.

use std::path::{Path, PathBuf};
use std::{iter::Peekable, sync::Arc};

use super::folder::{self, Folder, PathKind};
use super::paths::{InputPath, into_local};
use super::{folder_cache::FolderCache, storage::Storage};
use crate::report::Fault;

/// What a path leads to, or why it leads nowhere. `input` is the path as the user gave it.
pub(crate) enum Target {
    /// A list of paths, which is `input`, could not be read to its end.
    ListFailed { input: Arc<Path>, error: Fault },
    /// The path could not be looked at, or there is nothing to look at.
    Failed { input: Arc<Path>, path: PathBuf, error: Fault },
    /// `folder`: the database that the file is in. `None`: the file is in none, or its folder cannot be listed.
    File { input: Arc<Path>, path: PathBuf, folder: Option<Arc<Folder>> },
    /// A database, or a folder with tables.
    Folder { input: Arc<Path>, path: PathBuf, folder: Arc<Folder> },
}

/// Goes from path to path, and reads paths only as they are needed.
pub(crate) struct Targets {
    given: Peekable<Box<dyn Iterator<Item = InputPath> + Send>>,
    /// A path that was read, but not looked at yet.
    held: Option<InputPath>,
    /// A file that comes after its folder, which cannot be listed.
    file: Option<Target>,
    empty: EmptyFolders,
    folders: FolderCache,
    storage: Arc<dyn Storage>,
}

impl Targets {
    /// Begins before the first path of `given`.
    pub(crate) fn new(
        recursive: bool,
        given: Box<dyn Iterator<Item = InputPath> + Send>,
        storage: Arc<dyn Storage>,
    ) -> Self {
        Self {
            given: given.peekable(),
            held: None,
            file: None,
            empty: EmptyFolders::new(recursive),
            folders: FolderCache::default(),
            storage,
        }
    }

    /// Returns true if no path is left to look at.
    pub(crate) fn are_all_known(&mut self) -> bool {
        self.held.is_none() && self.file.is_none() && self.given.peek().is_none()
    }
}

impl Iterator for Targets {
    type Item = Target;

    fn next(&mut self) -> Option<Target> {
        if let Some(file) = self.file.take() {
            return Some(file);
        }
        loop {
            let given = self.held.take().or_else(|| self.given.next());
            let next = given.as_ref().map(|given| &given.input);
            if let Some(input) = self.empty.take(next) {
                self.held = given;
                let path = input.to_path_buf();
                let error = folder::nothing_at(&path);
                return Some(Target::Failed { input, path, error });
            }
            let InputPath { input, path } = given?;
            let path = match path {
                Ok(path) => path,
                Err(error) => return Some(Target::ListFailed { input, error }),
            };
            let found = match folder::resolve(&path, &self.storage) {
                Ok(PathKind::Folder(folder)) if folder.is_nothing() => {
                    let is_input = path == into_local(input.to_path_buf());
                    if self.empty.skips(&input, is_input) {
                        continue;
                    }
                    let error = folder::nothing_at(&path);
                    return Some(Target::Failed { input, path, error });
                }
                Ok(PathKind::Folder(folder)) => Target::Folder { input, path, folder },
                Ok(PathKind::File) => {
                    let (folder, failed) = match self.folders.around(&path, &self.storage) {
                        Ok(folder) => (folder, None),
                        Err(failed) => (None, Some(failed)),
                    };
                    let file = Target::File { input: Arc::clone(&input), path, folder };
                    match failed {
                        None => file,
                        Some(error) => {
                            self.file = Some(file);
                            let path = error.path.as_deref().map(Path::to_owned).unwrap_or_default();
                            Target::Failed { input, path, error }
                        }
                    }
                }
                Err(error) => Target::Failed { input, path, error },
            };
            self.empty.found_something();
            return Some(found);
        }
    }
}

/// Decides which empty folders are reported: each or, if `recursive`, only an input with nothing in any folder.
#[derive(Debug)]
pub(crate) struct EmptyFolders {
    recursive: bool,
    /// The input in which nothing was found yet.
    input: Option<Arc<Path>>,
}

impl EmptyFolders {
    pub(crate) const fn new(recursive: bool) -> Self {
        Self { recursive, input: None }
    }

    /// Notes a folder of `input` with nothing in it. Returns true if the folder is not reported now.
    /// `is_input`: the folder is the input itself, whose subfolders follow.
    pub(crate) fn skips(&mut self, input: &Arc<Path>, is_input: bool) -> bool {
        if self.recursive && is_input {
            self.input = Some(Arc::clone(input));
        }
        self.recursive
    }

    /// Notes that there is something to look at, or to report, in this input.
    pub(crate) fn found_something(&mut self) {
        self.input = None;
    }

    /// Takes the input if none of its folders has anything. `next`: the input of the next path; `None`: none is left.
    pub(crate) fn take(&mut self, next: Option<&Arc<Path>>) -> Option<Arc<Path>> {
        self.input.take_if(|input| next.is_none_or(|next| !Arc::ptr_eq(input, next)))
    }
}
