//! `filterblock repair` of what public bug reports are about, and of the same kinds with other keys, numbers, levels and
//! mixtures.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use filterblock::database::Manifest;
use serde_json::Value;

use super::databases::{BYTEWISE, internal_key, log, unhex};
use super::reports::{Listed, batch, database, make, put, table};
use super::{args, folder, run};

type Entry = (Vec<u8>, Vec<u8>);
type Blocks = Vec<Vec<Entry>>;
type Change = fn(&mut Blocks);
type Keys = BTreeMap<Vec<u8>, Vec<u8>>;

/// A folder with a database, and one for the new database.
struct Db {
    place: tempfile::TempDir,
}

/// What a repair did: its exit status, all lines of its JSON, and the keys of the new database.
#[derive(Debug)]
struct Repaired {
    status: i32,
    lines: Vec<Value>,
    keys: Keys,
}

impl Repaired {
    fn database(&self) -> &Value {
        self.lines.iter().find(|line| line["object"] == "database").unwrap()
    }

    /// All remarks, reasons and notes.
    fn told(&self) -> String {
        let of_files = self.lines.iter().flat_map(|line| [&line["note"], &line["why"]]);
        let of_all = [&self.database()["unknown"], &self.database()["notes"]];
        of_files.chain(of_all).filter(|told| !told.is_null()).map(|told| format!("{told}\n")).collect()
    }

    #[track_caller]
    fn is(self, status: i32, keys: &Keys) -> Self {
        assert_eq!((self.status, &self.keys), (status, keys), "{self:?}");
        self
    }

    #[track_caller]
    fn tells(self, text: &str) -> Self {
        assert!(self.told().contains(text), "{text}: {}", self.told());
        self
    }
}

impl Db {
    fn new() -> Self {
        Self { place: folder() }
    }

    fn of(name: &str) -> Self {
        let db = Self::new();
        make(name, &db.dir());
        db
    }

    /// A database of these logs and tables, whose MANIFEST has the log number 3 and the last sequence number 1000.
    fn made(logs: &[(u64, Vec<Vec<u8>>)], tables: &[Listed]) -> Self {
        let db = Self::new();
        database(&db.dir(), BYTEWISE, (3, 1000), logs, tables);
        db
    }

