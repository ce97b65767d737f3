//! The paths to look at: those given as arguments or in a list, and the folders below them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::{collections::VecDeque, sync::Arc};

use super::storage::Storage;
use crate::report::Fault;

/// Every path of a list has to be shorter, in bytes: a longer line means that the file is no list of paths.
const MAX_PATH_LEN: u64 = 1 << 20;

pub(crate) struct InputPath {
    /// The path as the user gave it. With --recursive, `path` may be below it.
    pub input: Arc<Path>,
    /// The path, or the reason why the list of paths called `input` does not yield one.
    pub path: Result<PathBuf, Fault>,
}

impl InputPath {
    fn new(path: PathBuf) -> Self {
        Self { input: path.as_path().into(), path: Ok(into_local(path)) }
    }
}

/// The paths to look at: those given, those of a list, and the folders below them.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The paths that come first.
    pub paths: Vec<PathBuf>,
    /// A file with more paths, one a line; `-` is standard input.
    pub list: Option<PathBuf>,
    /// Each path of the list ends with a zero byte instead of a line break.
    pub null: bool,
    /// Subfolders are looked into as well. Links to folders are not followed.
    pub recursive: bool,
}

impl Inputs {
    /// All paths, one after the other. A list is read piece by piece, and not held in memory.
    pub(crate) fn into_iter(self, storage: &Arc<dyn Storage>) -> impl Iterator<Item = InputPath> + use<> {
        let Self { paths, list, null, recursive } = self;
        let storage = recursive.then(|| Arc::clone(storage));
        let list = list.into_iter().flat_map(move |path| List::open(&path, null));
        let paths = paths.into_iter().map(InputPath::new).chain(list);
        paths.flat_map(move |given| Below { pending: [given].into(), storage: storage.clone() })
    }
}

struct List {
    path: Arc<Path>,
    /// The rest of the list, or why it cannot be opened; `None` once it has ended or failed.
    source: Option<io::Result<Box<dyn BufRead + Send>>>,
    end: u8,
}

impl List {
    fn open(path: &Path, null: bool) -> Self {
        let source: io::Result<Box<dyn BufRead + Send>> = match path.as_os_str() == "-" {
            true => Ok(Box::new(BufReader::new(io::stdin()))),
            false => File::open(path).map(|file| Box::new(BufReader::new(file)) as _),
        };
        Self { path: path.into(), source: Some(source), end: if null { 0 } else { b'\n' } }
    }

    /// Reads the next line that is not empty; `None` at the end of the list.
    fn line(&self, source: &mut dyn BufRead) -> Result<Option<Vec<u8>>, Fault> {
        loop {
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
                return Err(Fault::unexpected(expected, "a longer one"));
            }
            if !line.is_empty() {
                return Ok(Some(line));
            }
        }
    }
}

impl Iterator for List {
    type Item = InputPath;

    fn next(&mut self) -> Option<InputPath> {
        let line = self.source.take()?.map_err(Fault::from).and_then(|mut source| {
            let line = self.line(&mut *source)?;
            self.source = Some(Ok(source));
            Ok(line)
        });
        let path = line.transpose()?.and_then(to_path);
        let failed = |error| InputPath { input: Arc::clone(&self.path), path: Err(error) };
        Some(path.map_or_else(failed, InputPath::new))
    }
}

/// Turns a `file:` URL into the path that it stands for. Other paths stay as they are.
pub(crate) fn into_local(path: PathBuf) -> PathBuf {
    local_path(&path).and_then(|local| to_path(local).ok()).unwrap_or(path)
}

