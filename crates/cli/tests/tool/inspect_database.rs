//! `filterblock inspect`: the facts that come from the MANIFEST.

use std::fs;

use serde_json::{Value, json};

use super::*;

fn levels() -> tempfile::TempDir {
    let copy = folder();
    for entry in fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    copy
}

fn place(report: &Value) -> [&Value; 4] {
    ["comparator", "level", "live", "recorded_size"].map(|field| &report[field])
}

/// The report without `input`, the path that the user gave: several paths lead to the same table.
fn unframed(mut report: Value) -> Value {
    report["input"].take();
    report
}

#[test]
fn tables_have_their_place_in_the_database() {
    let copy = levels();
    fs::copy(copy.path().join("000007.ldb"), copy.path().join("000099.ldb")).unwrap();
    let reports = run(&args!["inspect", "--json", copy.path()]).expect(0).quiet().json();
    let order = "leveldb.BytewiseComparator";
    for (report, level) in reports.iter().zip([2, 1, 0]) {
        assert_eq!(place(report), [&json!(order), &json!(level), &json!(true), &report["file_size"]]);
    }
    assert_eq!(place(&reports[3]), [&json!(order), &Value::Null, &json!(false), &Value::Null]);
    // A table given alone is reported as part of its database, too; one in another folder is not.
    let one = run(&args!["inspect", "--json", copy.path().join("000007.ldb")]).expect(0).one();
    assert_eq!(unframed(one), unframed(reports[1].clone()));
    let outside = run(&args!["inspect", "--json", table("words-256-bloom10.ldb")]).expect(0).one();
    assert_eq!(place(&outside), [&Value::Null; 4]);
    let card = run(&args!["inspect", "--wide", copy.path().join("000099.ldb")]).expect(0).out;
    assert!(card.contains("in the database  unused, keys by leveldb.BytewiseComparator"), "{card}");
}

#[test]
fn a_table_of_another_size_and_one_that_is_missing() {
    let copy = levels();
    let path = copy.path().join("000007.ldb");
    fs::copy(copy.path().join("000009.ldb"), &path).unwrap();
    let run_size = run(&args!["inspect", copy.path()]).expect(1);
    assert!(
        run_size.out.contains("  000007.ldb  has 4,967 bytes and should have 6,557 bytes: "),
        "{run_size:?}"
    );
    let wide = run(&args!["inspect", "--wide", copy.path()]).expect(1).out;
    assert!(wide.contains("000007.ldb         1     4.9 KiB     6.4 KiB"), "{wide}");
    fs::remove_file(&path).unwrap();
    let run_missing = run(&args!["inspect", "--json", copy.path()]).expect(1);
    assert!(
        run_missing.err.contains("000007.ldb: is missing: the MANIFEST has a table of "),
        "{run_missing:?}"
    );
    let reports = run_missing.json();
    assert_eq!((reports.len(), &reports[0]["error_kind"]), (3, &json!("missing")));
    assert_eq!((&reports[0]["level"], &reports[0]["live"]), (&json!(1), &json!(true)));
}

#[test]
fn a_damaged_manifest_is_reported_and_all_tables_are_taken() {
    let copy = levels();
    file(&copy, "MANIFEST-000008", "damaged");
    let run = run(&args!["inspect", "--json", copy.path()]).expect(1);
    assert!(run.err.contains("MANIFEST-000008 is damaged, so all tables are taken to be live"), "{run:?}");
    assert_eq!(run.json().len(), 3);
    assert_eq!(place(&run.json()[0]), [&Value::Null; 4]);
    let listed = self::run(&args!["inspect", copy.path()]).expect(1).out;
    assert!(listed.contains("\n  3 tables, ") && !listed.contains(" level "), "{listed}");
}

#[test]
fn logs_that_are_in_tables_already_are_not_named() {
    let copy = levels();
    fs::copy(copy.path().join("000010.log"), copy.path().join("000001.log")).unwrap();
    let out = run(&args!["inspect", copy.path()]).expect(0).out;
    assert!(out.contains("\n  logs     1 with newer writes: 000010.log\n"), "{out}");
    let query = run(&args!["query", copy.path(), "key"]).expect(1).out;
    assert!(query.contains("000010.log: ") && !query.contains("000001.log"), "{query}");
}

#[test]
fn totals_weigh_tables_by_the_lookups_that_come_to_them() {
    let copy = levels();
    fs::copy(database("unfiltered").join("000005.ldb"), copy.path().join("000099.ldb")).unwrap();
    let out = run(&args!["inspect", copy.path()]).expect(0).out;
    assert!(out.contains("\n  3 tables on 3 levels, 23.4 KiB, 811 entries\n"), "{out}");
    assert!(out.contains("\n  unused   000099.ldb: not in the MANIFEST\n"), "{out}");
    // The tables in use all reach over nearly all keys, so that lookups come to each of them. No lookup comes to
    // the unused table, which has no filter.
    let rate = |name: &str| {
        let path = database("levels").join(name);
        run(&args!["inspect", "--json", path]).expect(0).one()["filter"]["random_fpr"]["rate"]
            .as_f64()
            .unwrap()
    };
    let mean = ["000009.ldb", "000007.ldb", "000005.ldb"].map(rate).iter().sum::<f64>() / 3.0 * 100.0;
    let totals = run(&args!["inspect", "--json", copy.path()]).expect(0).all_json().pop().unwrap();
    let shown = totals["random_fpr"]["rate"].as_f64().unwrap() * 100.0;
    assert!((shown / mean - 1.0).abs() < 0.04, "{mean} {totals}");
}

