//! The paths given to a command: as arguments, from a list, and the folders below them.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;

use super::input::PathError;

/// The longest path accepted. A longer line means that the file is not a list of paths.
const MAX_PATH_LEN: u64 = 1 << 20;

#[derive(Args)]
pub(crate) struct Paths {
    /// Tables, or database folders: their .ldb and .sst files by number
    #[arg(required_unless_present = "files_from", value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    sources: PathSources,
}

/// The sources of paths besides the arguments.
#[derive(Args)]
pub(crate) struct PathSources {
    /// Take paths from the lines of this file too, after those given; - is standard input
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
    /// The paths of --files-from end in a zero byte instead of a line break, as `find -print0`
    /// writes them
    #[arg(short = '0', long = "null", requires = "files_from")]
    null: bool,
    /// Look into the folders below the folders given too; links to folders are not followed
    #[arg(short, long)]
    recursive: bool,
}

/// A path, or the source that failed to yield one and the reason.
pub(crate) type Given = Result<PathBuf, (PathBuf, PathError)>;

impl Paths {
    /// The only path, if there is certainly only one.
    pub(crate) fn single(&self) -> Option<&Path> {
        match &*self.paths {
            [path] if self.sources.files_from.is_none() && !self.sources.recursive => Some(path),
            _ => None,
        }
    }

    /// Returns true if the folders below those given are looked into.
    pub(crate) const fn is_recursive(&self) -> bool {
        self.sources.recursive
    }

    /// The paths given as arguments.
    pub(crate) fn arguments(&self) -> &[PathBuf] {
        &self.paths
    }

    /// All paths, one after the other. A list is read as it goes, and not held in memory.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Given> {
        self.sources.after(&self.paths)
    }
}

impl PathSources {
    /// The list of paths, if there is one.
    pub(crate) fn files_from(&self) -> Option<&Path> {
        self.files_from.as_deref()
    }

    /// Returns true if the folders below those given are looked into.
    pub(crate) const fn is_recursive(&self) -> bool {
        self.recursive
    }

    /// `paths`, then those of the list, each with the folders below it if that is wanted.
    pub(crate) fn after(&self, paths: &[PathBuf]) -> impl Iterator<Item = Given> {
        let list = self.files_from.iter().flat_map(|path| List::open(path, self.null));
        let paths = paths.iter().cloned().map(Ok).chain(list);
        let recursive = self.recursive;
        paths.flat_map(move |given| match given {
            Ok(path) if recursive && path.is_dir() => Below::new(path),
            given => Below::only(given),
        })
    }
}

/// The lines of a list of paths.
struct List {
    path: PathBuf,
    source: Option<Box<dyn BufRead>>,
    end: u8,
}

impl List {
    fn open(path: &Path, null: bool) -> impl Iterator<Item = Given> + use<> {
        let end = if null { 0 } else { b'\n' };
        let opened = match path.as_os_str() == "-" {
            true => Ok(Box::new(io::stdin().lock()) as Box<dyn BufRead>),
            false => File::open(path).map(|file| Box::new(BufReader::new(file)) as Box<dyn BufRead>),
        };
        let (source, failure) = match opened {
            Ok(source) => (Some(source), None),
            Err(error) => (None, Some(Err((path.to_owned(), error.into())))),
        };
        failure.into_iter().chain(Self { path: path.to_owned(), source, end })
    }

    fn read(&mut self) -> Result<Option<Vec<u8>>, PathError> {
        let Some(source) = &mut self.source else { return Ok(None) };
        let mut line = Vec::new();
        source.take(MAX_PATH_LEN).read_until(self.end, &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.last() == Some(&self.end) {
            line.pop();
            if self.end == b'\n' && line.last() == Some(&b'\r') {
                line.pop();
            }
        } else if line.len() as u64 == MAX_PATH_LEN {
            let expected = format!("paths of less than {MAX_PATH_LEN} bytes");
            return Err(PathError::Unexpected { expected, found: "a longer one".to_owned() });
        }
        Ok(Some(line))
    }
}

impl Iterator for List {
    type Item = Given;

    fn next(&mut self) -> Option<Given> {
        loop {
            match self.read() {
                // An empty line is not a path.
                Ok(Some(line)) if line.is_empty() => {}
                Ok(Some(line)) => {
                    return Some(to_path(line).map_err(|error| (self.path.clone(), error)));
                }
                Ok(None) => return None,
                Err(error) => {
                    self.source = None;
                    return Some(Err((self.path.clone(), error)));
                }
            }
        }
    }
}

#[cfg(unix)]
fn to_path(bytes: Vec<u8>) -> Result<PathBuf, PathError> {
    Ok(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn to_path(bytes: Vec<u8>) -> Result<PathBuf, PathError> {
    let path = String::from_utf8(bytes).map(PathBuf::from);
    path.map_err(|error| PathError::Unexpected {
        expected: "paths in UTF-8".to_owned(),
        found: filterblock::quote(error.as_bytes()).to_string(),
    })
}

/// A path, and the folders below it.
struct Below {
    pending: VecDeque<Given>,
    descend: bool,
}

impl Below {
    fn only(given: Given) -> Self {
        Self { pending: [given].into(), descend: false }
    }

    fn new(folder: PathBuf) -> Self {
        Self { pending: [Ok(folder)].into(), descend: true }
    }

    /// Puts the folders in `folder`, sorted by name, before those that are pending.
    fn descend(&mut self, folder: &Path) {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                found.push(entry.path());
            }
        }
        found.sort();
        found.into_iter().rev().for_each(|path| self.pending.push_front(Ok(path)));
    }
}

impl Iterator for Below {
    type Item = Given;

    fn next(&mut self) -> Option<Given> {
        let given = self.pending.pop_front()?;
        if let (true, Ok(folder)) = (self.descend, &given) {
            // A folder that cannot be listed is reported by whoever looks into it.
            self.descend(folder);
        }
        Some(given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(list: &[u8], null: bool) -> Vec<Vec<u8>> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, list).unwrap();
        let given = List::open(file.path(), null);
        given.map(|given| given.unwrap().into_os_string().into_encoded_bytes()).collect()
    }

    #[test]
    fn a_list_has_a_path_a_line() {
        assert_eq!(paths(b"", false), [b""; 0]);
        assert_eq!(paths(b"a b\n\nc\r\nd", false), [&b"a b"[..], b"c", b"d"]);
        assert_eq!(paths(b"a\nb\0c\0\0d", true), [&b"a\nb"[..], b"c", b"d"]);
    }

    #[test]
    fn what_is_no_list_is_reported_once() {
        let missing: Vec<_> = List::open(Path::new("/missing/list"), false).collect();
        assert_eq!(missing.len(), 1);
        assert_eq!(missing[0].as_ref().unwrap_err().0, Path::new("/missing/list"));
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, &vec![b'x'; 3 << 20]).unwrap();
        let endless: Vec<_> = List::open(file.path(), false).collect();
        assert_eq!(endless.len(), 1);
        assert!(endless[0].as_ref().unwrap_err().1.to_string().contains("less than 1048576 bytes"));
    }

    #[test]
    fn folders_below_come_after_the_folder_and_by_name() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["b/y", "b/x", "a"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let below = Below::new(root.path().to_owned()).map(|given| given.unwrap());
        let below: Vec<_> = below.map(|path| path.strip_prefix(root.path()).unwrap().to_owned()).collect();
        assert_eq!(below, ["", "a", "b", "b/x", "b/y"].map(PathBuf::from));
    }
}
