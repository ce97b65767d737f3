//! The files that the user has given, and the databases among them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use filterblock::database::FileKind;
use filterblock_engine::Storage;
use serde::Serialize;

use crate::source::{Host, Source};

/// The files with their numbers and sizes.
#[derive(Debug)]
pub struct Files {
    files: BTreeMap<PathBuf, (u32, u64)>,
    host: Arc<dyn Host>,
    /// The number of bytes in the windows of all files.
    held: Arc<AtomicUsize>,
    /// True if files that are opened from now on will be read as a whole.
    is_whole: AtomicBool,
}

/// The longest name of a world that is read, in bytes.
const MAX_NAME: u64 = 256;

/// A folder in which there is something to look at.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct FolderSummary {
    /// The folder.
    pub path: String,
    /// What people call the database, or empty: the name of a Minecraft world, or what a browser keeps in it.
    pub name: String,
    /// The program that the database is of.
    pub program: Program,
    /// True if the folder has a file that only databases have.
    pub is_database: bool,
    /// The number of tables.
    pub tables: u64,
    /// The size of all its files in bytes.
    pub size: u64,
}

/// The program that a database is of, as far as its folder tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Program {
    /// The database is the folder `db` of a world.
    Minecraft,
    /// A browser, or a program made of one: the database is in a profile.
    Chromium,
    /// Not known.
    #[default]
    Other,
}

impl Files {
    /// Files by their paths and sizes, numbered from 0 on.
    pub fn new(files: impl IntoIterator<Item = (String, u64)>, host: Arc<dyn Host>) -> Self {
        let numbered = (0..).zip(files).map(|(number, (path, len))| (PathBuf::from(path), (number, len)));
        Self {
            files: BTreeMap::from_iter(numbered),
            host,
            held: Arc::default(),
            is_whole: AtomicBool::default(),
        }
    }

    /// Sets whether the files that are opened from now on will be read as a whole.
    pub fn read_whole(&self, is_whole: bool) {
        self.is_whole.store(is_whole, Ordering::Relaxed);
    }

    /// Returns the folders that hold databases, tables, or logs that are not empty, by their paths.
    pub fn places(&self) -> Vec<FolderSummary> {
        let mut places: BTreeMap<&Path, (FolderSummary, bool)> = BTreeMap::new();
        for (path, &(_, len)) in &self.files {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str()))
            else {
                continue;
            };
            let (place, is_wanted) = places.entry(folder).or_default();
            place.size = place.size.saturating_add(len);
            match FileKind::parse(name).map(|(kind, _)| kind) {
                Some(FileKind::Current | FileKind::Manifest) => place.is_database = true,
                Some(FileKind::Log) => *is_wanted |= len > 0,
                _ if name.ends_with(".ldb") || name.ends_with(".sst") => place.tables += 1,
                _ => {}
            }
        }
        let named = places.into_iter().filter_map(|(path, (place, is_wanted))| {
            let is_some = is_wanted || place.is_database || place.tables > 0;
            is_some.then(|| {
                let (program, name) = self.program_and_name(path);
                FolderSummary { path: path.to_str().unwrap_or_default().to_owned(), name, program, ..place }
            })
        });
        named.collect()
    }

    fn program_and_name(&self, database: &Path) -> (Program, String) {
        let around = database.parent().unwrap_or(Path::new(""));
        let has = |name: &str| self.files.contains_key(&around.join(name));
        if database.ends_with("db") && (has("levelname.txt") || has("level.dat")) {
            return (Program::Minecraft, self.line(&around.join("levelname.txt")).unwrap_or_default());
        }
        let names: Vec<_> = database.iter().filter_map(|name| name.to_str()).collect();
        let origin = names.last().and_then(|name| name.strip_suffix(".indexeddb.leveldb"));
        if let Some(origin) = origin {
            // SCHEME_HOST_PORT
            let host = origin.split_once('_').map_or(origin, |(_, host)| host);
            let host = host.rsplit_once('_').map_or(host, |(host, _)| host);
            return (Program::Chromium, format!("{host}, IndexedDB"));
        }
        for kept in ["Local Storage", "Session Storage"] {
            if let Some(at) = names.iter().position(|name| *name == kept) {
                let of = at.checked_sub(1).and_then(|at| names.get(at)).map(|of| format!("{of}, "));
                return (Program::Chromium, of.unwrap_or_default() + kept);
            }
        }
        (Program::Other, String::new())
    }

    /// The first line of a short file.
    fn line(&self, path: &Path) -> Option<String> {
        let &(_, len) = self.files.get(path)?;
        let len = usize::try_from(len.min(MAX_NAME)).ok()?;
        let bytes = self.open(path).ok()?.read_at(0, len).ok()?;
        String::from_utf8_lossy(&bytes).lines().next().map(|line| line.trim().to_owned())
    }
}

