//! The way from the paths given to the tables to check.

use std::collections::VecDeque;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use filterblock::Error;

use crate::audit::verify::finding::{Code, Finding};
use crate::audit::verify::verdict::Verdict;
use crate::io::database::{Database, DatabaseCache};
use crate::io::input::{self, Folder, PathError, Source};
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
    pub(super) database: Option<Arc<Database>>,
}

/// Turns paths into jobs. Keeps the names of one folder at a time.
pub(super) struct Jobs<I: Iterator> {
    paths: Peekable<I>,
    pending: VecDeque<Job>,
    /// The size of the tables that became known since the last [`take_bytes`](Self::take_bytes).
    bytes: u64,
    databases: DatabaseCache,
    /// Folders without tables are not reported.
    silent: bool,
}

impl<I: Iterator<Item = Given>> Jobs<I> {
    pub(super) fn new(paths: I, silent: bool) -> Self {
        Self {
            paths: paths.peekable(),
            pending: VecDeque::new(),
            bytes: 0,
            databases: DatabaseCache::default(),
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

    fn table(&mut self, path: PathBuf, listed: bool, database: Option<Arc<Database>>) {
        let len = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        self.bytes = self.bytes.saturating_add(len);
        self.pending.push_back(Job::Table(TableJob { path, listed, database }));
    }

    fn resolve(&mut self, path: PathBuf) {
        match input::resolve(&path) {
            Ok(Source::File) => {
                let database = self.databases.around(&path, |folder, error| {
                    self.pending.push_back(unreadable(folder, "a folder that can be listed", error));
                });
                self.table(path, false, database);
            }
            Ok(Source::Folder(folder)) => self.folder(path, folder),
            Err(error) => self.pending.push_back(unreadable(&path, "a table or a database folder", error)),
        }
    }

    fn folder(&mut self, path: PathBuf, folder: Folder) {
        let before = self.pending.len();
        let database = Database::find(&path).unwrap_or_else(|error| {
            self.pending.push_back(unreadable(&path, "a folder that can be listed", error));
            None
        });
        let database = database.map(Arc::new);
        for (path, error) in folder.skipped {
            self.pending.push_back(unreadable(&path, "a table", error));
        }
        if let Some(database) = &database {
            self.pending.extend(manifest(database));
            self.pending.extend(missing(database));
        }
        for path in folder.tables {
            self.table(path, true, database.clone());
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
fn manifest(database: &Database) -> Option<Job> {
    match &database.manifest {
        Ok(manifest) => {
            let offset = manifest.incomplete_tail()?;
            let expected = "a MANIFEST that ends behind a record";
            let found = "an end within a record, which LevelDB passes over";
            Some(done(&database.folder, Finding::new(Code::Manifest, offset, expected, found)))
        }
        Err(error) => {
            let finding = Finding::of(error);
            // A missing MANIFEST is a fault of the database; one that may not be read is not.
            let is_missing = matches!(error.without_path(), Error::Io { source, .. }
                if source.kind() == io::ErrorKind::NotFound);
            let code = if is_missing { Code::Manifest } else { finding.code };
            Some(done(error.path().unwrap_or(&database.folder), Finding { code, ..finding }))
        }
    }
}

/// Reports the live tables that are not there.
fn missing(database: &Database) -> impl Iterator<Item = Job> {
    database.missing().map(|table| {
        let expected = format!("a table of {} bytes on level {}", table.size, table.level);
        let finding = Finding::new(Code::TableMissing, None, expected, "no such file");
        done(&database.path_of(table), finding)
    })
}
