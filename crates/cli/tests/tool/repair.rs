//! `filterblock repair`: its output, its exit status, and that it leaves the database alone. Which entries it saves
//! from each kind of damage is tested in the engine, and in comparison with LevelDB.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use filterblock::BloomFilterPolicy;
use filterblock::database::DatabaseLock;
use filterblock::table::{Compression, IdbComparator, TableBuilder, WriteOptions};

use super::manifest::{Edit, copy_of, log};
use super::*;

const TABLES: [&str; 3] = ["000005.ldb", "000007.ldb", "000009.ldb"];
const MANIFEST: &str = "MANIFEST-000008";
const LOG: &str = "000010.log";

/// A copy of a database that LevelDB wrote, and a folder for the repaired one.
struct Db {
    folder: tempfile::TempDir,
    place: tempfile::TempDir,
}

impl Db {
    fn new() -> Self {
        Self { folder: copy_of(&database("levels")), place: folder() }
    }

    fn dir(&self) -> &Path {
        self.folder.path()
    }

    fn target(&self) -> PathBuf {
        self.place.path().join("new")
    }

    fn flip(&self, name: &str, places: &[usize]) -> &Self {
        let path = self.dir().join(name);
        let mut bytes = fs::read(&path).unwrap();
        places.iter().for_each(|&at| bytes[at] ^= 4);
        fs::write(path, bytes).unwrap();
        self
    }

    fn remove(&self, name: &str) -> &Self {
        fs::remove_file(self.dir().join(name)).unwrap();
        self
    }

    #[track_caller]
    fn repair(&self, options: &[&str], status: i32) -> Run {
        let before = contents(self.dir());
        let mut arguments = args!["repair", self.dir(), "--to", self.target()].to_vec();
        arguments.extend(options.iter().map(Into::into));
        let run = run(&arguments).expect(status);
        assert!(contents(self.dir()) == before, "the database was changed");
        let left = fs::read_dir(self.place.path()).unwrap().count();
        let is_there = matches!(status, 0 | 5) && !options.contains(&"--dry-run");
        assert_eq!(
            (left, self.target().join("CURRENT").exists()),
            (usize::from(is_there), is_there),
            "{run:?}"
        );
        run
    }
}

fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
}

/// The key, the sequence number and the value of each entry, as text.
fn entries(dir: &Path) -> Vec<String> {
    let lines = run(&args!["scan", "--json", dir]).expect(0).all_json();
    let entries = lines.into_iter().filter(|line| line["object"] == "entry");
    entries.map(|line| format!("{} {} {}", line["key"], line["sequence"], line["value"])).collect()
}

#[test]
fn a_sound_database_is_copied_whole() {
    let db = Db::new();
    let run = db.repair(&[], 0);
    assert!(
        run.out.contains("nothing is lost: all ")
            && run.out.contains("No block, log or MANIFEST")
            && run.err.is_empty(),
        "{run:?}"
    );
    assert_eq!(entries(&db.target()), entries(db.dir()));
    super::run(&args!["verify", db.target()]).expect(0);
    // The next write is newer than all entries that are there.
    let last = |dir: &Path| filterblock::database::Manifest::read(dir).unwrap().last_sequence();
    assert!(last(db.dir()) > 0 && last(&db.target()) >= last(db.dir()));
    // A second copy does not replace the first.
    let again = super::run(&args!["repair", db.dir(), "--to", db.target()]).expect(1);
    assert!(again.err.contains("new: exists and is not empty: choose another --to"), "{again:?}");
    let above = db.target().join("missing/new");
    let nowhere = super::run(&args!["repair", db.dir(), "--to", above]).expect(2);
    assert!(nowhere.err.ends_with("missing: no such file or folder: create it first\n"), "{nowhere:?}");
}

