//! Where files are.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fmt::Debug};

use bytes::Bytes;
use filterblock::database::{Database, DatabaseListing, FileOpener, Opener};
use filterblock::table::ReadAt;

use super::input::{kind, refuse_url};
use super::windowed::Sequential;
use crate::report::Fault;

/// How far files of the local file system are read ahead, in bytes.
pub(crate) const READ_AHEAD: usize = 64 << 10;

/// Where files are: the local file system, memory, an archive. Files are listed and read without waiting. Threads use
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

    /// The names directly in the folder at `path` with no regular file behind them, each with what is there instead. By
    /// default, none: repairs alone ask for them.
    ///
    /// # Errors
    ///
    /// Those of [`list`](Self::list).
    fn others(&self, path: &Path) -> io::Result<Vec<(String, &'static str)>> {
        let _ = path;
        Ok(Vec::new())
    }

    /// The folders directly in the folder at `path`, for [`Inputs::recursive`](crate::Inputs::recursive). By default, none.
    fn folders(&self, path: &Path) -> Vec<PathBuf> {
        let _ = path;
        Vec::new()
    }

    /// Opens the file at `path`. A read of a file that has changed since it was listed fails with
    /// [`StaleNetworkFileHandle`](io::ErrorKind::StaleNetworkFileHandle), so that the file is not reported as
    /// damaged.
    ///
    /// # Errors
    ///
    /// [`NotFound`](io::ErrorKind::NotFound) if there is no such file; other kinds if it cannot be read.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>>;

    /// The most bytes to read at once for a reader that reads in order, beyond what it asks for. By default 0, which suits
    /// memory, and files that read ahead themselves.
    fn read_ahead(&self) -> usize {
        0
    }

    /// The database in the folder at `path`: any folder can be opened as one. `None` if the path is that of a file. By
    /// default, it is made of what [`list`](Self::list) and [`open`](Self::open) return.
    ///
    /// # Errors
    ///
    /// Those of `list`.
    fn database(&self, path: &Path) -> Result<Option<Database>, Fault> {
        let Some(names) = self.list(path)? else { return Ok(None) };
        let mut listing = DatabaseListing::new(names).in_dir(path);
        while let Some(name) = listing.wanted() {
            let contents = self.open(&path.join(name)).map(Sequential::new);
            listing.supply_from(contents);
        }
        Ok(Some(listing.into_database()))
    }
}

/// An open file.
pub trait Source: ReadAt + Send + Sync {
    /// Differs for another file that has the same path and length. By default, it is empty.
    ///
    /// # Errors
    ///
    /// If it cannot be found out.
    fn version(&self) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    /// The file of the system, whose storage a copy may share. By default, there is none.
    fn as_file(&self) -> Option<&File> {
        None
    }
}

impl Source for Bytes {}

impl Source for File {
    fn version(&self) -> io::Result<Vec<u8>> {
        FileOpener.version(self)
    }

    fn as_file(&self) -> Option<&File> {
        Some(self)
    }
}

/// The local file system.
#[derive(Clone, Copy, Default, Debug)]
pub struct LocalStorage;

impl Storage for LocalStorage {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<(String, u64)>>> {
        if fs::metadata(path)?.is_file() {
            return Ok(None);
        }
        let named = fs::read_dir(path)?.flatten().filter_map(|entry| {
            let file = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((entry.file_name().into_string().ok()?, file.len()))
        });
        Ok(Some(named.collect()))
    }

    /// Links to folders are not followed.
    fn folders(&self, path: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.map(|folder| folder.path()).collect()
    }

    fn read_ahead(&self) -> usize {
        READ_AHEAD
    }

    /// Opens a regular file.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(open_file(path)?))
    }

    fn database(&self, path: &Path) -> Result<Option<Database>, Fault> {
        refuse_url(path)?;
        match fs::metadata(path)?.file_type() {
            file_type if file_type.is_dir() => {
                let database = Database::open(path).map_err(|error| Fault::of(&error, false))?;
                Ok(Some(database))
            }
            file_type if file_type.is_file() => Ok(None),
            file_type => Err(Fault::unexpected("a table or a database folder", kind(file_type))),
        }
    }
}

