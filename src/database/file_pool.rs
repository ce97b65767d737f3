//! Files that are opened when they are read and closed when others are read, so that any number of
//! tables can be read with a few handles (LevelDB's `db/table_cache.cc`).

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::{fmt, io};

use bytes::Bytes;

use super::opener::Opener;
use crate::table::{ReadAt, TableIndex};

/// Files of which at most a given number are open at a time, for any number of readers and threads.
///
/// A file that several readers have opened is open once for all of them. To open another file than
/// these, the pool closes the one read longest ago, and opens that one again when it is read. It
/// closes more of them if the system allows no more open files.
///
/// A clone is the same pool. A pool is an [`Opener`], so that scans and lookups in a database can use it, too; logs are
/// read at once and do not count.
///
/// ```
/// use filterblock::database::{Database, FileOpener, FilePool};
/// use filterblock::table::{Lookup, ReadOptions, Table};
///
/// let pool = FilePool::new(FileOpener, 4);
/// let (database, key) = (Database::open("testdata/databases/levels")?, b"item/0005/595");
/// let mut scan = database.scan_with(&ReadOptions::default(), pool.clone())?;
/// assert!(scan.next()?);
/// // A lookup in tables that are kept open.
/// let options = ReadOptions::default().internal_keys(true);
/// for path in database.tables_for(key).filter_map(|table| table.file.path()) {
///     let table = Table::open(pool.open(path)?, &options)?.with_path(path);
///     if table.get_at(key, u64::MAX)? != Lookup::Absent {
///         break;
///     }
/// }
/// # assert!(pool.open_files() > 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FilePool<O: Opener>(Arc<Pool<O>>);

/// A file of a [`FilePool`]. It may be closed at any time, and is opened again when it is read. That
/// fails with [`NotFound`](io::ErrorKind::NotFound) if the file is gone by then, or if one of another
/// length or [`version`](Opener::version) has its name. It is closed with the last of its clones.
pub struct PooledFile<O: Opener>(Arc<Shared<O>>);

struct Pool<O: Opener> {
    max: usize,
    opener: Mutex<O>,
    state: Mutex<State<O>>,
}

struct State<O: Opener> {
    known: HashMap<PathBuf, Weak<Shared<O>>>,
    /// The open files, each with its number. The one that was opened or read last is at the end.
    open: VecDeque<(u64, Arc<O::Table>)>,
    /// The number of the next file.
    next: u64,
}

struct Shared<O: Opener> {
    pool: FilePool<O>,
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

impl<O: Opener> FilePool<O> {
    /// Returns a pool that opens files with `opener`: at most `max_open` at a time, and one if that is 0.
    pub fn new(opener: O, max_open: usize) -> Self {
        let state = State { known: HashMap::new(), open: VecDeque::new(), next: 0 };
        Self(Arc::new(Pool { max: max_open.max(1), opener: Mutex::new(opener), state: Mutex::new(state) }))
    }

    /// Opens the table in the file at `path`.
    ///
    /// # Errors
    ///
    /// Those of the opener, without the path.
    pub fn open(&self, path: &Path) -> io::Result<PooledFile<O>> {
        self.open_with_index(path).map(|(file, _)| file)
    }

    /// Opens the file at `path`. Also returns the table's index if the opener has kept it.
    pub(super) fn open_with_index(
        &self,
        path: &Path,
    ) -> io::Result<(PooledFile<O>, Option<Arc<TableIndex>>)> {
        let mut opener = lock(&self.0.opener);
        let (file, identity) = self.open_anew(&mut opener, path)?;
        let index = opener.index(&file);
        drop(opener);
        let mut state = self.state();
        let known = state.known.get(path).and_then(Weak::upgrade);
        let shared = match known {
            Some(known) if known.identity == identity => known,
            replaced => {
                let number = state.next;
                state.next = number.wrapping_add(1);
                let (pool, is_lost) = (self.clone(), AtomicBool::new(false));
                let shared = Arc::new(Shared { pool, path: path.to_owned(), number, identity, is_lost });
                state.known.insert(path.to_owned(), Arc::downgrade(&shared));
                drop(state);
                // Dropping it may take the lock.
                drop(replaced);
                state = self.state();
                shared
            }
        };
        state.keep(shared.number, Arc::new(file), self.0.max);
        drop(state);
        Ok((PooledFile(shared), index))
    }