/// The command that a dry run shows does what the dry run did.
#[test]
fn a_dry_run_repeats_its_options() {
    let db = Db::new();
    let shown = |options: &[&str]| {
        let mut arguments = args!["repair", db.dir(), "--dry-run"].to_vec();
        arguments.extend(options.iter().map(Into::into));
        let out = run(&arguments).expect(if options.is_empty() { 0 } else { 5 }).out;
        out.split_once("To save it:").map(|(_, command)| command.trim().to_owned())
    };
    assert_eq!(shown(&[]), None);
    db.remove(TABLES[2]);
    let options = "--prefer sound --policy leveldb.BuiltinBloomFilter --hash unsigned --bits-per-key 12";
    let mut given: Vec<_> = options.split(' ').collect();
    let command = shown(&given).unwrap();
    assert!(command.contains("-repaired") && command.ends_with(&format!(" {options}")), "{command}");
    given.extend(["--to", "no-such-folder"]);
    assert!(shown(&given).unwrap().ends_with(&format!(" --to no-such-folder {options}")));
}

#[test]
fn one_bit_is_told_and_costs_nothing() {
    for name in TABLES.into_iter().chain([MANIFEST, LOG]) {
        let db = Db::new();
        let whole = entries(db.dir());
        let run = db.flip(name, &[40]).repair(&["-v"], 0);
        assert!(run.out.contains(&format!("{name}: used; one bit corrected at offset 40")), "{run:?}");
        assert!(
            run.out.contains("nothing is lost: all ") && !run.out.contains("No block, log or MANIFEST"),
            "{run:?}"
        );
        assert_eq!(entries(&db.target()), whole);
    }
}

#[test]
fn what_is_lost_is_told_and_is_status_5() {
    let db = Db::new();
    let run = db.flip(TABLES[0], &[40, 50]).repair(&["-v"], 5);
    assert!(run.out.contains(&format!("\n  {}: used; 1 range lost\n", TABLES[0])), "{run:?}");
    assert!(run.out.contains(&format!("\n  lost     entries of {} ", TABLES[0])), "{run:?}");
    assert!(run.out.contains("Read what is lost before you use it") && !run.out.contains("mv "), "{run:?}");
    let db = Db::new();
    let run = db.remove(MANIFEST).repair(&[], 5);
    let unknown = "\n  unknown  there is no MANIFEST, so another table or log may be missing unnoticed\n";
    assert!(run.out.contains(unknown), "{run:?}");
    let db = Db::new();
    let whole = entries(db.dir());
    let run = db.remove("CURRENT").repair(&["--dry-run"], 0);
    assert!(
        run.out.contains(&format!("all {} keys would be saved; nothing was written", whole.len())),
        "{run:?}"
    );
}

/// The MANIFEST is trusted, though it may not be the last one, and may not know the newest tables and logs.
#[test]
fn what_may_be_missing_unnoticed_is_status_5() {
    let check = |db: &Db, told: &str| {
        let run = db.repair(&["--dry-run", "-v"], 5);
        let lines: Vec<_> = run.out.lines().filter(|line| line.starts_with("  unknown  ")).collect();
        assert!(matches!(lines[..], [one] if one.contains(told)), "{run:?}");
        run.out
    };
    let db = Db::new();
    fs::write(db.dir().join("CURRENT"), "MANIFEST-000099\n").unwrap();
    check(&db, "CURRENT names MANIFEST-000099, which is missing");
    let db = Db::new();
    fs::write(db.dir().join("000099.ldb"), [1; 3000]).unwrap();
    let out = check(&db, "000099.ldb is newer than the MANIFEST and cannot be read whole");
    assert!(
        out.contains("000099.ldb: obsolete; newer than the MANIFEST, and cannot be read whole\n"),
        "{out}"
    );
    let db = Db::new();
    fs::rename(db.dir().join(LOG), db.dir().join("000100.log")).unwrap();
    check(&db, "000010.log is missing, so writes after sequence number 811 may be lost");
    #[cfg(unix)]
    {
        let db = Db::new();
        std::os::unix::fs::symlink("nowhere", db.dir().join("000011.log")).unwrap();
        let run = super::run(&args!["repair", db.dir(), "--dry-run", "-v"]).expect(5);
        assert!(
            run.out.contains("000011.log: missing; a link that leads nowhere is in its place\n"),
            "{run:?}"
        );
        assert!(run.out.contains("  unknown  000011.log is no file but a link"), "{run:?}");
    }
}