#[cfg(unix)]
fn to_path(bytes: Vec<u8>) -> Result<PathBuf, Fault> {
    Ok(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn to_path(bytes: Vec<u8>) -> Result<PathBuf, Fault> {
    let path = String::from_utf8(bytes).map(PathBuf::from);
    path.map_err(|error| {
        Fault::unexpected("paths in UTF-8", filterblock::quote(error.as_bytes()).to_string())
    })
}

struct Below {
    pending: VecDeque<InputPath>,
    /// `None`: no folders are looked into.
    storage: Option<Arc<dyn Storage>>,
}

impl Below {
    /// Puts the folders in `folder`, sorted by name, before those that are pending.
    fn descend(&mut self, input: &Arc<Path>, mut found: Vec<PathBuf>) {
        found.sort();
        for path in found.into_iter().rev() {
            self.pending.push_front(InputPath { input: Arc::clone(input), path: Ok(path) });
        }
    }
}

impl Iterator for Below {
    type Item = InputPath;

    fn next(&mut self) -> Option<InputPath> {
        let given = self.pending.pop_front()?;
        if let (Some(storage), Ok(folder)) = (&self.storage, &given.path) {
            // A folder that cannot be listed is reported when the path is resolved.
            self.descend(&given.input, storage.folders(folder));
        }
        Some(given)
    }
}

/// The bytes of a `file:` URL's path: `file:/…` as by Spark, `file:///…` as by browsers, or `file://localhost/…`.
pub(super) fn local_path(path: &Path) -> Option<Vec<u8>> {
    path.to_str().and_then(local_part).map(decoded)
}

fn local_part(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("file:")?;
    let rest = match rest.strip_prefix("//") {
        Some(with_host) => with_host.strip_prefix("localhost").unwrap_or(with_host),
        None => rest,
    };
    let is_drive = |rest: &&str| cfg!(windows) && rest.as_bytes().get(2) == Some(&b':');
    rest.starts_with('/').then(|| rest.strip_prefix('/').filter(is_drive).unwrap_or(rest))
}

/// Replaces `%20` and the like with the bytes that they stand for.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.split_first_chunk().filter(|_| first == b'%');
        let encoded = digits.and_then(|(&digits, behind)| Some((hex_byte(digits)?, behind)));
        let (byte, behind) = encoded.unwrap_or((first, behind));
        bytes.push(byte);
        rest = behind;
    }
    bytes
}

/// The byte that two hexadecimal digits stand for. `None` if either is not a hexadecimal digit.
pub fn hex_byte(digits: [u8; 2]) -> Option<u8> {
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
    u8::try_from(high? << 4 | low?).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn paths(list: &[u8], null: bool) -> Vec<Vec<u8>> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, list).unwrap();
        let given = List::open(file.path(), null);
        given.map(|given| given.path.unwrap().into_os_string().into_encoded_bytes()).collect()
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
        assert_eq!((&*missing[0].input, missing[0].path.is_err()), (Path::new("/missing/list"), true));
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, &vec![b'x'; 3 << 20]).unwrap();
        let endless: Vec<_> = List::open(file.path(), false).collect();
        assert_eq!(endless.len(), 1);
        assert!(endless[0].path.as_ref().unwrap_err().to_string().contains("less than 1048576 bytes"));
    }

    #[test]
    fn folders_below_come_after_the_folder_and_by_name() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["b/y", "b/x", "a"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let below = Below {
            pending: [InputPath::new(root.path().to_owned())].into(),
            storage: Some(Arc::new(crate::walk::LocalStorage)),
        };
        let below = below.map(|given| {
            assert_eq!(*given.input, *root.path());
            given.path.unwrap().strip_prefix(root.path()).unwrap().to_owned()
        });
        let below: Vec<_> = below.collect();
        assert_eq!(below, ["", "a", "b", "b/x", "b/y"].map(PathBuf::from));
    }

    #[test]
    fn urls_of_files_are_paths() {
        for (url, path) in [
            ("file:/db/1.ldb", "/db/1.ldb"),
            ("file:///db/a%20b%2525.ldb", "/db/a b%25.ldb"),
            ("file://localhost/db", "/db"),
            ("file:///100%/%zz", "/100%/%zz"),
            ("file:///%+1", "/%+1"),
            ("file:x", "file:x"),
            ("file://host/x", "file://host/x"),
            ("/file:/x", "/file:/x"),
        ] {
            let expected = Some(path.as_bytes()).filter(|_| path != url);
            assert_eq!(local_path(Path::new(url)).as_deref(), expected, "{url}");
        }
    }
}
