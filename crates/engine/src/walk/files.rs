//! Files that any number of readers share. Only some of the files are open at a time.

use std::path::Path;
use std::{io, sync::Arc};

use filterblock::database::{FilePool, Opener, PooledFile};

use super::storage::{LocalStorage, Source, Storage};
use super::windowed::{Sequential, Windowed};

/// The maximum number of files that are open at a time.
const MAX_OPEN: usize = 48;

/// The files of a storage, of which at most 48 that are read here and there are open at a time.
#[derive(Clone, Debug)]
pub struct Files {
    storage: Arc<dyn Storage>,
    pool: FilePool<StorageOpener>,
}

/// One of [`Files`].
pub type SharedFile = PooledFile<StorageOpener>;

/// Opens the files of a storage.
#[derive(Clone, Debug)]
pub struct StorageOpener(pub(crate) Arc<dyn Storage>);

impl Default for Files {
    /// The files of the local file system.
    fn default() -> Self {
        Self::new(Arc::new(LocalStorage))
    }
}

impl Files {
    /// The files of `storage`.
    pub fn new(storage: Arc<dyn Storage>) -> Self {
        let pool = FilePool::new(StorageOpener(Arc::clone(&storage)), MAX_OPEN);
        Self { storage, pool }
    }

    pub(crate) const fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// `file`, for one reader that reads in order.
    pub fn in_order(&self, file: SharedFile) -> Windowed<SharedFile> {
        Windowed::new(file, self.storage.read_ahead())
    }

    /// Opens the file at `path`. It may be closed and opened again at any time.
    ///
    /// # Errors
    ///
    /// Those of [`Storage::open`].
    pub fn open(&self, path: &Path) -> io::Result<SharedFile> {
        self.pool.open(path)
    }
}

impl Opener for Files {
    type Table = Windowed<SharedFile>;
    type Log = Sequential<Box<dyn Source>>;

    fn open_table(&mut self, path: &Path) -> io::Result<Self::Table> {
        Ok(self.in_order(self.open(path)?))
    }

    fn open_log(&mut self, path: &Path) -> io::Result<Self::Log> {
        self.storage.open(path).map(Sequential::new)
    }

    fn version(&mut self, table: &Self::Table) -> io::Result<Vec<u8>> {
        Ok(table.source().version().to_vec())
    }
}

impl Opener for StorageOpener {
    type Table = Box<dyn Source>;
    type Log = Sequential<Box<dyn Source>>;

    fn open_table(&mut self, path: &Path) -> io::Result<Self::Table> {
        self.0.open(path)
    }

    fn open_log(&mut self, path: &Path) -> io::Result<Self::Log> {
        self.0.open(path).map(Sequential::new)
    }

    fn version(&mut self, table: &Self::Table) -> io::Result<Vec<u8>> {
        table.version()
    }
}
