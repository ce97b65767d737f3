//! What is done with each table.

use std::path::{Path, PathBuf};
use std::{io::Read, sync::Arc};

use filterblock::Error;
use filterblock::table::{ReadAt, ReadOptions};

use super::watch::Observer;
use crate::report::{Depth, Fetched, Remark, Subject};
use crate::walk::{Folder, PathError, TableRecord};

/// A table or a log to look at.
#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    /// The path as the user gave it, from which `path` follows.
    pub input: Arc<Path>,
    /// The file, or the object's URL.
    pub path: PathBuf,
    /// The name was found in a folder.
    pub listed: bool,
    /// The folder that it was found in. For a file that was named, the database around it.
    pub folder: Option<Arc<Folder>>,
    /// The folder around a file that was named, and why it cannot be listed.
    pub around: Option<(PathBuf, PathError)>,
    /// The number of tables known when this one was met: the more there are, the less can be spent on each.
    pub tables: usize,
}

impl InputFile {
    /// The database's record of the table.
    pub(crate) fn record(&self) -> Option<TableRecord<'_>> {
        self.folder.as_deref().and_then(|folder| folder.record(&self.path))
    }

    /// The path that results are about. `fetched`: what reading it took.
    pub(crate) fn subject<'a>(&'a self, remarks: &'a [Remark], fetched: Option<&'a Fetched>) -> Subject<'a> {
        Subject { input: &self.input, path: &self.path, remarks, fetched }
    }
}

/// A folder whose tables follow, or were there.
#[derive(Clone, Debug)]
pub(crate) struct ListedFolder {
    /// The path as the user gave it, from which that of the folder follows.
    pub input: Arc<Path>,
    /// The path of the folder.
    pub path: PathBuf,
    /// The folder, as it was when it was listed.
    pub folder: Arc<Folder>,
}

impl ListedFolder {
    /// A file of the folder.
    pub(crate) fn target(&self, path: PathBuf) -> InputFile {
        let tables = self.folder.tables().count();
        let (input, folder) = (Arc::clone(&self.input), Some(Arc::clone(&self.folder)));
        InputFile { input, path, listed: true, folder, around: None, tables }
    }

    /// The path that results are about.
    pub(crate) fn subject<'a>(&'a self, remarks: &'a [Remark]) -> Subject<'a> {
        Subject { input: &self.input, path: &self.path, remarks, fetched: None }
    }
}

/// What a run tells, in the order of the inputs.
#[derive(Debug)]
pub(crate) enum Event<T> {
    /// A list of paths, which is `input`, could not be read to its end.
    ListFailed {
        /// The list.
        input: Arc<Path>,
        /// The reason.
        error: PathError,
    },
    /// The path could not be looked at, or there is nothing to look at. If it is listed, the folder has begun.
    Failed {
        /// The path.
        target: InputFile,
        /// The reason.
        error: PathError,
    },
    /// The tables of a folder follow.
    Begin {
        /// The folder.
        place: ListedFolder,
        /// Its logs, as far as the survey wants to know of them.
        logs: Vec<PathBuf>,
        /// The logs that could not be read to their ends.
        remarks: Vec<Remark>,
        /// The logs that are not looked at: links, and what is no file.
        passed_over: Vec<(PathBuf, PathError)>,
    },
    /// A log, if the survey reads them.
    Log {
        /// The log.
        target: InputFile,
        /// What was found, or the reason why it cannot be opened.
        result: Result<T, PathError>,
    },
    /// A table.
    Table {
        /// The table.
        target: InputFile,
        /// What reading it took, if it is in object storage.
        fetched: Option<Fetched>,
        /// What was found, or the reason why it cannot be opened.
        result: Result<T, PathError>,
    },
    /// A table or a log vanished, and what took its place did too, time and again.
    Lost(InputFile),
    /// All tables of the folder have come. It is as it was when it was listed last.
    End(ListedFolder),
    /// The system lets no threads be started, for this reason.
    NotStarted(String),
}

/// The use that is made of a folder's logs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LogUse {
    /// None.
    Ignored,
    /// Those that hold writes are named.
    Named,
    /// They are read.
    Read,
}

/// What is fetched of a table in object storage before it is looked at. More is fetched when it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fetch {
    /// The table is not looked at.
    Nothing,
    /// Its end.
    Tail,
    /// Its end, and some data blocks.
    Sample,
    /// All of it, a part at a time.
    All,
}

/// What is done with each table. Threads do it at once.
pub(crate) trait Survey: Send + Sync + 'static {
    /// What is found out about a table.
    type Found: Send + 'static;

    /// The use that is made of logs.
    const LOGS: LogUse = LogUse::Ignored;
    /// Reading takes so long that its progress is worth showing.
    const IS_LONG: bool = false;
    /// The results for each thread that may wait to be shown.
    const WAITING: usize = 16;

    /// How tables are read.
    fn options(&self) -> &ReadOptions;

    /// What is wanted of a table. `depth`: as deep as tables in object storage are looked into; of files, it is
    /// [`Depth::All`].
    fn wants(&self, _target: &InputFile, depth: Depth) -> Fetch {
        match depth {
            Depth::Tail => Fetch::Tail,
            Depth::Sample => Fetch::Sample,
            Depth::All => Fetch::All,
        }
    }

    /// Looks at a table.
    ///
    /// # Errors
    ///
    /// [`Error::NeedRange`], after which it is called again. Other errors are handed to [`failed`](Self::failed).
    fn table<R: ReadAt>(
        &self,
        target: &InputFile,
        source: &R,
        depth: Depth,
        observer: &dyn Observer,
    ) -> Result<Self::Found, Error>;

    /// What an error of [`table`](Self::table) means.
    fn failed(&self, error: &Error) -> Self::Found;

    /// Looks at a log; `None` if logs are not read.
    fn log(&self, _target: &InputFile, _contents: &mut dyn Read) -> Option<Self::Found> {
        None
    }

    /// Tells whether the file was gone when it was to be read.
    fn has_vanished(&self, _found: &Self::Found) -> bool {
        false
    }
}
