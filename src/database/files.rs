//! The files of a database folder (LevelDB's `db/filename.cc`; goleveldb's `leveldb/storage/file_storage.go`).

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::manifest::Manifest;
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

/// The files of a database folder, by kind, number and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseFiles {
    files: Vec<DatabaseFile>,
}

impl DatabaseFiles {
    /// Lists the regular files in `dir` that have a name of LevelDB's or goleveldb's, and links to such files. No file is opened.
    ///
    /// Whatever else is there is passed over, as is a file that vanishes meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the folder, or the kind and size of such a file, cannot be read.
    pub fn list(dir: impl AsRef<Path>) -> Result<Self> {
        let dir = dir.as_ref();
        let in_dir = |error| Error::io("listing", 0, error).with_path(dir);
        let mut files = Vec::new();
        for entry in fs::read_dir(dir).map_err(in_dir)? {
            let name = entry.map_err(in_dir)?.file_name();
            let Some((kind, number)) = name.to_str().and_then(parse_name) else { continue };
            let path = dir.join(name);
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_file() => {
                    files.push(DatabaseFile { kind, number, path, len: metadata.len() });
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("looking up the size", 0, error).with_path(path)),
            }
        }
        files.sort_by(|a, b| (a.kind, a.number, &a.path).cmp(&(b.kind, b.number, &b.path)));
        Ok(Self { files })
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
    /// in `db/table_cache.cc`).
    pub fn table(&self, number: u64) -> Option<&DatabaseFile> {
        let start = self.files.partition_point(|file| (file.kind, file.number) < (FileKind::Table, number));
        let end = self.files.partition_point(|file| (file.kind, file.number) <= (FileKind::Table, number));
        let files = self.files.get(start..end)?;
        [format!("{number:06}.ldb"), format!("{number:06}.sst")].iter().find_map(|name| {
            files.iter().find(|file| file.path.file_name().is_some_and(|found| found == &**name))
        })
    }

    /// The logs that are not in tables yet, oldest first. [`log_holds_data`](super::log_holds_data) tells whether one holds anything.
    pub fn live_logs<'a>(&'a self, manifest: &'a Manifest) -> impl Iterator<Item = &'a DatabaseFile> {
        self.of_kind(FileKind::Log).filter(|file| manifest.is_log_live(file.number))
    }
}

impl<'a> IntoIterator for &'a DatabaseFiles {
    type Item = &'a DatabaseFile;
    type IntoIter = std::slice::Iter<'a, DatabaseFile>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
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
