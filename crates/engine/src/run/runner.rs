//! Runs over files and folders: tables and logs are worked on by threads, and results are in the order of the paths.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::table::ReadAt as _;

use super::in_order::InOrder;
use super::relist::retry_vanished;
use super::task::{Event, ListedFolder, LogUse, TableFile, Task};
use crate::engine::Engine;
use crate::report::{ErrorKind, Fault};
use crate::walk::{Folder, Inputs, OtherFile, Sequential, Target, Windowed, open};

type Show<'a, T> = dyn FnMut(Event<<T as Task>::Found>) -> io::Result<()> + 'a;

impl Engine {
    /// Does the task on all tables and logs that `inputs` lead to, and calls `show` with the results, in the order that
    /// [`Event`] describes. If files of a database in use vanish before they are read, reads those that replaced them.
    /// Returns true if a list of paths could not be read to its end.
    pub(crate) fn run<T: Task>(&self, inputs: Inputs, task: &T, show: &mut Show<'_, T>) -> io::Result<bool> {
        let given = inputs.paths.len();
        let mut shown = Shown { engine: self, task, vanished: Vec::new(), show };
        let mut show = |event| shown.event(event);
        InOrder::run(self.jobs, T::WAITING, &mut show, |in_order| {
            let mut run = Run { engine: self, task, given, in_order, tables: 0 };
            let (mut targets, mut list_failed) = (self.targets(inputs), false);
            while let Some(target) = targets.next() {
                list_failed |= matches!(target, Target::ListFailed { .. });
                run.target(target, targets.are_all_known())?;
                if self.progress.is_interrupted() {
                    break;
                }
            }
            run.in_order.finish()?;
            Ok(list_failed)
        })
    }

    fn look_at_table<T: Task>(&self, task: &T, file: TableFile, progress: &dyn Fn(u64)) -> Event<T::Found> {
        let storage = &**self.files.storage();
        let source = match open(storage, &file.path, file.listed) {
            Ok(source) => Windowed::new(source, storage.read_ahead()),
            Err(error) => return Event::Found(file, None, Err(error)),
        };
        let Some(kind) = OtherFile::of(&file.path, &source).filter(|_| !file.listed) else {
            let found = task.table(&file, &source, progress);
            return Event::Found(file, None, Ok(found));
        };
        match task.other(kind, &file, &mut Sequential::new(&source)) {
            Some(found) => Event::Found(file, Some(kind), Ok(found)),
            None => Event::Failed(file, Fault::new(kind.refusal(), ErrorKind::Unsupported)),
        }
    }

    fn look_at_log<T: Task>(&self, task: &T, file: TableFile) -> Event<T::Found> {
        let opened = open(&**self.files.storage(), &file.path, true);
        let found = opened.map(|log| task.other(OtherFile::Log, &file, &mut Sequential::new(log)));
        let result = found.and_then(|found| found.ok_or_else(Fault::vanished));
        Event::Found(file, Some(OtherFile::Log), result)
    }
}

/// Gives out the tables and logs to work on.
struct Run<'a, 'env, 'show, T: Task> {
    engine: &'env Engine,
    task: &'env T,
    /// The number of paths given, without those of a list.
    given: usize,
    in_order: &'a mut InOrder<'env, 'show, Event<T::Found>>,
    tables: usize,
}