    /// The number of files that are open.
    pub fn open_files(&self) -> usize {
        self.state().open.len()
    }

    /// Returns the error of opening the file at `path`, which was missing when its folder was
    /// listed. If the file can be opened by now, the error is `NotFound`.
    pub(super) fn why_missing(&self, path: &Path) -> io::Error {
        let error = lock(&self.0.opener).open_table(path).err();
        error.unwrap_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "it was missing when its folder was listed")
        })
    }

    /// Opens a file, after closing the files read longest ago: down to the maximum, and then as many as the system
    /// wants closed.
    fn open_anew(&self, opener: &mut O, path: &Path) -> io::Result<(O::Table, Identity)> {
        self.state().make_room(self.0.max);
        let file = self.closing_others(|| opener.open_table(path))?;
        let identity = Identity { len: file.len()?, version: opener.version(&file)? };
        Ok((file, identity))
    }

    fn closing_others<T>(&self, mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        loop {
            match open() {
                Err(error) if is_out_of_handles(&error) && self.state().open.pop_front().is_some() => {}
                result => return result,
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State<O>> {
        lock(&self.0.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<O: Opener> State<O> {
    fn take(&mut self, number: u64) -> Option<Arc<O::Table>> {
        let at = self.open.iter().rposition(|(open, _)| *open == number)?;
        self.open.remove(at).map(|(_, file)| file)
    }

    fn make_room(&mut self, max: usize) {
        let excess = self.open.len().saturating_add(1).saturating_sub(max);
        self.open.drain(..excess);
    }

    /// Adds an open file. Other threads may have opened files since room was made.
    fn keep(&mut self, number: u64, file: Arc<O::Table>, max: usize) {
        self.take(number);
        self.make_room(max);
        self.open.push_back((number, file));
    }
}

/// Returns `true` if the process, or the whole system, has as many files open as it may: `EMFILE`
/// and `ENFILE` on Unix, `ERROR_TOO_MANY_OPEN_FILES` on Windows.
fn is_out_of_handles(error: &io::Error) -> bool {
    let codes: &[i32] = if cfg!(windows) { &[4] } else { &[24, 23] };
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

impl<O: Opener> PooledFile<O> {
    /// The path that the file was opened at.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns `true` if `other` is the same file, opened while this one was.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns what the opener's [`version`](Opener::version) returned for the file.
    pub fn version(&self) -> &[u8] {
        &self.0.identity.version
    }

    /// Returns `true` if an attempt to open the file again has failed. A scan then gives up the rest
    /// of the table.
    pub(super) fn is_lost(&self) -> bool {
        self.0.is_lost.load(Ordering::Relaxed)
    }
}

impl<O: Opener> Shared<O> {
    /// The open file, which is opened again if it was closed.
    fn file(&self) -> io::Result<Arc<O::Table>> {
        let mut state = self.pool.state();
        if let Some(file) = state.take(self.number) {
            state.open.push_back((self.number, Arc::clone(&file)));
            return Ok(file);
        }
        drop(state);
        let file = Arc::new(self.reopen().inspect_err(|_| self.is_lost.store(true, Ordering::Relaxed))?);
        self.pool.state().keep(self.number, Arc::clone(&file), self.pool.0.max);
        Ok(file)
    }

    fn reopen(&self) -> io::Result<O::Table> {
        let (file, identity) = self.pool.open_anew(&mut lock(&self.pool.0.opener), &self.path)?;
        if identity == self.identity {
            return Ok(file);
        }
        // The file that was being read is gone, whatever has its name now.
        let message = "the file was replaced or changed while it was read";
        Err(io::Error::new(io::ErrorKind::NotFound, message))
    }
}

impl<O: Opener> Opener for FilePool<O> {
    type Table = PooledFile<O>;
    type Log = O::Log;

    fn open_table(&mut self, path: &Path) -> io::Result<PooledFile<O>> {
        self.open(path)
    }

    /// Opens a log, after closing files of the pool if the system allows no more open files.
    fn open_log(&mut self, path: &Path) -> io::Result<O::Log> {
        let mut opener = lock(&self.0.opener);
        self.closing_others(|| opener.open_log(path))
    }

    fn version(&mut self, table: &PooledFile<O>) -> io::Result<Vec<u8>> {
        Ok(table.version().to_vec())
    }
}

impl<O: Opener> ReadAt for PooledFile<O> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.identity.len)
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.0.file()?.read_at(offset, len)
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.file()?.read_into(offset, buffer)
    }

    /// Passes the ranges on to the file if it is open. A closed file is not opened again for this.
    fn will_need(&self, ranges: &[Range<u64>]) {
        let state = self.0.pool.state();
        let open =
            state.open.iter().rfind(|(open, _)| *open == self.0.number).map(|(_, file)| Arc::clone(file));
        drop(state);
        open.iter().for_each(|file| file.will_need(ranges));
    }
}

impl<O: Opener> Drop for Shared<O> {
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

impl<O: Opener> Clone for FilePool<O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<O: Opener> Clone for PooledFile<O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<O: Opener> fmt::Debug for FilePool<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilePool").field("max_open", &self.0.max).finish_non_exhaustive()
    }
}

impl<O: Opener> fmt::Debug for PooledFile<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PooledFile").field("path", &self.0.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::sync::Weak;

    use super::*;
    use crate::database::FileOpener;

    /// The numbers of the files that are open, the one read last at the end.
    fn open(files: &FilePool<FileOpener>) -> Vec<u64> {
        files.state().open.iter().map(|(number, _)| *number).collect()
    }

    #[test]
    fn what_was_read_longest_ago_is_closed_and_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..4).map(|at| folder.path().join(at.to_string())).collect();
        paths.iter().enumerate().for_each(|(at, path)| fs::write(path, [at as u8; 10]).unwrap());
        let files = FilePool::new(FileOpener, 2);
        let opened: Vec<PooledFile<FileOpener>> =
            paths.iter().map(|path| files.open(path).unwrap()).collect();
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
        let files = FilePool::new(Few(2, Vec::new()), 10);
        let opened: Vec<_> = (0..4).map(|at| files.open(Path::new(&format!("{at}"))).unwrap()).collect();
        for file in opened.iter().chain(&opened) {
            assert_eq!(file.read_at(3, 5).unwrap(), "tents");
        }
        assert_eq!(files.open_files(), 2);
        assert!(opened.iter().all(|file| file.version().is_empty()), "the opener has none");
        // Without any open file, there is none to close.
        assert!(FilePool::new(Few(0, Vec::new()), 10).open(Path::new("table")).is_err());
    }

    /// A file of ten bytes that records the calls that it gets.
    struct Asked(PathBuf, Arc<Mutex<Vec<String>>>);

    impl ReadAt for Asked {
        fn len(&self) -> io::Result<u64> {
            Ok(10)
        }

        fn read_at(&self, _: u64, _: usize) -> io::Result<Bytes> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn read_into(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
            lock(&self.1).push(format!("{} {offset} {}", self.0.display(), buffer.len()));
            buffer.fill(7);
            Ok(())
        }

        fn will_need(&self, ranges: &[Range<u64>]) {
            lock(&self.1).push(format!("{} {ranges:?}", self.0.display()));
        }
    }

    /// Opens any path but `none`. A file's version is its path.
    struct AnyPath(Arc<Mutex<Vec<String>>>);

    impl Opener for AnyPath {
        type Table = Asked;
        type Log = io::Empty;

        fn open_table(&mut self, path: &Path) -> io::Result<Asked> {
            if path == "none" {
                return Err(io::ErrorKind::NotFound.into());
            }
            lock(&self.0).push(format!("open {}", path.display()));
            Ok(Asked(path.to_owned(), Arc::clone(&self.0)))
        }

        fn open_log(&mut self, _: &Path) -> io::Result<io::Empty> {
            Ok(io::empty())
        }

        fn version(&mut self, table: &Asked) -> io::Result<Vec<u8>> {
            Ok(table.0.to_str().unwrap().as_bytes().to_vec())
        }
    }

    #[test]
    fn files_are_asked_what_the_pool_is_asked() {
        let asked = Arc::default();
        let told = || std::mem::take(&mut *lock(&asked));
        let mut files = FilePool::new(AnyPath(Arc::clone(&asked)), 2);
        let [a, b] = ["a", "b"].map(|path| files.open(Path::new(path)).unwrap());
        assert_eq!(
            (a.version(), b.version(), told()),
            (&b"a"[..], &b"b"[..], vec!["open a".into(), "open b".into()])
        );
        let mut buffer = [0; 3];
        a.read_into(4, &mut buffer).unwrap();
        b.will_need(&[1..2, 5..9]);
        assert_eq!((buffer, told()), ([7; 3], vec!["a 4 3".to_owned(), "b [1..2, 5..9]".to_owned()]));
        // As an opener, the pool opens files of its own, with the versions that they have.
        let c = files.open_table(Path::new("c")).unwrap();
        assert_eq!((files.version(&c).unwrap(), told()), (b"c".to_vec(), vec!["open c".to_owned()]));
        assert_eq!(Opener::version(&mut &mut files, &c).unwrap(), b"c");
        // That closed b, which has not been read. Only reading opens it again.
        [&a, &b, &c].into_iter().for_each(|file| file.will_need(&[3..4, 6..8]));
        assert_eq!(told(), ["a [3..4, 6..8]", "c [3..4, 6..8]"]);
        assert_eq!(
            format!("{files:?} {c:?}"),
            r#"FilePool { max_open: 2, .. } PooledFile { path: "c", .. }"#
        );
    }

    /// Only an error that says that too many files are open closes any.
    #[test]
    fn a_file_that_cannot_be_opened_closes_no_more_than_one_other() {
        let files = FilePool::new(AnyPath(Arc::default()), 5);
        let opened = ["a", "b", "c"].map(|path| files.open(Path::new(path)).unwrap());
        assert!(files.open(Path::new("none")).is_err());
        assert_eq!(files.open_files(), opened.len());
    }

    #[test]
    #[cfg_attr(miri, ignore = "sets the times of a file")]
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
            let files = FilePool::new(FileOpener, 1);
            let (a, b) = (files.open(&path("a")).unwrap(), files.open(&path("b")).unwrap());
            assert_eq!(b.read_at(0, 5).unwrap(), "other");
            change(&path("a"));
            let error = a.read_at(0, 7).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}");
            assert!(a.is_lost() && !b.is_lost());
            assert_eq!(b.read_at(0, 5).unwrap(), "other");
        }
    }

    #[test]
    fn readers_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..4).map(|at| folder.path().join(format!("ä {at}"))).collect();
        paths.iter().enumerate().for_each(|(at, path)| fs::write(path, [at as u8; 10]).unwrap());
        let files = FilePool::new(FileOpener, 2);
        let readers: Vec<_> = (0..40).map(|at: usize| files.open(&paths[at % 4]).unwrap()).collect();
        assert_eq!(files.open_files(), 2);
        for (at, reader) in readers.iter().enumerate().chain(readers.iter().enumerate().rev()) {
            assert_eq!(reader.read_at(1, 3).unwrap(), [(at % 4) as u8; 3][..]);
            assert!(reader.is_same(&readers[at % 4]) && !reader.is_same(&readers[(at + 1) % 4]));
            assert!(files.open_files() <= 2);
        }
        let one: Vec<_> = readers.into_iter().step_by(4).collect();
        assert_eq!(one[3].read_at(0, 1).unwrap(), [0][..]);
        assert_eq!(files.open_files(), 1);
        drop(one);
        assert_eq!(files.open_files(), 0);
        assert!(files.state().known.is_empty());
    }

    #[test]
    fn a_file_that_is_opened_twice_is_open_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let files = FilePool::new(FileOpener, 4);
        let readers = [0; 3].map(|_| files.open(file.path()).unwrap());
        assert_eq!(files.open_files(), 1);
        drop(readers);
        assert_eq!(files.open_files(), 0);
    }

    #[test]
    fn another_file_of_the_same_name_is_not_read_as_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "first").unwrap();
        fs::write(folder.path().join("b"), "other").unwrap();
        let files = FilePool::new(FileOpener, 1);
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

    #[test]
    fn threads_read_more_files_than_may_be_open() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..8).map(|at| folder.path().join(at.to_string())).collect();
        paths.iter().enumerate().for_each(|(at, path)| fs::write(path, [at as u8; 10]).unwrap());
        let files = FilePool::new(FileOpener, 2);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (files, paths) = (&files, &paths);
                scope.spawn(move || {
                    for round in 0..200 {
                        let at = (round * 3 + thread) % 8;
                        let file = files.open(&paths[at]).unwrap();
                        assert_eq!(file.read_at(2, 4).unwrap(), [at as u8; 4][..]);
                        assert!(files.open_files() <= 2);
                    }
                });
            }
        });
        assert_eq!((files.open_files(), files.state().known.len()), (0, 0));
    }
}
