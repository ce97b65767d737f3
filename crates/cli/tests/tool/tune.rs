//! `filterblock tune`: which filters a database should have.
//!
//! A run makes and tests filters of 68 settings, so each test here checks as much of a run as it can.

use serde_json::json;

use std::fs;

use filterblock::table::{IdbComparator, TableBuilder, WriteOptions};

use super::manifest::{Edit, copy_of, log};
use super::repair::idb_key;
use super::*;

/// The last object that is printed: the conclusions from the settings.
#[track_caller]
fn tuning(run: &Run) -> Value {
    let mut lines = run.all_json();
    assert_eq!(lines.iter().filter(|line| line["object"] == "tuning").count(), 1, "{run:?}");
    lines.pop().unwrap()
}

#[test]
fn wrong_arguments_are_refused() {
    let levels = database("levels");
    for (arguments, message) in [
        (&args!["tune"][..], "<PATH>"),
        (&args!["tune", levels, "--hex"], "--lookups"),
        (&args!["tune", levels, "--budget", "5 apples"], "expected a number of bytes"),
        (&args!["tune", levels, "--policy", "rocksdb.BuiltinBloomFilter"], "--policy"),
        (&args!["tune", levels, "--jobs", "0"], "--jobs"),
        (&args!["tune", levels, "--wide", "--json"], "--wide"),
    ] {
        let run = run(arguments).expect(2);
        assert_eq!(run.out, "");
        assert!(run.err.contains(message), "{run:?}");
    }
}

#[test]
fn lookups_that_cannot_be_read_are_refused() {
    let folder = folder();
    let empty = file(&folder, "empty", "");
    let no_hex = file(&folder, "no-hex", "00ff\nfg\n");
    let missing = folder.path().join("missing");
    for (list, options, message) in [
        (&empty, &[][..], "has no keys".to_owned()),
        (&no_hex, &["--hex"], "line 2: expected hexadecimal digits, found \"g\" at position 2".to_owned()),
        (&missing, &[], not_found().to_owned()),
    ] {
        let arguments = [
            &args!["tune", database("levels"), "--lookups", list][..],
            &options.iter().map(Into::into).collect::<Vec<_>>(),
        ]
        .concat();
        let run = run(&arguments).expect(2);
        assert_eq!(run.out, "");
        assert!(
            run.err.contains(&message) && run.err.contains(list.file_name().unwrap().to_str().unwrap()),
            "{run:?}"
        );
    }
}

