//! The work on each table, and the events of a run.

use std::path::{Path, PathBuf};
use std::{io::Read, sync::Arc};

use filterblock::table::ReadAt;

use crate::report::{Remark, Subject};
use crate::walk::{Folder, OtherFile, PathError, TableRecord};

#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    /// The path as the user gave it, which led to `path`.
    pub input: Arc<Path>,
    /// The file, or the object's URL.
    pub path: PathBuf,
    /// Found in a folder, not named by the user.
    pub listed: bool,
    /// The folder in which the file was found, or the database, if known, of a file that the user named.
    pub folder: Option<Arc<Folder>>,
    /// The parent folder of a file that the user named, and why it cannot be listed. Given once for each folder, unless
    /// many other folders come in between.
    pub around: Option<(PathBuf, PathError)>,
    /// The number of tables known when this file was found: the more tables there are, the less can be spent on each.
    pub tables: usize,
}

impl InputFile {
    pub(crate) fn record(&self) -> Option<TableRecord<'_>> {
        self.folder.as_deref().and_then(|folder| folder.record(&self.path))
    }

    pub(crate) fn subject<'a>(&'a self, remarks: &'a [Remark]) -> Subject<'a> {
        Subject { input: &self.input, path: &self.path, remarks }
    }
}

/// A listed folder, which is named by the events before and after those of its tables.
#[derive(Clone, Debug)]
pub(crate) struct ListedFolder {
    pub input: Arc<Path>,
    pub path: PathBuf,
    pub folder: Arc<Folder>,
}

impl ListedFolder {
    pub(crate) fn target(&self, path: PathBuf) -> InputFile {
        let tables = self.folder.tables().count();
        let (input, folder) = (Arc::clone(&self.input), Some(Arc::clone(&self.folder)));
        InputFile { input, path, listed: true, folder, around: None, tables }
    }

    pub(crate) fn subject<'a>(&'a self, remarks: &'a [Remark]) -> Subject<'a> {
        Subject { input: &self.input, path: &self.path, remarks }
    }
}

/// An event of a run. Events are in the order of the inputs.
#[derive(Debug)]
pub(crate) enum Event<T> {
    /// A list of paths could not be read to its end.
    ListFailed {
        /// The path of the list.
        input: Arc<Path>,
        error: PathError,
    },
    /// The path was not read, or leads to nothing to read. For a listed path, [`Begin`](Self::Begin) came before.
    Failed {
        target: InputFile,
        /// Why nothing was read.
        error: PathError,
    },
    /// The tables of a folder follow.
    Begin {
        place: ListedFolder,
        /// The folder's logs, as far as the survey uses them.
        logs: Vec<PathBuf>,
        /// The logs that could not be read as far as their first writes, with the reasons.
        unread: Vec<(PathBuf, PathError)>,
        /// The logs that are not read, with the reasons: no regular files, or they cannot be examined.
        skipped: Vec<(PathBuf, PathError)>,
    },
    /// A log, if the survey reads logs, or a file that the user named and that is no table.
    Other {
        kind: OtherFile,
        target: InputFile,
        /// The result, or why the file cannot be opened.
        result: Result<T, PathError>,
    },
    Table {
        target: InputFile,
        /// The result, or why the file cannot be opened.
        result: Result<T, PathError>,
    },
    /// A table or a log that was given up on: it has vanished, or has no file although it is live.
    Lost(InputFile),
    /// No more tables of the folder follow. It is as in the last listing from which a file was read.
    End(ListedFolder),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LogUse {
    Ignored,
    /// The logs that hold writes are named.
    Named,
    /// The logs that may hold writes that are in no table yet are read.
    Read,
    ReadAll,
}

impl LogUse {
    pub(crate) const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadAll)
    }
}

/// The work on each table. Several threads may do it at the same time.
pub(crate) trait Survey: Send + Sync + 'static {
    /// The result for a table or a log.
    type Found: Send + 'static;

    /// Reading takes long enough for its progress to be worth showing.
    const IS_LONG: bool = false;
    /// The maximum number of results, for each thread, that may wait to be shown.
    const WAITING: usize = 16;

    fn logs(&self) -> LogUse {
        LogUse::Ignored
    }

    /// Returns true if a listed table is read; one that the user named always is.
    fn wants(&self, _target: &InputFile) -> bool {
        true
    }

    /// Surveys a table. `progress` is called with the bytes that were processed since its last call.
    fn table<R: ReadAt>(&self, target: &InputFile, source: &R, progress: &dyn Fn(u64)) -> Self::Found;

    /// Surveys a file that is no table; `None` if the survey has no use for such files.
    fn other(&self, _: OtherFile, _target: &InputFile, _contents: &mut dyn Read) -> Option<Self::Found> {
        None
    }

    /// Returns true if the file was gone when it had to be read.
    fn has_vanished(&self, _found: &Self::Found) -> bool {
        false
    }
}
