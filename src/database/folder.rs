//! The files of a database folder, or of a listing of one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use super::names::{FileKind, table_names};
use crate::error::IoAction;
use crate::{Error, Result};

/// One file of a database folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseFile {
    /// The kind of file, according to its name.
    pub kind: FileKind,
    /// The number in its name; 0 if the name has no number.
    pub number: u64,
    /// Its path: the folder as it was given, and the file's name. From a listing: the name, after the location
    /// given to [`DatabaseListing::in_dir`](super::DatabaseListing::in_dir), if any.
    pub path: PathBuf,
    /// Its size in bytes.
    pub len: u64,
    /// Set if the name is a symbolic link to the file. Always `false` from a listing.
    pub is_link: bool,
}

/// A directory entry whose metadata could not be read: its size and type are not known.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnreadableFile {
    /// The kind of file, according to its name.
    pub kind: FileKind,
    /// The number in its name; 0 if the name has no number.
    pub number: u64,
    /// Its path: the folder as it was given, and the file's name.
    pub path: PathBuf,
    /// Why the file could not be read: [`Error::Io`], with the path.
    pub error: Arc<Error>,
}

impl PartialEq for UnreadableFile {
    /// Errors are equal if their messages are.
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.number, &self.path) == (other.kind, other.number, &other.path)
            && self.error.to_string() == other.error.to_string()
    }
}

impl Eq for UnreadableFile {}

/// A file that is named like a database file but is not one. It may not be a regular file, such as a folder named
/// `000005.ldb`. Or its name ends in `.ldb` or `.sst`, in whatever case, but is not a table's: `backup.ldb`,
/// `000005 (1).ldb`, `000005.LDB`. [`FileKind::parse_copy`] returns the table that such a copy may be of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrayFile {
    /// Its path, formed like [`DatabaseFile::path`].
    pub path: PathBuf,
    /// The type of the name itself: a symbolic link is not followed. `None` if it is not known, as
    /// from a listing.
    pub file_type: Option<fs::FileType>,
    /// The size of the file in bytes, or of the file that a link leads to.
    pub len: u64,
}

/// The file of a table or a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileState<'a> {
    /// The file is there, with its size. It has not been opened.
    Present(&'a DatabaseFile),
    /// The name is there, but the system could not look it up, so that its type and size are
    /// unknown. The file may be sound.
    Unreadable(&'a UnreadableFile),
    /// There is no file. Only a live table can be missing.
    Missing,
}

impl<'a> FileState<'a> {
    /// The file's path: [`DatabaseFile::path`] or [`UnreadableFile::path`]. `None` if the file is missing.
    pub fn path(&self) -> Option<&'a Path> {
        match self {
            Self::Present(file) => Some(&file.path),
            Self::Unreadable(file) => Some(&file.path),
            Self::Missing => None,
        }
    }

    /// The file's size in bytes, if that is known.
    pub const fn size(&self) -> Option<u64> {
        match self {
            Self::Present(file) => Some(file.len),
            _ => None,
        }
    }
}

/// The files of a database folder, by kind, number and name.
///
/// A file whose metadata could not be read may be sound all the same, and is listed apart, by
/// [`unreadable`](Self::unreadable). The other iterators leave such files out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseFiles {
    files: Vec<DatabaseFile>,
    unreadable: Vec<UnreadableFile>,
    strays: Vec<StrayFile>,
}

impl DatabaseFiles {
    /// Lists the regular files in `dir` with names that LevelDB or goleveldb uses, and links with
    /// such names to regular files. No file is opened.
    ///
    /// A name that cannot be read, such as a link that leads nowhere or in a circle, is among the
    /// [`unreadable`](Self::unreadable). A name that only resembles a database file's is among the
    /// [`strays`](Self::strays). Skips all else, and files that vanish in the meantime.
    ///
    /// Costs one pass over the names in the folder, and one call of the system for each file listed.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the names in the folder cannot be read.
    pub fn list(dir: impl AsRef<Path>) -> Result<Self> {
        let dir = dir.as_ref();
        let in_dir = |error| Error::io(IoAction::List, 0, error).with_path(dir);
        let mut files = Self::default();
        for entry in fs::read_dir(dir).map_err(in_dir)? {
            let entry = entry.map_err(in_dir)?;
            let name = entry.file_name();
            let parsed = parse(&name);
            if parsed.is_some() || ends_like_a_table(Path::new(&name)) {
                files.look_at(dir.join(name), parsed, entry.file_type().ok());
            }
        }
        files.sort();
        Ok(files)
    }