#[test]
fn what_is_no_database_has_a_reason_and_an_object() {
    let folder = folder();
    let missing = folder.path().join("missing");
    let text = file(&folder, "text.ldb", "no table");
    let without_manifest = copy_of(&database("unfiltered"));
    for entry in std::fs::read_dir(without_manifest.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "ldb") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let without_manifest = without_manifest.path();
    let paths = args![missing, text, without_manifest];
    let run_json = run(&[&args!["tune", "--json"][..], &paths].concat()).expect(2);
    let lines = run_json.all_json();
    let of = |name: &str| lines.iter().map(|line| line[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("status"), ["error"; 3]);
    assert_eq!(of("error_kind"), ["missing", "damaged", "missing"]);
    assert_eq!(of("advice"), [Value::Null, Value::Null, Value::Null]);
    let errors = of("error");
    assert_eq!(errors[0], not_found());
    assert!(errors[1].as_str().unwrap().contains("expected a table of at least 48 bytes"), "{errors:?}");
    assert_eq!(errors[2], "expected a database, found tables without a MANIFEST: give them one by one");

    let text = run(&[&args!["tune"][..], &paths].concat()).expect(2);
    assert_eq!(text.out, "");
    assert_eq!(text.err, run_json.err);
    assert_eq!(text.err.lines().count(), 3, "{text:?}");
    run(&[&args!["tune", "--keep-going"][..], &paths].concat()).expect(0);
}

#[test]
fn a_database_without_tables_has_nothing_to_advise_on() {
    let folder = folder();
    write_manifest(folder.path(), &[]);
    let run_json = run(&args!["tune", "--json", folder.path()]).expect(0).quiet();
    let tuning = tuning(&run_json);
    assert_eq!((&tuning["status"], &tuning["levels"]), (&json!("ok"), &json!([])));
    assert_eq!(tuning["advice"]["text"], "no advice: there are no tables yet");
    assert_eq!(tuning["sample"]["entries"], json!({"value": 0.0, "low": 0.0, "high": 0.0}));
    let text = run(&args!["tune", folder.path()]).expect(0).quiet().out;
    assert!(text.ends_with("\n\nNo advice: there are no tables yet\n"), "{text}");
}

/// The numbers are those of the same database without the damaged table.
#[test]
fn a_damaged_table_is_part_of_no_number() {
    let copy = copy_of(&database("unfiltered"));
    let tables = |folder: &std::path::Path| {
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<_> = names.filter(|path| path.extension().is_some_and(|of| of == "ldb")).collect();
        names.sort();
        names
    };
    let damaged = tables(copy.path()).pop().unwrap();
    std::fs::write(&damaged, "damaged").unwrap();
    let run_json = run_long(&args!["tune", "--json", copy.path()]).expect(1);
    let found = tuning(&run_json);
    assert_eq!((&found["status"], &found["error_kind"]), (&json!("ok"), &json!("damaged")));
    let faults = found["faults"].as_array().unwrap();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0]["path"], *damaged.to_str().unwrap());
    let error = faults[0]["error"].as_str().unwrap();
    assert!(error.contains("found 7 bytes") && !error.contains(".ldb"), "{error}");
    assert!(run_json.err.contains(error), "{run_json:?}");
    // One level is left, whose table a lookup may come to.
    assert_eq!(found["levels"].as_array().unwrap().len(), 1);
    let level = &found["levels"][0];
    assert_eq!((&level["tables"], &level["unfiltered"]), (&json!(1), &json!(1)));
    assert_eq!(found["sample"]["of_tables"], 1);
    let visits = level["visits"]["absent"].as_f64().unwrap();
    // Both numbers are about random keys, which are in the table's range of keys more often than those near stored ones.
    let reads = &found["now"]["reads"];
    assert_eq!((&reads["worst"], &reads["random"]["value"]), (&Value::Null, &json!(visits)));
    assert!(reads["neighbours"]["value"].as_f64().unwrap() < visits && visits == 1.0, "{reads} {visits}");
}

#[test]
fn keys_in_an_order_that_is_not_known_are_not_followed() {
    let run_json = run_long(&args!["tune", "--json", database("reversed")]).expect(0);
    let lines = run_json.all_json();
    assert_eq!(lines.len(), 69);
    for line in &lines[..68] {
        assert!(line["outcome"]["reads"].is_null(), "{line}");
        assert!(line["outcome"]["rates"]["random"]["asked"].as_u64().unwrap() > 1000, "{line}");
    }
    let tuning = tuning(&run_json);
    assert_eq!(tuning["advice"]["action"], "none");
    assert!(
        tuning["advice"]["text"].as_str().unwrap().contains("the order of keys is not known"),
        "{tuning}"
    );
    assert!(tuning["levels"].as_array().unwrap().iter().all(|level| level["visits"].is_null()), "{tuning}");
    // The best is chosen by the rate among random keys: not the smallest filters that there are.
    assert!(tuning["uniform"]["bits_per_key"][0]["bits_per_key"].as_u64().unwrap() >= 10, "{tuning}");
}

