//! What the paths given stand for.

use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::{self, Folder, Source};
use super::input::PathError;
use super::paths::{Given, into_local};

/// What a path leads to. `input` is the path as the user gave it.
pub enum Found {
    /// A list of paths, which is `input`, could not be read to its end.
    ListFailed {
        input: Arc<Path>,
        error: PathError,
    },
    /// The path could not be looked at, or there is nothing to look at.
    Failed {
        input: Arc<Path>,
        path: PathBuf,
        error: PathError,
    },
    File {
        input: Arc<Path>,
        path: PathBuf,
    },
    /// A database, or a folder with tables.
    Folder {
        input: Arc<Path>,
        path: PathBuf,
        folder: Arc<Folder>,
    },
}

/// Goes from path to path, and reads no path before it is needed.
pub struct Sources<I: Iterator> {
    given: Peekable<I>,
    /// Folders with nothing in them are passed over, unless there is nothing else.
    recursive: bool,
    /// A path that was read and is not looked at yet.
    held: Option<Given>,
    /// The input in which nothing was found yet.
    barren: Option<Arc<Path>>,
}

impl<I: Iterator<Item = Given>> Sources<I> {
    pub fn new(given: I, recursive: bool) -> Self {
        Self { given: given.peekable(), recursive, held: None, barren: None }
    }

    /// Returns true if no path is left that may lead to more.
    pub fn are_all_known(&mut self) -> bool {
        self.held.is_none() && self.given.peek().is_none()
    }

    /// The input in which nothing was found, once its paths have ended.
    fn take_barren(&mut self, next: Option<&Given>) -> Option<Found> {
        let is_over = |barren: &mut Arc<Path>| next.is_none_or(|next| !Arc::ptr_eq(barren, &next.input));
        let input = self.barren.take_if(is_over)?;
        Some(Found::Failed { path: input.to_path_buf(), input, error: Folder::nothing_below() })
    }
}

impl<I: Iterator<Item = Given>> Iterator for Sources<I> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let given = self.held.take().or_else(|| self.given.next());
            if let Some(barren) = self.take_barren(given.as_ref()) {
                self.held = given;
                return Some(barren);
            }
            let Given { input, path } = given?;
            let path = match path {
                Ok(path) => path,
                Err(error) => return Some(Found::ListFailed { input, error }),
            };
            let found = match folder::resolve(&path) {
                Ok(Source::Folder(folder)) if folder.is_nothing() && self.recursive => {
                    if path == into_local(input.to_path_buf()) {
                        self.barren = Some(input);
                    }
                    continue;
                }
                Ok(Source::Folder(folder)) if folder.is_nothing() => {
                    Found::Failed { input, path, error: folder.nothing_here() }
                }
                Ok(Source::Folder(folder)) => Found::Folder { input, path, folder },
                Ok(Source::File) => Found::File { input, path },
                Err(error) => Found::Failed { input, path, error },
            };
            self.barren = None;
            return Some(found);
        }
    }
}
