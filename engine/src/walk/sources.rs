//! What the paths given stand for.

use std::path::{Path, PathBuf};
use std::{iter::Peekable, sync::Arc};

use super::folder::{self, Folder, PathKind};
use super::paths::{Given, into_local};
use super::{folder_cache::FolderCache, input::PathError, storage::Storage};

/// What a path leads to. `input` is the path as the user gave it.
pub(crate) enum Discovered {
    /// A list of paths, which is `input`, could not be read to its end.
    ListFailed { input: Arc<Path>, error: PathError },
    /// The path could not be looked at, or there is nothing to look at.
    Failed { input: Arc<Path>, path: PathBuf, error: PathError },
    /// A file.
    Table {
        /// The path as the user gave it.
        input: Arc<Path>,
        /// The file.
        path: PathBuf,
        /// The database around it.
        folder: Option<Arc<Folder>>,
        /// The folder around it, and why it cannot be listed. Said once for a folder.
        around: Option<(PathBuf, PathError)>,
    },
    /// A database, or a folder with tables.
    Folder { input: Arc<Path>, path: PathBuf, folder: Arc<Folder> },
}

/// Goes from path to path, and reads no path before it is needed.
pub(crate) struct Sources<I: Iterator> {
    given: Peekable<I>,
    /// A path that was read and is not looked at yet.
    held: Option<Given>,
    barren: Barren,
    folders: FolderCache,
    storage: Option<Arc<dyn Storage>>,
}

impl<I: Iterator<Item = Given>> Sources<I> {
    /// `storage`: where the paths lie, if not in this system.
    pub(crate) fn new(given: I, recursive: bool, storage: Option<Arc<dyn Storage>>) -> Self {
        Self {
            given: given.peekable(),
            held: None,
            barren: Barren::new(recursive),
            folders: FolderCache::default(),
            storage,
        }
    }

    /// Returns true if no path is left that may lead to more.
    pub(crate) fn are_all_known(&mut self) -> bool {
        self.held.is_none() && self.given.peek().is_none()
    }
}

impl<I: Iterator<Item = Given>> Iterator for Sources<I> {
    type Item = Discovered;

    fn next(&mut self) -> Option<Discovered> {
        loop {
            let given = self.held.take().or_else(|| self.given.next());
            let next = given.as_ref().map(|given| &given.input);
            if let Some(input) = self.barren.take(next) {
                self.held = given;
                let (path, error) = (input.to_path_buf(), Folder::nothing_below());
                return Some(Discovered::Failed { input, path, error });
            }
            let Given { input, path } = given?;
            let path = match path {
                Ok(path) => path,
                Err(error) => return Some(Discovered::ListFailed { input, error }),
            };
            let found = match folder::resolve(&path, self.storage.as_ref()) {
                Ok(PathKind::Folder(folder)) if folder.is_nothing() => {
                    let is_input = path == into_local(input.to_path_buf());
                    if self.barren.passes_over(&input, is_input) {
                        continue;
                    }
                    return Some(Discovered::Failed { input, path, error: folder.nothing_here() });
                }
                Ok(PathKind::Folder(folder)) => Discovered::Folder { input, path, folder },
                Ok(PathKind::File) => {
                    let mut around = None;
                    let folder = {
                        let storage = self.storage.as_ref();
                        self.folders
                            .around(&path, storage, |folder, error| around = Some((folder.to_owned(), error)))
                    };
                    Discovered::Table { input, path, folder, around }
                }
                Err(error) => Discovered::Failed { input, path, error },
            };
            self.barren.found_something();
            return Some(found);
        }
    }
}

/// Which folders with nothing in them are told: each one, or, where those below are looked into, an input with nothing
/// in all of it.
#[derive(Debug)]
pub(crate) struct Barren {
    recursive: bool,
    /// The input in which nothing was found yet.
    input: Option<Arc<Path>>,
}

impl Barren {
    /// `recursive`: the folders below are looked into.
    pub(crate) const fn new(recursive: bool) -> Self {
        Self { recursive, input: None }
    }

    /// There is nothing in a folder of `input`. Returns true if that is not told now. `is_input`: it is the input
    /// itself, whose folders follow.
    pub(crate) fn passes_over(&mut self, input: &Arc<Path>, is_input: bool) -> bool {
        if self.recursive && is_input {
            self.input = Some(Arc::clone(input));
        }
        self.recursive
    }

    /// There is something to look at, or to say, in this input.
    pub(crate) fn found_something(&mut self) {
        self.input = None;
    }

    /// The input with nothing in it, once its folders have come. `next`: the input of the next folder.
    pub(crate) fn take(&mut self, next: Option<&Arc<Path>>) -> Option<Arc<Path>> {
        self.input.take_if(|input| next.is_none_or(|next| !Arc::ptr_eq(input, next)))
    }
}
