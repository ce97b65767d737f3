//! The way from the paths given to the tables to check.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use filterblock::Error;

use filterblock_engine::audit::lost_keys::LostKeys;
use filterblock_engine::audit::verify::finding::{Code, Finding};
use filterblock_engine::audit::verify::verdict::Verdict;
use filterblock_engine::report::folder::Verified;
use filterblock_engine::walk::folder::Folder;
use filterblock_engine::walk::folder_cache::FolderCache;
use filterblock_engine::walk::input::PathError;
use filterblock_engine::walk::paths::Given;
use filterblock_engine::walk::sources::{Discovered, Sources};

/// Something to report on.
pub(crate) enum Job {
    Table(TableJob),
    Done(Done),
    /// The tables of this folder have come.
    EndFolder {
        input: Arc<Path>,
        folder: Arc<Folder>,
    },
}

pub(crate) struct TableJob {
    /// The path as the user gave it, from which `path` follows.
    pub(crate) input: Arc<Path>,
    pub(crate) path: PathBuf,
    /// The name was found in a folder.
    pub(crate) listed: bool,
    /// The database around it.
    pub(crate) folder: Option<Arc<Folder>>,
}

/// A verdict, and what it is on.
pub(crate) struct Done {
    pub(crate) input: Arc<Path>,
    pub(crate) path: PathBuf,
    pub(crate) of: Verified,
    pub(crate) verdict: Verdict,
}

/// Turns paths into jobs. Keeps the names of one folder at a time.
pub(crate) struct Jobs<I: Iterator> {
    sources: Sources<I>,
    pending: VecDeque<Job>,
    /// The size of the tables that became known since the last [`take_bytes`](Self::take_bytes).
    bytes: u64,
    folders: FolderCache,
    list_failed: bool,
}

impl<I: Iterator<Item = Given>> Jobs<I> {
    pub(crate) fn new(paths: I, recursive: bool) -> Self {
        Self {
            sources: Sources::new(paths, recursive),
            pending: VecDeque::new(),
            bytes: 0,
            folders: FolderCache::default(),
            list_failed: false,
        }
    }

    /// Returns the number of bytes of tables that have become known since the last call.
    pub(crate) fn take_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }

    /// Returns true if no path is left that may turn out to be more tables.
    pub(crate) fn are_all_known(&mut self) -> bool {
        self.sources.are_all_known()
    }

    /// Returns true if a list of paths could not be read to its end.
    pub(crate) const fn list_failed(&self) -> bool {
        self.list_failed
    }

    fn table(&mut self, input: &Arc<Path>, path: PathBuf, listed: bool, folder: Option<Arc<Folder>>) {
        let len = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        self.bytes = self.bytes.saturating_add(len);
        self.pending.push_back(Job::Table(TableJob { input: Arc::clone(input), path, listed, folder }));
    }

    fn found(&mut self, found: Discovered) {
        match found {
            Discovered::ListFailed { input, error } => {
                self.list_failed = true;
                self.unreadable(&input, &input, "a list of paths", error);
            }
            Discovered::Failed { input, path, error } => {
                self.unreadable(&input, &path, "a table or a database folder", error);
            }
            Discovered::Folder { input, folder, .. } => self.folder(&input, &folder),
            Discovered::Table { input, path, .. } => {
                let mut failed = None;
                let folder =
                    self.folders.around(&path, |folder, error| failed = Some((folder.to_owned(), error)));
                if let Some((folder, error)) = failed {
                    self.unreadable(&input, &folder, "a folder that can be listed", error);
                }
                self.table(&input, path, false, folder);
            }
        }
    }

    /// `wanted`: what the path should have been, unless the error says so itself.
    fn unreadable(&mut self, input: &Arc<Path>, path: &Path, wanted: &str, error: PathError) {
        let finding = unreadable(wanted, error);
        self.pending.push_back(Job::Done(done(input, path, Verified::Unreadable, finding)));
    }

    fn folder(&mut self, input: &Arc<Path>, folder: &Arc<Folder>) {
        for (path, error) in folder.skipped() {
            let of = match path.extension().is_some_and(|extension| extension == "log") {
                true => Verified::Unreadable,
                false => Verified::Table,
            };
            self.pending.push_back(Job::Done(done(input, path, of, unreadable("a table", error))));
        }
        self.pending.push_back(Job::Done(manifest(input, folder)));
        self.pending.extend(missing(input, folder).map(Job::Done));
        for path in folder.tables() {
            self.table(input, path.to_owned(), true, Some(Arc::clone(folder)));
        }
        let (input, folder) = (Arc::clone(input), Arc::clone(folder));
        self.pending.push_back(Job::EndFolder { input, folder });
    }
}

impl<I: Iterator<Item = Given>> Iterator for Jobs<I> {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        loop {
            if let Some(job) = self.pending.pop_front() {
                return Some(job);
            }
            let found = self.sources.next()?;
            self.found(found);
        }
    }
}

/// The finding that something could not be looked at. `wanted`: what the path should have been,
/// unless the error says so itself.
pub(crate) fn unreadable(wanted: &str, error: PathError) -> Finding {
    let kind = error.kind();
    let (expected, found) = error.into_parts(wanted);
    Finding::new(Code::Unreadable, None, expected, found).of_kind(kind)
}

/// A job that is done: there is one finding about `path`.
fn done(input: &Arc<Path>, path: &Path, of: Verified, finding: Finding) -> Done {
    let verdict = Verdict::of_finding(finding);
    Done { input: Arc::clone(input), path: path.to_owned(), of, verdict }
}

/// Reports on the folder as a whole: what is wrong with the MANIFEST, if anything.
pub(crate) fn manifest(input: &Arc<Path>, folder: &Folder) -> Done {
    if let Some((path, error)) = folder.manifest_error() {
        let finding = Finding::of(error);
        // A missing MANIFEST is a fault of the database; one that may not be read is not.
        let is_missing =
            matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
        let code = if is_missing { Code::Manifest } else { finding.code };
        return done(input, path, Verified::Folder, Finding { code, ..finding });
    }
    if let Some(offset) = folder.incomplete_tail() {
        let expected = "a MANIFEST that ends behind a record";
        let found = "an end within a record, which LevelDB passes over";
        let finding = Finding::new(Code::Manifest, offset, expected, found);
        return done(input, folder.path(), Verified::Folder, finding);
    }
    let path = folder.path().to_owned();
    let verdict = Verdict::default();
    Done { input: Arc::clone(input), path, of: Verified::Folder, verdict }
}

/// Reports the live tables that are not there.
pub(crate) fn missing(input: &Arc<Path>, folder: &Folder) -> impl Iterator<Item = Done> {
    folder.missing().map(move |(path, table, _)| {
        let expected = format!("a table of {} bytes on level {}", table.size, table.level);
        let finding = Finding::new(Code::TableMissing, None, expected, "no such file");
        done(input, &path, Verified::Table, finding.with_lost(LostKeys::of_table(table)))
    })
}
