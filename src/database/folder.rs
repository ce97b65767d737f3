//! The files of a database folder (LevelDB's `db/filename.cc`; goleveldb's `leveldb/storage/file_storage.go`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use crate::error::IoAction;
use crate::{Error, Result};

/// What a file is for, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// `NUMBER.ldb`, or `NUMBER.sst`: a table.
    Table,
    /// `NUMBER.log`: what was written last.
    Log,
    /// `MANIFEST-NUMBER`: which tables are live.
    Manifest,
    /// `CURRENT`: which MANIFEST is the right one.
    Current,
    /// `LOCK`: held by whoever has the database open.
    Lock,
    /// `LOG` and `LOG.old`: messages for people.
    InfoLog,
    /// `NUMBER.dbtmp`; goleveldb's `NUMBER.tmp`, `CURRENT.NUMBER` and `CURRENT.bak`: left over from writing another file.
    Temporary,
}

/// One file of a database folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseFile {
    /// What it is for.
    pub kind: FileKind,
    /// The number in its name; 0 if there is none.
    pub number: u64,
    /// Where it is: the folder as it was given, and the file's name.
    pub path: PathBuf,
    /// Its size in bytes.
    pub len: u64,
}

/// A name in a database folder of which no more could be found out: not its size, nor whether it is a regular file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnreadableFile {
    /// What the file would be for.
    pub kind: FileKind,
    /// The number in its name; 0 if there is none.
    pub number: u64,
    /// Where it is: the folder as it was given, and the file's name.
    pub path: PathBuf,
    /// Why it could not be looked at: [`Error::Io`], with the path.
    pub error: Arc<Error>,
}

impl PartialEq for UnreadableFile {
    /// Errors are equal if they say the same.
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.number, &self.path) == (other.kind, other.number, &other.path)
            && self.error.to_string() == other.error.to_string()
    }
}

impl Eq for UnreadableFile {}

/// The files of a database folder, by kind, number and name.
///
/// A file of which the system would not say what it is may be sound all the same, and is listed apart:
/// [`unreadable`](Self::unreadable). All else here is about the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseFiles {
    files: Vec<DatabaseFile>,
    unreadable: Vec<UnreadableFile>,
}

