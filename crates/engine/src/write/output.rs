//! Where a new database goes: a folder, memory, a stream of files, or nowhere.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use filterblock::table::ReadAt;

use super::failure::Result;
use crate::walk::Source;

/// Bytes that are copied at a time.
const PIECE: usize = 256 << 10;

/// A place for the files of a new database, which appears complete or not at all. Threads use it concurrently.
pub trait Output: Sync {
    /// Creates a file. There is none of this name. `like`: the old file that it takes the place of, whose owner, rights and
    /// times it gets where there are such.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn create(&self, name: &str, like: Option<&dyn Source>) -> io::Result<Box<dyn OutputFile>>;

    /// Opens a file that is finished, to read it back.
    ///
    /// # Errors
    ///
    /// [`NotFound`](io::ErrorKind::NotFound) if there is no such file; other kinds if it cannot be read.
    fn open(&self, name: &str) -> io::Result<Box<dyn Source>>;

    /// Takes note that a file was read back and found right: it may leave. By default, it stays.
    ///
    /// # Errors
    ///
    /// Those of the place that it leaves for.
    fn release(&self, name: &str) -> io::Result<()> {
        let _ = name;
        Ok(())
    }

    /// Removes a file that could not be finished. By default, an unfinished file is nowhere.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn remove(&self, name: &str) -> Result<()> {
        let _ = name;
        Ok(())
    }

    /// Makes a file without a name, for entries that do not fit into memory. By default, there is no place for such files.
    ///
    /// # Errors
    ///
    /// [`Unsupported`](io::ErrorKind::Unsupported) if there is no place for such files.
    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "entries of logs need more than 128 MiB of memory"))
    }

    /// Prepares for about this many bytes of tables, in this many files. By default, there is room for anything.
    ///
    /// # Errors
    ///
    /// A refusal that says what is needed, and failures of the system.
    fn begin(&mut self, bytes: u64, files: u64) -> Result<()> {
        let _ = (bytes, files);
        Ok(())
    }

    /// Makes the database appear, after all its files are finished. Returns notes. By default, it is there with its last
    /// file.
    ///
    /// # Errors
    ///
    /// After an error there is no database, unless only the last sync failed.
    fn commit(&mut self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// The path of a file, for messages. An empty name stands for the database itself.
    fn path_of(&self, name: &str) -> PathBuf {
        name.into()
    }

    /// Returns false if nothing is written: only what would be is of interest.
    fn is_wanted(&self) -> bool {
        true
    }
}

/// A file that is being written.
pub trait OutputFile: Write {
    /// Writes the first `len` bytes of `source`. By default, in pieces of 256 KiB.
    ///
    /// # Errors
    ///
    /// Those of the system, and if `source` is shorter.
    fn copy_from(&mut self, source: &dyn Source, len: u64) -> io::Result<()> {
        copy_pieces(self, source, len)
    }

    /// Makes the file durable.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

pub(super) fn copy_pieces(to: &mut (impl Write + ?Sized), source: &dyn Source, len: u64) -> io::Result<()> {
    let mut at = 0;
    while at < len {
        let piece = source.read_at(at, PIECE.min(usize::try_from(len - at).unwrap_or(PIECE)))?;
        to.write_all(&piece)?;
        at += piece.len() as u64;
    }
    Ok(())
}

/// A file that is written once and then read.
pub trait Scratch: Write + ReadAt + Send + Sync {}

impl<F: Write + ReadAt + Send + Sync> Scratch for F {}

/// Nowhere, for a dry run. Entries that do not fit into memory go to a temporary file.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoOutput;

impl Output for NoOutput {
    fn create(&self, _: &str, _: Option<&dyn Source>) -> io::Result<Box<dyn OutputFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn open(&self, _: &str) -> io::Result<Box<dyn Source>> {
        Err(io::ErrorKind::NotFound.into())
    }

    #[cfg(feature = "fs")]
    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        Ok(Box::new(tempfile::tempfile()?))
    }

    fn is_wanted(&self) -> bool {
        false
    }
}

/// Finished files, by name.
type Finished = Arc<Mutex<BTreeMap<String, Bytes>>>;

/// A database in memory.
#[derive(Default, Debug)]
pub struct MemoryOutput {
    finished: Finished,
}

impl MemoryOutput {
    /// The files that are finished, by name.
    pub fn into_files(self) -> BTreeMap<String, Bytes> {
        std::mem::take(&mut lock(&self.finished))
    }
}

impl Output for MemoryOutput {
    fn create(&self, name: &str, _: Option<&dyn Source>) -> io::Result<Box<dyn OutputFile>> {
        Ok(MemoryFile::create(name, &self.finished))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Source>> {
        open(&self.finished, name)
    }

    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        Ok(Box::new(Vec::new()))
    }
}

/// The files of a database, one after another, as an archive takes them. Each is read back before it leaves, so that memory
/// holds about one table.
pub struct StreamOutput<S> {
    finished: Finished,
    sink: Mutex<S>,
}

impl<S: FnMut(&str, Bytes) -> io::Result<()>> StreamOutput<S> {
    /// `sink` takes each file with its name.
    pub fn new(sink: S) -> Self {
        Self { finished: Finished::default(), sink: Mutex::new(sink) }
    }
}

impl<S> Debug for StreamOutput<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamOutput").finish_non_exhaustive()
    }
}

impl<S: FnMut(&str, Bytes) -> io::Result<()> + Send> Output for StreamOutput<S> {
    fn create(&self, name: &str, _: Option<&dyn Source>) -> io::Result<Box<dyn OutputFile>> {
        Ok(MemoryFile::create(name, &self.finished))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Source>> {
        open(&self.finished, name)
    }

    fn release(&self, name: &str) -> io::Result<()> {
        let contents = lock(&self.finished).remove(name);
        contents.map_or(Ok(()), |contents| lock(&self.sink)(name, contents))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open(finished: &Finished, name: &str) -> io::Result<Box<dyn Source>> {
    let contents = lock(finished).get(name).cloned().ok_or(io::ErrorKind::NotFound)?;
    Ok(Box::new(contents))
}

struct MemoryFile {
    name: String,
    contents: Vec<u8>,
    finished: Finished,
}

impl MemoryFile {
    fn create(name: &str, finished: &Finished) -> Box<dyn OutputFile> {
        Box::new(Self { name: name.to_owned(), contents: Vec::new(), finished: Arc::clone(finished) })
    }
}

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.contents.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl OutputFile for MemoryFile {
    fn finish(self: Box<Self>) -> io::Result<()> {
        let Self { name, contents, finished } = *self;
        lock(&finished).insert(name, contents.into());
        Ok(())
    }
}
