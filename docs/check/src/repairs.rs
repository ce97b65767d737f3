//! Runs of `repair --json`, on damaged copies of the databases of the test data.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use filterblock::database::{DatabaseLock, LogWriter};

use super::outputs::{Runs, args};
use super::rebuilds::Copy;
use super::tables::testdata;

impl Runs {
    /// Runs `repair` on databases that are damaged in many ways, and where it is refused.
    pub(crate) fn repairs(&mut self) {
        let levels = testdata().join("databases/levels");
        let tables = names(&levels, ".ldb");
        let log = names(&levels, ".log").pop().unwrap();
        let manifest = names(&levels, "MANIFEST-0").pop().unwrap();
        self.repair(&levels, |_| {});
        for table in &tables {
            self.repair(&levels, |dir| flip(&dir.join(table), &[100]));
            self.repair(&levels, |dir| flip(&dir.join(table), &[100, 150]));
            self.repair(&levels, |dir| cut(&dir.join(table)));
            self.repair(&levels, |dir| fs::remove_file(dir.join(table)).unwrap());
            self.repair(&levels, |dir| {
                fs::copy(dir.join(table), dir.join("000001.ldb")).unwrap();
                fs::remove_file(dir.join(table)).unwrap();
            });
            self.repair(&levels, |dir| {
                fs::copy(dir.join(table), dir.join("000099.ldb")).unwrap();
            });
        }
        self.repair(&levels, |dir| cut(&dir.join(&log)));
        self.repair(&levels, |dir| fs::remove_file(dir.join(&log)).unwrap());
        self.repair(&levels, |dir| flip(&dir.join(&log), &[20, 90]));
        self.repair(&levels, |dir| fs::remove_file(dir.join(&manifest)).unwrap());
        self.repair(&levels, |dir| flip(&dir.join(&manifest), &[20, 90]));
        self.repair(&testdata().join("databases/unfiltered"), |_| {});
        self.repair(&testdata().join("databases/reversed"), |_| {});
        // A table with the entries of another one, and no MANIFEST that says which of the two is
        // live.
        self.repair(&levels, |dir| {
            fs::remove_file(dir.join(&manifest)).unwrap();
            fs::copy(dir.join(&tables[0]), dir.join("000001.ldb")).unwrap();
        });
        // Sequence numbers are missing before a log whose one write is a deletion of "k".
        self.repair(&levels, |dir| {
            let mut writer = LogWriter::new(Vec::new());
            let write = [&1_000_000_u64.to_le_bytes()[..], &1_u32.to_le_bytes(), &[0, 1, b'k']].concat();
            writer.add_record(&write).unwrap();
            fs::write(dir.join(&log), writer.into_writer()).unwrap();
        });
        let named = Copy::named(&levels, OsStr::from_bytes(b"data\xffbase").as_ref());
        fs::remove_file(named.path.join(tables.last().unwrap())).unwrap();
        self.run("repair", args![named.path, "--to", named.path.with_file_name("new")]);
        let copy = Copy::of(&levels);
        let (new, sound) = (copy.path.with_file_name("new"), "--prefer=sound");
        self.run("repair", args![copy.path, "--to", new, "--dry-run", sound]);
        let lock = DatabaseLock::exclusive(&copy.path).unwrap();
        self.run("repair", args![copy.path, "--to", new]);
        drop(lock);
        self.run("repair", args![copy.path.join("nothing"), "--to", new]);
        flip(&copy.path.join("000005.ldb"), &[100]);
        self.run("scan", args!["--correct", copy.path]);
    }

    fn repair(&mut self, database: &Path, damage: impl Fn(&Path)) {
        for prefer in ["newest", "sound"] {
            let copy = Copy::of(database);
            damage(&copy.path);
            let new = copy.path.with_file_name("new");
            self.run("repair", args![copy.path, "--to", new, "--prefer", prefer]);
        }
    }
}

/// Returns the names of the folder's files that contain `part`, sorted.
fn names(dir: &Path, part: &str) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.contains(part)).collect();
    names.sort();
    names
}

fn flip(path: &Path, places: &[usize]) {
    let mut bytes = fs::read(path).unwrap();
    places.iter().for_each(|&at| bytes[at] ^= 4);
    fs::write(path, bytes).unwrap();
}

fn cut(path: &Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}