#[test]
fn a_second_manifest_is_told_with_the_reason() {
    let db = Db::new();
    fs::copy(db.dir().join(MANIFEST), db.dir().join("MANIFEST-000099")).unwrap();
    let run = db.repair(&["--dry-run", "-v"], 0);
    assert!(run.out.contains("MANIFEST-000099: not used; CURRENT names MANIFEST-000008\n"), "{run:?}");
}

#[test]
fn the_order_is_that_of_the_tables_only_if_there_are_some() {
    let db = Db::new();
    let run = db.remove(MANIFEST).repair(&["--dry-run"], 5);
    assert!(
        run.out.contains("keys are ordered by leveldb.BytewiseComparator, by the order of the tables\n"),
        "{run:?}"
    );
    TABLES.iter().for_each(|name| _ = db.remove(name));
    let run = db.repair(&["--dry-run", "-v"], 5);
    assert!(
        run.out.contains(
            "keys are ordered by leveldb.BytewiseComparator, which is assumed, as no table has entries\n"
        ),
        "{run:?}"
    );
}

#[test]
fn keys_that_may_have_had_newer_versions_can_be_left_out() {
    let db = Db::new();
    let lines = db.remove(TABLES[2]).repair(&["--prefer", "sound", "--json"], 5).all_json();
    let last = lines.last().unwrap();
    let left_out = last["left_out"].as_u64().unwrap();
    assert!(left_out > 0 && last["maybe_stale"].as_u64() >= Some(left_out), "{last}");
    assert!(lines.iter().any(|line| line["object"] == "key" && line["is_kept"] == false));
    let db = Db::new();
    let newest = db.remove(TABLES[2]).repair(&["--json"], 5).all_json();
    let keys = |lines: &[Value]| lines.last().unwrap()["keys"].as_u64().unwrap();
    assert_eq!(keys(&newest), keys(&lines) + left_out);
}

#[test]
fn what_cannot_be_done_leaves_nothing() {
    let db = Db::new();
    TABLES.into_iter().chain([LOG]).for_each(|name| _ = db.remove(name));
    assert!(db.repair(&[], 1).err.contains("nothing to save: no tables, no logs; nothing was changed"));
    let db = Db::new();
    let lock = DatabaseLock::exclusive(db.dir()).unwrap();
    let refused = run(&args!["repair", db.dir(), "--to", db.target()]).expect(3);
    assert!(refused.err.contains("LOCK"), "{refused:?}");
    drop(lock);
    run(&args!["repair", db.dir().join("nothing"), "--to", db.target()]).expect(2);
    let bare = run(&args!["repair", db.dir()]).expect(2);
    assert!(bare.err.contains("<--to <NEW>|--dry-run>"), "{bare:?}");
    let inside = run(&args!["repair", db.dir(), "--to", db.dir().join("new")]).expect(1);
    assert!(inside.err.contains("lies in the database itself"), "{inside:?}");
    assert!(!db.target().exists());
}

/// A file that another program has open for itself alone is no loss, and one name in two cases is one folder.
#[cfg(windows)]
#[test]
fn locked_files_and_names_in_two_cases_are_refused() {
    use std::os::windows::fs::OpenOptionsExt as _;
    for name in [TABLES[0], LOG, MANIFEST] {
        let db = Db::new();
        let file = fs::OpenOptions::new().read(true).share_mode(0).open(db.dir().join(name)).unwrap();
        let refused = run(&args!["repair", db.dir(), "--to", db.target()]).expect(3);
        assert!(
            refused.err.contains(name) && refused.err.contains("another program has it open"),
            "{refused:?}"
        );
        assert!(!db.target().exists());
        drop(file);
        db.repair(&[], 0);
        let upper = db.target().with_file_name("NEW");
        let refused = run(&args!["repair", db.dir(), "--to", upper]).expect(1);
        assert!(refused.err.contains("exists and is not empty"), "{refused:?}");
    }
}

