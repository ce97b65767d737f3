//! Openers of files that are in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bytes::Bytes;
use filterblock::database::{Database, DatabaseListing, Opener};
use filterblock::table::{FetchedRanges, ReadAt};

/// Files in memory by their names, the requests for them, and the tables that are open.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) files: BTreeMap<String, Bytes>,
    asked: RefCell<Vec<String>>,
    pub(crate) open: Rc<RefCell<Open>>,
    /// The file that cannot be opened, from the request with this number on.
    pub(crate) failing: RefCell<Option<(String, usize)>>,
    /// The version that is reported for every table.
    pub(crate) version: RefCell<Vec<u8>>,
}

#[derive(Default)]
pub(crate) struct Open {
    pub(crate) now: usize,
    pub(crate) most: usize,
}

/// A table that counts as open until it is dropped.
pub(crate) struct Counted {
    contents: Bytes,
    open: Rc<RefCell<Open>>,
}

impl ReadAt for Counted {
    fn len(&self) -> io::Result<u64> {
        ReadAt::len(&self.contents)
    }
    fn read_at(&self, offset: u64, len: usize) -> io::Result<Bytes> {
        self.contents.read_at(offset, len)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.open.borrow_mut().now -= 1;
    }
}

pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

impl Memory {
    /// The files of a folder, and the database that their listing makes, with the folder's paths.
    pub(crate) fn of(dir: &Path) -> (Self, Database) {
        let mut memory = Self::default();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            memory.files.insert(name(&path), fs::read(&path).unwrap().into());
        }
        let names = memory.files.iter().map(|(name, contents)| (name, contents.len() as u64));
        let mut listing = DatabaseListing::new(names).in_dir(dir);
        while let Some(wanted) = listing.wanted() {
            let contents = memory.get(wanted);
            listing.supply(contents);
        }
        (memory, listing.into_database())
    }

    pub(crate) fn get(&self, name: &str) -> io::Result<Bytes> {
        // The system's error for a file that is not there.
        self.files.get(name).cloned().ok_or_else(|| io::Error::from_raw_os_error(2))
    }

    fn ask(&self, path: &Path) -> io::Result<Bytes> {
        let name = name(path);
        self.asked.borrow_mut().push(name.clone());
        let times = self.asked.borrow().iter().filter(|asked| **asked == name).count();
        match &*self.failing.borrow() {
            Some((failing, from)) if *failing == name && times >= *from => {
                Err(io::ErrorKind::TimedOut.into())
            }
            _ => self.get(&name),
        }
    }

    /// The names of the files that were asked for since the last call.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.take()
    }
}

impl Opener for &Memory {
    type Table = Counted;
    type Log = Cursor<Bytes>;

    fn open_table(&mut self, path: &Path) -> io::Result<Counted> {
        assert!(!path.to_str().unwrap().ends_with(".log"));
        let contents = self.ask(path)?;
        let mut open = self.open.borrow_mut();
        open.now += 1;
        open.most = open.most.max(open.now);
        Ok(Counted { contents, open: Rc::clone(&self.open) })
    }

    fn open_log(&mut self, path: &Path) -> io::Result<Cursor<Bytes>> {
        assert!(path.to_str().unwrap().ends_with(".log"));
        self.ask(path).map(Cursor::new)
    }

    fn version(&mut self, _: &Counted) -> io::Result<Vec<u8>> {
        Ok(self.version.borrow().clone())
    }
}

/// Opens tables of which no range is there at first.
pub(crate) struct Fetching<'a>(
    pub(crate) &'a Memory,
    pub(crate) RefCell<BTreeMap<PathBuf, Rc<FetchedRanges>>>,
);

impl Opener for &Fetching<'_> {
    type Table = Rc<FetchedRanges>;
    type Log = Cursor<Bytes>;

    fn open_table(&mut self, path: &Path) -> io::Result<Rc<FetchedRanges>> {
        let contents = self.0.get(&name(path))?;
        let none = || Rc::new(FetchedRanges::new(contents.len() as u64, 0, Bytes::new()));
        Ok(Rc::clone(self.1.borrow_mut().entry(path.to_owned()).or_insert_with(none)))
    }

    fn open_log(&mut self, path: &Path) -> io::Result<Cursor<Bytes>> {
        self.0.get(&name(path)).map(Cursor::new)
    }
}