impl<T: Task> Run<'_, '_, '_, T> {
    fn target(&mut self, target: Target, is_all: bool) -> io::Result<()> {
        let (input, path, folder, error) = match target {
            Target::Folder { input, path, folder } => {
                return self.folder(ListedFolder { input, path, folder }, is_all);
            }
            Target::File { input, path, folder } => (input, path, folder, None),
            Target::ListFailed { input, error } => {
                (Arc::clone(&input), input.to_path_buf(), None, Some(error))
            }
            Target::Failed { input, path, error } => (input, path, None, Some(error)),
        };
        if let Some(error) = error {
            let file = TableFile { input, path, listed: false, folder, tables: 0 };
            return self.in_order.add(Event::Failed(file, error));
        }
        let len = || self.engine.files.storage().open(&path)?.len();
        self.expect(|| len().unwrap_or_default(), is_all);
        self.tables = self.tables.saturating_add(1);
        let tables = self.tables.max(self.given);
        self.table(TableFile { input, path, listed: false, folder, tables })
    }

    fn folder(&mut self, place: ListedFolder, is_all: bool) -> io::Result<()> {
        let (engine, task, folder) = (self.engine, self.task, Arc::clone(&place.folder));
        self.expect(|| folder.size_of_tables(), is_all);
        let is_log = |path: &Path| path.extension().is_some_and(|extension| extension == "log");
        let skipped = folder.skipped().into_iter().map(|(path, error)| (path.to_owned(), error));
        let (skipped, skipped_tables): (Vec<_>, Vec<_>) = skipped.partition(|(path, _)| is_log(path));
        let mut unread = Vec::new();
        let logs = match task.logs() {
            LogUse::Named => folder.logs_with_data(|log, error| unread.push((log.to_owned(), error))),
            LogUse::Read | LogUse::ReadAll => folder.filled_logs().collect(),
        };
        let logs: Vec<PathBuf> = logs.into_iter().map(Path::to_owned).collect();
        self.in_order.add(Event::Folder { place: place.clone(), logs, unread, skipped })?;
        for path in logs_to_read(task, &folder) {
            let file = place.file(path);
            self.in_order.work(move || engine.look_at_log(task, file))?;
        }
        for (path, error) in skipped_tables {
            self.in_order.add(Event::Failed(place.file(path), error))?;
        }
        let tables = folder.tables().count();
        for path in folder.tables() {
            let tables = self.tables.max(tables);
            self.table(TableFile { tables, ..place.file(path.to_owned()) })?;
            if engine.progress.is_interrupted() {
                break;
            }
        }
        self.tables = self.tables.saturating_add(tables);
        self.in_order.add(Event::End(place))
    }

    fn table(&mut self, file: TableFile) -> io::Result<()> {
        let (engine, task) = (self.engine, self.task);
        if file.listed && !task.wants(&file) {
            return Ok(());
        }
        self.in_order.work(move || engine.look_at_table(task, file, &|bytes| engine.progress.add(bytes)))
    }

    /// Announces the bytes of tables, if the progress of reading is worth showing.
    fn expect(&self, bytes: impl FnOnce() -> u64, is_all: bool) {
        if T::IS_LONG {
            self.engine.progress.expect(bytes(), is_all);
        }
    }
}

/// Shows results, but not of listed logs and recorded tables that vanished: those that replaced them follow.
struct Shown<'a, T: Task> {
    engine: &'a Engine,
    task: &'a T,
    /// The live tables and the logs of the current folder that vanished.
    vanished: Vec<PathBuf>,
    show: &'a mut Show<'a, T>,
}

impl<T: Task> Shown<'_, T> {
    fn event(&mut self, event: Event<T::Found>) -> io::Result<()> {
        match event {
            Event::Found(file, kind, Err(error))
                if error.kind == ErrorKind::Vanished
                    && file.listed
                    && (kind.is_some() || file.record().is_some()) =>
            {
                // Tables that are not live are expected to be removed.
                if kind.is_some() || file.record().is_some_and(|record| record.live.is_some()) {
                    self.vanished.push(file.path);
                }
                Ok(())
            }
            Event::End(place) => self.end(place),
            event => (self.show)(event),
        }
    }

    /// Shows the files that replaced vanished ones, then those given up on, then the end of the folder.
    fn end(&mut self, place: ListedFolder) -> io::Result<()> {
        let vanished = std::mem::take(&mut self.vanished);
        let (mut newest, task) = (place.clone(), self.task);
        let wanted = |folder: &Arc<Folder>| {
            let place = ListedFolder { folder: Arc::clone(folder), ..place.clone() };
            let tables = folder.tables().filter(|path| task.wants(&place.file((*path).to_owned())));
            logs_to_read(task, folder).into_iter().chain(tables.map(Path::to_owned)).collect()
        };
        let lost = retry_vanished(&place.folder, wanted, vanished, |path, folder| {
            newest.folder = Arc::clone(folder);
            let is_log = folder.logs().any(|(log, _)| log.path == path);
            let file = newest.file(path);
            let event = match is_log {
                true => self.engine.look_at_log(task, file),
                false => self.engine.look_at_table(task, file, &|_| {}),
            };
            self.event(event)?;
            Ok(std::mem::take(&mut self.vanished).is_empty())
        })?;
        for path in lost {
            (self.show)(Event::Found(place.file(path), None, Err(Fault::vanished())))?;
        }
        (self.show)(Event::End(newest))
    }
}

fn logs_to_read<T: Task>(task: &T, folder: &Folder) -> Vec<PathBuf> {
    let uses = task.logs();
    let is_read = |is_live| uses == LogUse::ReadAll || uses == LogUse::Read && is_live;
    folder.logs().filter(|(_, is_live)| is_read(*is_live)).map(|(log, _)| log.path.clone()).collect()
}