/// The command that a refusal names for tables with this ending, of which the first is number 5.
fn scan_hint(ending: &str) -> String {
    let files = if cfg!(windows) { r"DB\000005." } else { "DB/*." };
    format!("filterblock scan {files}{ending}")
}

#[test]
fn an_order_that_is_not_known_is_refused_unless_it_is_told() {
    let place = folder();
    let (dir, new) = (database("reversed"), place.path().join("new"));
    let refused = run(&args!["repair", dir, "--to", new]).expect(1);
    assert!(
        refused.err.contains("filterblock.testdata.Reversed") && refused.err.contains(&scan_hint("ldb")),
        "{refused:?}"
    );
    let refused = run(&args!["repair", dir, "--to", new, "--comparator", "other"]).expect(1);
    assert!(refused.err.contains("\"other\""), "{refused:?}");
    assert!(!new.exists());
}

#[test]
fn filters_are_those_of_the_tables_or_others() {
    let db = Db::new();
    let last = db.repair(&["--json"], 0).all_json().pop().unwrap();
    assert_eq!(last["policy"], "leveldb.BuiltinBloomFilter2");
    assert_eq!(last["bits_per_key"], 10);
    // Filters of few keys are rounded up by a lot: that of one key, to 64 bits.
    let place = folder();
    let (old, new) = (database("levels"), place.path().join("new"));
    let last = run(&args!["repair", old, "--to", new, "--json"]).all_json().pop().unwrap();
    assert_eq!(last["bits_per_key"], 10);
    let db = Db::new();
    let refused = db.repair(&["--policy", "leveldb.BuiltinBloomFilter"], 1);
    assert!(refused.err.contains("\nfilterblock: --hash signed "), "{refused:?}");
    let options = ["--json", "--policy=leveldb.BuiltinBloomFilter", "--hash=unsigned", "--bits-per-key=20"];
    let last = db.repair(&options, 0).all_json().pop().unwrap();
    assert_eq!((&last["policy"], &last["bits_per_key"]), (&"leveldb.BuiltinBloomFilter".into(), &20.into()));
}

/// A filter of one key has 64 bits with any number of bits a key up to 64. Its probes show that the number was six or
/// seven.
#[test]
fn bits_of_small_filters_follow_from_their_probes() {
    let place = folder();
    let (old, new) = (place.path().join("old"), place.path().join("new"));
    let options = WriteOptions::default().internal_keys(true).filter_policy(BloomFilterPolicy::new(6));
    let mut builder = TableBuilder::new(Vec::new(), options.compression(Compression::None));
    for number in 0..20 {
        // Each value takes a block of its own, which has a filter of its own.
        builder.add(&manifest::value_key(&format!("key{number:02}")), &[7; 5000]).unwrap();
    }
    std::fs::create_dir(&old).unwrap();
    std::fs::write(old.join("000005.ldb"), builder.finish().unwrap().0).unwrap();
    let last = run(&args!["repair", old, "--to", new, "--json"]).expect(5).all_json().pop().unwrap();
    assert_eq!(last["bits_per_key"], 7);
}

/// A key of Chromium's IndexedDB: ids of one byte each, then a number.
pub(super) fn idb_key(store: u8, number: f64) -> Vec<u8> {
    [&[0, 1, store, 1, 3][..], &number.to_le_bytes()].concat()
}

/// A database in Chromium's order: a table with these numbers as keys, and a log with others.
pub(super) fn idb(numbers: &[f64]) -> tempfile::TempDir {
    idb_with(numbers, &[-79.0, 0.0, 13.0])
}