/// The keys are numbers of Chromium's IndexedDB: little-endian doubles, some below zero. Level 1 has a table with a few
/// numbers of the whole range. Level 2 has eight tables, each with a part of the range.
#[test]
fn lookups_follow_chromiums_order() {
    let dir = folder();
    let mut edit = Edit(Vec::new()).comparator(b"idb_cmp1").number(2, 0).number(3, 91).number(4, 9000);
    let sparse: Vec<i64> = (0..501).map(|number| number * 16 - 3001).collect();
    let dense: Vec<i64> = (0..4000).map(|number| number * 2 - 3000).collect();
    for (at, numbers) in [&sparse[..]].into_iter().chain(dense.chunks(500)).enumerate() {
        let options = WriteOptions::default().internal_keys(true).comparator(IdbComparator);
        let mut builder = TableBuilder::new(Vec::new(), options);
        let internal = |number: i64| [idb_key(5, number as f64), 257_u64.to_le_bytes().into()].concat();
        numbers.iter().for_each(|&number| builder.add(&internal(number), &[7; 400]).unwrap());
        let file = builder.finish().unwrap().0;
        let [first, last] = [numbers[0], numbers[numbers.len() - 1]].map(internal);
        edit = edit.add(1 + u64::from(at > 0), 10 + at as u64, file.len() as u64, &first, &last);
        fs::write(dir.path().join(format!("{:06}.ldb", 10 + at)), file).unwrap();
    }
    fs::write(dir.path().join("MANIFEST-000004"), log(&[edit.0]).0).unwrap();
    fs::write(dir.path().join("CURRENT"), "MANIFEST-000004\n").unwrap();
    let numbers = (-3001..4999).map(|number| idb_key(5, f64::from(number)));
    let hex = |key: Vec<u8>| key.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    let list = file(&dir, "keys", numbers.map(hex).collect::<String>());
    let found = tuning(&run_long(&args!["tune", "--json", "--hex", "--lookups", list, dir.path()]).expect(0));
    assert_eq!(found["lookups"], json!({"given": 8000, "used": 8000, "present": 4500}));
    assert_ne!(found["advice"]["action"], "none", "{found}");
    // The numbers of lookups that come to a level.
    let visits = |level: usize| {
        let visits = &found["levels"][level]["visits"];
        [("absent", 3500.0), ("present", 4500.0)].map(|(kind, lookups)| {
            let visits = visits[kind].as_f64().unwrap() * lookups;
            assert!((visits - visits.round()).abs() < 1e-9, "{found}");
            visits.round()
        })
    };
    // Stored keys are found in the table of level 1 or, if not there, in a table of level 2. Of the numbers that are
    // not stored, four lie between two tables.
    assert_eq!(visits(0), [3500.0, 4000.0]);
    assert_eq!(visits(1), [3496.0, 0.0]);
}

#[test]
fn a_table_that_is_given_singly_has_rates_and_no_reads() {
    let words = table("words-4096-bloom10-snappy.ldb");
    let text = run_long(&args!["tune", "--wide", words]).expect(0).quiet().out;
    let rows = text.lines().skip_while(|line| !line.starts_with("bits  base_lg")).skip(1);
    let rows: Vec<_> = rows.take_while(|line| line.starts_with("  ")).collect();
    assert_eq!(rows.len(), 68, "{text}");
    let now: Vec<_> = rows.iter().filter(|row| row.contains("  now")).collect();
    assert_eq!(now.len(), 1, "{text}");
    assert!(now[0].starts_with("  10       11       396 B   1.32   0.84 %"), "{text}");
    for words in [
        "  holds            1 table, 5.8 KiB, 300 entries of 300 distinct keys\n",
        "  filters take     396 B, 1.32 bytes an entry\n",
        "  let pass         ",
        "\nNo advice: a single table has no lookups to weigh; give the database's folder\n",
    ] {
        assert!(text.contains(words), "{text}");
    }
    assert!(!text.contains("Levels") && !text.contains("   stored"), "{text}");
}

/// Lookups of stored keys and of others, from a file of keys in hexadecimal.
#[test]
fn lookups_are_the_users_own() {
    let folder = folder();
    let stored = run(&args!["scan", "--keys", database("unfiltered")]).expect(0).out;
    let stored: Vec<&str> = stored.lines().take(40).collect();
    assert_eq!(stored.len(), 40);
    let hex = |key: &str| key.bytes().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    let absent = stored.iter().take(20).map(|key| format!("{key}x"));
    let keys: String = stored.iter().map(|key| hex(key)).chain(absent.map(|key| hex(&key))).collect();
    let list = file(&folder, "keys", keys);
    let run_json = run_long(&args![
        "tune",
        "--json",
        "--budget",
        "1",
        "--hex",
        "--lookups",
        list,
        database("unfiltered")
    ])
    .expect(0);
    let found = tuning(&run_json);
    let lookups = &found["lookups"];
    assert_eq!(lookups, &json!({"given": 60, "used": 60, "present": 40}));
    // Nothing is as small as the budget.
    assert_eq!(found["budget"], json!({"bytes": 1, "origin": "given"}));
    assert_eq!((&found["uniform"], &found["by_level"]), (&Value::Null, &Value::Null));
    assert_eq!(found["advice"]["action"], "leave");
    let reads = &found["now"]["reads"];
    assert!(reads["present"]["value"].as_f64().unwrap() >= 1.0, "{reads}");
    assert!(reads["lookups"]["value"].as_f64().unwrap() > 0.0, "{reads}");
}

