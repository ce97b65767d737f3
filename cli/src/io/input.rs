//! The tables and database folders that paths given on the command line stand for.

use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::fs::{self, File, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A table, or a database folder.
#[derive(Debug)]
pub(crate) enum Source {
    File,
    Folder(Folder),
}

/// A database folder.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    /// `.ldb` and `.sst` files in the order of their numbers.
    pub(crate) tables: Vec<PathBuf>,
    /// Logs that are not empty files. [`logs_with_data`](Self::logs_with_data) tells which hold
    /// writes.
    pub(crate) logs: Vec<PathBuf>,
    /// Files that ought to be looked at and cannot be, and why.
    pub(crate) skipped: Vec<(PathBuf, PathError)>,
}

/// The reason why a path cannot be looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum PathError {
    /// The path leads to something else than expected.
    Unexpected { expected: String, found: String },
    /// A folder holds something else than a regular file under a table's or a log's name.
    Skipped { found: &'static str },
    /// The message of the system, or another one that does not say what was expected.
    Failed(String),
}

impl PathError {
    const REGULAR_FILE: &str = "a regular file";

    /// Returns what was expected and what was found. `wanted`: what the caller expected of the
    /// path.
    pub(crate) fn into_parts(self, wanted: &str) -> (String, String) {
        match self {
            Self::Unexpected { expected, found } => (expected, found),
            Self::Skipped { found } => (Self::REGULAR_FILE.to_owned(), found.to_owned()),
            Self::Failed(message) => (wanted.to_owned(), message),
        }
    }
}

impl Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Skipped { found } => write!(f, "skipped: expected {}, found {found}", Self::REGULAR_FILE),
            Self::Failed(message) => f.write_str(message),
        }
    }
}

impl From<io::Error> for PathError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Finds out what `path` stands for. Symbolic links are followed.
pub(crate) fn resolve(path: &Path) -> Result<Source, PathError> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        Ok(Source::Folder(Folder::list(path)?))
    } else if metadata.is_file() {
        Ok(Source::File)
    } else {
        let expected = "a table or a database folder".to_owned();
        Err(PathError::Unexpected { expected, found: kind(metadata.file_type()).to_owned() })
    }
}

impl Folder {
    /// Returns true if it holds no file of a database.
    pub(crate) const fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.logs.is_empty() && self.skipped.is_empty()
    }

    fn list(path: &Path) -> io::Result<Self> {
        let mut folder = Self::default();
        for entry in fs::read_dir(path)? {
            match entry {
                Ok(entry) => folder.sort_in(entry.path(), entry.metadata()),
                // The rest of the folder stays unknown.
                Err(error) => {
                    let message = format!("listing the folder: {error}");
                    folder.skipped.push((path.to_owned(), PathError::Failed(message)));
                    break;
                }
            }
        }
        folder.tables.sort_by_cached_key(|path| order(path));
        folder.logs.sort_by_cached_key(|path| order(path));
        folder.skipped.sort_by_cached_key(|(path, _)| order(path));
        Ok(folder)
    }

    /// `metadata` is the entry's own, even if it is a symbolic link.
    fn sort_in(&mut self, path: PathBuf, metadata: io::Result<Metadata>) {
        let extension = path.extension().and_then(OsStr::to_str);
        let is_table = matches!(extension, Some("ldb" | "sst"));
        let is_log = extension == Some("log") && number(&path).is_some();
        if !is_table && !is_log {
            return;
        }
        match metadata {
            Ok(metadata) if metadata.is_file() && is_table => self.tables.push(path),
            Ok(metadata) if metadata.is_file() => {
                if metadata.len() > 0 {
                    self.logs.push(path);
                }
            }
            Ok(metadata) => {
                self.skipped.push((path, PathError::Skipped { found: kind(metadata.file_type()) }));
            }
            Err(error) => self.skipped.push((path, failure(&error, true))),
        }
    }
}

fn number(path: &Path) -> Option<u64> {
    let stem = path.file_stem()?.to_str()?;
    stem.bytes().all(|byte| byte.is_ascii_digit()).then(|| stem.parse().ok())?
}

/// The sort key of a file: its number. Names without a number come last.
fn order(path: &Path) -> (u64, PathBuf) {
    (number(path).unwrap_or(u64::MAX), path.to_owned())
}

fn kind(file_type: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        match file_type {
            _ if file_type.is_fifo() => return "a named pipe",
            _ if file_type.is_socket() => return "a socket",
            _ if file_type.is_block_device() || file_type.is_char_device() => return "a device",
            _ => {}
        }
    }
    match file_type {
        _ if file_type.is_dir() => "a folder",
        _ if file_type.is_symlink() => "a symbolic link (links are followed when named)",
        _ => "something else",
    }
}

/// Opens a regular file as it is. `listed`: its name was found in a folder a moment ago.
pub(crate) fn open_file(path: &Path, listed: bool) -> Result<File, PathError> {
    let check = |metadata: Metadata| match metadata.is_file() {
        true => Ok(()),
        false => Err(PathError::Unexpected {
            expected: PathError::REGULAR_FILE.to_owned(),
            found: kind(metadata.file_type()).to_owned(),
        }),
    };
    let failure = |error| failure(&error, listed);
    // Opening a pipe would wait for its other end, so this is checked before; and once more after,
    // as the file may be another by then.
    check(fs::metadata(path).map_err(failure)?)?;
    let file = File::open(path).map_err(failure)?;
    check(file.metadata().map_err(failure)?)?;
    Ok(file)
}

fn failure(error: &io::Error, listed: bool) -> PathError {
    PathError::Failed(match error.kind() {
        io::ErrorKind::NotFound if listed => {
            "vanished: it was there when the folder was listed, and is gone now".to_owned()
        }
        _ => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_vanishes_between_listing_and_opening_is_reported_as_that() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("000005.ldb");
        fs::write(&path, "a table").unwrap();
        let Ok(Source::Folder(listed)) = resolve(folder.path()) else { panic!("a folder") };
        assert_eq!(listed.tables, std::slice::from_ref(&path));
        fs::remove_file(&path).unwrap();
        let vanished = open_file(&path, true).unwrap_err().to_string();
        assert_eq!(vanished, "vanished: it was there when the folder was listed, and is gone now");
        let named = open_file(&path, false).unwrap_err().to_string();
        assert!(named.starts_with("No such file"), "{named}");
    }

    #[test]
    fn files_are_in_the_order_of_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let names =
            ["10.ldb", "2.ldb", "000001.sst", "99999999999999999999.ldb", "x.ldb", "000002.ldb", "3.txt"];
        names.iter().for_each(|name| fs::write(folder.path().join(name), "").unwrap());
        let Ok(Source::Folder(listed)) = resolve(folder.path()) else { panic!("a folder") };
        let found: Vec<_> =
            listed.tables.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(
            found,
            ["000001.sst", "000002.ldb", "2.ldb", "10.ldb", "99999999999999999999.ldb", "x.ldb"]
        );
    }
}
