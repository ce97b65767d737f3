//! Opening the database in a folder, which a writer may be changing (`DBImpl::Recover` in LevelDB's
//! `db/db_impl.cc`).

use std::collections::BTreeSet;
use std::path::Path;

use super::database::Database;
use super::folder::DatabaseFiles;
use super::manifest::Manifest;
use super::names::{FileKind, table_names};
use crate::Result;

/// The maximum number of times that a constantly changing database is read.
const MAX_READINGS: u32 = 16;

impl Database {
    /// Opens the database in the folder `dir`.
    ///
    /// A folder without a database can be opened, too: see [`DatabaseFiles::is_database`].
    ///
    /// A database in use is seen in a single state. The folder is listed before the MANIFEST is
    /// read. Live tables and the log that the MANIFEST names are looked for once more if they are
    /// not in the listing, since they may have been written in the meantime. If tables or that log are missing
    /// then, or the MANIFEST of a database is missing, damaged or cut short, reads everything again.
    /// Stops when a reading has no problems or only those of the reading before, and after 16 readings.
    ///
    /// Tables may vanish later, while the writer continues. If a table cannot be opened, open the
    /// database again: the table's entries are then in other tables, which are listed.
    ///
    /// This costs one pass over the folder's names and one over the MANIFEST, with the memory that
    /// [`Manifest::scan`] takes under [`Manifest::DEFAULT_MEMORY_LIMIT`]. If something seems wrong, this
    /// costs at least two passes over each, and up to twice the memory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io), with the path, if the folder cannot be listed. A problem of
    /// `CURRENT` or the MANIFEST is not an error here: it is kept for [`manifest`](Self::manifest).
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        Self::open_settled(|| Self::read(dir.as_ref()))
    }

    /// Calls `read` until the database has no problems, or only those of the reading before, so that a
    /// writer at work cannot be their reason. Stops after [`MAX_READINGS`] readings in any case.
    fn open_settled(mut read: impl FnMut() -> Result<Self>) -> Result<Self> {
        let mut database = read()?;
        for _ in 1..MAX_READINGS {
            if !database.is_doubtful() {
                break;
            }
            let before = std::mem::replace(&mut database, read()?);
            if database.is_confirmed_by(&before) {
                break;
            }
        }
        Ok(database)
    }

    /// Lists the folder, then reads the MANIFEST, then looks for files that appeared in between.
    ///
    /// In this order, whatever the MANIFEST names was either listed, or written since, or removed since. In the
    /// opposite order, a log could be flushed to a table that the MANIFEST read does not name, and then be removed.
    /// Its writes would be missing without a trace.
    fn read(dir: &Path) -> Result<Self> {
        let files = DatabaseFiles::list(dir)?;
        let manifest = Manifest::read(dir);
        let mut database = Self::new(dir.to_owned(), files, manifest);
        database.catch_up();
        Ok(database)
    }

    /// Returns `true` if a writer at work could be the reason for the problems: a MANIFEST that was
    /// replaced or is just being written, or tables that were removed after the MANIFEST was read.
    fn is_doubtful(&self) -> bool {
        match self.manifest() {
            Ok(manifest) => {
                manifest.incomplete_tail().is_some()
                    || self.missing().next().is_some()
                    || self.missing_logs().next().is_some()
            }
            Err(_) => self.files().is_database(),
        }
    }

    /// Returns `true` if the reading `before` had all problems, too. Table numbers are never
    /// reused, so a table that is live in both readings was live all the time: if neither reading found its
    /// file, it is missing. The same holds for the log that the MANIFEST names.
    fn is_confirmed_by(&self, before: &Self) -> bool {
        match (self.manifest(), before.manifest()) {
            (Ok(now), Ok(then)) => {
                let missing = BTreeSet::from_iter(before.missing().map(|table| table.number));
                now.incomplete_tail() == then.incomplete_tail()
                    && self.missing_logs().all(|log| before.missing_logs().any(|then| then == log))
                    && self.missing().all(|table| missing.contains(&table.number))
            }
            (Err(now), Err(then)) => now.to_string() == then.to_string(),
            _ => false,
        }
    }

    /// Adds files that were written after the listing and before the MANIFEST that names them.
    fn catch_up(&mut self) {
        let Ok(manifest) = self.manifest() else { return };
        let log = (FileKind::Log, manifest.log_number());
        let is_listed = self.files().iter().any(|file| (file.kind, file.number) == log)
            || self.files().unreadable().any(|file| (file.kind, file.number) == log);
        let log = (!is_listed).then(|| FileKind::Log.file_name(manifest.log_number()));
        // A set, since a table's number may be on two levels.
        let mut names = BTreeSet::from_iter(self.missing().flat_map(|table| table_names(table.number)));
        names.extend(log);
        self.look_again(names);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A database with problems is read again until a reading has none or two consecutive readings
    /// agree, but only a limited number of times.
    #[cfg_attr(miri, ignore = "reads large test data")]
    #[test]
    fn what_changes_between_two_readings_is_not_damage() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/databases/levels");
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        // The contents of the tables and of the log are not read.
        let files = ["000005.ldb", "000007.ldb", "000009.ldb", "000010.log"];
        // Reads the database once in each of these states, then starts again with the first one.
        let open = |states: &[&str]| {
            let mut readings = 0;
            let database = Database::open_settled(|| {
                for name in ["CURRENT", "MANIFEST-000008"] {
                    fs::copy(source.join(name), dir.join(name)).unwrap();
                }
                files.iter().for_each(|name| fs::write(dir.join(name), "").unwrap());
                match states[readings % states.len()] {
                    "sound" => {}
                    "no MANIFEST" => fs::write(dir.join("CURRENT"), "MANIFEST-000777\n").unwrap(),
                    "cut" => {
                        // The first bytes of a record of 16 bytes.
                        let mut manifest = fs::read(source.join("MANIFEST-000008")).unwrap();
                        manifest.extend([0, 0, 0, 0, 16, 0, 1, 9]);
                        fs::write(dir.join("MANIFEST-000008"), manifest).unwrap();
                    }
                    file => fs::remove_file(dir.join(file)).unwrap(),
                }
                readings += 1;
                Database::read(dir)
            });
            let database = database.unwrap();
            let seems = match database.manifest() {
                Err(_) => "no MANIFEST".to_owned(),
                Ok(manifest) if manifest.incomplete_tail().is_some() => "cut".to_owned(),
                Ok(_) => format!("{:?}", database.missing().map(|table| table.number).collect::<Vec<_>>()),
            };
            (readings, seems)
        };
        for (states, readings, seems) in [
            (&["sound"][..], 1, "[]"),
            (&["000005.ldb", "sound"], 2, "[]"),
            (&["000005.ldb", "000005.ldb"], 2, "[5]"),
            (&["000010.log", "sound"], 2, "[]"),
            (&["000010.log", "000010.log"], 2, "[]"),
            (&["000005.ldb", "000007.ldb", "sound"], 3, "[]"),
            (&["000005.ldb", "000007.ldb", "000007.ldb"], 3, "[7]"),
            (&["no MANIFEST", "sound"], 2, "[]"),
            (&["no MANIFEST", "no MANIFEST"], 2, "no MANIFEST"),
            (&["no MANIFEST", "000005.ldb", "000005.ldb"], 3, "[5]"),
            (&["cut", "sound"], 2, "[]"),
            (&["cut", "cut"], 2, "cut"),
            (&["sound", "cut"], 1, "[]"),
        ] {
            assert_eq!(open(states), (readings, seems.to_owned()), "{states:?}");
        }
        // No two consecutive readings agree.
        assert_eq!(open(&["000005.ldb", "000007.ldb"]).0, MAX_READINGS as usize);
    }

    #[cfg_attr(miri, ignore = "reads large test data")]
    #[test]
    fn files_that_are_newer_than_the_listing_are_found() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/databases/levels");
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        for name in ["CURRENT", "MANIFEST-000008"] {
            fs::copy(source.join(name), dir.join(name)).unwrap();
        }
        fs::write(dir.join("000005.ldb"), "").unwrap();
        let listed = DatabaseFiles::list(dir).unwrap();
        for name in ["000007.sst", "000010.log", "000011.log"] {
            fs::write(dir.join(name), "").unwrap();
        }
        fs::write(dir.join("000012.ldb"), "").unwrap();

        let mut database = Database::new(dir.to_owned(), listed, Manifest::read(dir));
        let missing = |database: &Database| database.missing().map(|table| table.number).collect::<Vec<_>>();
        assert_eq!((missing(&database), database.logs().count()), (vec![9, 7], 0));
        database.catch_up();
        assert_eq!(missing(&database), [9]);
        assert_eq!(database.logs().map(|log| log.number).collect::<Vec<_>>(), [10]);
        let found = database.table_named("000007.sst").unwrap();
        assert_eq!(found.recorded().map(|table| table.level), Some(1));
        assert!(database.files().iter().is_sorted_by_key(|file| (file.kind, file.number)));
        assert_eq!(database.tables().count(), 3);

        // No file is listed twice.
        let before = database.files().clone();
        database.catch_up();
        assert_eq!(*database.files(), before);
        // A folder is not a table, whether it was listed or not.
        for _ in 0..2 {
            fs::create_dir_all(dir.join("000009.ldb")).unwrap();
            database.catch_up();
            assert_eq!((missing(&database), database.files().strays().count()), (vec![9], 1));
        }
    }
}
