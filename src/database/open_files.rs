//! Files that are opened when they are read and closed when others are read, so that any number of
//! tables can be read with a few handles (LevelDB's `db/table_cache.cc`).

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::opener::Opener;
use crate::table::{ReadAt, TableIndex};

/// Open files, at most `max`.
pub(super) struct OpenFiles<O: Opener> {
    max: usize,
    handles: Mutex<Handles<O>>,
}

struct Handles<O: Opener> {
    opener: O,
    /// The open files, each with its number. The one that was opened or read last is at the end.
    open: VecDeque<(u64, O::Table)>,
    /// The number of the next file.
    next: u64,
}

/// A file of [`OpenFiles`], for reading. It may be closed at any time, and is opened again when it
/// is read.
pub(super) struct PooledFile<O: Opener> {
    files: Arc<OpenFiles<O>>,
    path: PathBuf,
    number: u64,
    identity: Identity,
    is_lost: AtomicBool,
}

/// The identity of a file, to detect another file that has taken its name.
#[derive(PartialEq, Eq)]
struct Identity {
    len: u64,
    version: Vec<u8>,
}

impl<O: Opener> OpenFiles<O> {
    /// Returns a pool without open files. `max` is the maximum number of files that are open at a time, and has to be
    /// at least 1.
    pub(super) fn new(opener: O, max: usize) -> Arc<Self> {
        Arc::new(Self { max, handles: Mutex::new(Handles { opener, open: VecDeque::new(), next: 0 }) })
    }

    /// Opens the file at `path`.
    ///
    /// Also returns the table's index if the opener has kept it.
    pub(super) fn open(
        self: &Arc<Self>,
        path: &Path,
    ) -> io::Result<(PooledFile<O>, Option<Arc<TableIndex>>)> {
        let mut handles = self.handles();
        let file = handles.open_beside(self.max, path)?;
        let identity = handles.identity(&file)?;
        let index = handles.opener.index(&file);
        let number = handles.next;
        handles.next = number.wrapping_add(1);
        handles.open.push_back((number, file));
        let (files, path) = (Arc::clone(self), path.to_owned());
        Ok((PooledFile { files, path, number, identity, is_lost: AtomicBool::new(false) }, index))
    }

    /// Returns the error of opening the file at `path`, which was not there when its folder was
    /// listed. If the file can be opened by now, the error is `NotFound`.
    pub(super) fn why_missing(&self, path: &Path) -> io::Error {
        let error = self.handles().opener.open_table(path).err();
        error.unwrap_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "it was missing when its folder was listed")
        })
    }

    fn handles(&self) -> MutexGuard<'_, Handles<O>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O: Opener> Handles<O> {
    /// Opens a file, closing the files read longest ago, so that at most `max` files are open, or
    /// fewer if the system allows no more.
    fn open_beside(&mut self, max: usize, path: &Path) -> io::Result<O::Table> {
        while !self.open.is_empty() && self.open.len() >= max {
            self.open.pop_front();
        }
        loop {
            match self.opener.open_table(path) {
                Err(error) if is_out_of_handles(&error) && self.open.pop_front().is_some() => {}
                result => return result,
            }
        }
    }

    fn take(&mut self, number: u64) -> Option<O::Table> {
        let at = self.open.iter().rposition(|(open, _)| *open == number)?;
        self.open.remove(at).map(|(_, file)| file)
    }

    fn identity(&mut self, file: &O::Table) -> io::Result<Identity> {
        Ok(Identity { len: file.len()?, version: self.opener.version(file)? })
    }
}

/// Returns `true` if the process, or the whole system, has as many files open as it may: `EMFILE`
/// and `ENFILE` on Unix, `ERROR_TOO_MANY_OPEN_FILES` on Windows.
fn is_out_of_handles(error: &io::Error) -> bool {
    let codes: &[i32] = if cfg!(windows) { &[4] } else { &[24, 23] };
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

impl<O: Opener> PooledFile<O> {
    /// Returns `true` if an attempt to open the file again has failed. A scan then gives up the rest
    /// of the table.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Opens the file again.
    fn reopen(&self, handles: &mut Handles<O>) -> io::Result<O::Table> {
        let file = handles.open_beside(self.files.max, &self.path)?;
        if handles.identity(&file)? == self.identity {
            Ok(file)
        } else {
            // The file that was being read is gone, whatever has its name now.
            let message = "the file was replaced or changed while it was read";
            Err(io::Error::new(io::ErrorKind::NotFound, message))
        }
    }
}

impl<O: Opener> ReadAt for PooledFile<O> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.identity.len)
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        let mut handles = self.files.handles();
        let file = match handles.take(self.number) {
            Some(file) => file,
            None => self.reopen(&mut handles).inspect_err(|_| self.is_lost.store(true, Ordering::Relaxed))?,
        };
        let bytes = file.read_at(offset, len);
        handles.open.push_back((self.number, file));
        bytes
    }

    /// Passes the ranges on to the file if it is open. A closed file is not opened again for this.
    fn will_need(&self, ranges: &[Range<u64>]) {
        let handles = self.files.handles();
        if let Some((_, file)) = handles.open.iter().rfind(|(open, _)| *open == self.number) {
            file.will_need(ranges);
        }
    }
}

