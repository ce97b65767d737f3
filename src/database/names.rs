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

    /// The kind and number of the table, log or MANIFEST that a file with this name is probably a copy of: names that
    /// browsers, file managers and file systems without lower case give. `None` for all other names, and for names that
    /// [`parse`](Self::parse) knows.
    ///
    /// ```
    /// use filterblock::database::FileKind;
    /// let copied = ["000005 (1).ldb", "000005 - Copy.ldb", "Copy of 000005.ldb", "000005.LDB"];
    /// assert!(copied.iter().all(|name| FileKind::parse_copy(name) == Some((FileKind::Table, 5))));
    /// assert_eq!(FileKind::parse_copy("000005.ldb"), None);
    /// ```
    pub fn parse_copy(name: &str) -> Option<(Self, u64)> {
        if Self::parse(name).is_some() {
            return None;
        }
        let name = name.to_ascii_lowercase();
        let (kind, stem) = match name.strip_prefix("manifest-") {
            Some(stem) => (Self::Manifest, stem),
            None => {
                let (stem, extension) = name.rsplit_once('.')?;
                (Self::parse(&format!("0.{extension}")).filter(|(kind, _)| kind.has_copies())?.0, stem)
            }
        };
        Some((kind, copied_number(stem)?))
    }

    const fn has_copies(self) -> bool {
        matches!(self, Self::Table | Self::Log)
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

/// The words for a copy in the names that Windows, macOS and desktops on Linux give, and those before the original name.
const COPY: [&str; 5] = ["copy", "kopie", "copie", "copia", "another"];
const OF: [&str; 4] = ["of", "von", "de", "di"];

/// The number in the name of a copy, in lower case and without its ending. All other words of the name mark it as
/// one: `5 (1)`, `5 copy 2`, `copy (2) of 5`.
fn copied_number(stem: &str) -> Option<u64> {
    let words = |text| str::split(text, [' ', '(', ')', '-', '_']).filter(|word| !word.is_empty());
    let is_of_copy = |word: &str| COPY.contains(&word) || number(word).is_some();
    let of = OF.iter().find_map(|of| stem.split_once(&format!(" {of} ")));
    let rest = match of {
        Some((before, rest)) => {
            words(before).next()?;
            words(before).all(is_of_copy).then_some(rest)?
        }
        None => stem,
    };
    let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next().filter(|it| !it.is_empty())?;
    let behind = rest.strip_prefix(digits)?;
    let is_apart = behind.is_empty() || behind.starts_with([' ', '(', '-', '_']);
    (is_apart && words(behind).all(is_of_copy)).then(|| number(digits))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_the_number_of_the_original() {
        for (name, kind) in [
            ("000004 (1).ldb", FileKind::Table),
            ("000004(1).ldb", FileKind::Table),
            ("000004 (1) (2).ldb", FileKind::Table),
            ("000004 - Copy.ldb", FileKind::Table),
            ("000004 - Copy (2).ldb", FileKind::Table),
            ("000004 copy.ldb", FileKind::Table),
            ("000004 copy 2.sst", FileKind::Table),
            ("000004 (copy).ldb", FileKind::Table),
            ("000004 2.ldb", FileKind::Table),
            ("000004_1.ldb", FileKind::Table),
            ("000004 - Kopie.ldb", FileKind::Table),
            ("Copy of 000004.ldb", FileKind::Table),
            ("Copy (2) of 000004.ldb", FileKind::Table),
            ("Kopie von 000004.ldb", FileKind::Table),
            ("Copy of 000004 (1).LDB", FileKind::Table),
            ("000004.LDB", FileKind::Table),
            ("000004.Sst", FileKind::Table),
            ("4.LDB", FileKind::Table),
            ("000004 (1).log", FileKind::Log),
            ("000004.LOG", FileKind::Log),
            ("MANIFEST-000004 (1)", FileKind::Manifest),
            ("MANIFEST-000004 - Copy", FileKind::Manifest),
            ("manifest-000004", FileKind::Manifest),
        ] {
            assert_eq!(FileKind::parse_copy(name), Some((kind, 4)), "{name}");
        }
        for name in [
            "000004.ldb",
            "000004.sst",
            "MANIFEST-000004",
            "LOG",
            "000004",
            "000004.",
            ".ldb",
            "x.ldb",
            "copy.ldb",
            "copy of.ldb",
            " of 4.ldb",
            "000004x.ldb",
            "x000004.ldb",
            "000004 old.ldb",
            "old of 000004.ldb",
            "000004.1.ldb",
            "000004.ldb.bak",
            "000004.dbtmp (1)",
            "000004 (1).tmp",
            "000004.ldb (1).txt",
            "18446744073709551616 (1).ldb",
            "MANIFEST- (1)",
            "\u{664} (1).ldb",
        ] {
            assert_eq!(FileKind::parse_copy(name), None, "{name}");
        }
    }

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
