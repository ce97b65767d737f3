//! Lines that the program prints with `--json`, about all the test data, and about files and
//! folders that are damaged in many ways.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use filterblock::policy::default_read_policies;
use filterblock::table::Table;
use filterblock::{
    BloomFilterPolicy, FilterBlockBuilder, FilterPolicy as _, LegacyBloomPolicy, LegacyHash, SharedPolicy,
};
use serde_json::Value;
use tempfile::TempDir;

use super::manifest::{self, Edit, value_key};
use super::schema::COUNT;
use super::tables::{Crafted, Place, testdata};

pub(crate) struct Line {
    pub(crate) command: String,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) value: Value,
    /// The line as it was printed.
    pub(crate) text: String,
}

/// Returns all lines. Only the first call runs the commands.
pub(crate) fn outputs() -> &'static [Line] {
    static LINES: LazyLock<Vec<Line>> = LazyLock::new(|| {
        let mut runs = Runs::default();
        runs.test_data();
        runs.folders();
        runs.damaged_files();
        runs.crafted_filters();
        runs.crafted_blocks();
        runs.bare_filter_blocks();
        runs.unreadable_paths();
        runs.rebuilds();
        runs.repairs();
        runs.tunings();
        runs.objects();
        runs.lines
    });
    &LINES
}

