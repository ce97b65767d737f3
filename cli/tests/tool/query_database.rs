//! `filterblock query` with a MANIFEST that tells the order of keys.

use std::fs;

use super::tables::{listing, unhex};
use super::*;

#[test]
fn the_manifest_makes_the_index_of_use() {
    // No key that LevelDB finds in the tables is denied, and each table names one data block at most.
    let mut keys: Vec<String> =
        listing("databases/levels.entries").into_iter().map(|f| f[1].clone()).collect();
    keys.sort();
    keys.dedup();
    let folder = folder();
    let list = file(&folder, "keys", keys.iter().map(|key| key.replace('-', "") + "\n").collect::<String>());
    let run_all = run(&args!["query", "--json", "--hex", database("levels"), "--keys-from", list]).expect(0);
    let answers = run_all.json();
    assert_eq!(answers.len(), 3 * keys.len());
    assert!(answers.iter().all(|answer| answer["by_index"] == true), "by the index");
    assert!(answers.iter().all(|answer| answer["blocks"].as_array().unwrap().len() <= 1));
    for fields in listing("databases/levels.entries") {
        let (name, key) = (&fields[0], fields[1].replace('-', ""));
        let of_key = |answer: &&serde_json::Value| {
            answer["key_hex"] == *key && answer["path"].as_str().unwrap().contains(name.as_str())
        };
        assert_eq!(answers.iter().find(of_key).unwrap()["may_match"], true, "{name} {key}");
    }
}

#[test]
fn a_key_outside_of_all_ranges_is_in_no_table() {
    let copy = folder();
    for entry in fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        // Without the log, whose writes no filter covers.
        if path.extension().is_none_or(|extension| extension != "log") {
            fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let run_outside = run(&args!["query", copy.path(), "\u{10ffff}"]).expect(1).quiet();
    assert!(run_outside.out.ends_with(": a lookup reads at most 0 data blocks\n"), "{run_outside:?}");
    let with_log = run(&args!["query", database("levels"), "\u{10ffff}"]).expect(2);
    assert!(with_log.err.contains("which no filter covers"), "{with_log:?}");

    let first = unhex(&listing("databases/levels.entries")[0][1]);
    let key = String::from_utf8(first).unwrap();
    let run_first = run(&args!["query", copy.path(), key]).expect(0);
    let reads = run_first.out.lines().last().unwrap();
    assert!(reads.contains("a lookup reads at most ") && !reads.contains(" 0 data"), "{run_first:?}");

    // Of the order by another comparator nothing is known.
    let reversed = run(&args!["query", "--json", database("reversed"), "x"]);
    assert!(reversed.json().iter().all(|answer| answer["by_index"] == false), "{reversed:?}");
}
