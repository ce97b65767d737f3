//! Files that any number of readers share. Only some of the files are open at a time.

use std::fs::File;
use std::io;
use std::path::Path;

use filterblock::database::{FileOpener, FilePool, Opener, PooledFile};

use super::in_order::InOrder;

/// The maximum number of files that are open at a time by default.
const MAX_OPEN: usize = 48;

/// Files of the local file system, of which at most a given number are open at a time.
#[derive(Clone, Debug)]
pub struct SharedFiles(FilePool<FileOpener>);

/// A file of [`SharedFiles`].
pub type SharedFile = PooledFile<FileOpener>;

impl Default for SharedFiles {
    /// Allows at most 48 open files.
    fn default() -> Self {
        Self(FilePool::new(FileOpener, MAX_OPEN))
    }
}

impl SharedFiles {
    /// Opens the file at `path`, which has to be a regular one.
    ///
    /// # Errors
    ///
    /// If the file is not a regular one, or cannot be opened.
    pub fn open(&self, path: &Path) -> io::Result<SharedFile> {
        self.0.open(path)
    }
}

impl Opener for SharedFiles {
    type Table = InOrder<SharedFile>;
    type Log = File;

    fn open_table(&mut self, path: &Path) -> io::Result<Self::Table> {
        self.open(path).map(InOrder::new)
    }

    fn open_log(&mut self, path: &Path) -> io::Result<File> {
        self.0.open_log(path)
    }

    fn version(&mut self, table: &Self::Table) -> io::Result<Vec<u8>> {
        Ok(table.source().version().to_vec())
    }
}