#[derive(Clone, Default)]
struct Sink(Rc<RefCell<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs `filterblock` in-process. Returns what it prints.
pub(crate) fn stdout(arguments: impl IntoIterator<Item = OsString>) -> String {
    let out = Sink::default();
    let program = std::iter::once(OsString::from("filterblock"));
    filterblock_cli::run(program.chain(arguments), out.clone(), Sink::default());
    String::from_utf8(out.0.take()).unwrap()
}

/// Arguments of different types as one list.
macro_rules! args {
    ($($argument:expr),* $(,)?) => {
        &[$(OsString::from(AsRef::<std::ffi::OsStr>::as_ref(&$argument))),*]
    };
}

pub(crate) use args;

#[derive(Default)]
pub(crate) struct Runs {
    lines: Vec<Line>,
}

impl Runs {
    /// Runs `filterblock COMMAND --json` with these arguments, and keeps the lines that it prints.
    /// Panics if it prints none.
    pub(crate) fn run(&mut self, command: &str, arguments: &[OsString]) {
        let before = self.lines.len();
        let words = if command == COUNT { &["query", "--count", "--json"][..] } else { &[command, "--json"] };
        let text = stdout(words.iter().map(OsString::from).chain(arguments.iter().cloned()));
        for line in text.lines() {
            let value =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {line}"));
            let (command, text) = (command.to_owned(), line.to_owned());
            self.lines.push(Line { command, arguments: arguments.to_vec(), value, text });
        }
        assert!(self.lines.len() > before, "{command} {arguments:?} prints nothing");
    }

    /// Runs `inspect`, `query`, `scan`, `manifest` and `verify` on a table or a folder.
    fn all(&mut self, path: &Path) {
        self.run("inspect", args![path]);
        self.run("inspect", args!["--filters", path]);
        self.run("query", args![path, "apple", "", "no such key"]);
        self.run("query", args!["--hex", "--comparator", "bytewise", path, "6170706c65", "ff00"]);
        self.run(COUNT, args![path, "apple", "", "no such key"]);
        self.run("scan", args!["--comparator", "bytewise", path]);
        self.run("scan", args!["--all", "--limit", "40", "--comparator", "bytewise", path]);
        self.run("manifest", args![path]);
        self.run("verify", args![path]);
        self.run("verify", args!["--comparator", "bytewise", path]);
    }

    fn contents(&mut self, contents: impl AsRef<[u8]>) {
        let folder = folder();
        self.all(&file(&folder, "table.ldb", contents));
    }

    fn test_data(&mut self) {
        let mut tables = Vec::new();
        find(&testdata(), &mut tables);
        assert!(tables.len() > 50, "{} tables", tables.len());
        let folders: BTreeSet<_> = tables.iter().map(|table| table.parent().unwrap().to_owned()).collect();
        // A key that a log sets, and one that a log deletes.
        self.run("query", args![testdata().join("databases/levels"), "item/0000/0"]);
        self.run("query", args![testdata().join("goleveldb/base-lg-11"), "key000000"]);
        for path in tables.iter().chain(&folders) {
            self.all(path);
        }
    }

    /// Asks about databases whose MANIFEST, files and tables contradict each other.
    fn folders(&mut self) {
        for change in [
            // One table is missing, one has the contents of another, and one is not live.
            (|at| {
                fs::rename(at.join("000007.ldb"), at.join("000099.ldb")).unwrap();
                fs::copy(at.join("000009.ldb"), at.join("000005.ldb")).unwrap();
            }) as fn(&Path),
            |at| {
                let path = at.join("MANIFEST-000008");
                let len = fs::metadata(&path).unwrap().len();
                fs::File::options().write(true).open(path).unwrap().set_len(len - 3).unwrap();
            },
            // An obsolete table and values that are not UTF-8.
            |at| {
                fs::copy(at.join("000007.ldb"), at.join("000003.ldb")).unwrap();
            },
            // The only table of a level is damaged, and one that is not live was left unfinished.
            |at| {
                fs::write(at.join("000007.ldb"), "damaged").unwrap();
                fs::write(at.join("000099.ldb"), "unfinished").unwrap();
            },
            |at| fs::write(at.join("MANIFEST-000008"), "damaged").unwrap(),
            |at| fs::remove_file(at.join("MANIFEST-000008")).unwrap(),
            |at| fs::remove_file(at.join("CURRENT")).unwrap(),
            |at| {
                fs::remove_file(at.join("000005.ldb")).unwrap();
                fs::create_dir(at.join("000005.ldb")).unwrap();
            },
        ] {
            let copy = folder();
            for entry in fs::read_dir(testdata().join("databases/levels")).unwrap() {
                let path = entry.unwrap().path();
                fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
            }
            change(copy.path());
            self.all(copy.path());
        }

        // Two tables of one level overlap; the keys of a third are too short.
        let folder = folder();
        let mut edit = Edit::default();
        for (number, first, last) in [(5, "a", "m"), (6, "k", "z")] {
            let mut crafted = Crafted::default();
            let data = crafted.entries(&[(value_key(first), ""), (value_key(last), "")]);
            let table = crafted.finish(&[(&value_key(last), data)], &[]);
            edit = edit.add(1, number, table.len() as u64, &value_key(first), &value_key(last));
            file(&folder, &format!("{number:06}.ldb"), table);
        }
        let mut crafted = Crafted::default();
        let data = crafted.entries(&[("short", "")]);
        let table = crafted.finish(&[(b"short", data)], &[]);
        edit = edit.add(2, 7, table.len() as u64, &value_key("short"), &value_key("short"));
        file(&folder, "000007.ldb", table);
        file(&folder, "MANIFEST-000004", manifest::log(&[Edit::sound().0, edit.0]).0);
        file(&folder, "CURRENT", "MANIFEST-000004\n");
        self.all(folder.path());
    }

    /// Asks about tables of the test data, cut and with bits flipped.
    fn damaged_files(&mut self) {
        for name in [
            "tables/words-4096-bloom10-snappy.ldb",
            "basho/versions-bloom.ldb",
            "constructed/leveldb-zstd.ldb",
        ] {
            let sound = fs::read(testdata().join(name)).unwrap();
            for at in (0..sound.len()).step_by(sound.len() / 24) {
                let mut damaged = sound.clone();
                damaged[at] ^= 0x10;
                self.contents(damaged);
                self.contents(&sound[..at]);
            }
            // Index and footer, byte by byte.
            for at in sound.len() - 80..sound.len() {
                let mut damaged = sound.clone();
                damaged[at] ^= 0x10;
                self.contents(damaged);
            }
        }
    }

    /// Asks about tables with sound checksums whose filters are good, malformed, of LevelDB's relatives or under its
    /// old name, or deny stored keys.
    fn crafted_filters(&mut self) {
        let bloom = || -> SharedPolicy { Arc::new(BloomFilterPolicy::new(10)) };
        let offsets = [0, 9, 9, 99, 9u32].map(u32::to_le_bytes).concat();
        for (name, block, mark) in [
            (BLOOM, filter_block(bloom(), &KEYS), &b"z"[..]),
            // Filters that deny stored keys.
            (BLOOM, filter_block(bloom(), &[b"pear"]), b"z"),
            // Filters of LevelDB's relatives, and of nobody known.
            (BLOOM, filter_block(bloom(), &KEYS), b"rocksdb.properties"),
            (BLOOM, filter_block(bloom(), &KEYS), b"stats.sst1"),
            (b"filter.example.Other", filter_block(bloom(), &KEYS), b"z"),
            // Malformed blocks. The last has a sound filter, an empty one, and two that contradict
            // each other.
            (BLOOM, b"abc".to_vec(), b"z"),
            (BLOOM, [&[0xff; 8][..], &[6], &offsets, &[11]].concat(), b"z"),
        ] {
            let mut crafted = Crafted::default();
            let data = crafted.entries(&KEYS.map(|key| (key, "")));
            let place = crafted.block(&block);
            self.contents(crafted.finish(&[(b"n", data)], &[(name, place), (mark, place)]));
        }
        // Filters under LevelDB's old name: by each of the two hashes, and by neither.
        let keys: Vec<Vec<u8>> = (0..64).map(|at| vec![b'k', at, 0x80 + at]).collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        for (hash, filtered) in
            [(LegacyHash::Unsigned, &keys[..]), (LegacyHash::Signed, &keys), (LegacyHash::Signed, &[])]
        {
            let mut crafted = Crafted::default();
            let data = crafted.entries(&keys.iter().map(|key| (key, "")).collect::<Vec<_>>());
            let policy = LegacyBloomPolicy::new(10).with_hash(hash);
            let place = crafted.block(&filter_block(Arc::new(policy), filtered));
            self.contents(crafted.finish(&[(b"l", data)], &[(b"filter.leveldb.BuiltinBloomFilter", place)]));
        }
    }

    /// Asks about a table of these data blocks, each with its key in the index.
    fn index(&mut self, make: impl FnOnce(&mut Crafted) -> Vec<(&'static [u8], Place)>) {
        let mut crafted = Crafted::default();
        let index = make(&mut crafted);
        self.contents(crafted.finish(&index, &[]));
    }

    /// Asks about data blocks and indexes with sound checksums that no writer writes.
    fn crafted_blocks(&mut self) {
        for compression in [1, 2, 3, 4, 5, 9] {
            self.index(|crafted| vec![(b"n", crafted.block_of_type(b"whatever", compression))]);
        }
        self.index(|crafted| vec![(b"n", crafted.block(b"no block"))]);
        // Keys and index in disorder.
        self.index(|crafted| vec![(b"n", crafted.entries(&[("melon", ""), ("apple", "")]))]);
        self.index(|crafted| vec![(b"a", crafted.entries(&KEYS.map(|key| (key, ""))))]);
        // A block named twice, and a handle that ends after the end of the file.
        self.index(|crafted| {
            let place = crafted.entries(&KEYS.map(|key| (key, "")));
            vec![(b"n", place), (b"o", place), (b"p", (1 << 40, 9))]
        });
        // A data block that holds another, sound one among its values.
        self.index(|crafted| {
            let mut inner = Crafted::default();
            let (_, size) = inner.entries(&[("b", "inner")]);
            let outer = crafted.entries(&[("a", &inner.file)]);
            let at = crafted.file.windows(inner.file.len()).position(|window| window == inner.file);
            vec![(b"a", outer), (b"b", (at.unwrap() as u64, size))]
        });
        // More findings of one code than are listed.
        let mut crafted = Crafted::default();
        let handles: Vec<_> = (0..40).map(|_| crafted.block(b"no block")).collect();
        self.contents(crafted.with_index(handles.into_iter()));
        // More data blocks than are read, so that the number of keys is an estimate.
        let mut crafted = Crafted::default();
        let handles: Vec<_> = (0..40).map(|at| crafted.entries(&[(format!("key {at}"), "")])).collect();
        self.contents(crafted.with_index(handles.into_iter()));

        let folder = folder();
        let mut crafted = Crafted::default();
        let data = crafted.entries(&KEYS.map(|key| (key, "")));
        let path = file(&folder, "table.ldb", crafted.finish(&[(b"n", data)], &[]));
        self.run("verify", args!["--max-output", "10", path]);
        let mut crafted = Crafted::default();
        let blocks = KEYS.map(|key| (key, crafted.entries(&[(key, "")])));
        let path = file(&folder, "table.ldb", crafted.finish(&blocks, &[]));
        self.run("verify", args!["--max-output", "30", path]);
    }

    fn bare_filter_blocks(&mut self) {
        let folder = folder();
        let path = testdata().join("tables/words-256-bloom10.ldb");
        let table = Table::open_path(path, &Default::default()).unwrap();
        let block = file(&folder, "block", table.filter().unwrap().contents());
        let malformed = file(&folder, "malformed", b"abc");
        // The block's last range ends at 2^64 - 1.
        let mut widest = FilterBlockBuilder::with_base_lg(BloomFilterPolicy::new(10), 63).unwrap();
        for offset in [0, 1 << 63] {
            widest.start_block(offset).unwrap();
            widest.add_key(b"apple");
        }
        let widest = file(&folder, "widest", widest.finish().unwrap());
        for path in [block, malformed, widest, folder.path().join("missing"), folder.path().to_owned()] {
            self.run("inspect", args!["--block", path]);
            self.run("inspect", args!["--block", "--filters", path]);
            for policy in default_read_policies() {
                self.run("inspect", args!["--block", "--policy", policy.name(), path]);
            }
        }
    }

    fn unreadable_paths(&mut self) {
        let folder = folder();
        self.all(&folder.path().join("missing.ldb"));
        self.all(&file(&folder, "empty.ldb", ""));
        let missing = folder.path().join("missing");
        self.run("inspect", args!["--files-from", missing]);
        self.run("query", args!["--files-from", missing, "key"]);
        self.run("verify", args!["--files-from", missing]);
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt as _;
            self.all(Path::new("/dev/null"));
            // A database and a filter block whose paths are not UTF-8.
            let path = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
            fs::create_dir(&path).unwrap();
            for entry in fs::read_dir(testdata().join("databases/levels")).unwrap() {
                let from = entry.unwrap().path();
                fs::copy(&from, path.join(from.file_name().unwrap())).unwrap();
            }
            self.all(&path);
            self.all(&folder.path().join(std::ffi::OsStr::from_bytes(b"\xff\".ldb")));
        }
    }
}

const BLOOM: &[u8] = b"filter.leveldb.BuiltinBloomFilter2";
const KEYS: [&[u8]; 2] = [b"apple", b"melon"];

fn filter_block(policy: SharedPolicy, keys: &[&[u8]]) -> Vec<u8> {
    let mut builder = FilterBlockBuilder::new(policy);
    keys.iter().for_each(|key| builder.add_key(key));
    builder.finish().unwrap().to_vec()
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

pub(crate) fn file(folder: &TempDir, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, contents).unwrap();
    path
}

/// Adds the tables below a folder to `found`.
fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "ldb") {
            found.push(path);
        }
    }
}
