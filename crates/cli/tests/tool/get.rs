//! `filterblock get`, and `scan --raw`: bytes as they are stored. Most of the databases are LevelDB's.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use filterblock::table::{TableBuilder, WriteOptions};
use filterblock::{FilterPolicy, Keys};

use super::manifest::{Edit, copy_of, log, value_key};
use super::tables::Reversed;
use super::*;

fn hex(text: &Value) -> Vec<u8> {
    let digits = text.as_str().unwrap().as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The keys of a database, with their values.
fn entries(dir: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let lines = run(&args!["scan", "--json", dir]).expect(0).json();
    let entries = lines.iter().filter(|line| line["object"] == "entry");
    entries.map(|line| (hex(&line["key_hex"]), line["value"].as_str().unwrap().into())).collect()
}

#[test]
fn values_come_as_they_are() {
    let dir = database("levels");
    let entries = entries(&dir);
    assert!(entries.len() > 300);
    for (key, value) in entries.iter().step_by(29) {
        let text = String::from_utf8(key.clone()).unwrap();
        assert_eq!(run(&args!["get", dir, text]).expect(0).quiet().raw, *value);
        let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(run(&args!["get", "--hex", dir, digits]).expect(0).quiet().raw, *value);
        // The next possible key is not stored.
        run(&args!["get", "--hex", dir, digits + "00"]).expect(1);
    }
}

#[test]
fn what_is_certainly_not_there_is_status_1() {
    let dir = database("levels");
    for key in ["item/0000/", "item/0000/00", "", "zzz"] {
        let run = run(&args!["get", dir, key]).expect(1);
        assert_eq!(run.out, "");
        assert!(run.err.ends_with(&format!("levels: no such key: \"{key}\"\n")), "{run:?}");
    }
}

/// A deletion in the log or in a table hides older values, and a history shows the deletion.
#[test]
fn deleted_keys_are_not_there_and_have_a_history() {
    let dir = database("levels");
    let lines = run(&args!["scan", "--all", dir]).expect(0).out;
    let mut of_keys: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    lines.lines().for_each(|line| of_keys.entry(line.split('\t').next().unwrap()).or_default().push(line));
    let is_deleted = |lines: &&Vec<&str>| lines[0].contains("\tdeletion\t") && lines.len() > 1;
    let (key, history) = of_keys.iter().find(|(_, lines)| is_deleted(lines)).unwrap();
    run(&args!["get", dir, key]).expect(1);
    assert_eq!(
        run(&args!["get", "--all", dir, key]).expect(0).quiet().out.lines().collect::<Vec<_>>(),
        *history
    );
    // A table by itself knows the older value.
    let found = TABLES.map(|name| run(&args!["get", dir.join(name), key]));
    assert!(found.iter().any(|run| run.status == 0) && found.iter().any(|run| run.status == 1), "{found:?}");
    run(&args!["get", "--all", dir, "zzz"]).expect(1);
}

const TABLES: [&str; 3] = ["000005.ldb", "000007.ldb", "000009.ldb"];

/// If a newer value may be lost, a value that is found is written, and the status is 2.
#[test]
fn what_damage_hides_is_not_known() {
    let whole = entries(&database("levels"));
    let (mut unknown, mut doubtful) = (0, 0);
    for name in TABLES {
        let copy = copy_of(&database("levels"));
        let path = copy.path().join(name);
        let mut bytes = fs::read(&path).unwrap();
        let len = bytes.len();
        bytes[..len - 2000].iter_mut().step_by(100).for_each(|byte| *byte ^= 0xff);
        fs::write(&path, bytes).unwrap();
        for (key, value) in whole.iter().step_by(17) {
            let run = run(&args!["get", copy.path(), std::str::from_utf8(key).unwrap()]);
            match (run.status, run.raw == *value) {
                (0, true) => {}
                (2, _) if run.raw.is_empty() => unknown += 1,
                (2, _) => {
                    assert!(run.err.contains("there may be a newer value"), "{run:?}");
                    doubtful += 1;
                }
                _ => panic!("{run:?}"),
            }
        }
    }
    assert!(unknown > 10 && doubtful > 3, "{unknown} {doubtful}");
}

/// The value found may be old if a table is not the one that the MANIFEST means. LevelDB looks for the footer of such a
/// table where there is none. It does not look there for keys outside of the table's recorded range.
#[test]
fn tables_of_other_sizes_than_the_manifest_has_may_hide_newer_values() {
    let foreign = copy_of(&database("levels"));
    fs::copy(database("unfiltered").join("MANIFEST-000006"), foreign.path().join("MANIFEST-000008")).unwrap();
    // Otherwise, a table that this MANIFEST misses and its log could have the keys.
    fs::remove_file(foreign.path().join("000009.ldb")).unwrap();
    fs::write(foreign.path().join("000008.log"), "").unwrap();
    let swapped = copy_of(&database("levels"));
    let [path, other] = ["000007.ldb", "000009.ldb"].map(|name| swapped.path().join(name));
    let bytes = fs::read(&path).unwrap();
    fs::copy(&other, &path).unwrap();
    fs::write(&other, bytes).unwrap();
    for (copy, tables) in [(foreign, ["000005.ldb", "000007.ldb"]), (swapped, ["000007.ldb", "000009.ldb"])] {
        let verified = run(&args!["verify", "--json", copy.path()]).expect(1).json();
        let problems = verified.iter().flat_map(|line| {
            let name = Path::new(line["path"].as_str().unwrap()).file_name().unwrap().to_str().unwrap();
            line["problems"].as_array().unwrap().iter().map(move |problem| (name, problem))
        });
        let sizes: Vec<_> = problems
            .filter(|(_, problem)| problem["code"] == "table-size")
            .map(|(name, problem)| {
                let bytes = |field: &str| {
                    let number = problem[field].as_str().unwrap().split(' ').next().unwrap();
                    format!("{} bytes", filterblock_engine::text::count(number.parse().unwrap()))
                };
                let (found, expected) = (bytes("found"), bytes("expected"));
                (name, format!("{name}: has {found} and should have {expected}; a newer value may be lost"))
            })
            .collect();
        assert_eq!(sizes.iter().map(|(name, _)| *name).collect::<Vec<_>>(), tables);
        let shown = run(&args!["scan", copy.path()]).expect(1);
        let all = run(&args!["scan", "--all", copy.path()]).expect(1);
        let value = run(&args!["get", copy.path(), "item/0005/595"]).expect(2);
        let history = run(&args!["get", "--all", copy.path(), "nothing"]).expect(2);
        for run in [&shown, &all, &value, &history] {
            assert!(sizes.iter().all(|(_, message)| run.err.contains(message)), "{run:?}");
        }
        assert!(!shown.out.is_empty() && !value.raw.is_empty());
        let none = run(&args!["get", copy.path(), "nothing"]).expect(1);
        assert!(
            none.err.ends_with(": no such key: \"nothing\"\n") && none.err.lines().count() == 1,
            "{none:?}"
        );
        assert_eq!(shown.err.lines().count(), 3, "{shown:?}");
        assert!(shown.err.contains(": to save what can be saved: filterblock repair "), "{shown:?}");
        assert!(value.err.ends_with(": there may be a newer value\n"), "{value:?}");
    }
}

/// A kind of damage to a file, in words and as a function.
type Damage = (&'static str, fn(&Path));

/// Damage that a lookup of LevelDB's would not come to hides nothing. Such a lookup asks the log first, then the tables
/// whose ranges include the key, from the newest on.
#[test]
fn what_lies_behind_the_value_is_not_missed() {
    let dir = database("levels");
    let whole = entries(&dir);
    // The newest versions of keys, and where they are.
    let lines = run(&args!["scan", "--json", dir]).expect(0).json();
    let place = |key: &[u8]| {
        let line = lines.iter().find(|line| line["object"] == "entry" && hex(&line["key_hex"]) == key);
        Path::new(line.unwrap()["path"].as_str().unwrap()).file_name().unwrap().to_str().unwrap().to_owned()
    };
    let damages: [Damage; 3] = [
        ("a byte more", |path| fs::write(path, [fs::read(path).unwrap(), vec![0]].concat()).unwrap()),
        ("cut", |path| fs::write(path, &fs::read(path).unwrap()[..100]).unwrap()),
        ("gone", |path| fs::remove_file(path).unwrap()),
    ];
    for (what, damage) in damages {
        let (mut in_log, mut in_table, mut unsure) = (0, 0, 0);
        let copy = copy_of(&dir);
        damage(&copy.path().join("000005.ldb"));
        for (key, value) in whole.iter().step_by(13) {
            let found = run(&args!["get", copy.path(), std::str::from_utf8(key).unwrap()]);
            match &*place(key) {
                "000010.log" => {
                    assert_eq!((&found.expect(0).quiet().raw, "log"), (value, "log"), "{what}");
                    in_log += 1;
                }
                "000005.ldb" => {
                    assert_eq!(found.status, 2, "{what}: {found:?}");
                    unsure += 1;
                }
                _ if found.status == 0 => {
                    assert_eq!(found.quiet().raw, *value, "{what}");
                    in_table += 1;
                }
                _ => assert_eq!(found.status, 2, "{what}: {found:?}"),
            }
        }
        assert!(in_log > 0 && in_table > 3 && unsure > 3, "{what}: {in_log} {in_table} {unsure}");
        run(&args!["get", copy.path(), "zzz"]).expect(1);
    }
}

/// Only a metaindex shows whether keys of type 2 and 3 are Riak's, which have a time.
#[test]
fn a_table_of_riaks_in_a_database_says_where_it_does_not_tell_the_form_of_its_keys() {
    let copy = folder();
    let source = fs::read(tables::testdata().join("basho/versions-bloom.ldb")).unwrap();
    let path = file(&copy, "000005.ldb", &source);
    let edit = Edit::default().add(1, 5, source.len() as u64, &value_key(""), &value_key("zzz"));
    file(&copy, "MANIFEST-000002", log(&[Edit::sound().0, edit.0]).0);
    file(&copy, "CURRENT", "MANIFEST-000002\n");
    let lines = run(&args!["scan", "--json", copy.path()]).expect(0).json();
    let shown = run(&args!["scan", copy.path()]).expect(0).quiet().out;
    let all = run(&args!["scan", "--all", copy.path()]).expect(0).quiet().out;
    let values = entries(copy.path());

    // In the footer, the handle of the metaindex.
    let mut damaged = source;
    damaged[15285] ^= 0x10;
    fs::write(&path, damaged).unwrap();
    let fault = run(&args!["get", "--key-format", "internal", path, "x"]).expect(2).err;
    let doubt =
        "; whether the keys are Riak's is not certain; one bit is wrong, which `scan --correct` corrects\n";
    assert!(fault.contains(doubt), "{fault}");
    for (options, whole) in [(&[][..], shown), (&["--all"], all)] {
        let again = run(&[&["scan"], options, &[copy.path().to_str().unwrap()]].concat()).expect(1);
        assert!(again.out == whole && again.err.contains(doubt), "{:?}", again.err);
    }
    let mut timed = 0;
    for line in lines.iter().filter(|line| line["object"] == "entry").step_by(3) {
        let found = run(&args!["get", copy.path(), line["key"].as_str().unwrap()]);
        if line["type"] == "value" {
            assert_eq!((found.status, &*found.err), (0, ""));
        } else {
            timed += 1;
            let ends = ": there may be a newer value\n";
            assert!(found.status == 2 && found.err.contains(doubt) && found.err.ends_with(ends), "{found:?}");
        }
        assert_eq!(found.raw, values[&hex(&line["key_hex"])]);
    }
    assert!(timed > 20, "{timed}");
}

/// LevelDB's keys have no times, so they can be read without a metaindex.
#[test]
fn a_table_of_leveldbs_needs_no_metaindex() {
    let dir = database("levels");
    let (whole, shown) = (entries(&dir), run(&args!["scan", "--all", dir]).expect(0).out);
    for name in TABLES {
        let copy = copy_of(&dir);
        let path = copy.path().join(name);
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.len() - 48;
        bytes[at] ^= 0x10;
        fs::write(&path, bytes).unwrap();
        let again = run(&args!["scan", "--all", copy.path()]).expect(0).quiet();
        let paths = [copy.path(), &dir].map(|dir| dir.to_str().unwrap());
        assert!(again.out.replace(paths[0], paths[1]) == shown, "{name}");
        for (key, value) in whole.iter().step_by(29) {
            let found = run(&args!["get", copy.path(), std::str::from_utf8(key).unwrap()]);
            assert_eq!(found.expect(0).quiet().raw, *value);
        }
        run(&args!["get", copy.path(), "item/0000/00"]).expect(1);
    }
}

/// A policy whose filters have no bit set and deny every key.
struct Empty;

impl FilterPolicy for Empty {
    fn name(&self) -> &str {
        "leveldb.BuiltinBloomFilter2"
    }
    fn create_filter(&self, _: Keys<'_>, dst: &mut Vec<u8>) -> filterblock::Result<()> {
        dst.extend([0, 0, 0, 0, 0, 0, 0, 0, 6]);
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        false
    }
}

#[test]
fn a_filter_that_denies_a_stored_key_hides_it_from_no_lookup() {
    let folder = folder();
    let mut builder =
        TableBuilder::new(Vec::new(), WriteOptions::default().internal_keys(true).filter_policy(Empty));
    builder.add(&value_key("key"), b"value").unwrap();
    let contents = builder.finish().unwrap().0;
    let path = file(&folder, "000005.ldb", &contents);
    let edit = Edit::default().add(1, 5, contents.len() as u64, &value_key("key"), &value_key("key"));
    file(&folder, "MANIFEST-000002", log(&[Edit::sound().0, edit.0]).0);
    file(&folder, "CURRENT", "MANIFEST-000002\n");
    assert!(run(&args!["verify", path]).expect(1).out.contains("false negatives"));
    assert_eq!(run(&args!["get", folder.path(), "key"]).expect(0).quiet().out, "value");
}

/// A table by itself whose metaindex or filters are damaged does not reveal the form of its keys: Riak's, LevelDB's or
/// whole ones.
#[test]
fn a_table_that_does_not_tell_the_form_of_its_keys_lacks_no_key_for_certain() {
    let folder = folder();
    let source = fs::read(tables::testdata().join("basho/versions-bloom.ldb")).unwrap();
    let key = "account:017763:mail";
    let whole = file(&folder, "whole.ldb", &source);
    run(&args!["get", whole, key]).expect(0).quiet();
    for format in ["internal", "user"] {
        let status = if format == "internal" { 0 } else { 1 };
        run(&args!["get", "--key-format", format, whole, key]).expect(status);
    }
    // In the footer, the handle of the metaindex.
    let mut damaged = source;
    damaged[15285] ^= 0x10;
    let damaged = file(&folder, "damaged.ldb", damaged);
    let unsure = "; the form of the keys is not certain: --key-format gives it";
    let found = run(&args!["get", damaged, key]).expect(2);
    assert!(!found.out.is_empty() && found.err.contains(unsure), "{found:?}");
    let missed = run(&args!["get", damaged, "absent"]).expect(2);
    assert!(missed.out.is_empty() && missed.err.contains(unsure), "{missed:?}");
    let shown = run(&args!["scan", damaged]).expect(1);
    assert!(!shown.out.is_empty() && shown.err.contains(unsure), "{shown:?}");
    let riak = run(&args!["get", "--key-format", "internal", damaged, key]).expect(2);
    assert!(riak.err.contains("; whether the keys are Riak's is not certain"), "{riak:?}");
    run(&args!["get", "--key-format", "user", damaged, key]).expect(1);

    let source = fs::read(table("words-256-bloom10.ldb")).unwrap();
    let inspected = run(&args!["inspect", "--json", table("words-256-bloom10.ldb")]).expect(0).one();
    let at = inspected["filter"]["offset"].as_u64().unwrap() as usize;
    let mut damaged = source;
    damaged[at] ^= 1;
    let damaged = file(&folder, "filter.ldb", damaged);
    let key = run(&args!["scan", "--keys", "--limit", "1", table("words-256-bloom10.ldb")]).expect(0).out;
    for (key, value) in [(key.trim_end(), true), ("nowhere at all", false)] {
        let found = run(&args!["get", damaged, key]).expect(2);
        assert_eq!((found.out.is_empty(), found.err.contains(unsure)), (!value, true), "{found:?}");
        run(&args!["get", "--key-format", "user", damaged, key]).expect(if value { 0 } else { 1 });
    }
}

/// Without a MANIFEST, each file is searched by itself, and the newest version counts, whatever the number of its file
/// is.
#[test]
fn without_a_manifest_the_newest_version_is_found_and_not_certain() {
    let copy = copy_of(&database("levels"));
    let whole = entries(copy.path());
    fs::remove_file(copy.path().join("MANIFEST-000008")).unwrap();
    for (key, value) in whole.iter().step_by(31) {
        let key = std::str::from_utf8(key).unwrap();
        for options in [&[][..], &["--comparator", "bytewise"]] {
            let run = run(&[&["get", copy.path().to_str().unwrap(), key], options].concat()).expect(2);
            assert_eq!(run.raw, *value, "{run:?}");
        }
    }
    let missing = run(&args!["get", copy.path().join("nowhere"), "x"]).expect(2);
    assert!(missing.err.ends_with("nowhere: no such file or folder\n"), "{missing:?}");
}

#[test]
fn raw_entries_are_lengths_and_bytes() {
    let dir = database("levels");
    let mut expected = Vec::new();
    let mut keys = Vec::new();
    for (key, value) in entries(&dir) {
        for (bytes, is_key) in [(&key, true), (&value, false)] {
            let piece = [&(bytes.len() as u32).to_le_bytes(), &bytes[..]].concat();
            expected.extend_from_slice(&piece);
            if is_key {
                keys.extend(piece);
            }
        }
    }
    assert!(run(&args!["scan", "--raw", dir]).expect(0).quiet().raw == expected);
    assert!(run(&args!["scan", "--raw", "--keys", dir]).expect(0).quiet().raw == keys);
    let some = run(&args!["scan", "--raw", "--hex", "--prefix", "6974656d2f303030312f", dir]).expect(0).raw;
    assert!(some.len() > 20 && expected.windows(some.len()).any(|part| part == some));
}

/// The user gives the order of a database without a MANIFEST, and may be wrong.
#[test]
fn tables_in_another_order_than_the_given_one_may_hide_a_key() {
    let copy = copy_of(&database("reversed"));
    for entry in fs::read_dir(copy.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none() {
            fs::remove_file(path).unwrap();
        }
    }
    let (bytewise, key) = (["--comparator", "bytewise"], "item/0004/676");
    let found = run(&args!["get", copy.path(), key, bytewise[0], bytewise[1]]).expect(2);
    let fault = "ldb: the index is not in bytewise order, so keys of the range may not be found\n";
    assert_eq!(found.err.matches(fault).count(), 2, "{found:?}");
    let found = run(&args!["scan", copy.path(), "--prefix", key, bytewise[0], bytewise[1]]).expect(2);
    assert_eq!(found.err.matches(fault).count(), 2, "{found:?}");
    assert!(!run(&args!["scan", copy.path(), bytewise[0], bytewise[1]]).expect(2).err.contains(fault));
    // The index of a table of one block does not show its order.
    let options = WriteOptions::default().internal_keys(true).comparator(Reversed);
    let mut builder = TableBuilder::new(Vec::new(), options);
    for key in ["c", "b", "a"] {
        builder.add(&[key.as_bytes(), &0x101_u64.to_le_bytes()].concat(), b"value").unwrap();
    }
    let folder = folder();
    file(&folder, "000005.ldb", &builder.finish().unwrap().0);
    file(&folder, "000007.log", fs::read(database("levels").join("000010.log")).unwrap());
    let found = run(&args!["get", folder.path(), "c", bytewise[0], bytewise[1]]).expect(2);
    let fault = "ldb: keys are not in bytewise order, so keys of the range may not be found\n";
    assert_eq!(found.err.matches(fault).count(), 1, "{found:?}");
    // A database in bytewise order has no such fault.
    let sound = copy_of(&database("levels"));
    for name in ["CURRENT", "MANIFEST-000008", "000010.log"] {
        fs::remove_file(sound.path().join(name)).unwrap();
    }
    assert_eq!(
        run(&args!["get", sound.path(), "none", bytewise[0], bytewise[1]]).expect(1).err.lines().count(),
        1
    );
}

/// Keys of Chromium's IndexedDB are equal if their numbers are, as +0 and -0 are.
#[test]
fn a_key_is_found_by_another_that_equals_it() {
    let folder = folder();
    let key = |number: f64| [&[0, 1, 1, 1, 3][..], &number.to_le_bytes()].concat();
    let stored = [key(-0.0), 0x101_u64.to_le_bytes().to_vec()].concat();
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().internal_keys(true));
    builder.add(&stored, b"value").unwrap();
    let contents = builder.finish().unwrap().0;
    file(&folder, "000005.ldb", &contents);
    let edit = Edit(Vec::new()).comparator(b"idb_cmp1").number(2, 0).number(3, 9).number(4, 9);
    let edit = edit.add(1, 5, contents.len() as u64, &stored, &stored);
    file(&folder, "MANIFEST-000002", log(&[edit.0]).0);
    file(&folder, "CURRENT", "MANIFEST-000002\n");
    for (number, status) in [(-0.0, 0), (0.0, 0), (1.0, 1)] {
        let hex: String = key(number).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            run(&args!["get", "--hex", folder.path(), hex]).expect(status).out,
            if status == 0 { "value" } else { "" }
        );
    }
}

/// A link may lead anywhere, so it is passed over, and what it hides is not known.
#[cfg(unix)]
#[test]
fn links_in_a_database_are_not_followed() {
    let (copy, elsewhere) = (copy_of(&database("levels")), folder());
    let (log, target) = (copy.path().join("000010.log"), elsewhere.path().join("log"));
    fs::rename(&log, &target).unwrap();
    std::os::unix::fs::symlink(&target, &log).unwrap();
    for key in ["item/0000/0", "none"] {
        let found = run(&args!["get", copy.path(), key]).expect(2);
        assert!(
            found.err.contains("000010.log: skipped: expected a regular file, found a symbolic link"),
            "{found:?}"
        );
    }
}
