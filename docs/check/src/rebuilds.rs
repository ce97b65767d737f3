//! Runs of `rebuild --json`, on copies of the databases of the test data.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use filterblock::database::{Database, DatabaseLock};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::outputs::{Runs, args};
use super::tables::testdata;

/// A copy of a database, in a folder that also takes what is written beside it.
pub(crate) struct Copy {
    _folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Copy {
    pub(crate) fn of(database: &Path) -> Self {
        Self::named(database, "database".as_ref())
    }

    pub(crate) fn named(database: &Path, name: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::create_dir(&path).unwrap();
        for entry in fs::read_dir(database).unwrap() {
            let from = entry.unwrap().path();
            fs::copy(&from, path.join(from.file_name().unwrap())).unwrap();
        }
        Self { _folder: folder, path }
    }

    /// Inverts a bit of the first data block of a table.
    fn damage(&self, table: &str) {
        let path = self.path.join(table);
        let mut bytes = fs::read(&path).unwrap();
        bytes[100] ^= 1;
        fs::write(path, bytes).unwrap();
    }
}

/// Lists the databases that LevelDB and goleveldb wrote.
fn databases() -> Vec<PathBuf> {
    let folders = ["databases", "goleveldb"].map(|name| fs::read_dir(testdata().join(name)).unwrap());
    let paths = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.join("CURRENT").exists()).collect()
}

impl Runs {
    fn rebuild(&mut self, copy: &Copy, options: &[&str]) {
        let options = options.iter().map(OsString::from);
        self.run("rebuild", &[copy.path.clone().into()].into_iter().chain(options).collect::<Vec<_>>());
    }

    /// Runs `rebuild` on all these databases, and on databases for which it keeps tables, is refused or completes an
    /// earlier run.
    pub(crate) fn rebuilds(&mut self) {
        assert!(databases().len() > 4, "{:?}", databases());
        for database in databases() {
            self.rebuilds_of(&Copy::of(&database));
        }
        self.kept_tables();
        self.refused_rebuilds();
        self.finished_rebuilds();
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt as _;
            let name = Path::new(std::ffi::OsStr::from_bytes(b"\xff"));
            self.rebuilds_of(&Copy::named(&testdata().join("databases/levels"), name));
        }
    }

    fn rebuilds_of(&mut self, copy: &Copy) {
        let new = copy.path.with_file_name("new");
        self.run("rebuild", args![copy.path, "--to", new]);
        let known = ["--policy=leveldb.BuiltinBloomFilter", "--hash=unsigned", "--assume-bytewise-equality"];
        let and = |more: &[&'static str]| [&known[..], more].concat();
        self.run("rebuild", args![copy.path, "--to", new, known[0], known[1], known[2]]);
        self.rebuild(copy, &["--in-place", "--dry-run"]);
        self.rebuild(copy, &and(&["--in-place", "--dry-run"]));
        self.rebuild(copy, &and(&["--in-place", "--bits-per-key=0=20,2=9"]));
        self.rebuild(copy, &["--in-place"]);
        self.rebuild(copy, &["--undo"]);
        self.rebuild(copy, &["--undo"]);
        self.rebuild(copy, &["--in-place", "--drop", "--no-verify"]);
        self.rebuild(copy, &["--discard"]);
        self.rebuild(copy, &["--discard"]);
        self.rebuild(copy, &and(&["--in-place", "--no-undo", "--batch=1"]));
    }

    /// Rebuilds databases with tables that cannot be decoded, and one with a malformed filter block.
    fn kept_tables(&mut self) {
        let levels = testdata().join("databases/levels");
        let copy = Copy::of(&levels);
        copy.damage("000007.ldb");
        self.rebuild(&copy, &["--in-place"]);
        self.rebuild(&copy, &["--in-place", "--keep-undecodable", "--dry-run"]);
        self.rebuild(&copy, &["--in-place", "--keep-undecodable"]);

        let copy = Copy::of(&levels);
        let path = copy.path.join("000009.ldb");
        let len = fs::metadata(&path).unwrap().len();
        fs::write(&path, vec![0; usize::try_from(len).unwrap()]).unwrap();
        self.rebuild(&copy, &["--in-place", "--keep-undecodable"]);

        // The last byte of the filter block, base_lg, is too large; its checksum fits.
        let copy = Copy::of(&levels);
        let path = copy.path.join("000009.ldb");
        let table = filterblock::table::Table::open_path(&path, &Default::default()).unwrap();
        let place = table.filter_handle().unwrap();
        let (start, size) = (usize::try_from(place.offset).unwrap(), usize::try_from(place.size).unwrap());
        let mut bytes = fs::read(&path).unwrap();
        bytes[start + size - 5..start + size].fill(0xff);
        let crc = crc32c::crc32c(&bytes[start..=start + size]);
        let masked = crc.rotate_right(15).wrapping_add(0xa282_ead8);
        bytes[start + size + 1..start + size + 5].copy_from_slice(&masked.to_le_bytes());
        fs::write(&path, bytes).unwrap();
        self.rebuild(&copy, &["--in-place"]);
    }

    /// Runs `rebuild` on databases that cannot be rebuilt, or not now.
    fn refused_rebuilds(&mut self) {
        let copy = Copy::of(&testdata().join("databases/levels"));
        let lock = DatabaseLock::exclusive(&copy.path).unwrap();
        self.rebuild(&copy, &["--in-place"]);
        drop(lock);
        fs::write(copy.path.join("filterblock-rebuild"), "no marker").unwrap();
        self.rebuild(&copy, &["--in-place"]);
        fs::remove_file(copy.path.join("filterblock-rebuild")).unwrap();
        fs::remove_file(copy.path.join("000005.ldb")).unwrap();
        self.rebuild(&copy, &["--in-place"]);
        fs::write(copy.path.join("CURRENT"), "damaged").unwrap();
        self.rebuild(&copy, &["--in-place"]);
        fs::remove_file(copy.path.join("CURRENT")).unwrap();
        self.rebuild(&copy, &["--in-place"]);
        self.run("rebuild", args![copy.path.with_file_name("missing"), "--undo"]);
    }

    /// Runs `rebuild --undo` after an undo that was cut off after its commit, after one that was cut off before its
    /// commit, and after one since which another program has opened the database.
    fn finished_rebuilds(&mut self) {
        let copy = Copy::of(&testdata().join("databases/levels"));
        let database = Database::open(&copy.path).unwrap();
        assert_eq!(database.manifest().unwrap().tables().len(), 3);
        let record = |name: &str, contents: &[u8]| json!({"name": name, "length": contents.len(), "crc32c": crc32c::crc32c(contents)});
        let now = record("MANIFEST-000008", &fs::read(copy.path.join("MANIFEST-000008")).unwrap());
        let other = record("MANIFEST-000099", b"");
        for (old, new) in [(&other, &now), (&now, &other), (&other, &Value::Null)] {
            let marker = json!({
                "format": 1, "action": "undo", "options": "", "is_last": true, "keeps_undo": false,
                "old": old, "new": new, "new_files": [], "old_files": [],
            });
            fs::write(copy.path.join("filterblock-rebuild"), marker.to_string()).unwrap();
            self.rebuild(&copy, &["--undo"]);
        }
    }
}
