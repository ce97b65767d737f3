//! The way from the paths given to the tables to check.

use std::collections::VecDeque;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use filterblock::Error;

use crate::audit::lost_keys::LostKeys;
use crate::audit::verify::finding::{Code, Finding};
use crate::audit::verify::verdict::Verdict;
use crate::io::folder::{self, Folder, Source};
use crate::io::folder_cache::FolderCache;
use crate::io::input::PathError;
use crate::io::paths::Given;

/// Something to report on.
pub(super) enum Job {
    Table(TableJob),
    /// The verdict on a path that is not a table, or does not exist.
    Done(PathBuf, Verdict),
    /// A folder in which there is nothing to check.
    Nothing(PathBuf),
}

pub(super) struct TableJob {
    pub(super) path: PathBuf,
    /// The name was found in a folder.
    pub(super) listed: bool,
    /// The database around it.
    pub(super) folder: Option<Arc<Folder>>,
}

/// Turns paths into jobs. Keeps the names of one folder at a time.
pub(super) struct Jobs<I: Iterator> {
    paths: Peekable<I>,
    pending: VecDeque<Job>,
    /// The size of the tables that became known since the last [`take_bytes`](Self::take_bytes).
    bytes: u64,
    folders: FolderCache,
    /// Folders without tables are not reported.
    silent: bool,
}

impl<I: Iterator<Item = Given>> Jobs<I> {
    pub(super) fn new(paths: I, silent: bool) -> Self {
        Self {
            paths: paths.peekable(),
            pending: VecDeque::new(),
            bytes: 0,
            folders: FolderCache::default(),
            silent,
        }
    }

    /// Returns the number of bytes of tables that have become known since the last call.
    pub(super) fn take_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }

    /// Returns true if no path is left that may turn out to be more tables.
    pub(super) fn are_all_known(&mut self) -> bool {
        self.paths.peek().is_none()
    }

    fn table(&mut self, path: PathBuf, listed: bool, folder: Option<Arc<Folder>>) {
        let len = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        self.bytes = self.bytes.saturating_add(len);
        self.pending.push_back(Job::Table(TableJob { path, listed, folder }));
    }

    fn resolve(&mut self, path: PathBuf) {
        match folder::resolve(&path) {
            Ok(Source::File) => {
                let folder = self.folders.around(&path, |folder, error| {
                    self.pending.push_back(unreadable(folder, "a folder that can be listed", error));
                });
                self.table(path, false, folder);
            }
            Ok(Source::Folder(folder)) => self.folder(path, &folder),
            Err(error) => self.pending.push_back(unreadable(&path, "a table or a database folder", error)),
        }
    }

    fn folder(&mut self, path: PathBuf, folder: &Arc<Folder>) {
        let before = self.pending.len();
        for (path, error) in folder.skipped() {
            self.pending.push_back(unreadable(path, "a table", error));
        }
        self.pending.extend(manifest(folder));
        self.pending.extend(missing(folder));
        for path in folder.tables() {
            self.table(path.to_owned(), true, Some(Arc::clone(folder)));
        }
        if self.pending.len() == before && !self.silent {
            self.pending.push_back(Job::Nothing(path));
        }
    }
}

impl<I: Iterator<Item = Given>> Iterator for Jobs<I> {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        loop {
            if let Some(job) = self.pending.pop_front() {
                return Some(job);
            }
            match self.paths.next()? {
                Ok(path) => self.resolve(path),
                Err((path, error)) => return Some(unreadable(&path, "a list of paths", error)),
            }
        }
    }
}

/// `wanted`: what the path should have been, unless the error says so itself.
fn unreadable(path: &Path, wanted: &str, error: PathError) -> Job {
    let (expected, found) = error.into_parts(wanted);
    done(path, Finding::new(Code::Unreadable, None, expected, found))
}

/// A job that is done: there is one finding about `path`.
fn done(path: &Path, finding: Finding) -> Job {
    Job::Done(path.to_owned(), Verdict::of_finding(finding))
}

/// Reports what is wrong with the MANIFEST, if anything.
fn manifest(folder: &Folder) -> Option<Job> {
    let Some((path, error)) = folder.manifest_error() else {
        let offset = folder.incomplete_tail()?;
        let expected = "a MANIFEST that ends behind a record";
        let found = "an end within a record, which LevelDB passes over";
        return Some(done(folder.path(), Finding::new(Code::Manifest, offset, expected, found)));
    };
    let finding = Finding::of(error);
    // A missing MANIFEST is a fault of the database; one that may not be read is not.
    let is_missing = matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
    let code = if is_missing { Code::Manifest } else { finding.code };
    Some(done(path, Finding { code, ..finding }))
}

/// Reports the live tables that are not there.
fn missing(folder: &Folder) -> impl Iterator<Item = Job> {
    folder.missing().map(|(path, table)| {
        let expected = format!("a table of {} bytes on level {}", table.size, table.level);
        let finding = Finding::new(Code::TableMissing, None, expected, "no such file");
        done(&path, finding.with_lost(LostKeys::of_table(table)))
    })
}
