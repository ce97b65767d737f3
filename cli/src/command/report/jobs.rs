//! The way from the paths given to the tables to check.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use filterblock::Error;

use crate::io::progress::Progress;
use filterblock_engine::audit::lost_keys::LostKeys;
use filterblock_engine::audit::verify::{self, VerifyOptions};
use filterblock_engine::report::verify::{About, Code, Finding, Verdict};
use filterblock_engine::run::watch::{Observer, Watch as _};
use filterblock_engine::walk::folder::Folder;
use filterblock_engine::walk::folder_cache::FolderCache;
use filterblock_engine::walk::input;
use filterblock_engine::walk::input::PathError;
use filterblock_engine::walk::paths::Given;
use filterblock_engine::walk::read_ahead::ReadAhead;
use filterblock_engine::walk::sources::{Discovered, Sources};

/// Something to report on.
pub(super) enum Job {
    Table(TableJob),
    Done(Done),
    /// The tables of this folder have come.
    EndFolder {
        input: Arc<Path>,
        folder: Arc<Folder>,
    },
}

pub(super) struct TableJob {
    /// The path as the user gave it, from which `path` follows.
    pub(super) input: Arc<Path>,
    pub(super) path: PathBuf,
    /// The name was found in a folder.
    pub(super) listed: bool,
    /// The database around it.
    pub(super) folder: Option<Arc<Folder>>,
}

/// A verdict, and what it is on.
pub(super) struct Done {
    pub(super) input: Arc<Path>,
    pub(super) path: PathBuf,
    pub(super) of: About,
    pub(super) verdict: Verdict,
}

/// Turns paths into jobs. Keeps the names of one folder at a time.
pub(super) struct Jobs<I: Iterator> {
    sources: Sources<I>,
    pending: VecDeque<Job>,
    /// The size of the tables that became known since the last [`take_bytes`](Self::take_bytes).
    bytes: u64,
    folders: FolderCache,
    list_failed: bool,
}

impl<I: Iterator<Item = Given>> Jobs<I> {
    pub(super) fn new(paths: I, recursive: bool) -> Self {
        Self {
            sources: Sources::new(paths, recursive, None),
            pending: VecDeque::new(),
            bytes: 0,
            folders: FolderCache::default(),
            list_failed: false,
        }
    }

    /// Returns the number of bytes of tables that have become known since the last call.
    pub(super) fn take_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }

    /// Returns true if no path is left that may turn out to be more tables.
    pub(super) fn are_all_known(&mut self) -> bool {
        self.sources.are_all_known()
    }

    /// Returns true if a list of paths could not be read to its end.
    pub(super) const fn list_failed(&self) -> bool {
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
                let folder = self
                    .folders
                    .around(&path, None, |folder, error| failed = Some((folder.to_owned(), error)));
                if let Some((folder, error)) = failed {
                    self.unreadable(&input, &folder, "a folder that can be listed", error);
                }
                self.table(&input, path, false, folder);
            }
        }
    }

    /// `wanted`: what the path should have been, unless the error says so itself.
    fn unreadable(&mut self, input: &Arc<Path>, path: &Path, wanted: &str, error: PathError) {
        let finding = Finding::unreadable(wanted, error);
        self.pending.push_back(Job::Done(done(input, path, About::Unreadable, finding)));
    }

    fn folder(&mut self, input: &Arc<Path>, folder: &Arc<Folder>) {
        for (path, error) in folder.skipped() {
            let of = match path.extension().is_some_and(|extension| extension == "log") {
                true => About::Unreadable,
                false => About::Table,
            };
            self.pending.push_back(Job::Done(done(input, path, of, Finding::unreadable("a table", error))));
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

/// A job that is done: there is one finding about `path`.
fn done(input: &Arc<Path>, path: &Path, of: About, finding: Finding) -> Done {
    let verdict = Verdict::of_finding(finding);
    Done { input: Arc::clone(input), path: path.to_owned(), of, verdict }
}

/// Reports on the folder as a whole: what is wrong with the MANIFEST, if anything.
fn manifest(input: &Arc<Path>, folder: &Folder) -> Done {
    if let Some((path, error)) = folder.manifest_error() {
        let finding = Finding::of(error);
        // A missing MANIFEST is a fault of the database; one that may not be read is not.
        let is_missing =
            matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
        let code = if is_missing { Code::Manifest } else { finding.code };
        return done(input, path, About::Folder, Finding { code, ..finding });
    }
    if let Some(offset) = folder.incomplete_tail() {
        let expected = "a MANIFEST that ends behind a record";
        let found = "an end within a record, which LevelDB passes over";
        let finding = Finding::new(Code::Manifest, offset, expected, found);
        return done(input, folder.path(), About::Folder, finding);
    }
    let path = folder.path().to_owned();
    let verdict = Verdict::default();
    Done { input: Arc::clone(input), path, of: About::Folder, verdict }
}

/// Reports the live tables that are not there.
fn missing(input: &Arc<Path>, folder: &Folder) -> impl Iterator<Item = Done> {
    folder.missing().map(move |(path, table, _)| {
        let expected = format!("a table of {} bytes on level {}", table.size, table.level);
        let finding = Finding::new(Code::TableMissing, None, expected, "no such file");
        done(input, &path, About::Table, finding.with_lost(LostKeys::of_table(table)))
    })
}

/// Verifies the table of a job.
pub(super) fn verify(job: &TableJob, options: &VerifyOptions, progress: &Progress) -> Verdict {
    let path: &Path = &job.path;
    let opened = input::open_file(path, job.listed).and_then(|file| Ok(ReadAhead::new(file)?));
    let source = match opened {
        Ok(source) => source,
        Err(error) => {
            return Verdict::of_finding(Finding::unreadable("a table that can be read", error));
        }
    };
    let record = job.folder.as_deref().and_then(|folder| folder.record(path));
    verify::table(&source, record.as_ref(), job.listed, options, &Watch { source: &source, progress })
        .unwrap_or_else(|error| Verdict::of_finding(Finding::of(&error)))
}

/// Makes the source read ahead once that is of use, and moves the progress bar.
struct Watch<'a> {
    source: &'a ReadAhead,
    progress: &'a Progress,
}

impl Observer for Watch<'_> {
    fn begin_walk(&self) {
        self.source.go_ahead();
    }

    fn progress(&self, bytes: u64) {
        self.progress.add(bytes);
    }
}
