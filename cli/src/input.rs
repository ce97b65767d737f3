//! What a path given stands for: a table, or a database folder and the tables in it.

use std::ffi::OsStr;
use std::fs::{self, File, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use filterblock::Error;
use filterblock::table::{ReadOptions, Table};

/// What a path given on the command line stands for.
pub(crate) enum Source {
    File,
    Folder(Folder),
}

/// A database folder.
#[derive(Default)]
pub(crate) struct Folder {
    /// `.ldb` and `.sst` files in the order of their numbers.
    pub(crate) tables: Vec<PathBuf>,
    /// Logs that are not empty files. [`logs_with_data`](Self::logs_with_data) tells which hold any writes.
    pub(crate) logs: Vec<PathBuf>,
    /// What ought to be looked at and cannot be, and why.
    pub(crate) skipped: Vec<(PathBuf, String)>,
}

/// Finds out what `path` stands for. Symbolic links are followed.
pub(crate) fn resolve(path: &Path) -> Result<Source, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if metadata.is_dir() {
        Folder::list(path).map(Source::Folder).map_err(|error| error.to_string())
    } else if metadata.is_file() {
        Ok(Source::File)
    } else {
        Err(format!("expected a table or a database folder, found {}", kind(metadata.file_type())))
    }
}

impl Folder {
    /// Whether there is nothing of a database's in it.
    pub(crate) const fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.logs.is_empty() && self.skipped.is_empty()
    }

    fn list(path: &Path) -> io::Result<Self> {
        let mut folder = Self::default();
        for entry in fs::read_dir(path)? {
            match entry {
                Ok(entry) => folder.sort_in(entry.path(), entry.metadata()),
                // Whatever the rest of the folder holds stays unknown.
                Err(error) => {
                    folder.skipped.push((path.to_owned(), format!("listing the folder: {error}")));
                    break;
                }
            }
        }
        folder.tables.sort_by_cached_key(|path| order(path));
        folder.logs.sort_by_cached_key(|path| order(path));
        folder.skipped.sort_by_cached_key(|(path, _)| order(path));
        Ok(folder)
    }

    /// `metadata` is the entry's own, also where it is a symbolic link.
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
                let found = kind(metadata.file_type());
                self.skipped.push((path, format!("skipped: expected a regular file, found {found}")));
            }
            Err(error) => self.skipped.push((path, failure(&error, true))),
        }
    }
}

fn number(path: &Path) -> Option<u64> {
    let stem = path.file_stem()?.to_str()?;
    stem.bytes().all(|byte| byte.is_ascii_digit()).then(|| stem.parse().ok())?
}

/// By number; names that are none come last.
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

/// Why a table cannot be looked at.
pub(crate) struct Unopened {
    /// Without the file's name.
    pub(crate) message: String,
    /// Whether what the file holds is to blame, not that it could not be read, or not by this program.
    pub(crate) damaged: bool,
    pub(crate) file_size: Option<u64>,
}

/// Opens a table. `listed`: its name was found in a folder a moment ago.
pub(crate) fn open(path: &Path, listed: bool, options: &ReadOptions) -> Result<Table<File>, Unopened> {
    Table::open_path(path, options).map_err(|error| {
        let damaged = matches!(error.without_path(), Error::Corrupt { .. });
        let file_size = if is_unreadable(&error) { None } else { fs::metadata(path).ok() };
        Unopened {
            message: message(&error, listed),
            damaged,
            file_size: file_size.map(|metadata| metadata.len()),
        }
    })
}

/// Opens a regular file as it is. `listed`: its name was found in a folder a moment ago.
pub(crate) fn open_file(path: &Path, listed: bool) -> Result<File, String> {
    // Asked before opening, which would wait for a pipe's other end.
    let metadata = fs::metadata(path).map_err(|error| failure(&error, listed))?;
    if !metadata.is_file() {
        return Err(format!("expected a regular file, found {}", kind(metadata.file_type())));
    }
    File::open(path).map_err(|error| failure(&error, listed))
}

/// What an error says, without the file's name.
fn message(error: &Error, listed: bool) -> String {
    match error.without_path() {
        Error::Io { action, source, .. } if action == "opening" => failure(source, listed),
        error => error.to_string(),
    }
}

fn failure(error: &io::Error, listed: bool) -> String {
    match error.kind() {
        io::ErrorKind::NotFound if listed => {
            "vanished: it was there when the folder was listed, and is gone now".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Whether the system would not let a file be read, which says nothing about what is in it.
pub(crate) fn is_unreadable(error: &Error) -> bool {
    matches!(error.without_path(), Error::Io { .. } | Error::OutOfMemory { .. })
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
        let Err(vanished) = open(&path, true, &ReadOptions::default()) else { panic!("gone") };
        assert_eq!(vanished.message, "vanished: it was there when the folder was listed, and is gone now");
        assert!(!vanished.damaged);
        let Err(named) = open(&path, false, &ReadOptions::default()) else { panic!("gone") };
        // Error 2 on Unix and on Windows, each in its own words.
        assert_eq!(named.message, std::io::Error::from_raw_os_error(2).to_string());
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