    /// Takes the names in a listing, such as that of an archive, with the sizes of the files in bytes.
    ///
    /// Names are relative to the database's folder, so a name with a slash is skipped. If a name
    /// occurs more than once, its last size is used.
    ///
    /// ```
    /// use filterblock::database::{DatabaseFiles, FileKind};
    /// let files = DatabaseFiles::from_listing([("CURRENT", 16), ("MANIFEST-000004", 113), ("000005.ldb", 2180)]);
    /// assert_eq!(files.of_kind(FileKind::Table).next().map(|file| file.len), Some(2180));
    /// ```
    pub fn from_listing<N: AsRef<str>>(listing: impl IntoIterator<Item = (N, u64)>) -> Self {
        let mut files = Self::default();
        for (name, len) in listing {
            let name = name.as_ref();
            let path = PathBuf::from(name);
            match FileKind::parse(name) {
                Some((kind, number)) => {
                    files.files.push(DatabaseFile { kind, number, path, len, is_link: false });
                }
                None if ends_like_a_table(&path) && !name.contains('/') => {
                    files.strays.push(StrayFile { path, file_type: None, len });
                }
                None => {}
            }
        }
        // Reversing puts the last of equal names first. It stays first, since the sort is stable.
        files.files.reverse();
        files.sort();
        files.files.dedup_by(|later, first| later.path == first.path);
        files.strays.dedup_by(|later, first| later.path == first.path);
        files
    }

    /// The same files, with the path of each below `dir`. Does nothing if `dir` is empty.
    pub(super) fn in_dir(mut self, dir: &Path) -> Self {
        if !dir.as_os_str().is_empty() {
            let paths = self.files.iter_mut().map(|file| &mut file.path);
            for path in paths.chain(self.strays.iter_mut().map(|stray| &mut stray.path)) {
                *path = path_in(dir, &path);
            }
        }
        self
    }

    /// Adds the file at `path`, whose name was found in a folder, to the list that it belongs to, unless it
    /// has vanished since. `file_type` is the type of the name itself, without following a symbolic link.
    fn look_at(&mut self, path: PathBuf, parsed: Option<(FileKind, u64)>, file_type: Option<fs::FileType>) {
        match (fs::metadata(&path), parsed) {
            (Ok(metadata), Some((kind, number))) if metadata.is_file() => {
                let is_link = file_type.is_some_and(|file_type| file_type.is_symlink());
                self.files.push(DatabaseFile { kind, number, path, len: metadata.len(), is_link });
            }
            (Err(error), _) if has_vanished(&path, &error) => {}
            (Err(error), Some((kind, number))) => {
                let error = Error::io(IoAction::LookUp, 0, error).with_path(&path);
                self.unreadable.push(UnreadableFile { kind, number, path, error: Arc::new(error) });
            }
            (found, _) => {
                let len = found.map_or(0, |metadata| metadata.len());
                self.strays.push(StrayFile { path, file_type, len });
            }
        }
    }

    /// Adds the files with these names that are in `dir` by now. None of the names may be listed as
    /// a file already.
    pub(super) fn look_again(&mut self, dir: &Path, names: impl IntoIterator<Item = String>) {
        let paths = names.into_iter().map(|name| dir.join(name));
        let is_stray = |path: &PathBuf| self.strays.binary_search_by(|stray| stray.path.cmp(path)).is_ok();
        let paths: Vec<_> = paths.filter(|path| !is_stray(path)).collect();
        for path in paths {
            let found = fs::symlink_metadata(&path);
            if !found.as_ref().is_err_and(is_gone) {
                let parsed = path.file_name().and_then(parse);
                self.look_at(path, parsed, found.ok().map(|found| found.file_type()));
            }
        }
        self.sort();
    }

    fn sort(&mut self) {
        self.files.sort_by(|a, b| (a.kind, a.number, &a.path).cmp(&(b.kind, b.number, &b.path)));
        self.unreadable.sort_by(|a, b| (a.kind, a.number, &a.path).cmp(&(b.kind, b.number, &b.path)));
        self.strays.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Returns `true` if there is a `CURRENT` or a MANIFEST, readable or not. Without either, this
    /// is a folder like any other.
    pub fn is_database(&self) -> bool {
        let is_one = |kind| matches!(kind, FileKind::Current | FileKind::Manifest);
        self.files.iter().any(|file| is_one(file.kind))
            || self.unreadable.iter().any(|file| is_one(file.kind))
    }

    /// The files that could not be read, by kind, number and name. Each may be sound, of any
    /// size, or no file at all.
    ///
    /// Code that relies on the files found has to consider these too: any of them may be `CURRENT`, a
    /// live log with data, or a live table.
    pub fn unreadable(&self) -> std::slice::Iter<'_, UnreadableFile> {
        self.unreadable.iter()
    }

