//! The work on each table, and the events of a run.

use std::path::{Path, PathBuf};
use std::{io::Read, sync::Arc};

use filterblock::table::ReadAt;

use crate::report::{Checked, CheckedFolder, Fault, Remark, Subject};
use crate::walk::{Folder, OtherFile, TableRecord};

/// A table, or another file that the user named.
#[derive(Clone, Debug)]
pub(crate) struct TableFile {
    /// The path as the user gave it, which led to `path`.
    pub input: Arc<Path>,
    pub path: PathBuf,
    /// Found in a folder, not named by the user.
    pub listed: bool,
    /// The folder in which the file was found, or the database, if known, of a file that the user named.
    pub folder: Option<Arc<Folder>>,
    /// The number of tables known when this file was found: the more tables there are, the less can be spent on each.
    pub tables: usize,
}

impl TableFile {
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
    pub(crate) fn file(&self, path: PathBuf) -> TableFile {
        let tables = self.folder.tables().count();
        let (input, folder) = (Arc::clone(&self.input), Some(Arc::clone(&self.folder)));
        TableFile { input, path, listed: true, folder, tables }
    }

    pub(crate) fn subject<'a>(&'a self, remarks: &'a [Remark]) -> Subject<'a> {
        Subject { input: &self.input, path: &self.path, remarks }
    }

    /// `logs`: with writes that may be in no table yet. `checked`: what is known of the database as a whole.
    pub(crate) fn checked(
        &self,
        logs: Vec<PathBuf>,
        remarks: Vec<Remark>,
        checked: Checked,
    ) -> CheckedFolder {
        let Self { input, path, folder } = self.clone();
        CheckedFolder { input, path, listed: folder, logs, remarks, checked }
    }
}

/// An event of a run. Events are in the order of the inputs.
#[derive(Debug)]
pub(crate) enum Event<T> {
    /// The path was not read, or leads to nothing to read. For a listed path, [`Folder`](Self::Folder) came before.
    Failed(TableFile, Fault),
    /// The files of a folder follow.
    Folder {
        place: ListedFolder,
        /// The folder's logs, as far as the task uses them.
        logs: Vec<PathBuf>,
        /// The logs that could not be read as far as their first writes, with the reasons.
        unread: Vec<(PathBuf, Fault)>,
        /// The logs that are not read, with the reasons: no regular files, or they cannot be examined.
        skipped: Vec<(PathBuf, Fault)>,
    },
    /// A file was read, or could not be opened, or was given up on because it has vanished. The kind is that of a log, or of
    /// a file that the user named and that is no table; `None`: a table.
    Found(TableFile, Option<OtherFile>, Result<T, Fault>),
    /// No more files of the folder follow. It is as in the last listing from which a file was read.
    End(ListedFolder),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LogUse {
    /// The logs that hold writes are named.
    Named,
    /// The logs that may hold writes that are in no table yet are read.
    Read,
    ReadAll,
}

/// The work on each table. Several threads may do it at the same time.
pub(crate) trait Task: Send + Sync {
    /// The result for a table or a log.
    type Found: Send + 'static;

    /// Reading takes long enough for its progress to be worth showing.
    const IS_LONG: bool = false;
    /// The maximum number of results, for each thread, that may wait to be shown.
    const WAITING: usize = 16;

    fn logs(&self) -> LogUse;

    /// Returns true if a listed table is read; one that the user named always is.
    fn wants(&self, _file: &TableFile) -> bool {
        true
    }

    /// Works on a table. `progress` is called with the bytes that were processed since its last call.
    fn table<R: ReadAt>(&self, file: &TableFile, source: &R, progress: &dyn Fn(u64)) -> Self::Found;

    /// Works on a file that is no table; `None` if the task has no use for such files.
    fn other(&self, kind: OtherFile, file: &TableFile, contents: &mut dyn Read) -> Option<Self::Found>;
}
