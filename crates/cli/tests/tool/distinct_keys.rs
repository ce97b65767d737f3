//! The numbers of entries and of distinct keys, compared with those of tables and databases whose keys are known.

use std::collections::BTreeSet;
use std::path::Path;

use filterblock::BloomFilterPolicy;
use filterblock::table::{TableBuilder, WriteOptions};
use serde_json::{Value, json};

use crate::tables::{listing, samples, unhex};
use crate::{args, database, file, folder, manifest, run, table};

/// The JSON of an exact number.
fn exactly(number: u64) -> Value {
    json!({"value": number, "low": number, "high": number})
}

/// Returns true if the interval of a number that is not exact holds `truth`.
fn holds(number: &Value, truth: u64) -> bool {
    let end = |name: &str| number[name].as_u64().unwrap();
    number["low"] != number["high"] && end("low") <= truth && truth <= end("high")
}

/// A table with this number of versions of each key, and the internal keys of its first and last entry.
fn versions(keys: std::ops::Range<u64>, versions: u64) -> (Vec<u8>, [Vec<u8>; 2]) {
    let options = WriteOptions::default().internal_keys(true).filter_policy(BloomFilterPolicy::new(10));
    let mut builder = TableBuilder::new(Vec::new(), options);
    let key = |key: u64, version: u64| {
        manifest::internal_key(format!("{key:08}").as_bytes(), 100 + version, u8::from(version > 0))
    };
    for number in keys.clone() {
        for version in (0..versions).rev() {
            builder.add(&key(number, version), format!("value {number}").as_bytes()).unwrap();
        }
    }
    (builder.finish().unwrap().0, [key(keys.start, versions - 1), key(keys.end - 1, 0)])
}

/// Makes a database. Each table is given by its level, its keys and the number of versions of each key.
fn database_of(folder: &Path, tables: &[(u64, std::ops::Range<u64>, u64)]) {
    let mut edit = manifest::Edit::sound();
    for (number, (level, keys, number_of_versions)) in (5..).zip(tables) {
        let (bytes, [first, last]) = versions(keys.clone(), *number_of_versions);
        edit = edit.add(*level, number, bytes.len() as u64, &first, &last);
        std::fs::write(folder.join(format!("{number:06}.ldb")), bytes).unwrap();
    }
    std::fs::write(folder.join("MANIFEST-000002"), manifest::log(&[edit.0]).0).unwrap();
    std::fs::write(folder.join("CURRENT"), "MANIFEST-000002\n").unwrap();
}

fn totals(path: &Path) -> Value {
    let lines = run(&args!["inspect", "--json", path]).expect(0).all_json();
    lines.into_iter().find(|line| line["object"] == "totals").unwrap()
}

#[test]
fn all_test_data_has_entries_and_keys() {
    let internal = listing("tables/versions.keys");
    let user_keys: BTreeSet<_> = internal
        .iter()
        .map(|fields| {
            let mut key = unhex(&fields[0]);
            key.truncate(key.len() - 8);
            key
        })
        .collect();
    assert!(user_keys.len() < internal.len() / 2);
    for sample in samples() {
        let entries = sample.entries.len() as u64;
        let keys = if sample.name.starts_with("versions") { user_keys.len() as u64 } else { entries };
        let report = run(&args!["inspect", "--json", table(&sample.name)]).expect(0).one();
        let verdict = run(&args!["verify", "--json", table(&sample.name)]).expect(0).one();
        assert_eq!(
            (&verdict["entries"], &verdict["distinct_keys"]),
            (&entries.into(), &keys.into()),
            "{verdict}"
        );
        for (name, truth) in [("entries", entries), ("distinct_keys", keys)] {
            assert!(
                report[name] == exactly(truth) || holds(&report[name], truth),
                "{}: {report}",
                sample.name
            );
        }
    }
}

#[test]
fn the_versions_of_a_key_are_one_key() {
    let folder = folder();
    let path = file(&folder, "000005.ldb", versions(0..40_000, 4).0);
    let report = run(&args!["inspect", "--json", path]).expect(0).one();
    assert!(holds(&report["entries"], 160_000) && holds(&report["distinct_keys"], 40_000), "{report}");
    let verdict = run(&args!["verify", "--json", path]).expect(0).one();
    assert_eq!((&verdict["entries"], &verdict["distinct_keys"]), (&json!(160_000), &json!(40_000)));
}