    /// The names that resemble those of a database's files but are not, sorted. LevelDB ignores them, or
    /// fails to open them.
    pub fn strays(&self) -> std::slice::Iter<'_, StrayFile> {
        self.strays.iter()
    }

    /// All files but the [`unreadable`](Self::unreadable) ones and the [`strays`](Self::strays), by
    /// kind, number and name.
    pub fn iter(&self) -> std::slice::Iter<'_, DatabaseFile> {
        self.files.iter()
    }

    /// The files of one kind, by number and name.
    pub fn of_kind(&self, kind: FileKind) -> impl Iterator<Item = &DatabaseFile> {
        self.files.iter().filter(move |file| file.kind == kind)
    }

    /// The files of one kind and their numbers. Those that could not be read come last.
    pub(super) fn all_of(&self, kind: FileKind) -> impl Iterator<Item = (u64, FileState<'_>)> {
        let files = self.of_kind(kind).map(|file| (file.number, FileState::Present(file)));
        let unreadable = self.unreadable.iter().filter(move |file| file.kind == kind);
        files.chain(unreadable.map(|file| (file.number, FileState::Unreadable(file))))
    }

    /// The files of one kind and number.
    pub(super) fn of_number(&self, kind: FileKind, number: u64) -> impl Iterator<Item = FileState<'_>> {
        let files = of(&self.files, (kind, number), |file| (file.kind, file.number));
        let unreadable = of(&self.unreadable, (kind, number), |file| (file.kind, file.number));
        files.map(FileState::Present).chain(unreadable.map(FileState::Unreadable))
    }

    /// The file in which LevelDB finds the table with this number: `.ldb` before `.sst`, the number
    /// in six digits or more (`TableCache::FindTable` in `db/table_cache.cc`). `None` if neither is
    /// there.
    ///
    /// # Errors
    ///
    /// The first of these files that is there, if it is one of the [`unreadable`](Self::unreadable):
    /// the table is neither known to be missing nor known to be sound.
    pub fn table(&self, number: u64) -> std::result::Result<Option<&DatabaseFile>, &UnreadableFile> {
        let wanted = (FileKind::Table, number);
        let files = of(&self.files, wanted, |file| (file.kind, file.number));
        let unreadable = of(&self.unreadable, wanted, |file| (file.kind, file.number));
        for name in table_names(number) {
            let is_it = |path: &Path| path.file_name().is_some_and(|found| found == &*name);
            if let Some(file) = unreadable.clone().find(|file| is_it(&file.path)) {
                return Err(file);
            }
            if let Some(file) = files.clone().find(|file| is_it(&file.path)) {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }
}

/// The items whose kind and number are the `wanted` ones. `items` has to be sorted by kind and
/// number.
fn of<T>(
    items: &[T],
    wanted: (FileKind, u64),
    key: impl Fn(&T) -> (FileKind, u64) + Copy,
) -> impl Iterator<Item = &T> + Clone {
    let start = items.partition_point(|item| key(item) < wanted);
    items.iter().skip(start).take_while(move |item| key(item) == wanted)
}

/// The kind and the number in a file's name.
fn parse(name: &OsStr) -> Option<(FileKind, u64)> {
    FileKind::parse(name.to_str()?)
}

fn ends_like_a_table(name: &Path) -> bool {
    let is_one = |end: &str| ["ldb", "sst"].iter().any(|known| end.eq_ignore_ascii_case(known));
    name.extension().and_then(OsStr::to_str).is_some_and(is_one)
}

/// Returns `true` if a listed name has vanished, rather than naming a link that leads nowhere.
fn has_vanished(path: &Path, error: &io::Error) -> bool {
    is_gone(error) && fs::symlink_metadata(path).is_err_and(|error| is_gone(&error))
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// The path of a name in a folder. A URL is followed by a slash, even where paths have another
/// separator.
pub(super) fn path_in(dir: &Path, name: impl AsRef<Path>) -> PathBuf {
    if !dir.to_str().is_some_and(|dir| dir.contains("://") && !dir.ends_with('/')) {
        return dir.join(name);
    }
    let mut path = dir.as_os_str().to_owned();
    path.push("/");
    path.push(name.as_ref());
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Somebody else removes it between the listing and the look.
    #[test]
    fn a_file_that_has_vanished_is_on_no_list() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = DatabaseFiles::default();
        for (name, parsed) in [("000005.ldb", Some((FileKind::Table, 5))), ("other.ldb", None)] {
            files.look_at(folder.path().join(name), parsed, None);
        }
        assert_eq!((files.iter().count(), files.unreadable().count(), files.strays().count()), (0, 0, 0));
    }
}
