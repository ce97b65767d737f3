//! The names of a database's files (LevelDB's `db/filename.cc`; goleveldb's
//! `leveldb/storage/file_storage.go`).

/// The purpose of a file, according to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// `NUMBER.ldb`, or `NUMBER.sst`: a table.
    Table,
    /// `NUMBER.log`: the latest writes.
    Log,
    /// `MANIFEST-NUMBER`: the live tables, as a log of changes.
    Manifest,
    /// `CURRENT`: the name of the MANIFEST in use.
    Current,
    /// `LOCK`: locked by the program that has the database open.
    Lock,
    /// `LOG` and `LOG.old`: human-readable messages.
    InfoLog,
    /// `NUMBER.dbtmp`; goleveldb's `NUMBER.tmp`, `CURRENT.NUMBER` and `CURRENT.bak`: left over from
    /// writing another file.
    Temporary,
    /// `OPTIONS-NUMBER` and `IDENTITY` of RocksDB, and `marker.NAME.NUMBER.VALUE` of Pebble, which LevelDB does not have.
    Foreign,
}

impl FileKind {
    /// The kind of a file with this name, and the number in the name, or 0 if the name has no number.
    /// `None` for all other names than those of LevelDB, goleveldb, and [`Foreign`](Self::Foreign) ones.
    ///
    /// ```
    /// use filterblock::database::FileKind;
    /// assert_eq!(FileKind::parse("000005.ldb"), Some((FileKind::Table, 5)));
    /// assert_eq!(FileKind::parse("database/000005.ldb"), None);
    /// ```
    pub fn parse(name: &str) -> Option<(Self, u64)> {
        match name {
            "CURRENT" => return Some((Self::Current, 0)),
            "LOCK" => return Some((Self::Lock, 0)),
            "LOG" | "LOG.old" => return Some((Self::InfoLog, 0)),
            "CURRENT.bak" => return Some((Self::Temporary, 0)),
            "IDENTITY" => return Some((Self::Foreign, 0)),
            _ => {}
        }
        if let Some(digits) = name.strip_prefix("MANIFEST-") {
            return Some((Self::Manifest, number(digits)?));
        }
        if let Some(digits) = name.strip_prefix("CURRENT.") {
            return Some((Self::Temporary, number(digits)?));
        }
        if let Some(digits) = name.strip_prefix("OPTIONS-") {
            return number(digits).map(|_| (Self::Foreign, 0));
        }
        if let Some(rest) = name.strip_prefix("marker.") {
            return number(rest.split('.').nth(1)?).map(|_| (Self::Foreign, 0));
        }
        let (digits, extension) = name.split_once('.')?;
        let kind = match extension {
            "ldb" | "sst" => Self::Table,
            "log" => Self::Log,
            "dbtmp" | "tmp" => Self::Temporary,
            _ => return None,
        };
        Some((kind, number(digits)?))
    }

    /// The name that LevelDB gives a new file of this kind. `number` is ignored for names without a
    /// number.
    ///
    /// ```
    /// use filterblock::database::FileKind;
    /// assert_eq!(FileKind::Table.file_name(5), "000005.ldb");
    /// assert_eq!(FileKind::Current.file_name(5), "CURRENT");
    /// ```
    pub fn file_name(self, number: u64) -> String {
        match self {
            Self::Table => format!("{number:06}.ldb"),
            Self::Log => format!("{number:06}.log"),
            Self::Manifest => format!("MANIFEST-{number:06}"),
            Self::Current => "CURRENT".to_owned(),
            Self::Lock => "LOCK".to_owned(),
            Self::InfoLog => "LOG".to_owned(),
            Self::Temporary => format!("{number:06}.dbtmp"),
            Self::Foreign => "IDENTITY".to_owned(),
        }
    }
}

/// The names under which LevelDB opens the table with this number, in the order in which it tries
/// them (`TableCache::FindTable` in `db/table_cache.cc`). Early versions gave new files the second
/// name.
pub(super) fn table_names(number: u64) -> [String; 2] {
    [FileKind::Table.file_name(number), format!("{number:06}.sst")]
}

/// Reads a number of decimal digits without a sign, like `ConsumeDecimalNumber` in LevelDB's `util/logging.cc`.
fn number(digits: &str) -> Option<u64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases of LevelDB's `db/filename_test.cc`, and goleveldb's own names.
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
            ("IDENTITY", FileKind::Foreign, 0),
            ("OPTIONS-000007", FileKind::Foreign, 0),
            ("marker.format-version.000001.013", FileKind::Foreign, 0),
            ("marker.manifest.000001.MANIFEST-000001", FileKind::Foreign, 0),
        ] {
            assert_eq!(FileKind::parse(name), Some((kind, number)), "{name}");
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
            "OPTIONS",
            "OPTIONS-",
            "OPTIONS-3.dbtmp",
            "identity",
            "marker.txt",
            "marker.a.txt",
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
            assert_eq!(FileKind::parse(name), None, "{name}");
        }
    }

    /// Based on the second half of `db/filename_test.cc`, which tests only prefix and suffix; the
    /// number of digits expected is that of LevelDB's `db/filename.cc`.
    #[test]
    fn numbers_make_names_that_tell_them_again() {
        for (kind, number, name) in [
            (FileKind::Current, 0, "CURRENT"),
            (FileKind::Lock, 0, "LOCK"),
            (FileKind::InfoLog, 0, "LOG"),
            (FileKind::Log, 192, "000192.log"),
            (FileKind::Table, 200, "000200.ldb"),
            (FileKind::Table, 1_234_567, "1234567.ldb"),
            (FileKind::Table, u64::MAX, "18446744073709551615.ldb"),
            (FileKind::Manifest, 100, "MANIFEST-000100"),
            (FileKind::Temporary, 999, "000999.dbtmp"),
        ] {
            assert_eq!(kind.file_name(number), name);
            assert_eq!(FileKind::parse(name), Some((kind, number)));
        }
        assert_eq!(table_names(200), ["000200.ldb", "000200.sst"]);
    }
}
