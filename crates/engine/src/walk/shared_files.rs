//! Files that any number of readers share. Only some of the files are open at a time.

use std::collections::{HashMap, VecDeque};
use std::fmt::{self, Debug};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::{io, ops::Range};

use bytes::Bytes;
use filterblock::database::{FileOpener, Opener as _};
use filterblock::table::ReadAt;

use super::in_order::InOrder;

/// The maximum number of files that are open at a time by default.
const MAX_OPEN: usize = 48;

/// Files of which at most a given number are open at a time. A file that several readers have opened is open once for
/// all of them. The files read longest ago are closed, and opened again when they are read.
#[derive(Clone)]
pub struct SharedFiles(Arc<Pool>);

/// A file of [`SharedFiles`]. It is closed once the last of its readers is dropped.
#[derive(Clone)]
pub struct SharedFile(Arc<Shared>);

struct Pool {
    max: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: HashMap<PathBuf, Weak<Shared>>,
    /// The open files with their numbers. The file read last is at the end.
    open: VecDeque<(u64, Arc<File>)>,
    /// The number of the next file.
    next: u64,
}

struct Shared {
    pool: Arc<Pool>,
    path: PathBuf,
    number: u64,
    identity: Identity,
}

/// The identity of a file, to notice that another file took its name.
#[derive(PartialEq, Eq)]
struct Identity {
    len: u64,
    version: Vec<u8>,
}

impl Identity {
    fn of(file: &File) -> io::Result<Self> {
        Ok(Self { len: file.metadata()?.len(), version: FileOpener.version(file)? })
    }
}

impl Default for SharedFiles {
    /// Allows at most 48 open files.
    fn default() -> Self {
        Self::new(MAX_OPEN)
    }
}

impl SharedFiles {
    /// Starts without open files. `max`: the maximum number of files that are open at a time. One open file is always
    /// allowed.
    pub fn new(max: usize) -> Self {
        Self(Arc::new(Pool { max: max.max(1), state: Mutex::default() }))
    }

    /// Opens the file at `path`, which has to be a regular one.
    ///
    /// # Errors
    ///
    /// If the file is not a regular one, or cannot be opened.
    pub fn open(&self, path: &Path) -> io::Result<SharedFile> {
        self.share(path, self.0.open(path)?)
    }

    /// Shares `file`, which was opened at `path`.
    pub(crate) fn share(&self, path: &Path, file: File) -> io::Result<SharedFile> {
        let identity = Identity::of(&file)?;
        let mut state = self.0.state();
        let known = state.known.get(path).and_then(Weak::upgrade);
        let shared = match known {
            Some(known) if known.identity == identity => known,
            other => {
                let number = state.next;
                state.next = number.wrapping_add(1);
                let pool = Arc::clone(&self.0);
                let shared = Arc::new(Shared { pool, path: path.to_owned(), number, identity });
                state.known.insert(path.to_owned(), Arc::downgrade(&shared));
                // Dropping `other` takes the lock.
                drop(state);
                drop(other);
                state = self.0.state();
                shared
            }
        };
        if state.take(shared.number).is_none() {
            state.make_room(self.0.max);
        }
        state.open.push_back((shared.number, Arc::new(file)));
        drop(state);
        Ok(SharedFile(shared))
    }

    /// The number of files that are open.
    pub fn open_files(&self) -> usize {
        self.0.state().open.len()
    }
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a file. If no more files may be open, closes those of the pool first.
    fn open(&self, path: &Path) -> io::Result<File> {
        match FileOpener.open_table(path) {
            Err(error) if is_out_of_handles(&error) => {
                self.state().open.clear();
                FileOpener.open_table(path)
            }
            result => result,
        }
    }
}

impl State {
    fn take(&mut self, number: u64) -> Option<Arc<File>> {
        let at = self.open.iter().rposition(|(open, _)| *open == number)?;
        self.open.remove(at).map(|(_, file)| file)
    }

    fn make_room(&mut self, max: usize) {
        while self.open.len() >= max {
            self.open.pop_front();
        }
    }
}