#[test]
fn the_entries_of_a_level_are_not_known_where_a_table_cannot_be_read() {
    let copy = levels();
    let keys = |status| {
        let out = run(&args!["inspect", copy.path()]).expect(status).out;
        let level = out.lines().find(|line| line.starts_with("      1 ")).expect(&out).to_owned();
        level.split_whitespace().nth(4).unwrap().to_owned()
    };
    assert_eq!(keys(0), "215");
    file(&copy, "000007.ldb", [0; 5000]);
    assert_eq!(keys(1), "-");
}

#[test]
fn each_folder_has_totals_of_its_own() {
    let copy = levels();
    let twice = run(&args!["inspect", copy.path(), copy.path()]).expect(0).out;
    let lines: Vec<_> = twice.lines().collect();
    assert_eq!((lines.len(), lines[1]), (4, lines[2]), "{twice}");
    assert!(lines[1].ends_with("       3  23.4 KiB  1.1 KiB       0.72%  fine"), "{twice}");
    assert_eq!(lines[3], "2 databases: 2 fine");
}

#[test]
fn without_a_manifest_there_are_no_levels() {
    let copy = levels();
    fs::remove_file(copy.path().join("CURRENT")).unwrap();
    fs::remove_file(copy.path().join("MANIFEST-000008")).unwrap();
    for status in [1, 0] {
        let out = run(&args!["inspect", copy.path()]).expect(status).out;
        assert!(!out.contains(" level "), "{out}");
        // Without the log, the folder is no database.
        let _ = fs::remove_file(copy.path().join("000010.log"));
    }
}

/// LevelDB opens no table whose name is not a number.
#[test]
fn a_table_without_a_number_is_obsolete_in_a_database() {
    let copy = levels();
    let path = copy.path().join("backup.ldb");
    fs::copy(copy.path().join("000007.ldb"), &path).unwrap();
    let order = "leveldb.BytewiseComparator";
    let named = run(&args!["inspect", "--json", path]).expect(0).one();
    assert_eq!(place(&named), [&json!(order), &Value::Null, &json!(false), &Value::Null]);
    let listed = run(&args!["inspect", "--json", copy.path()]).expect(0).json();
    assert_eq!((listed.len(), unframed(listed[3].clone())), (4, unframed(named)));
}

/// LevelDB looks for `.ldb` first, and for `.sst` only if there is no `.ldb`.
#[test]
fn of_two_files_with_one_number_one_is_live() {
    let copy = levels();
    fs::copy(copy.path().join("000007.ldb"), copy.path().join("000007.sst")).unwrap();
    let live = |name: &str| {
        let report = run(&args!["inspect", "--json", copy.path().join(name)]).expect(0).one();
        report["live"].clone()
    };
    assert_eq!((live("000007.ldb"), live("000007.sst")), (json!(true), json!(false)));
    fs::remove_file(copy.path().join("000007.ldb")).unwrap();
    assert_eq!(live("000007.sst"), json!(true));
}

/// LevelDB opens the `.sst` if the `.ldb` turns out not to be readable.
#[cfg(unix)]
#[test]
fn a_table_beside_one_that_cannot_be_looked_at_is_not_called_obsolete() {
    let copy = levels();
    let path = copy.path().join("000007.ldb");
    fs::rename(&path, path.with_extension("sst")).unwrap();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let mut reports = run(&args!["inspect", "--json", copy.path()]).expect(2).json();
    assert_eq!((reports.len(), &reports[0]["object"]), (4, &json!("unreadable")));
    reports.remove(0);
    assert!(reports[1]["path"].as_str().unwrap().ends_with("000007.sst"), "{reports:?}");
    assert_eq!(place(&reports[1]), [&Value::Null; 4]);
    assert_eq!((&reports[0]["live"], &reports[2]["live"]), (&json!(true), &json!(true)));
    let verify = run(&args!["verify", copy.path()]).expect(2);
    assert!(!verify.out.contains("obsolete"), "{verify:?}");
}

/// The number of entries of a table that does not open is not known, so the sum is marked.
#[test]
fn sums_without_some_tables_are_marked() {
    let copy = levels();
    fs::write(copy.path().join("000009.ldb"), "no table").unwrap();
    let shown = run(&args!["inspect", "--depth", "all", copy.path()]).expect(1).out;
    assert!(shown.contains(", ~665 entries\n"), "{shown}");
    let sound = run(&args!["inspect", "--depth", "all", database("levels")]).expect(0).out;
    assert!(!sound.contains('~'), "{sound}");
}
