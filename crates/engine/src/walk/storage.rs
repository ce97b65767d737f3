//! Files outside the local file system.

use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fmt::Debug, sync::Arc};

use bytes::Bytes;
use filterblock::database::{Database, DatabaseListing};
use filterblock::table::ReadAt;

use super::input::{PathError, open_file};

/// Storage for files, such as an archive or memory, which can be listed and read without waiting. Threads use
/// it concurrently.
pub trait Storage: Debug + Send + Sync {
    /// The names of the files directly in the folder at `path`, with the sizes in bytes. `None` if the path
    /// is that of a file.
    ///
    /// # Errors
    ///
    /// [`NotFound`](io::ErrorKind::NotFound) if there is neither a file nor a folder at `path`; other kinds
    /// if the folder cannot be listed.
    fn list(&self, path: &Path) -> io::Result<Option<Vec<(String, u64)>>>;

    /// Opens the file at `path`. A read of a file that has changed since it was listed fails with
    /// [`StaleNetworkFileHandle`](io::ErrorKind::StaleNetworkFileHandle), so that the file is not reported as
    /// damaged.
    ///
    /// # Errors
    ///
    /// [`NotFound`](io::ErrorKind::NotFound) if there is no such file; other kinds if it cannot be read.
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt + Send + Sync>>;
}

/// Files in memory, each with its path.
#[derive(Clone, Default)]
pub struct Memory {
    files: BTreeMap<PathBuf, Bytes>,
}

impl Memory {
    /// Adds a file, or replaces it.
    pub fn insert(&mut self, path: impl Into<PathBuf>, contents: impl Into<Bytes>) {
        self.files.insert(path.into(), contents.into());
    }
}

impl Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("files", &self.files.len()).finish()
    }
}

impl Storage for Memory {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<(String, u64)>>> {
        if self.files.contains_key(path) {
            return Ok(None);
        }
        let below = self.files.range(path.to_owned()..).take_while(|(file, _)| file.starts_with(path));
        let named = |(file, contents): (&PathBuf, &Bytes)| {
            let name = file.file_name().filter(|_| file.parent() == Some(path))?.to_str()?;
            Some((name.to_owned(), contents.len() as u64))
        };
        let mut below = below.peekable();
        if below.peek().is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Some(below.filter_map(named).collect()))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt + Send + Sync>> {
        let contents = self.files.get(path).cloned().ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(contents))
    }
}

/// The database in the folder `dir` of a storage. `names`: the names of the files in it, with their sizes.
pub(super) fn database_in(storage: &dyn Storage, dir: &Path, names: Vec<(String, u64)>) -> Database {
    let mut listing = DatabaseListing::new(names).in_dir(dir);
    while let Some(name) = listing.wanted() {
        let contents = read(storage, &dir.join(name));
        listing.supply_from(contents.map(Cursor::new));
    }
    listing.into_database()
}

fn read(storage: &dyn Storage, path: &Path) -> io::Result<Bytes> {
    let file = storage.open(path)?;
    let len = usize::try_from(file.len()?).map_err(io::Error::other)?;
    file.read_at(0, len)
}

/// Opens a file that the user named. `None`: in the local file system.
pub(crate) fn open_named(storage: Option<&Arc<dyn Storage>>, path: &Path) -> Opened {
    open(storage, path, false)
}

/// Opens a file that was found in a folder a moment ago. `None`: in the local file system.
pub(crate) fn open_listed(storage: Option<&Arc<dyn Storage>>, path: &Path) -> Opened {
    open(storage, path, true)
}

type Opened = Result<Box<dyn ReadAt + Send + Sync>, PathError>;

fn open(storage: Option<&Arc<dyn Storage>>, path: &Path, listed: bool) -> Opened {
    match storage {
        None => Ok(Box::new(open_file(path, listed)?)),
        Some(storage) => storage.open(path).map_err(|error| PathError::of_io(&error, listed)),
    }
}

/// Reads a log into memory, to be read there from its start.
pub(crate) fn open_log(storage: &dyn Storage, path: &Path) -> io::Result<Cursor<Bytes>> {
    read(storage, path).map(Cursor::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_in_memory_have_the_files_in_them_alone() {
        let mut memory = Memory::default();
        for path in ["db/CURRENT", "db/below/000005.ldb", "dbx/000007.ldb"] {
            memory.insert(path, path.as_bytes());
        }
        assert_eq!(memory.list(Path::new("db")).unwrap(), Some(vec![("CURRENT".to_owned(), 10)]));
        assert_eq!(memory.list(Path::new("db/CURRENT")).unwrap(), None);
        assert_eq!(memory.list(Path::new("d")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(memory.open(Path::new("db")).err().unwrap().kind(), io::ErrorKind::NotFound);
        assert_eq!(memory.open(Path::new("dbx/000007.ldb")).unwrap().read_at(3, 2).unwrap(), "/0"[..]);
    }
}