impl Storage for Files {
    fn list(&self, path: &Path) -> io::Result<Option<Vec<(String, u64)>>> {
        if self.files.contains_key(path) {
            return Ok(None);
        }
        let below = self.files.range(path.to_owned()..).take_while(|(file, _)| file.starts_with(path));
        let mut below = below.peekable();
        if below.peek().is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let named = |(file, (_, len)): (&PathBuf, &(u32, u64))| {
            let name = file.file_name().filter(|_| file.parent() == Some(path))?.to_str()?;
            Some((name.to_owned(), *len))
        };
        Ok(Some(below.filter_map(named).collect()))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn filterblock_engine::Source>> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "it is not among the files given");
        let &(number, len) = self.files.get(path).ok_or_else(missing)?;
        let source = Source::new(Arc::clone(&self.host), number, len, Arc::clone(&self.held));
        Ok(Box::new(source.whole(self.is_whole.load(Ordering::Relaxed))))
    }
}

#[cfg(test)]
mod tests {
    use filterblock::table::ReadAt as _;

    use super::*;

    #[derive(Debug)]
    struct Nothing;

    impl Host for Nothing {
        fn read(&self, _: u32, _: u64, _: &mut [u8]) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    fn files(paths: &[(&str, u64)]) -> Files {
        Files::new(paths.iter().map(|&(path, len)| (path.to_owned(), len)), Arc::new(Nothing))
    }

    #[test]
    fn databases_are_found_wherever_they_are() {
        let files = files(&[
            ("p/a/CURRENT", 16),
            ("p/a/MANIFEST-000001", 50),
            ("p/a/000003.log", 0),
            ("p/a/lost/000005.sst", 70),
            ("p/b/readme.txt", 5),
            ("p/c/000004.log", 1),
            ("p/d/000004.log", 0),
            ("p/e/x.ldb", 9),
            ("p/a b/000005.ldb", 7),
        ]);
        let place = |path: &str, is_database, tables, size| {
            let path = path.to_owned();
            FolderSummary { path, is_database, tables, size, ..FolderSummary::default() }
        };
        let expected = [
            place("p/a", true, 0, 66),
            place("p/a/lost", false, 1, 70),
            place("p/a b", false, 1, 7),
            place("p/c", false, 0, 1),
            place("p/e", false, 1, 9),
        ];
        assert_eq!(files.places(), expected);
    }

    #[test]
    fn programs_and_names_are_told_by_folders() {
        for (path, program, name) in [
            ("worlds/a/db", Program::Minecraft, ""),
            ("x/https_app.example.org_0.indexeddb.leveldb", Program::Chromium, "app.example.org, IndexedDB"),
            (".indexeddb.leveldb", Program::Chromium, ", IndexedDB"),
            ("discord/Local Storage/leveldb", Program::Chromium, "discord, Local Storage"),
            ("Session Storage", Program::Chromium, "Session Storage"),
            ("b/db", Program::Other, ""),
        ] {
            let current = format!("{path}/CURRENT");
            let files = files(&[(&*current, 16), ("worlds/a/level.dat", 9)]);
            let places = files.places();
            assert_eq!((places[0].program, &*places[0].name), (program, name), "{path}");
        }
    }

    #[test]
    fn a_folder_has_the_files_in_it_alone() {
        let files = files(&[("db/CURRENT", 10), ("db/below/000005.ldb", 1), ("dbx/000007.ldb", 1)]);
        assert_eq!(files.list(Path::new("db")).unwrap(), Some(vec![("CURRENT".to_owned(), 10)]));
        assert_eq!(files.list(Path::new("db/CURRENT")).unwrap(), None);
        assert_eq!(files.list(Path::new("d")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(files.open(Path::new("db")).err().unwrap().kind(), io::ErrorKind::NotFound);
        assert_eq!(files.open(Path::new("dbx/000007.ldb")).unwrap().len().unwrap(), 1);
    }
}