    fn dir(&self) -> PathBuf {
        self.place.path().join("db")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    fn remove(self, names: &[&str]) -> Self {
        names.iter().for_each(|name| fs::remove_file(self.path(name)).unwrap());
        self
    }

    fn without_manifest(self) -> Self {
        self.remove(&["CURRENT", "MANIFEST-000002"])
    }

    fn rename(self, from: &str, to: &str) -> Self {
        fs::rename(self.path(from), self.path(to)).unwrap();
        self
    }

    fn repair(&self) -> Repaired {
        self.repair_from(&self.dir())
    }

    /// Repairs the database, and checks that no check finds anything wrong with the new one.
    fn repair_from(&self, dir: &Path) -> Repaired {
        let target = self.place.path().join("new");
        let _ = fs::remove_dir_all(&target);
        let done = run(&args!["repair", dir, "--to", target, "--json"]);
        let mut keys = Keys::new();
        if target.exists() {
            run(&args!["verify", target]).expect(0);
            // There is no log, and none is missing.
            assert_eq!(Manifest::read(&target).unwrap().log_number(), 0);
            let scan = run(&args!["scan", target, "--hex"]).expect(0);
            let entries = scan.out.lines().map(|line| line.split_once('\t').unwrap());
            keys.extend(entries.map(|(key, value)| (unhex(key), unhex(value))));
        }
        Repaired { status: done.status, lines: done.all_json(), keys }
    }
}

/// The newest values of these entries, of those whose keys are internal keys.
fn newest<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Keys {
    let mut newest = BTreeMap::<Vec<u8>, (u64, Vec<u8>)>::new();
    for (key, value) in entries {
        let Some((user_key, &[1, a, b, ..])) = key.split_last_chunk::<8>() else { continue };
        let sequence = u64::from(a) | u64::from(b) << 8;
        let of_key = newest.entry(user_key.to_vec()).or_default();
        if of_key.0 < sequence {
            *of_key = (sequence, value.clone());
        }
    }
    newest.into_iter().map(|(key, (_, value))| (key, value)).collect()
}

/// Blocks of five entries, whose keys begin with `prefix`, and whose sequence numbers begin with `first`.
fn blocks(prefix: &str, count: u64, first: u64) -> Blocks {
    let entry = |at: u64| {
        put(format!("{prefix}{at:04}").as_bytes(), first + at, format!("value {}", first + at).as_bytes())
    };
    (0..count).map(|block| (5 * block..5 * block + 5).map(entry).collect()).collect()
}

/// A table of these blocks, with the first and the last key that its builder got.
fn listed(level: u64, number: u64, blocks: &[Vec<Entry>]) -> Listed {
    let ends = [&blocks[0][0].0, &blocks.last().unwrap().last().unwrap().0].map(Clone::clone);
    Listed(level, number, table(blocks), ends)
}

fn empty_log() -> [(u64, Vec<Vec<u8>>); 1] {
    [(3, Vec::new())]
}

/// The cases of `tests/common/reports.rs`: the exit status, the number of keys, and what is told.
#[test]
fn the_reported_databases_are_saved() {
    for (name, status, keys, told) in [
        ("order", 0, 103, "keys are out of order"),
        ("swapped", 0, 20, "keys are out of order"),
        ("zero-tail-64k", 0, 2, "zeros at the end are reserved space"),
        ("zero-tail-1m", 0, 2, "zeros at the end are reserved space"),
        ("no-log", 5, 1, "000003.log is missing, so writes after sequence number 1 may be lost"),
        ("copy-name", 0, 101, "taken for 000004.ldb"),
        ("copy-name-alone", 5, 101, "taken for 000004.ldb"),
        ("upper-case", 0, 101, "taken for 000004.ldb"),
        ("seq-twice", 0, 1, ""),
        ("short-key", 5, 5, "1 key without a valid sequence number"),
        ("manifest-cut", 5, 2, "entries that no table of the MANIFEST has"),
        ("manifest-zero", 5, 2, "entries that no table of the MANIFEST has"),
        ("deeper", 0, 1, ""),
        ("idb-without-manifest", 5, 50, "idb_cmp1"),
    ] {
        let told = if cfg!(windows) && name == "upper-case" { "" } else { told };
        let done = Db::of(name).repair().tells(told);
        assert_eq!((done.status, done.keys.len()), (status, keys), "{name}: {done:?}");
    }
    let done = Db::of("seq-twice").repair();
    assert_eq!(done.keys[&b"k"[..]], b"second");
}

/// Blocks that are reversed, exchanged, shuffled within themselves, with duplicates and with keys of other blocks: all
/// entries are saved, and nothing is lost.
#[test]
fn entries_out_of_order_are_sorted() {
    let good = blocks("good", 4, 500);
    let changes: [(&str, Change); 6] = [
        ("reversed blocks", |blocks| blocks.reverse()),
        ("exchanged blocks", |blocks| blocks.swap(3, 8)),
        ("reversed in each block", |blocks| blocks.iter_mut().for_each(|block| block.reverse())),
        ("a duplicate", |blocks| {
            let twice = blocks[4][2].clone();
            blocks[4].insert(2, twice);
        }),
        ("keys of other blocks", |blocks| {
            blocks[5].push(put(b"k0001", 300, b"newer"));
            blocks[7].insert(0, put(b"a", 301, b"first"));
        }),
        ("a key before all", |blocks| blocks[9].push(put(b"a", 302, b"last"))),
    ];
    for (what, change) in changes {
        let mut bad = blocks("k", 10, 1);
        change(&mut bad);
        let all = newest(good.iter().chain(&bad).flatten());
        let made = || Db::made(&empty_log(), &[listed(1, 4, &good), listed(0, 5, &bad)]);
        made().repair().is(0, &all).tells("keys are out of order");
        // The order of keys is that of most of them.
        let is_mostly_in_order = !what.contains("reversed");
        if is_mostly_in_order {
            made().without_manifest().repair().is(5, &all).tells("keys are out of order");
        }
        // Two wrong bits cost one block, and its range is not known.
        let db = made();
        let mut bytes = fs::read(db.path("000005.ldb")).unwrap();
        bytes[10] ^= 1;
        bytes[30] ^= 1;
        fs::write(db.path("000005.ldb"), bytes).unwrap();
        let lost = newest(&bad[0]);
        let done = db.repair();
        assert!(done.status == 5 && done.keys.len() + lost.len() >= all.len(), "{what}: {done:?}");
        assert!(all.iter().all(|(key, value)| lost.contains_key(key) || done.keys.get(key) == Some(value)));
    }
}

/// Tables of one level that overlap, and a table of which only the blocks are found.
#[test]
fn tables_that_overlap_are_merged() {
    let (old, new) = (blocks("k", 4, 1), blocks("k", 4, 100));
    let all = newest(old.iter().chain(&new).flatten());
    let made = Db::made(&empty_log(), &[listed(1, 4, &old), listed(1, 5, &new)]);
    made.repair().is(0, &all).tells("overlaps 0000");
    let mut bad = blocks("k", 6, 1);
    bad.swap(1, 4);
    let db = Db::made(&empty_log(), &[listed(1, 4, &bad)]);
    let bytes = fs::read(db.path("000004.ldb")).unwrap();
    fs::write(db.path("000004.ldb"), &bytes[..bytes.len() - 20]).unwrap();
    let done = db.repair();
    assert_eq!(done.keys, newest(bad.iter().flatten()));
}

/// True if the system takes two names that differ in case for one.
fn is_same_name(name: &str, other: &str) -> bool {
    cfg!(windows) && name.eq_ignore_ascii_case(other)
}

/// Browsers, file managers and clouds rename files. A copy beside its original is not read, and named.
#[test]
fn copies_are_taken_for_what_is_missing() {
    let (base, other) = (blocks("k", 10, 1), blocks("n", 2, 100));
    let logs = [(3, vec![batch(200, &[(b"of log", b"1")])])];
    let mut all = newest(base.iter().chain(&other).flatten());
    all.insert(b"of log".to_vec(), b"1".to_vec());
    let made = || {
        let db = Db::new();
        database(&db.dir(), BYTEWISE, (3, 200), &logs, &[listed(2, 4, &base), listed(0, 5, &other)]);
        db
    };
    for copy in [
        "000004 (1).ldb",
        "000004 - Copy.ldb",
        "000004 copy.ldb",
        "000004 (1) (2).ldb",
        "Copy of 000004.ldb",
        "000004.LDB",
        "000004.Sst",
        "000004 copy 2.LDB",
    ] {
        if is_same_name("000004.ldb", copy) {
            continue;
        }
        let db = made().rename("000004.ldb", copy);
        db.repair().is(0, &all).tells("taken for 000004.ldb, which is missing");
        fs::copy(db.path(copy), db.path("000004.ldb")).unwrap();
        db.repair().is(0, &all).tells(copy);
        // The original is incomplete, or empty.
        for len in [0, 200] {
            let whole = fs::read(db.path(copy)).unwrap();
            fs::write(db.path("000004.ldb"), &whole[..len]).unwrap();
            db.repair().is(0, &all);
        }
        let db = db.remove(&["000004.ldb"]).without_manifest();
        db.repair().is(5, &all).tells("taken for 000004.ldb, which is missing");
    }
    for (name, copy) in [
        ("000003.log", "000003 (1).log"),
        ("MANIFEST-000002", "MANIFEST-000002 (1)"),
        ("MANIFEST-000002", "manifest-000002"),
    ] {
        if is_same_name(name, copy) {
            continue;
        }
        made().rename(name, copy).repair().is(0, &all).tells(&format!("taken for {name}, which is missing"));
    }
    // Of two copies, the larger one; of another size than the MANIFEST has, none.
    let db = made().rename("000004.ldb", "000004 (2).ldb").without_manifest();
    fs::write(db.path("000004 (1).ldb"), &fs::read(db.path("000004 (2).ldb")).unwrap()[..100]).unwrap();
    db.repair().is(5, &all).tells("000004 (1).ldb");
    let db = made().remove(&["000004.ldb"]);
    fs::write(db.path("000004 (1).ldb"), table(&blocks("x", 1, 900))).unwrap();
    fs::write(db.path("backup.LDB"), table(&base)).unwrap();
    fs::write(db.path("other.ldb"), "no table").unwrap();
    let done = db.repair().tells("000004 (1).ldb").tells("backup.LDB");
    assert!(done.status == 5 && !done.keys.contains_key(&b"x0000"[..]), "{done:?}");
    assert!(!done.told().contains("other.ldb"), "{done:?}");
}

/// A key of fewer than eight bytes, or of an unknown type, is left out alone, wherever it is.
#[test]
fn a_key_that_is_none_is_left_out_alone() {
    let good = blocks("good", 2, 500);
    let logs = [(3, vec![batch(1000, &[(b"of log", b"1")])])];
    for key in [&b""[..], b"zz", b"1234567", &internal_key(b"k0002", 5, 7), &internal_key(b"", 1, 255)] {
        let odd = (key.to_vec(), b"odd".to_vec());
        let changes: [&dyn Fn(&mut Blocks); 6] = [
            &|blocks| blocks[0].insert(0, odd.clone()),
            &|blocks| blocks[1].insert(2, odd.clone()),
            &|blocks| blocks[3].push(odd.clone()),
            &|blocks| blocks.insert(2, vec![odd.clone()]),
            &|blocks| blocks.push(vec![odd.clone()]),
            &|blocks| blocks.iter_mut().for_each(|block| block.extend([odd.clone(), odd.clone()])),
        ];
        for change in changes {
            let mut bad = blocks("k", 4, 1);
            change(&mut bad);
            let mut all = newest(good.iter().chain(&bad).flatten());
            let tables = || [listed(1, 4, &bad), listed(1, 5, &good)];
            let none = "without a valid sequence number";
            Db::made(&empty_log(), &tables()[..1]).repair().is(5, &newest(bad.iter().flatten())).tells(none);
            all.insert(b"of log".to_vec(), b"1".to_vec());
            Db::made(&logs, &tables()).repair().is(5, &all).tells(none);
            Db::made(&logs, &tables()).without_manifest().repair().is(5, &all).tells(none);
        }
    }
    // Without logs and MANIFEST, tables of other keys are those of another program.
    let table = Listed::new(1, 4, (0..20).map(|at| (vec![b'a' + at; 3], b"v".to_vec())).collect());
    let db = Db::made(&[], &[table]).without_manifest();
    assert_eq!(db.repair().status, 1);
}

#[test]
fn of_writes_of_one_number_the_last_counts() {
    let write = |at: usize| batch(7, &[(b"k", format!("write {at}").as_bytes())]);
    let deletion = || [&7_u64.to_le_bytes()[..], &1_u32.to_le_bytes(), b"\0\x01k"].concat();
    let of = |value: &str| Keys::from([(b"k".to_vec(), value.as_bytes().to_vec())]);
    let repaired = |logs: &[(u64, Vec<Vec<u8>>)], tables: &[Listed]| {
        let db = Db::new();
        database(&db.dir(), BYTEWISE, (3, 7), logs, tables);
        db.repair()
    };
    repaired(&[(3, (0..9).map(write).collect())], &[]).is(0, &of("write 8"));
    repaired(&[(3, (0..5).map(write).collect()), (5, vec![write(5), write(6)])], &[]).is(0, &of("write 6"));
    // The type is a part of the key: a value comes before a deletion, whichever was written first.
    repaired(&[(3, vec![write(0), deletion()])], &[]).is(0, &of("write 0"));
    repaired(&[(3, vec![deletion(), write(1)])], &[]).is(0, &of("write 1"));
    // LevelDB reads the first of two entries of a table, and a log before tables.
    let twice = || listed(1, 4, &[vec![put(b"k", 7, b"first"), put(b"k", 7, b"second")]]);
    repaired(&[(3, Vec::new())], &[twice()]).is(0, &of("first"));
    repaired(&[(3, vec![write(2)])], &[twice()]).is(0, &of("write 2"));
}

#[test]
fn what_a_kill_leaves_is_no_loss() {
    let tables = || [listed(1, 4, &blocks("k", 2, 1))];
    let logs = [(3, vec![batch(1000, &[(b"one", b"1")]), batch(1001, &[(b"two", &[b'2'; 50])])])];
    let mut all = newest(blocks("k", 2, 1).iter().flatten());
    all.insert(b"one".to_vec(), b"1".to_vec());
    let before_the_last = all.clone();
    all.insert(b"two".to_vec(), vec![b'2'; 50]);
    for name in ["MANIFEST-000002", "000003.log"] {
        for zeros in [1, 7, 100, 4096, 32 << 10, 64 << 10, (1 << 20) + 5] {
            let db = Db::made(&logs, &tables());
            let mut bytes = fs::read(db.path(name)).unwrap();
            bytes.resize(bytes.len() + zeros, 0);
            fs::write(db.path(name), bytes).unwrap();
            // Fewer zeros than a record's header has are padding.
            db.repair().is(0, &all).tells(if zeros < 7 { "" } else { name });
        }
    }
    for cut in [1, 30, 60] {
        let db = Db::made(&logs, &tables());
        let bytes = fs::read(db.path("000003.log")).unwrap();
        fs::write(db.path("000003.log"), &bytes[..bytes.len() - cut]).unwrap();
        db.repair()
            .is(0, &before_the_last)
            .tells("the last write in 000003.log is incomplete, as after a kill");
        // Numbers are missing before the next log.
        fs::write(db.path("000006.log"), log(&[batch(1002, &[(b"three", b"3")])]).0).unwrap();
        let done = db.repair();
        assert_eq!(done.status, 5, "{done:?}");
    }
    let db = Db::made(&logs, &tables());
    let path = db.path("MANIFEST-000002");
    let cut = log(&[vec![4; 30]]).0;
    let manifest = [fs::read(&path).unwrap(), cut[..20].to_vec()].concat();
    fs::write(&path, manifest).unwrap();
    assert_eq!(db.repair().tells("incomplete, as after a kill").keys, all);
}

#[test]
fn a_log_that_is_missing_is_told() {
    let tables = || [listed(1, 4, &blocks("k", 2, 1))];
    let saved = |number: u64, logs: &[(u64, Vec<Vec<u8>>)]| {
        let db = Db::new();
        database(&db.dir(), BYTEWISE, (number, 10), logs, &tables());
        db.repair()
    };
    let missing =
        |number: u64| format!("{number:06}.log is missing, so writes after sequence number 10 may be lost");
    assert_eq!(saved(3, &[]).tells(&missing(3)).status, 5);
    assert_eq!(saved(7, &[(9, Vec::new())]).tells(&missing(7)).status, 5);
    assert_eq!(saved(7, &[(7, Vec::new())]).status, 0);
    // Log number 0 means none.
    assert_eq!(saved(0, &[]).status, 0);
    assert_eq!(saved(0, &[(9, Vec::new())]).status, 0);
    // A table has what the log had, and the MANIFEST knows neither.
    let db = Db::new();
    database(&db.dir(), BYTEWISE, (8, 10), &[], &tables());
    fs::write(db.path("000013.ldb"), table(&blocks("n", 1, 11))).unwrap();
    let all = newest(blocks("k", 2, 1).iter().chain(&blocks("n", 1, 11)).flatten());
    db.repair().is(5, &all).tells("000008.log is missing, so writes after sequence number 15 may be lost");
}

#[test]
fn the_name_of_the_folder_tells_chromiums_order() {
    for (name, comparator) in
        [("https_x_0.indexeddb.leveldb", "idb_cmp1"), ("plain", "leveldb.BytewiseComparator")]
    {
        let db = Db::of("idb-without-manifest");
        let named = db.place.path().join(name);
        fs::rename(db.dir(), &named).unwrap();
        let done = db.repair_from(&named).tells("idb_cmp1");
        assert_eq!((done.keys.len(), &done.database()["comparator"]), (50, &comparator.into()), "{done:?}");
    }
}

#[test]
fn the_folder_of_repairdb_is_mentioned() {
    let db = Db::of("zero-tail-64k");
    fs::create_dir(db.path("lost")).unwrap();
    let done = db.repair().tells("the folder lost/ was not read");
    assert_eq!(done.status, 0);
}