/// A rebuild that follows the advice has the predicted size and reads.
#[test]
fn the_advice_can_be_followed() {
    let copy = copy_of(&database("unfiltered"));
    let run_json = run_long(&args!["tune", "--json", "--min-size", "0", copy.path()]).expect(0);
    let advice = tuning(&run_json)["advice"].clone();
    assert_eq!(advice["action"], "rebuild");
    let text = advice["text"].as_str().unwrap();
    assert!(
        text.starts_with(
            "if the program that opens the database sets the filter policy leveldb.BuiltinBloomFilter2, and only then, "
        ),
        "{text}"
    );
    // The page does not call a database without filters bad, nor one that could be better.
    let beside = folder();
    let page = beside.path().join("page.html");
    run_long(&args!["report", copy.path(), "-o", page]).expect(0);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("verdict good") && !page.contains("class=\"verdict better"), "{}", &page[..2000]);
    let arguments: Vec<_> =
        advice["arguments"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let target = beside.path().join("new");
    let mut rebuild = args!["rebuild", "--json", copy.path(), "--to", target].to_vec();
    rebuild.extend(arguments.iter().map(Into::into));
    let rebuilt = run(&rebuild).expect(0).all_json().pop().unwrap();
    let size = advice["choice"]["outcome"]["size"]["value"].as_f64().unwrap();
    assert_eq!(rebuilt["new_filter_size"].as_f64().unwrap(), size);
    let mut bits = std::collections::BTreeSet::new();
    let mut by_level = Vec::new();
    for level in advice["choice"]["bits_per_key"].as_array().unwrap() {
        bits.insert(level["bits_per_key"].to_string());
        by_level.push(format!("{}={}", level["level"], level["bits_per_key"]));
    }
    // One number if all levels have the same.
    let said = if bits.len() == 1 { bits.pop_first().unwrap() } else { by_level.join(",") };
    assert!(arguments.contains(&&*said), "{arguments:?} {said}");

    // The advice is now to leave the new database as it is, and its reads are as predicted.
    let found = tuning(&run_long(&args!["tune", "--json", "--min-size", "0", target]).expect(0));
    assert_eq!(found["advice"]["action"], "leave");
    assert!(found["advice"]["text"].as_str().unwrap().starts_with("leave the filters"), "{found}");
    let now = &found["now"];
    assert_eq!(now["size"]["value"].as_f64().unwrap(), size);
    let reads = |of: &Value| {
        let reads = &of["reads"]["neighbours"];
        let [value, low, high] = ["value", "low", "high"].map(|name| reads[name].as_f64().unwrap());
        (value, high - low)
    };
    let ((then, width_then), (said, width_said)) = (reads(now), reads(&advice["choice"]["outcome"]));
    assert!((then - said).abs() < width_then + width_said, "{then} {said}");
    assert!(width_then + width_said < then, "{width_then} {width_said}");
}

/// Nobody notices the filters of a database that fits into any cache.
#[test]
fn a_small_database_is_left_as_it_is() {
    let path = database("unfiltered");
    let size: u64 = std::fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().extension().is_some_and(|of| of == "ldb"))
        .map(|entry| entry.metadata().unwrap().len())
        .sum();
    for (least, action) in [((size + 1).to_string(), "leave"), (size.to_string(), "rebuild")] {
        let found = tuning(&run_long(&args!["tune", "--json", "--min-size", least, path]).expect(0));
        assert_eq!(found["advice"]["action"], action, "{least}");
    }
    let advice = tuning(&run_long(&args!["tune", "--json", path]).expect(0))["advice"].clone();
    let text = advice["text"].as_str().unwrap();
    assert!(
        text.starts_with("leave the filters as they are: tables of") && text.contains("below 1 MiB"),
        "{text}"
    );
    assert!(advice["arguments"].is_null() && advice["choice"].is_null());
}

