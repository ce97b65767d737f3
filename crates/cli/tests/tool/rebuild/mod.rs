//! `filterblock rebuild`: its effects on folders, and its messages.

mod arguments;
#[cfg(unix)]
mod attributes;
mod filters;
#[cfg(unix)]
mod foreign;
mod hashes;
mod in_place;
mod leftovers;
#[cfg(unix)]
mod links;
mod numbers;
mod outcome;
mod refusals;
#[cfg(unix)]
mod signals;
mod to_folder;
mod undo;
mod work;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use filterblock::database::{LiveTable, Manifest};
use filterblock::table::{ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, SharedPolicy, policy};

use super::*;

const NEW: &str = "leveldb.BuiltinBloomFilter2";
const OLD: &str = "leveldb.BuiltinBloomFilter";

/// A table to be made.
#[derive(Clone)]
pub(super) struct Spec {
    pub(super) level: u8,
    pub(super) number: u64,
    pub(super) extension: &'static str,
    pub(super) keys: Vec<Vec<u8>>,
    /// The sequence number of all entries.
    pub(super) sequence: u64,
    pub(super) policy: Option<SharedPolicy>,
    pub(super) base_lg: u8,
}

/// A table with filters of 10 bits a key by LevelDB's policy.
pub(super) fn spec(level: u8, number: u64, keys: std::ops::Range<u32>) -> Spec {
    Spec {
        level,
        number,
        extension: "ldb",
        keys: keys.map(|key| format!("key{key:07}").into_bytes()).collect(),
        // Newer on shallower levels and, on level 0, in tables of higher numbers.
        sequence: 100 * (8 - u64::from(level)) + number % 100,
        policy: Some(Arc::new(BloomFilterPolicy::new(10))),
        base_lg: 11,
    }
}

impl Spec {
    pub(super) fn policy(self, policy: impl filterblock::FilterPolicy + 'static) -> Self {
        Self { policy: Some(Arc::new(policy)), ..self }
    }

    fn name(&self) -> String {
        format!("{:06}.{}", self.number, self.extension)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut options = WriteOptions::default().internal_keys(true).block_size(512);
        if let Some(policy) = &self.policy {
            options = options.filter_policies(vec![Arc::clone(policy)]).base_lg(self.base_lg);
        }
        let mut builder = TableBuilder::new(Vec::new(), options);
        for key in &self.keys {
            let value = format!("value of {} at {}", key.escape_ascii(), self.sequence);
            builder.add(&manifest::internal_key(key, self.sequence, 1), value.as_bytes()).unwrap();
        }
        builder.finish().unwrap().0
    }
}

/// A database to be made.
pub(super) struct Plan {
    pub(super) comparator: &'static [u8],
    manifest: u64,
    log: u64,
    next: u64,
    tables: Vec<Spec>,
    /// Further fields for the MANIFEST.
    more: manifest::Edit,
}

pub(super) fn plan(tables: impl Into<Vec<Spec>>) -> Plan {
    let tables = tables.into();
    Plan { comparator: manifest::BYTEWISE, manifest: 40, log: 41, next: 42, tables, more: Default::default() }
}

/// A database of three tables on three levels. The table on level 0 shares keys with both others.
fn usual() -> Db {
    plan([spec(0, 30, 0..300), spec(1, 12, 0..200), spec(2, 20, 200..500)]).make()
}

impl Plan {
    pub(super) fn make(self) -> Db {
        let root = folder();
        let path = fs::canonicalize(root.path()).unwrap();
        let db = Db { _root: root, path };
        fs::create_dir(db.dir()).unwrap();
        let mut edit = manifest::Edit::default().comparator(self.comparator).number(2, self.log).number(9, 0);
        edit = edit.number(3, self.next).number(4, 1000);
        edit.0.extend(self.more.0);
        for table in &self.tables {
            let bytes = table.bytes();
            let key = |key: &Vec<u8>| manifest::internal_key(key, table.sequence, 1);
            let (first, last) = (key(&table.keys[0]), key(table.keys.last().unwrap()));
            edit = edit.add(table.level.into(), table.number, bytes.len() as u64, &first, &last);
            fs::write(db.dir().join(table.name()), bytes).unwrap();
        }
        let name = format!("MANIFEST-{:06}", self.manifest);
        db.write(&name, manifest::log(&[edit.0]).0);
        db.write("CURRENT", format!("{name}\n"));
        db.write("LOCK", "");
        db.write("LOG", "messages for people\n");
        db.write(&format!("{:06}.log", self.log), manifest::log(&[[0; 12]]).0);
        db
    }
}

/// A database's folder, which is in a temporary folder of its own.
pub(super) struct Db {
    _root: tempfile::TempDir,
    path: PathBuf,
}

/// Everything below a folder by its path: the contents of files, and the targets of links.
type Contents = BTreeMap<String, Vec<u8>>;

impl Db {
    pub(super) fn dir(&self) -> PathBuf {
        self.path.join("db")
    }