/// A database in Chromium's order: a table with `numbers` as keys, and a log with those `logged`.
fn idb_with(numbers: &[f64], logged: &[f64]) -> tempfile::TempDir {
    let internal = |key: &[u8], sequence: u64| [key, &(sequence << 8 | 1).to_le_bytes()].concat();
    let options = WriteOptions::default().internal_keys(true).comparator(IdbComparator);
    let mut builder = TableBuilder::new(Vec::new(), options);
    let keys: Vec<_> = numbers.iter().map(|&number| idb_key(5, number)).collect();
    for (key, sequence) in keys.iter().zip(1..) {
        builder.add(&internal(key, sequence), b"old").unwrap();
    }
    let table = builder.finish().unwrap().0;
    let dir = folder();
    let last = keys.len() - 1;
    let (first, last) = (internal(&keys[0], 1), internal(&keys[last], keys.len() as u64));
    let edit = Edit(Vec::new()).comparator(b"idb_cmp1").number(2, 7).number(3, 9).number(4, 80);
    let edit = edit.add(2, 5, table.len() as u64, &first, &last);
    fs::write(dir.path().join("000005.ldb"), table).unwrap();
    fs::write(dir.path().join("MANIFEST-000004"), log(&[edit.0]).0).unwrap();
    fs::write(dir.path().join("CURRENT"), "MANIFEST-000004\n").unwrap();
    let mut batch = 81_u64.to_le_bytes().to_vec();
    batch.extend((logged.len() as u32).to_le_bytes());
    for &number in logged {
        let key = idb_key(5, number);
        batch.extend([1, key.len() as u8]);
        batch.extend(key);
        batch.extend(b"\x03new");
    }
    fs::write(dir.path().join("000007.log"), log(&[batch]).0).unwrap();
    dir
}

#[test]
fn chromiums_order_is_known() {
    let numbers: Vec<_> = (-40..40).map(|number| f64::from(number) * 2.0).collect();
    let dir = idb(&numbers);
    let lines = entries(dir.path());
    assert_eq!(lines.len(), 82);
    assert!(lines[1].contains("new") && lines[0].contains("old"), "{lines:?}");
    run(&args!["verify", dir.path()]).expect(0);
    let place = folder();
    let new = place.path().join("new");
    run(&args!["repair", dir.path(), "--to", new]).expect(0);
    assert_eq!(entries(&new), lines);
    run(&args!["verify", new]).expect(0);
    // Without a MANIFEST, the tables show the order.
    fs::remove_file(dir.path().join("MANIFEST-000004")).unwrap();
    let other = place.path().join("other");
    let told = run(&args!["repair", dir.path(), "--to", other]).expect(5);
    assert!(told.out.contains("idb_cmp1, by the order of the tables"), "{told:?}");
    assert_eq!(entries(&other), lines);
}

/// A filter of the key −0 would deny 0, which is the same to Chromium.
#[test]
fn no_filters_are_made_of_keys_that_equal_others() {
    let policy = |dir: &Path, place: &Path| {
        let options = ["--policy", "leveldb.BuiltinBloomFilter2", "--json"].map(PathBuf::from);
        let arguments =
            [&args!["repair", dir, "--to", place.join("new")][..], &options.map(Into::into)].concat();
        let run = run(&arguments);
        let is_told = run.out.contains("no filters were made, as the comparator takes keys");
        (run.all_json().pop().unwrap()["policy"].is_string(), is_told)
    };
    for (numbers, logged, is_made) in [
        (&[1.0, 2.0][..], &[3.0][..], true),
        (&[1.0, 2.0], &[3.0, -0.0], false),
        (&[-0.0, 2.0], &[3.0], false),
    ] {
        let (dir, place) = (idb_with(numbers, logged), folder());
        assert_eq!(policy(dir.path(), place.path()), (is_made, !is_made), "{numbers:?} {logged:?}");
        let zero = idb_key(5, 0.0);
        let keys = entries(&place.path().join("new")).len();
        assert_eq!(keys, numbers.len() + logged.len());
        let hex: String = zero.iter().map(|byte| format!("{byte:02x}")).collect();
        let found = run(&args!["query", "--hex", place.path().join("new"), hex]);
        assert_eq!(found.out.contains("may be there"), !is_made, "{found:?}");
    }
    // The keys of an obsolete file count only if something is lost.
    let (dir, other, place) =
        (idb_with(&[1.0, 2.0], &[3.0]), idb_with(&[-0.0, 2.0], &[3.0]), [folder(), folder()]);
    fs::copy(other.path().join("000005.ldb"), dir.path().join("000003.ldb")).unwrap();
    assert_eq!(policy(dir.path(), place[0].path()), (true, false));
    let mut table = fs::read(dir.path().join("000005.ldb")).unwrap();
    [3, 9].into_iter().for_each(|at| table[at] ^= 4);
    fs::write(dir.path().join("000005.ldb"), table).unwrap();
    assert_eq!(policy(dir.path(), place[1].path()), (false, true));
}