/// goleveldb's own filters have the name `leveldb.BuiltinBloomFilter`, and it uses no filters of another name.
#[test]
fn a_database_that_goleveldb_opened_is_advised_its_name() {
    let copy = copy_of(&database("unfiltered"));
    for (first, name, program) in [
        ("=============== Nov 24, 2026 (UTC) ===============\n", "leveldb.BuiltinBloomFilter", "goleveldb"),
        ("2026/11/24-10:00:00.000000 7f00 Recovering log #3\n", "leveldb.BuiltinBloomFilter2", "LevelDB"),
    ] {
        std::fs::write(copy.path().join("LOG"), first).unwrap();
        let found = tuning(&run_long(&args!["tune", "--json", "--min-size", "0", copy.path()]).expect(0));
        assert_eq!((&found["policy"], &found["policy_assumed"]), (&json!(name), &json!(true)));
        let text = found["advice"]["text"].as_str().unwrap();
        assert!(text.contains(&format!("sets the filter policy {name}, and only then")), "{text}");
        let shown = run_long(&args!["tune", "--min-size", "0", copy.path()]).expect(0).out;
        assert!(shown.contains(&format!("what follows is for {program}'s own, {name}")), "{shown}");
    }
}

/// No block is larger than the limit, but all blocks of a table together are.
#[test]
fn the_limit_on_what_is_decoded_holds_for_a_whole_table() {
    let line =
        tuning(&run_long(&args!["tune", "--json", "--max-output", "22000", database("levels")]).expect(1));
    let faults = line["faults"].as_array().unwrap();
    let names: Vec<_> = faults.iter().map(|fault| fault["path"].as_str().unwrap()).collect();
    assert!(names.len() == 1 && names[0].ends_with("000005.ldb"), "{line:#}");
    assert!(faults[0]["error"].as_str().unwrap().contains("limit"), "{line:#}");
}

/// Of several databases, those that gain most come first.
#[test]
fn the_end_says_where_a_rebuild_pays() {
    let parent = folder();
    for name in ["levels", "unfiltered"] {
        let to = parent.path().join(name);
        std::fs::create_dir(&to).unwrap();
        for entry in std::fs::read_dir(database(name)).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    let found = run_long(&args!["tune", "-r", "--min-size", "0", parent.path()]).expect(0).out;
    let (_, end) = found.split_once("\nWhere a rebuild pays: ").unwrap();
    let lines: Vec<_> = end.lines().collect();
    assert!(lines[0].ends_with(" of 2 databases") && lines[1].ends_with("unfiltered"), "{end}");
    let saved = |line: &str| line.split_whitespace().next().unwrap().parse::<f64>().unwrap();
    let saved: Vec<f64> = lines[1..].iter().map(|line| saved(line)).collect();
    assert!(saved[0] > 1.0 && saved.is_sorted_by(|one, next| one >= next), "{end}");
    let found = run_long(&args!["tune", "-r", parent.path()]).expect(0).out;
    assert!(found.ends_with("\nWhere a rebuild pays: 0 of 2 databases\n"), "{found}");
}

/// Tables that goleveldb made, with a filter for each 512 KiB, under LevelDB's old policy name.
#[test]
fn goleveldbs_databases_are_tuned_for_goleveldb() {
    let path = tables::testdata().join("goleveldb/base-lg-19");
    let text = run_long(&args!["tune", path]).expect(0).out;
    for words in [
        "  filters of       leveldb.BuiltinBloomFilter\n",
        "goleveldb holds the filters in its block cache",
        "goleveldb's programs set it with\nFilterBaseLg",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn help_names_what_is_given_and_what_comes_back() {
    let help = run(&["tune", "--help"]).expect(0).quiet().out;
    for words in [
        "--lookups <FILE>",
        "--hex",
        "--budget <SIZE>",
        "--all",
        "--policy <NAME>",
        "--wide",
        "--json",
        "docs/tune.md",
    ] {
        assert!(help.contains(words), "{help}");
    }
}