/// Returns true if the process, or the whole system, has as many files open as it may.
fn is_out_of_handles(error: &io::Error) -> bool {
    let codes: &[i32] = if cfg!(windows) { &[4] } else { &[24, 23] };
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

impl Shared {
    /// The open file, which is opened again if it was closed.
    fn file(&self) -> io::Result<Arc<File>> {
        let mut state = self.pool.state();
        if let Some(file) = state.take(self.number) {
            state.open.push_back((self.number, Arc::clone(&file)));
            return Ok(file);
        }
        drop(state);
        let file = self.pool.open(&self.path)?;
        if Identity::of(&file)? != self.identity {
            // The file that was being read is gone, whatever has its name now.
            let message = "the file was replaced or changed while it was read";
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        let file = Arc::new(file);
        let mut state = self.pool.state();
        if state.take(self.number).is_none() {
            state.make_room(self.pool.max);
        }
        state.open.push_back((self.number, Arc::clone(&file)));
        Ok(file)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        let file = state.take(self.number);
        if state.known.get(&self.path).is_some_and(|known| known.strong_count() == 0) {
            state.known.remove(&self.path);
        }
        drop(state);
        drop(file);
    }
}

impl SharedFile {
    /// The path at which the file was opened.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns true if `other` is the same file, opened while this one was open.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A mark of this file. Another file of the same length that takes its name has another mark.
    pub fn version(&self) -> &[u8] {
        &self.0.identity.version
    }
}

impl ReadAt for SharedFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.identity.len)
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.0.file()?.read_at(offset, len)
    }

    /// Passes the ranges on to the file if it is open. A closed file is not opened again for this.
    fn will_need(&self, ranges: &[Range<u64>]) {
        let state = self.0.pool.state();
        if let Some((_, file)) = state.open.iter().rfind(|(open, _)| *open == self.0.number) {
            file.will_need(ranges);
        }
    }
}

impl filterblock::database::Opener for SharedFiles {
    type Table = InOrder<SharedFile>;
    type Log = File;

    fn open_table(&mut self, path: &Path) -> io::Result<Self::Table> {
        self.open(path).map(InOrder::new)
    }

    fn open_log(&mut self, path: &Path) -> io::Result<File> {
        self.0.open(path)
    }

    fn version(&mut self, table: &Self::Table) -> io::Result<Vec<u8>> {
        Ok(table.source().version().to_vec())
    }
}

impl Debug for SharedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedFiles").field("max", &self.0.max).finish_non_exhaustive()
    }
}

impl Debug for SharedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedFile").field("path", &self.0.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn readers_share_a_file_and_at_most_so_many_are_open() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..4).map(|at| folder.path().join(format!("ä {at}"))).collect();
        paths.iter().enumerate().for_each(|(at, path)| fs::write(path, [at as u8; 10]).unwrap());
        let files = SharedFiles::new(2);
        let readers: Vec<SharedFile> = (0..40).map(|at: usize| files.open(&paths[at % 4]).unwrap()).collect();
        assert_eq!(files.open_files(), 2);
        for (at, reader) in readers.iter().enumerate().chain(readers.iter().enumerate().rev()) {
            assert_eq!(reader.read_at(1, 3).unwrap(), [(at % 4) as u8; 3][..]);
            assert!(files.open_files() <= 2);
        }
        let one: Vec<SharedFile> = readers.into_iter().step_by(4).collect();
        assert_eq!(one[3].read_at(0, 1).unwrap(), [0][..]);
        assert_eq!(files.open_files(), 1);
        drop(one);
        assert_eq!(files.open_files(), 0);
        assert!(files.0.state().known.is_empty());
        assert!(files.open(folder.path()).is_err() && files.open(&folder.path().join("none")).is_err());
    }

    #[test]
    fn another_file_of_the_same_name_is_not_read_as_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "first").unwrap();
        fs::write(folder.path().join("b"), "other").unwrap();
        let files = SharedFiles::new(1);
        let first = files.open(&path).unwrap();
        let other = files.open(&folder.path().join("b")).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "second, which is longer").unwrap();
        assert_eq!(first.read_at(0, 5).unwrap_err().kind(), io::ErrorKind::NotFound);
        let second = files.open(&path).unwrap();
        assert_eq!(second.read_at(0, 6).unwrap(), "second");
        assert_eq!(first.read_at(0, 5).unwrap_err().kind(), io::ErrorKind::NotFound);
        drop(first);
        assert_eq!(second.read_at(0, 6).unwrap(), "second");
        assert_eq!(other.read_at(0, 5).unwrap(), "other");
    }
}