/// Blocks end between the versions of one key.
#[test]
fn versions_on_both_sides_of_a_block_are_of_one_key() {
    let folder = folder();
    let path = file(&folder, "000005.ldb", versions(0..7, 300).0);
    let report = run(&args!["inspect", "--json", path]).expect(0).one();
    assert!(report["data_blocks"].as_u64().unwrap() >= 10, "{report}");
    assert_eq!((&report["entries"], &report["distinct_keys"]), (&exactly(2100), &exactly(7)));
    let path = file(&folder, "000007.ldb", versions(0..200, 300).0);
    let report = run(&args!["inspect", "--json", path]).expect(0).one();
    assert!(holds(&report["distinct_keys"], 200), "{report}");
}

#[test]
fn keys_of_several_tables_count_once() {
    let folder = folder();
    database_of(folder.path(), &[(0, 0..300, 2), (0, 200..400, 1), (1, 0..500, 1), (2, 400..900, 3)]);
    let totals = totals(folder.path());
    assert_eq!((&totals["entries"], &totals["distinct_keys"]), (&exactly(2800), &exactly(900)), "{totals:#}");
    let levels: Vec<_> =
        totals["levels"].as_array().unwrap().iter().map(|level| &level["distinct_keys"]).collect();
    assert_eq!(levels, [&exactly(400), &exactly(500), &exactly(500)]);
    let line = run(&args!["tune", "--json", folder.path()]).expect(0).json().pop().unwrap();
    assert_eq!(line["entries"], 2800.0);
    let levels = totals_of_levels_database();
    assert_eq!(levels, exactly(keys_of("levels").len() as u64));
}

fn totals_of_levels_database() -> Value {
    totals(&database("levels"))["distinct_keys"].clone()
}

/// The user keys in the tables of a database of the test data, read by the library.
fn keys_of(name: &str) -> BTreeSet<Vec<u8>> {
    let tables = std::fs::read_dir(database(name)).unwrap().map(|entry| entry.unwrap().path());
    let tables = tables.filter(|path| path.extension().is_some_and(|extension| extension == "ldb"));
    let mut keys = BTreeSet::new();
    for path in tables {
        let table = filterblock::table::Table::open_path(&path, &Default::default()).unwrap();
        for entry in table.iter() {
            let (key, _) = entry.unwrap();
            keys.insert(key[..key.len() - 8].to_vec());
        }
    }
    keys
}

/// A sample of data blocks does not reveal which keys two tables have in common.
#[test]
fn a_sample_of_several_tables_has_bounds() {
    let folder = folder();
    database_of(folder.path(), &[(0, 0..30_000, 2), (1, 10_000..40_000, 1), (1, 40_000..70_000, 2)]);
    let totals = totals(folder.path());
    assert!(holds(&totals["entries"], 150_000), "{totals:#}");
    let keys = &totals["distinct_keys"];
    assert!(keys["value"].is_null() && holds(keys, 70_000), "{keys}");
    assert!(keys["low"].as_u64() > Some(50_000) && keys["high"].as_u64() < Some(100_000), "{keys}");
    // From level 1 on, tables of one level have no keys in common.
    let level = &totals["levels"][1]["distinct_keys"];
    assert!(holds(level, 60_000) && level["value"].is_u64(), "{level}");
    // Bits an entry are as exact as the number of entries.
    let is_about =
        |line: &str| line.split_whitespace().any(|word| word.starts_with("~1") && word.contains('.'));
    let bits = |out: &str| {
        let lines = out.lines().filter(|line| line.contains(".ldb  "));
        lines.map(is_about).collect::<Vec<_>>()
    };
    assert_eq!(bits(&run(&args!["inspect", "--wide", folder.path()]).expect(0).out), [true; 3]);
    let all = run(&args!["inspect", "--wide", "--depth", "all", folder.path()]).expect(0).out;
    assert_eq!(bits(&all), [false; 3]);
    // `report` reads every entry, so it knows the number within a hundredth.
    let page = run(&args!["report", "--no-tune", folder.path(), "-o", "-"]).expect(0).out;
    assert!(page.contains("150,000 of ~70,") || page.contains("150,000 of ~69,"), "{page}");
}

/// Keys of eight bytes are not taken for internal keys with an empty user key.
#[test]
fn keys_that_look_like_a_mere_tag_are_whole_keys() {
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default());
    (0..5000_u64).for_each(|key| builder.add(&key.to_be_bytes(), b"value").unwrap());
    let folder = folder();
    let path = file(&folder, "numbers.ldb", builder.finish().unwrap().0);
    let report = run(&args!["inspect", "--json", path]).expect(0).one();
    assert_eq!((&report["entries"], &report["distinct_keys"]), (&exactly(5000), &exactly(5000)), "{report}");
    let verdict = run(&args!["verify", "--json", path]).expect(0).one();
    assert_eq!(verdict["distinct_keys"], 5000);
}
