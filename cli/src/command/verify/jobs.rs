//! From the paths given to the tables to check, one after the other.

use std::collections::VecDeque;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use filterblock::Error;

use crate::audit::verify::finding::{Code, Finding};
use crate::audit::verify::verdict::Verdict;
use crate::io::database::{Database, Surroundings};
use crate::io::input::{self, Folder, Source};
use crate::io::paths::Given;

/// What a path ought to be.
const SOURCE: &str = "a table or a database folder";

/// Something to report on.
pub(super) enum Job {
    Table(TableJob),
    /// About something that is no table, or is not there.
    Done(Verdict),
    /// A folder in which there is nothing to check.
    Nothing(PathBuf),
}

pub(super) struct TableJob {
    pub(super) path: PathBuf,
    /// Whether its name was found in a folder.
    pub(super) listed: bool,
    pub(super) database: Option<Arc<Database>>,
}

/// Turns paths into jobs. Keeps the names of one folder at a time.
pub(super) struct Jobs<I: Iterator> {
    paths: Peekable<I>,
    pending: VecDeque<Job>,
    /// The sizes of the tables that became known, as far as nobody has taken note of them.
    bytes: u64,
    surroundings: Surroundings,
    /// Whether folders without tables go without saying.
    silent: bool,
}

impl<I: Iterator<Item = Given>> Jobs<I> {
    pub(super) fn new(paths: I, silent: bool) -> Self {
        Self {
            paths: paths.peekable(),
            pending: VecDeque::new(),
            bytes: 0,
            surroundings: Surroundings::default(),
            silent,
        }
    }

    /// How many bytes of tables have become known since the last time.
    pub(super) fn take_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }

    /// Whether there is nothing left that may turn out to be more tables.
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
                let database = self.surroundings.of(&path, |folder, error| {
                    self.pending.push_back(unreadable(folder, "a folder that can be listed", &error));
                });
                self.table(path, false, database);
            }
            Ok(Source::Folder(folder)) => self.folder(path, folder),
            Err(message) => self.pending.push_back(unreadable(&path, SOURCE, &message)),
        }
    }

    fn folder(&mut self, path: PathBuf, folder: Folder) {
        let before = self.pending.len();
        let database = Database::find(&path).unwrap_or_else(|error| {
            self.pending.push_back(unreadable(&path, "a folder that can be listed", &error));
            None
        });
        let database = database.map(Arc::new);
        for (path, message) in folder.skipped {
            self.pending.push_back(unreadable(&path, "a table", &message));
        }
        if let Some(database) = &database {
            self.pending.extend(manifest(database).map(Job::Done));
            self.pending.extend(missing(database).map(Job::Done));
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
                Err((path, message)) => return Some(unreadable(&path, "a list of paths", &message)),
            }
        }
    }
}

/// What is no `wanted`, unless `message` says itself what was expected.
fn unreadable(path: &Path, wanted: &str, message: &str) -> Job {
    let own = message.split_once("expected ").and_then(|(_, message)| message.split_once(", found "));
    let (expected, found) = own.unwrap_or((wanted, message));
    Job::Done(Verdict::of_finding(path, Finding::new(Code::Unreadable, None, expected, found)))
}

/// What is wrong with the MANIFEST, if anything.
fn manifest(database: &Database) -> Option<Verdict> {
    let (path, finding) = match &database.manifest {
        Ok(manifest) => {
            let offset = manifest.incomplete_tail()?;
            let expected = "a MANIFEST that ends behind a record";
            let found = "an end within a record, which LevelDB passes over";
            (database.folder.clone(), Finding::new(Code::Manifest, offset, expected, found))
        }
        Err(error) => {
            let path = error.path().unwrap_or(&database.folder).to_owned();
            let finding = Finding::of(error);
            // That it is not there says something of the database; that it may not be read does not.
            let is_missing = matches!(error.without_path(), Error::Io { source, .. }
                if source.kind() == io::ErrorKind::NotFound);
            let code = if is_missing { Code::Manifest } else { finding.code };
            (path, Finding { code, ..finding })
        }
    };
    Some(Verdict::of_finding(&path, finding))
}

/// The live tables that are not there.
fn missing(database: &Database) -> impl Iterator<Item = Verdict> {
    database.missing().map(|table| {
        let expected = format!("a table of {} bytes on level {}", table.size, table.level);
        let finding = Finding::new(Code::TableMissing, None, expected, "no such file");
        Verdict::of_finding(&database.path_of(table), finding)
    })
}