#[test]
fn an_order_against_that_of_the_manifest_is_refused() {
    let db = Db::new();
    let refused = db.repair(&["--comparator", "idb_cmp1"], 1);
    assert!(
        refused.err.contains("ordered by \"leveldb.BytewiseComparator\", not by idb_cmp1, says the MANIFEST"),
        "{refused:?}"
    );
    for name in ["bytewise", "leveldb.BytewiseComparator"] {
        Db::new().repair(&["--comparator", name], 0);
    }
    let (chromiums, place) = (idb_with(&[1.0, 2.0], &[3.0]), folder());
    let new = place.path().join("new");
    let refused = run(&args!["repair", chromiums.path(), "--to", new, "--comparator", "bytewise"]).expect(1);
    assert!(
        refused.err.contains("ordered by \"idb_cmp1\", not by bytewise, says the MANIFEST") && !new.exists(),
        "{refused:?}"
    );
}

/// The keys 2 and 4 are in bytewise order, too.
#[test]
fn a_second_order_that_fits_is_told() {
    const TOLD: &str = "--comparator idb_cmp1";
    for logged in [&[3.0][..], &[]] {
        let (dir, place) = (idb_with(&[2.0, 4.0], logged), folder());
        fs::remove_file(dir.path().join("MANIFEST-000004")).unwrap();
        let new = place.path().join("new");
        let run = run(&args!["repair", dir.path(), "--to", new, "--json"]).expect(5);
        let last = run.all_json().pop().unwrap();
        assert_eq!(last["comparator"], "leveldb.BytewiseComparator");
        let note = last["notes"].as_array().and_then(|notes| notes.first()?.as_str()).unwrap_or_default();
        assert!(note.contains(TOLD), "{run:?}");
        let other = place.path().join("other");
        let run = super::run(&args!["repair", dir.path(), "--to", other, "--comparator", "idb_cmp1", "-v"])
            .expect(5);
        assert!(run.out.contains("keys are ordered by idb_cmp1\n") && !run.out.contains(TOLD), "{run:?}");
    }
    // Keys of words are not in Chromium's form, be they in a table or in a log.
    let db = Db::new();
    let run = db.remove(MANIFEST).repair(&[], 5);
    assert!(!run.out.contains(TOLD), "{run:?}");
    let (dir, place) = (idb_with(&[2.0, 4.0], &[3.0]), folder());
    fs::remove_file(dir.path().join("MANIFEST-000004")).unwrap();
    fs::copy(db.dir().join(LOG), dir.path().join("000008.log")).unwrap();
    let run = super::run(&args!["repair", dir.path(), "--to", place.path().join("new")]).expect(5);
    assert!(!run.out.contains(TOLD), "{run:?}");
}

#[test]
fn tables_of_no_database_are_refused_for_what_they_are() {
    let words = table("words-4096-bloom10-snappy.ldb");
    let rocksdb = words.parent().unwrap().with_file_name("constructed").join("rocksdb-block-filter.ldb");
    let one_by_one = "their keys have no sequence number; to read them one by one: ";
    for (from, name, expected) in [
        (&words, "000005.ldb", one_by_one.to_owned() + &scan_hint("ldb")),
        (&words, "000005.sst", scan_hint("sst")),
        (&rocksdb, "000005.ldb", "its tables are RocksDB's".to_owned()),
    ] {
        let (dir, place) = (folder(), folder());
        fs::copy(from, dir.path().join(name)).unwrap();
        for options in [&[][..], &["--comparator", "bytewise"]] {
            let options = options.iter().map(Into::into);
            let mut arguments = args!["repair", dir.path(), "--to", place.path().join("new")].to_vec();
            arguments.extend(options);
            let refused = run(&arguments).expect(1);
            assert!(refused.err.contains(&expected), "{refused:?}");
        }
    }
    // One such table among others is damage.
    let db = Db::new();
    fs::copy(words, db.dir().join("000003.ldb")).unwrap();
    db.repair(&[], 0);
}

