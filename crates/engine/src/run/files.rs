//! Runs over files and folders: tables and logs are looked at on threads, and results are in the order of the paths.

use std::path::{Path, PathBuf};
use std::{io, sync::Arc};

use filterblock::table::ReadAt;

use super::survey::{Event, InputFile, ListedFolder, LogUse, Survey};
use super::{InOrder, Watch, in_use};
use crate::report::ErrorKind;
use crate::walk::{Discovered, Folder, OtherFile, PathError, Sequential, Sources, Storage, Windowed, open};

#[derive(Clone, Copy)]
pub(crate) struct FileOptions<'a> {
    /// How many tables to read at once; `None` or 0: as many as there are processors.
    pub jobs: Option<u16>,
    /// The number of paths given, without those of a list.
    pub given: usize,
    pub watch: &'a dyn Watch,
    pub storage: &'a dyn Storage,
}

/// Runs the survey on all tables and logs of `sources`, and calls `show` with the results, in order.
/// If files of a database in use vanish before they are read, reads those that replaced them.
pub(crate) fn files<S: Survey>(
    mut sources: Sources,
    survey: &S,
    options: FileOptions<'_>,
    show: &mut dyn FnMut(Event<S::Found>) -> io::Result<()>,
) -> io::Result<()> {
    let mut shown =
        Shown { survey, watch: options.watch, storage: options.storage, vanished: Vec::new(), show };
    InOrder::run(options.jobs, S::WAITING, |in_order| {
        let mut files = Files { survey, options, in_order, tables: 0 };
        while let Some(found) = sources.next() {
            let is_all = sources.are_all_known();
            files.discovered(found, is_all, &mut shown)?;
            if options.watch.is_interrupted() {
                break;
            }
        }
        files.in_order.finish(&mut |event| shown.event(event))
    })
}

/// Gives out the tables and logs to look at.
struct Files<'a, 'env, S: Survey> {
    survey: &'env S,
    options: FileOptions<'env>,
    in_order: &'a mut InOrder<'env, Event<S::Found>>,
    tables: usize,
}

impl<S: Survey> Files<'_, '_, S> {
    fn add(&mut self, event: Event<S::Found>, shown: &mut Shown<'_, S>) -> io::Result<()> {
        self.in_order.add(event, &mut |event| shown.event(event))
    }

    fn discovered(&mut self, found: Discovered, is_all: bool, shown: &mut Shown<'_, S>) -> io::Result<()> {
        match found {
            Discovered::ListFailed { input, error } => self.add(Event::ListFailed { input, error }, shown),
            Discovered::Failed { input, path, error } => {
                let target = InputFile { input, path, listed: false, folder: None, around: None, tables: 0 };
                self.add(Event::Failed { target, error }, shown)
            }
            Discovered::Table { input, path, folder, around } => {
                let len = || self.options.storage.open(&path)?.len();
                self.expect(|| len().unwrap_or_default(), is_all);
                self.tables = self.tables.saturating_add(1);
                let tables = self.tables.max(self.options.given);
                self.table(InputFile { input, path, listed: false, folder, around, tables }, shown)
            }
            Discovered::Folder { input, path, folder } => {
                self.folder(ListedFolder { input, path, folder }, is_all, shown)
            }
        }
    }

    fn folder(&mut self, place: ListedFolder, is_all: bool, shown: &mut Shown<'_, S>) -> io::Result<()> {
        let folder = Arc::clone(&place.folder);
        self.expect(|| folder.size_of_tables(), is_all);
        let is_log = |path: &Path| path.extension().is_some_and(|extension| extension == "log");
        let skipped = folder.skipped().into_iter().map(|(path, error)| (path.to_owned(), error));
        let (skipped, skipped_tables): (Vec<_>, Vec<_>) = skipped.partition(|(path, _)| is_log(path));
        let mut unread = Vec::new();
        let logs = match self.survey.logs() {
            LogUse::Ignored => Vec::new(),
            LogUse::Named => folder.logs_with_data(|log, error| unread.push((log.to_owned(), error))),
            LogUse::Read | LogUse::ReadAll => folder.filled_logs().collect(),
        };
        let logs: Vec<PathBuf> = logs.into_iter().map(Path::to_owned).collect();
        let to_read = read_logs(self.survey, &folder);
        self.add(Event::Begin { place: place.clone(), logs, unread, skipped }, shown)?;
        let (watch, storage) = (self.options.watch, self.options.storage);
        let survey = self.survey;
        for path in to_read {
            let target = place.target(path);
            self.in_order.work(move || log(survey, target, storage), &mut |event| shown.event(event))?;
        }
        for (path, error) in skipped_tables {
            self.add(Event::Failed { target: place.target(path), error }, shown)?;
        }
        let tables = folder.tables().count();
        for path in folder.tables() {
            let tables = self.tables.max(tables);
            self.table(InputFile { tables, ..place.target(path.to_owned()) }, shown)?;
            if watch.is_interrupted() {
                break;
            }
        }
        self.tables = self.tables.saturating_add(tables);
        self.add(Event::End(place), shown)
    }

    fn table(&mut self, target: InputFile, shown: &mut Shown<'_, S>) -> io::Result<()> {
        let (survey, FileOptions { watch, storage, .. }) = (self.survey, self.options);
        if target.listed && !survey.wants(&target) {
            return Ok(());
        }
        self.in_order.work(move || table(survey, target, storage, watch), &mut |event| shown.event(event))
    }