impl<O: Opener> Drop for PooledFile<O> {
    fn drop(&mut self) {
        drop(self.files.handles().take(self.number));
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::sync::Weak;

    use super::*;
    use crate::database::FileOpener;

    /// The numbers of the files that are open, the one read last at the end.
    fn open(files: &OpenFiles<FileOpener>) -> Vec<u64> {
        files.handles().open.iter().map(|(number, _)| *number).collect()
    }

    #[test]
    fn what_was_read_longest_ago_is_closed_and_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..4).map(|at| folder.path().join(at.to_string())).collect();
        paths.iter().enumerate().for_each(|(at, path)| fs::write(path, [at as u8; 10]).unwrap());
        let files = OpenFiles::new(FileOpener, 2);
        let opened: Vec<PooledFile<FileOpener>> =
            paths.iter().map(|path| files.open(path).unwrap().0).collect();
        assert_eq!(open(&files), [2, 3]);
        let mut expected = vec![2, 3];
        for at in [2, 0, 0, 2, 1, 3, 2, 0] {
            assert_eq!(opened[at].read_at(1, 3).unwrap(), [at as u8; 3][..]);
            expected.retain(|open| *open != at as u64);
            expected.push(at as u64);
            expected.drain(..expected.len() - 2);
            assert_eq!(open(&files), expected);
        }
        assert!(opened.iter().all(|file| !file.is_lost() && file.len().unwrap() == 10));
        drop(opened);
        assert!(open(&files).is_empty());
        assert!(files.open(folder.path()).is_err() && files.open(&folder.path().join("none")).is_err());
        assert!(open(&files).is_empty());
    }

    /// Opens files in memory, at most a given number at a time.
    struct Few(usize, Vec<Weak<Vec<u8>>>);

    impl Opener for Few {
        type Table = Arc<Vec<u8>>;
        type Log = io::Empty;

        fn open_table(&mut self, _: &Path) -> io::Result<Self::Table> {
            self.1.retain(|file| file.strong_count() > 0);
            if self.1.len() == self.0 {
                return Err(io::Error::from_raw_os_error(if cfg!(windows) { 4 } else { 24 }));
            }
            let file = Arc::new(b"contents".to_vec());
            self.1.push(Arc::downgrade(&file));
            Ok(file)
        }

        fn open_log(&mut self, _: &Path) -> io::Result<Self::Log> {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    #[test]
    fn fewer_files_are_open_if_the_system_allows_no_more() {
        let files = OpenFiles::new(Few(2, Vec::new()), 10);
        let opened: Vec<_> = (0..4).map(|_| files.open(Path::new("table")).unwrap().0).collect();
        for file in opened.iter().chain(&opened) {
            assert_eq!(file.read_at(3, 5).unwrap(), "tents");
        }
        assert_eq!(files.handles().open.len(), 2);
        // Without any open file, there is none to close.
        assert!(OpenFiles::new(Few(0, Vec::new()), 10).open(Path::new("table")).is_err());
    }

    #[test]
    fn a_file_that_is_gone_or_another_when_it_is_opened_again_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for change in [
            (|path: &Path| fs::remove_file(path).unwrap()) as fn(&Path),
            |path| fs::write(path, "longer than before").unwrap(),
            |path| {
                fs::write(path.with_extension("new"), "as long").unwrap();
                let time = fs::metadata(path).unwrap().modified().unwrap();
                let hour = std::time::Duration::from_secs(3600);
                let new = File::options().write(true).open(path.with_extension("new")).unwrap();
                new.set_modified(time + hour).unwrap();
                fs::rename(path.with_extension("new"), path).unwrap();
            },
        ] {
            fs::write(path("a"), "as long").unwrap();
            fs::write(path("b"), "other").unwrap();
            let files = OpenFiles::new(FileOpener, 1);
            let (a, b) = (files.open(&path("a")).unwrap().0, files.open(&path("b")).unwrap().0);
            assert_eq!(b.read_at(0, 5).unwrap(), "other");
            change(&path("a"));
            let error = a.read_at(0, 7).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}");
            assert!(a.is_lost() && !b.is_lost());
            assert_eq!(b.read_at(0, 5).unwrap(), "other");
        }
    }
}