impl DatabaseFiles {
    /// Lists the regular files in `dir` that have a name of LevelDB's or goleveldb's, and links to such files. No file is opened.
    ///
    /// Whatever else is there is passed over, as is a file that vanishes meanwhile. A name that cannot be looked
    /// at, such as a link that leads nowhere or in a circle, is among the [`unreadable`](Self::unreadable).
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the names in the folder cannot be read.
    pub fn list(dir: impl AsRef<Path>) -> Result<Self> {
        let dir = dir.as_ref();
        let in_dir = |error| Error::io(IoAction::List, 0, error).with_path(dir);
        let (mut files, mut unreadable) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(dir).map_err(in_dir)? {
            let name = entry.map_err(in_dir)?.file_name();
            let Some((kind, number)) = name.to_str().and_then(parse_name) else { continue };
            let path = dir.join(name);
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_file() => {
                    files.push(DatabaseFile { kind, number, path, len: metadata.len() });
                }
                Ok(_) => {}
                Err(error) if has_vanished(&path, &error) => {}
                Err(error) => {
                    let error = Error::io(IoAction::LookUp, 0, error).with_path(&path);
                    unreadable.push(UnreadableFile { kind, number, path, error: Arc::new(error) });
                }
            }
        }
        files.sort_by(|a, b| (a.kind, a.number, &a.path).cmp(&(b.kind, b.number, &b.path)));
        unreadable.sort_by(|a, b| (a.kind, a.number, &a.path).cmp(&(b.kind, b.number, &b.path)));
        Ok(Self { files, unreadable })
    }

    /// The files that could not be looked at, by kind, number and name. Each may be sound, of any size, or no file at all.
    ///
    /// Whoever goes by what is there has to ask for these too: one may be `CURRENT`, a live log with data, or a live table.
    pub fn unreadable(&self) -> std::slice::Iter<'_, UnreadableFile> {
        self.unreadable.iter()
    }

    /// All files, by kind, number and name.
    pub fn iter(&self) -> std::slice::Iter<'_, DatabaseFile> {
        self.files.iter()
    }

    /// The files of one kind, by number and name.
    pub fn of_kind(&self, kind: FileKind) -> impl Iterator<Item = &DatabaseFile> {
        self.files.iter().filter(move |file| file.kind == kind)
    }

    /// The file in which LevelDB finds the table of this number: `.ldb` before `.sst`, the number in six digits or more (`TableCache::FindTable`
    /// in `db/table_cache.cc`). `None` if neither is there.
    ///
    /// # Errors
    ///
    /// The file that LevelDB would try first, if it is one of the [`unreadable`](Self::unreadable): the table is neither known
    /// to be missing nor known to be sound.
    pub fn table(&self, number: u64) -> std::result::Result<Option<&DatabaseFile>, &UnreadableFile> {
        let wanted = (FileKind::Table, number);
        let files = of(&self.files, wanted, |file| (file.kind, file.number));
        let unreadable = of(&self.unreadable, wanted, |file| (file.kind, file.number));
        for name in [format!("{number:06}.ldb"), format!("{number:06}.sst")] {
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

impl<'a> IntoIterator for &'a DatabaseFiles {
    type Item = &'a DatabaseFile;
    type IntoIter = std::slice::Iter<'a, DatabaseFile>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The items whose kind and number are the `wanted` ones, of items sorted by these.
fn of<T>(
    items: &[T],
    wanted: (FileKind, u64),
    key: impl Fn(&T) -> (FileKind, u64) + Copy,
) -> impl Iterator<Item = &T> + Clone {
    let start = items.partition_point(|item| key(item) < wanted);
    items.iter().skip(start).take_while(move |item| key(item) == wanted)
}

/// Whether a name that was listed is there no more, and not a link that leads nowhere.
fn has_vanished(path: &Path, error: &io::Error) -> bool {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    is_gone(error) && fs::symlink_metadata(path).is_err_and(|error| is_gone(&error))
}

/// What a file of this name is for, and the number in the name, or 0.
pub(crate) fn parse_name(name: &str) -> Option<(FileKind, u64)> {
    match name {
        "CURRENT" => return Some((FileKind::Current, 0)),
        "LOCK" => return Some((FileKind::Lock, 0)),
        "LOG" | "LOG.old" => return Some((FileKind::InfoLog, 0)),
        "CURRENT.bak" => return Some((FileKind::Temporary, 0)),
        _ => {}
    }
    if let Some(digits) = name.strip_prefix("MANIFEST-") {
        return Some((FileKind::Manifest, number(digits)?));
    }
    if let Some(digits) = name.strip_prefix("CURRENT.") {
        return Some((FileKind::Temporary, number(digits)?));
    }
    let (digits, extension) = name.split_once('.')?;
    let kind = match extension {
        "ldb" | "sst" => FileKind::Table,
        "log" => FileKind::Log,
        "dbtmp" | "tmp" => FileKind::Temporary,
        _ => return None,
    };
    Some((kind, number(digits)?))
}

/// Decimal digits, and no sign, as `ConsumeDecimalNumber` has it in LevelDB's `util/logging.cc`.
fn number(digits: &str) -> Option<u64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After the cases of LevelDB's `db/filename_test.cc`, with goleveldb's own names.
    #[test]
    fn names_tell_kind_and_number() {
        for (name, kind, number) in [
            ("100.log", FileKind::Log, 100),
            ("0.log", FileKind::Log, 0),
            ("0.sst", FileKind::Table, 0),
            ("000005.ldb", FileKind::Table, 5),
            ("18446744073709551615.ldb", FileKind::Table, u64::MAX),
            ("CURRENT", FileKind::Current, 0),
            ("LOCK", FileKind::Lock, 0),
            ("MANIFEST-2", FileKind::Manifest, 2),
            ("LOG", FileKind::InfoLog, 0),
            ("LOG.old", FileKind::InfoLog, 0),
            ("000007.dbtmp", FileKind::Temporary, 7),
            ("000007.tmp", FileKind::Temporary, 7),
            ("CURRENT.7", FileKind::Temporary, 7),
            ("CURRENT.bak", FileKind::Temporary, 0),
        ] {
            assert_eq!(parse_name(name), Some((kind, number)), "{name}");
        }
        for name in [
            "",
            "foo",
            "foo-dx-100.log",
            ".log",
            "manifest",
            "CURREN",
            "CURRENTX",
            "CURRENT.",
            "MANIFES",
            "MANIFEST",
            "MANIFEST-",
            "XMANIFEST-3",
            "MANIFEST-3x",
            "MANIFEST-+3",
            "LOC",
            "LOCKx",
            "LO",
            "LOGx",
            "18446744073709551616.log",
            "100",
            "100.",
            "100.lop",
            "100.log.log",
            "+1.ldb",
            "١.ldb",
            "1.LDB",
        ] {
            assert_eq!(parse_name(name), None, "{name}");
        }
    }
}