#[test]
fn options_for_filters_without_effect_are_told() {
    let place = folder();
    let new = |name: &str| place.path().join(name);
    let unfiltered = database("unfiltered");
    for (name, option) in [("bits", "--bits-per-key=12"), ("hash", "--hash=signed")] {
        let run = run(&args!["repair", unfiltered, "--to", new(name), option, "-v"]).expect(0);
        assert!(
            run.out.contains("no filters were made, as live tables have none")
                && !run.out.contains("bits per key")
        );
    }
    let run = super::run(&args!["repair", unfiltered, "--to", new("neither")]).expect(0);
    assert!(!run.out.contains("no filters were made"), "{run:?}");
    let run = Db::new().repair(&["--hash=signed", "-v"], 0);
    assert!(run.out.contains("--hash is without effect") && run.out.contains("10 bits per key"), "{run:?}");
}

#[test]
fn limits_have_units() {
    for (limit, status) in [("256M", 0), ("1G", 0), ("1K", 5), ("1024", 5)] {
        Db::new().repair(&["--max-output", limit], status);
    }
}

/// Of a batch with zeros within one value, the other writes are saved.
#[test]
fn writes_that_are_saved_do_not_count_as_lost() {
    let db = Db::new();
    let mut batch = 812_u64.to_le_bytes().to_vec();
    batch.extend(10_u32.to_le_bytes());
    for number in 0..10 {
        batch.extend([1, 1, b'0' + number, 0x80 | 104, 7]);
        batch.extend([b'v'; 1000]);
    }
    let next = [&822_u64.to_le_bytes()[..], &1_u32.to_le_bytes(), b"\x01\x01z\x01z"].concat();
    let mut file = log(&[batch, next]).0;
    file[5120..5632].fill(0);
    fs::write(db.dir().join(LOG), file).unwrap();
    let run = db.repair(&["--json"], 5);
    let lines = run.all_json();
    let loss = lines.iter().find(|line| line["object"] == "loss").unwrap();
    assert_eq!((&loss["kind"], &loss["writes"]), (&"log".into(), &1.into()), "{loss}");
    assert_eq!(lines.last().unwrap()["lost_writes"], 1);
    let saved = (0..10).filter(|number| run_get(&db.target(), &number.to_string()) == 0);
    assert_eq!(saved.count(), 9);
}

/// The exit status of a lookup.
fn run_get(dir: &Path, key: &str) -> i32 {
    run(&args!["get", dir, key]).status
}

/// The new database is there, even if its report cannot be written.
#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_does_not_deny_the_database() {
    for options in [&[][..], &["--json"], &["--page", "-"]] {
        let (db, place) = (Db::new(), folder());
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let new = place.path().join("new");
        let mut arguments = args!["repair", db.dir(), "--to", new].to_vec();
        arguments.extend(options.iter().map(Into::into));
        let told = command(&arguments).stdout(full).output().unwrap();
        let told = (told.status.code(), String::from_utf8(told.stderr).unwrap());
        let expected =
            format!("{}: is complete; only its report could not be written: No space left", new.display());
        assert!(told.0 == Some(2) && told.1.contains(&expected), "{told:?}");
        run(&args!["verify", new]).expect(0);
        arguments.push("--dry-run".into());
        fs::remove_dir_all(&new).unwrap();
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let told = command(&arguments).stdout(full).output().unwrap();
        let text = String::from_utf8(told.stderr).unwrap();
        assert!(text.starts_with("filterblock: writing the results: No space left"), "{text}");
    }
}