    /// Announces the bytes of tables to the watcher, if the progress of reading is worth showing.
    fn expect(&self, bytes: impl FnOnce() -> u64, is_all: bool) {
        if S::IS_LONG {
            self.options.watch.expect(bytes(), is_all);
        }
    }
}

fn table<S: Survey>(
    survey: &S,
    target: InputFile,
    storage: &dyn Storage,
    watch: &dyn Watch,
) -> Event<S::Found> {
    let source = match open(storage, &target.path, target.listed) {
        Ok(source) => Windowed::new(source, storage.read_ahead()),
        Err(error) => return Event::Table { target, result: Err(error) },
    };
    other(survey, &target, &source).unwrap_or_else(|| {
        let found = survey.table(&target, &source, &|bytes| watch.add(bytes));
        Event::Table { target, result: Ok(found) }
    })
}

fn log<S: Survey>(survey: &S, target: InputFile, storage: &dyn Storage) -> Event<S::Found> {
    let kind = OtherFile::Log;
    let found =
        open(storage, &target.path, true).map(|file| survey.other(kind, &target, &mut Sequential::new(file)));
    let result = found.and_then(|found| found.ok_or_else(PathError::vanished));
    Event::Other { kind, target, result }
}

/// Surveys a file that the user named. `None`: it is a table, or may be one.
pub(crate) fn other<S: Survey>(
    survey: &S,
    target: &InputFile,
    source: &dyn ReadAt,
) -> Option<Event<S::Found>> {
    let kind = OtherFile::of(&target.path, source).filter(|_| !target.listed)?;
    let target = target.clone();
    Some(match survey.other(kind, &target, &mut Sequential::new(source)) {
        Some(found) => Event::Other { kind, target, result: Ok(found) },
        None => {
            let error = PathError::failed(ErrorKind::Unsupported, kind.refusal());
            Event::Failed { target, error }
        }
    })
}

/// Shows results, but not of listed logs and recorded tables that vanished: those that replaced them follow.
struct Shown<'a, S: Survey> {
    survey: &'a S,
    watch: &'a dyn Watch,
    storage: &'a dyn Storage,
    /// The live tables and the logs of the current folder that vanished.
    vanished: Vec<PathBuf>,
    show: &'a mut dyn FnMut(Event<S::Found>) -> io::Result<()>,
}

impl<S: Survey> Shown<'_, S> {
    fn event(&mut self, event: Event<S::Found>) -> io::Result<()> {
        match event {
            Event::Table { target, result, .. }
                if target.listed && target.record().is_some() && self.is_gone(&result) =>
            {
                // Tables that are not live are expected to be removed.
                if target.record().is_some_and(|record| record.live.is_some()) {
                    self.vanished.push(target.path);
                }
                Ok(())
            }
            Event::Other { target, result, .. } if target.listed && self.is_gone(&result) => {
                self.vanished.push(target.path);
                Ok(())
            }
            Event::End(place) => self.end(place),
            event => (self.show)(event),
        }
    }

    fn is_gone(&self, result: &Result<S::Found, PathError>) -> bool {
        match result {
            Ok(found) => self.survey.has_vanished(found),
            Err(error) => error.kind() == ErrorKind::Vanished,
        }
    }

    /// Shows the files that replaced vanished ones, then those given up on, then the end of the folder.
    fn end(&mut self, place: ListedFolder) -> io::Result<()> {
        let vanished = std::mem::take(&mut self.vanished);
        let mut newest = place.clone();
        let survey = self.survey;
        let lost = in_use::retry_vanished(
            &place.folder,
            |folder| wanted(survey, &ListedFolder { folder: Arc::clone(folder), ..place.clone() }),
            vanished,
            |path, folder| {
                newest.folder = Arc::clone(folder);
                self.again(newest.target(path))?;
                Ok(std::mem::take(&mut self.vanished).is_empty())
            },
        )?;
        for path in lost {
            (self.show)(Event::Lost(place.target(path)))?;
        }
        (self.show)(Event::End(newest))
    }

    /// Looks at a file that was not there when the folder was first listed.
    fn again(&mut self, target: InputFile) -> io::Result<()> {
        let folder = target.folder.clone();
        let is_log = folder.is_some_and(|folder| folder.logs().any(|(log, _)| *log.path == target.path));
        let event = match is_log {
            true => log(self.survey, target, self.storage),
            false => table(self.survey, target, self.storage, &NoProgress(self.watch)),
        };
        self.event(event)
    }
}

fn read_logs<S: Survey>(survey: &S, folder: &Folder) -> Vec<PathBuf> {
    let uses = survey.logs();
    let logs = folder.logs().filter(|(_, is_live)| uses.reads() && (*is_live || uses == LogUse::ReadAll));
    logs.map(|(log, _)| log.path.clone()).collect()
}

fn wanted<S: Survey>(survey: &S, place: &ListedFolder) -> Vec<PathBuf> {
    let logs = read_logs(survey, &place.folder);
    let tables = place.folder.tables().map(|path| place.target(path.to_owned()));
    let tables = tables.filter(|target| survey.wants(target));
    logs.into_iter().chain(tables.map(|target| target.path)).collect()
}

/// Hides the progress, but passes on interruptions.
struct NoProgress<'a>(&'a dyn Watch);

impl Watch for NoProgress<'_> {
    fn is_interrupted(&self) -> bool {
        self.0.is_interrupted()
    }
}