    fn undo_folder(&self) -> PathBuf {
        self.path.join("db.filterblock-undo")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.file(name), contents).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.file(name)).unwrap()
    }

    /// The names of the files in the database's folder.
    fn names(&self) -> Vec<String> {
        names(&self.dir())
    }

    /// Everything in the folder and beside it.
    fn contents(&self) -> Contents {
        contents(&self.path)
    }

    fn manifest(&self) -> Manifest {
        Manifest::read(self.dir()).unwrap()
    }

    /// The level and the name of each live table, in the order of the levels.
    fn live(&self) -> Vec<(u8, String)> {
        live(&self.dir())
    }

    fn run(&self, options: &[&str]) -> Run {
        let dir = self.dir();
        let mut arguments = args!["rebuild", dir].to_vec();
        arguments.extend(options.iter().map(Into::into));
        run(&arguments)
    }

    /// Runs the program, which has to succeed without messages. Returns its output.
    #[track_caller]
    fn done(&self, options: &[&str]) -> String {
        self.run(options).expect(0).quiet().out
    }

    /// Runs the program, which has to change nothing and to end with this status and this message: what is the matter, and
    /// below it what helps. A refusal says that nothing was changed. `{db}` in the message stands for the folder.
    #[track_caller]
    fn refused(&self, status: i32, options: &[&str], message: &str) {
        let before = self.contents();
        let run = self.run(options).expect(status);
        let (why, remedies) = message.split_once('\n').unwrap_or((message, ""));
        let state = if status == 1 { "; nothing was changed" } else { "" };
        let remedies = remedies.lines().map(|line| format!("filterblock: {line}\n"));
        let expected = format!("filterblock: {why}{state}\n") + &remedies.collect::<String>();
        assert_eq!(run.err, self.fill(&expected), "{options:?}");
        assert_eq!(run.out, "");
        self.is_as(&before);
    }

    /// Runs the program, which has to refuse a damaged database with this message, to name the command that comes first,
    /// and to change nothing.
    #[track_caller]
    fn repaired_first(&self, options: &[&str], message: &str) {
        self.refused(1, options, &format!("{message}\nfirst: filterblock repair {{word}} --to {{repaired}}"));
    }

    /// Replaces `{db}` by the folder's path, `{word}` by the path as a word of a command, and `{repaired}` by that of the
    /// folder for a repair.
    fn fill(&self, text: &str) -> String {
        let dir = self.dir();
        let path = dir.to_str().unwrap();
        let words =
            text.replace("{word}", &word(path)).replace("{repaired}", &word(&format!("{path}-repaired")));
        words.replace("{db}", path)
    }

    #[track_caller]
    fn is_as(&self, before: &Contents) {
        assert_same(&self.contents(), before);
    }

    /// Asserts that `verify` finds nothing wrong, and that no files but the database's are left.
    #[track_caller]
    fn is_sound(&self) {
        run(&args!["verify", self.dir()]).expect(0).quiet();
        let live = self.live();
        let manifest = String::from_utf8(self.read("CURRENT")).unwrap();
        let expected = live.iter().map(|(_, name)| name.as_str()).chain([
            manifest.trim_end(),
            "CURRENT",
            "LOCK",
            "LOG",
            "000041.log",
        ]);
        let mut expected: Vec<_> = expected.map(str::to_owned).collect();
        expected.sort();
        assert_eq!(self.names(), expected);
    }
}

#[track_caller]
fn assert_same(now: &Contents, before: &Contents) {
    let names = |contents: &Contents| contents.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(now), names(before));
    for (name, bytes) in before {
        assert!(now[name] == *bytes, "{name} changed: {}", now[name].escape_ascii());
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn contents(dir: &Path) -> Contents {
    let mut found = Contents::new();
    for name in names(dir) {
        let path = dir.join(&name);
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            found.insert(format!("{name}/"), Vec::new());
            found
                .extend(contents(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else if kind.is_symlink() {
            found.insert(name, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
        } else {
            found.insert(name, if kind.is_file() { fs::read(&path).unwrap() } else { b"special".to_vec() });
        }
    }
    found
}

/// The level and the file of each live table.
fn live(dir: &Path) -> Vec<(u8, String)> {
    let manifest = Manifest::read(dir).unwrap();
    manifest.tables().iter().map(|table| (table.level, name_of(dir, table))).collect()
}

fn name_of(dir: &Path, table: &LiveTable) -> String {
    let names = ["ldb", "sst"].map(|extension| format!("{:06}.{extension}", table.number));
    let name = names.into_iter().find(|name| dir.join(name).exists()).expect("its file");
    assert_eq!(fs::metadata(dir.join(&name)).unwrap().len(), table.size, "{name}");
    name
}

fn open(path: &Path) -> Table<fs::File> {
    let options = ReadOptions::default().filter_policies(policy::default_read_policies()).internal_keys(true);
    Table::open_path(path, &options).unwrap()
}

/// The name and the `base_lg` of a table's filters, if it has any.
fn filters_of(path: &Path) -> Option<(String, u8)> {
    let table = open(path);
    Some((table.filter_name()?.to_owned(), table.filter()?.base_lg()))
}

/// The size of a table's filters in bits, for each of its keys.
fn bits_of(path: &Path) -> u64 {
    let table = open(path);
    table.filter_handle().unwrap().size * 8 / table.iter().count() as u64
}

/// The bytes of a table's data blocks.
fn data_of(path: &Path) -> Vec<u8> {
    let table = open(path);
    let end = table.data_blocks().last().unwrap().unwrap().end().unwrap();
    fs::read(path).unwrap()[..end as usize].to_vec()
}

/// Changes one byte in the middle of a table's first data block.
fn damage(path: &Path) {
    let middle = open(path).data_blocks().next().unwrap().unwrap().size as usize / 2;
    let mut bytes = fs::read(path).unwrap();
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}