fn open_file(path: &Path) -> io::Result<File> {
    let check = |metadata: fs::Metadata| match metadata.is_file() {
        true => Ok(()),
        false => Err(Fault::unexpected(Fault::REGULAR_FILE, kind(metadata.file_type()))),
    };
    refuse_url(path).map_err(io::Error::other)?;
    // Opening a pipe would wait for its other end, so the type is checked before opening, and once more
    // afterwards, as the file may have been replaced in between.
    check(fs::metadata(path)?).map_err(io::Error::other)?;
    let file = File::open(path)?;
    check(file.metadata()?).map_err(io::Error::other)?;
    Ok(file)
}

/// Files in memory, each with its path.
#[derive(Clone, Default)]
pub struct MemoryStorage {
    files: BTreeMap<PathBuf, Bytes>,
}

impl MemoryStorage {
    /// Adds a file, or replaces it.
    pub fn insert(&mut self, path: impl Into<PathBuf>, contents: impl Into<Bytes>) {
        self.files.insert(path.into(), contents.into());
    }
}

impl Debug for MemoryStorage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStorage").field("files", &self.files.len()).finish()
    }
}

impl Storage for MemoryStorage {
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

    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        let contents = self.files.get(path).cloned().ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(contents))
    }
}

/// Opens a file. `listed`: its name was found in a folder a moment ago.
pub(crate) fn open(storage: &dyn Storage, path: &Path, listed: bool) -> Result<Box<dyn Source>, Fault> {
    storage.open(path).map_err(|error| Fault::of_io(&error, listed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_in_memory_have_the_files_in_them_alone() {
        let mut memory = MemoryStorage::default();
        for path in ["db/CURRENT", "db/below/000005.ldb", "dbx/000007.ldb"] {
            memory.insert(path, path.as_bytes());
        }
        assert_eq!(memory.list(Path::new("db")).unwrap(), Some(vec![("CURRENT".to_owned(), 10)]));
        assert_eq!(memory.list(Path::new("db/CURRENT")).unwrap(), None);
        assert_eq!(memory.list(Path::new("d")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(memory.open(Path::new("db")).err().unwrap().kind(), io::ErrorKind::NotFound);
        assert_eq!(memory.open(Path::new("dbx/000007.ldb")).unwrap().read_at(3, 2).unwrap(), "/0"[..]);
    }

    #[test]
    fn a_file_is_refused_that_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| open(&LocalStorage, path, false).err().unwrap().to_string();
        assert_eq!(refused(folder.path()), "expected a regular file, found a folder");
        let url = Path::new("s3://bucket/000005.ldb");
        assert_eq!(
            refused(url),
            "expected a path, found a URL (s3:); copy the database to a folder, or mount it"
        );
    }

    #[test]
    fn a_table_that_vanishes_between_listing_and_opening_is_reported_as_that() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("000005.ldb");
        let failure = |listed| open(&LocalStorage, &path, listed).err().unwrap().to_string();
        assert_eq!(failure(true), "vanished: it was there when the folder was listed, and is gone now");
        // The system's message for this differs between Unix and Windows.
        assert_eq!(failure(false), "no such file or folder");
    }

    #[test]
    fn a_file_that_takes_the_name_of_another_has_another_version() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("000005.ldb"), folder.path().join("other"));
        fs::write(&path, "a").unwrap();
        fs::write(&other, "b").unwrap();
        let before = LocalStorage.open(&path).unwrap();
        assert_eq!(before.version().unwrap(), LocalStorage.open(&path).unwrap().version().unwrap());
        let version = before.version().unwrap();
        drop(before);
        fs::rename(other, &path).unwrap();
        assert_ne!(version, LocalStorage.open(&path).unwrap().version().unwrap());
    }
}
