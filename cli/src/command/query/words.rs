//! The arguments of `query` without a name: tables, then keys.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use filterblock::escape_path;
use filterblock_engine::{is_input, is_remote};

/// The arguments without a name, as they were given.
pub(super) struct Words {
    /// Those before `--`.
    pub(super) before: Vec<OsString>,
    /// Those behind `--`.
    pub(super) behind: Vec<OsString>,
    /// A list of paths is given too.
    pub(super) has_path_list: bool,
    /// A file of keys is given too.
    pub(super) has_key_file: bool,
}

/// The tables and folders to ask, and the keys to ask them for.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct TablesAndKeys {
    pub(super) tables: Vec<PathBuf>,
    pub(super) keys: Vec<OsString>,
}

impl Words {
    /// Tells tables from keys.
    ///
    /// If there are keys behind `--`, all words before it are tables. Otherwise the first word is
    /// the table, and there is none with a list of paths. The other words are keys, except that
    /// with a file of keys all words may be tables.
    ///
    /// # Errors
    ///
    /// A key is also a table's path, which is more likely meant.
    pub(super) fn split(self) -> Result<TablesAndKeys, String> {
        let Self { mut before, behind, has_path_list, has_key_file } = self;
        let paths = |words: Vec<OsString>| words.into_iter().map(PathBuf::from).collect();
        if !behind.is_empty() {
            return Ok(TablesAndKeys { tables: paths(before), keys: behind });
        }
        if has_key_file
            && !before.is_empty()
            && before.iter().all(|word| is_remote(Path::new(word)) || is_input(Path::new(word)))
        {
            return Ok(TablesAndKeys { tables: paths(before), keys: Vec::new() });
        }
        let keys = before.split_off(if has_path_list { 0 } else { before.len().min(1) });
        if let Some(path) = keys.iter().map(Path::new).find(|path| is_input(path)) {
            return Err(format!(
                "{}: expected a key, found a file or database of this name: with several tables, or for such \
                 a key, put -- before the keys: filterblock query TABLE... -- KEY...",
                escape_path(path)
            ));
        }
        Ok(TablesAndKeys { tables: paths(before), keys })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn tables_and_keys_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).into_os_string();
        for folder in ["db", "plain"] {
            fs::create_dir(path(folder)).unwrap();
        }
        for file in ["a.ldb", "b.ldb", "db/CURRENT"] {
            fs::write(path(file), "").unwrap();
        }
        let split = |before: &[&str], behind: &[&str], has_path_list, has_key_file| {
            let all = |words: &[&str]| words.iter().map(|word| path(word)).collect();
            let words = Words { before: all(before), behind: all(behind), has_path_list, has_key_file };
            let short = |word: OsString| {
                PathBuf::from(word).strip_prefix(dir.path()).unwrap().to_str().unwrap().to_owned()
            };
            words.split().map(|TablesAndKeys { tables, keys }| {
                let tables: Vec<_> = tables.into_iter().map(|table| short(table.into())).collect();
                (tables.join(" "), keys.into_iter().map(short).collect::<Vec<_>>().join(" "))
            })
        };
        let both = |tables: &str, keys: &str| Ok((tables.to_owned(), keys.to_owned()));
        // The first word is a table, there or not.
        assert_eq!(split(&["a.ldb", "x", "y"], &[], false, false), both("a.ldb", "x y"));
        assert_eq!(split(&["x", "x"], &[], false, false), both("x", "x"));
        // A folder without tables is nothing to ask.
        assert_eq!(split(&["a.ldb", "plain"], &[], false, false), both("a.ldb", "plain"));
        for words in [&["a.ldb", "b.ldb", "x"][..], &["a.ldb", "a.ldb"], &["a.ldb", "x", "db"]] {
            assert!(split(words, &[], false, false).unwrap_err().contains("TABLE... -- KEY..."), "{words:?}");
        }
        // Behind -- there are only keys, and before it only tables.
        assert_eq!(split(&["a.ldb", "x"], &["b.ldb"], false, false), both("a.ldb x", "b.ldb"));
        assert_eq!(split(&["a.ldb"], &["x"], true, false), both("a.ldb", "x"));
        assert_eq!(split(&[], &["x"], true, false), both("", "x"));
        // With a list of paths there are only keys.
        assert_eq!(split(&["x", "y"], &[], true, false), both("", "x y"));
        assert!(split(&["x", "a.ldb"], &[], true, false).is_err());
        // With a file of keys there may be only tables.
        assert_eq!(split(&["a.ldb", "db"], &[], false, true), both("a.ldb db", ""));
        assert_eq!(split(&["a.ldb", "db"], &[], true, true), both("a.ldb db", ""));
        assert_eq!(split(&["a.ldb", "x"], &[], false, true), both("a.ldb", "x"));
        assert_eq!(split(&["x"], &[], false, true), both("x", ""));
        assert!(split(&["a.ldb", "b.ldb", "x"], &[], false, true).is_err());
    }
}
