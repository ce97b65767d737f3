//! `filterblock tune`: whether other filters would save reads or space.

use serde_json::json;

use std::fs;
use std::path::Path;

use filterblock::table::{Compression, IdbComparator, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, LegacyBloomPolicy, SharedPolicy};
use filterblock_engine::{Engine, Inputs, TuneRequest, report::Tuned};

use super::manifest::{BYTEWISE, Edit, copy_of, internal_key, log};
use super::repair::idb_key;
use super::*;

/// The one object that is printed.
#[track_caller]
fn tuning(run: &Run) -> Value {
    let mut lines = run.all_json();
    assert_eq!(lines.len(), 1, "{run:?}");
    let line = lines.pop().unwrap();
    assert_eq!(line["object"], "tuning");
    line
}

/// Makes a database of two levels and 1.2 MiB, so large that filters matter. Each level has every second number.
pub(super) fn write_two_levels(folder: &Path, policy: Option<SharedPolicy>) {
    let mut edit = Edit::default().comparator(BYTEWISE).number(2, 0).number(3, 90).number(4, 100);
    for level in [1, 2_u32] {
        let mut options = WriteOptions::default().internal_keys(true).compression(Compression::None);
        options = policy.iter().fold(options, |options, policy| options.filter_policy(policy.clone()));
        let mut builder = TableBuilder::new(Vec::new(), options);
        let key = |number: u32| internal_key(format!("{:08}", 2 * number + level).as_bytes(), 7, 1);
        (0..5000).for_each(|number| builder.add(&key(number), &[7; 100]).unwrap());
        let file = builder.finish().unwrap().0;
        edit = edit.add(level.into(), (10 + level).into(), file.len() as u64, &key(0), &key(4999));
        fs::write(folder.join(format!("{:06}.ldb", 10 + level)), file).unwrap();
    }
    fs::write(folder.join("MANIFEST-000004"), log(&[edit.0]).0).unwrap();
    fs::write(folder.join("CURRENT"), "MANIFEST-000004\n").unwrap();
}

/// A database as [`write_two_levels`] makes it.
pub(super) fn two_levels(policy: Option<SharedPolicy>) -> tempfile::TempDir {
    let folder = folder();
    write_two_levels(folder.path(), policy);
    folder
}

fn bits(bits_per_key: u32) -> Option<SharedPolicy> {
    Some(BloomFilterPolicy::new(bits_per_key).into())
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
    assert_eq!(of("verdict"), [Value::Null, json!("damaged"), Value::Null]);
    assert_eq!(of("error_kind"), ["missing", "damaged", "missing"]);
    let errors = of("error");
    assert_eq!(errors[0], not_found());
    assert!(errors[1].as_str().unwrap().contains("expected a table of at least 48 bytes"), "{errors:?}");
    assert_eq!(errors[2], "expected a database, found tables without a MANIFEST: give them one by one");

    // What is neither a database nor a table has no verdict.
    let shown = run(&[&args!["tune"][..], &paths].concat()).expect(2);
    assert!(
        shown.out.starts_with(&format!("{}: damaged\n  Table at offset 0: expected", text.display())),
        "{shown:?}"
    );
    assert!(shown.out.contains("\n    filterblock scan --carve "), "{shown:?}");
    assert_eq!(shown.err.lines().count(), 2, "{shown:?}");
    run(&[&args!["tune", "--keep-going"][..], &paths].concat()).expect(0);
}

#[test]
fn a_database_without_tables_is_fine() {
    let folder = folder();
    write_manifest(folder.path(), &[]);
    let tuning = tuning(&run(&args!["tune", "--json", folder.path()]).expect(0).quiet());
    assert_eq!([&tuning["verdict"], &tuning["reason"], &tuning["action"]], ["fine", "no-tables", "none"]);
    assert_eq!([&tuning["levels"], &tuning["by_bits"]], [&json!([]); 2]);
    let shown = run(&args!["tune", folder.path()]).expect(0).quiet().out;
    assert_eq!(shown, format!("{}: fine: no tables yet\n", folder.path().display()));
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
    let name = damaged.file_name().unwrap().to_str().unwrap().to_owned();
    std::fs::write(&damaged, "damaged").unwrap();
    let found = tuning(&run_long(&args!["tune", "--json", copy.path()]).expect(1));
    assert_eq!([&found["verdict"], &found["reason"], &found["action"]], ["damaged", "damage", "repair"]);
    assert_eq!((&found["error_kind"], &found["left_out"]), (&json!("damaged"), &json!(1)));
    let error = found["error"].as_str().unwrap();
    assert!(error.starts_with(&format!("{name}: ")) && error.contains("found 7 bytes"), "{error}");
    // One level is left, whose table a lookup may reach.
    assert_eq!(found["levels"].as_array().unwrap().len(), 1);
    let level = &found["levels"][0];
    assert_eq!((&level["tables"], &level["without_filters"]), (&json!(1), &json!(1)));
    assert_eq!((&found["tables"], &level["checked"]), (&json!(1), &found["absent_reads"]["value"]));
    let shown = run_long(&args!["tune", copy.path()]).expect(1).out;
    assert!(shown.starts_with(&format!("{}: damaged: {name}\n", copy.path().display())), "{shown}");
    assert!(shown.contains("\n    filterblock repair "), "{shown}");
}

#[test]
fn keys_in_an_order_that_is_not_known_are_not_followed() {
    let tuning = tuning(&run_long(&args!["tune", "--json", database("reversed")]).expect(2));
    assert_eq!([&tuning["verdict"], &tuning["reason"], &tuning["action"]], ["unknown", "key-order", "none"]);
    let by_bits = tuning["by_bits"].as_array().unwrap();
    assert_eq!(by_bits.len(), 8);
    assert!(by_bits.iter().all(|of| of["absent_reads"].is_null() && of["fpr"].is_number()), "{tuning}");
    assert!(tuning["random_fpr"]["samples"].as_u64().unwrap() > 1000, "{tuning}");
    assert!(tuning["levels"].as_array().unwrap().iter().all(|level| level["checked"].is_null()), "{tuning}");
    let shown = run_long(&args!["tune", database("reversed")]).expect(2).out;
    assert!(
        shown.contains(": cannot tell: keys are ordered by \"filterblock.testdata.Reversed\""),
        "{shown}"
    );
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
    assert_eq!(found["lookups"], json!({"given": 8000, "used": 8000, "stored": 4500}));
    // The numbers of lookups of absent keys that reach a level. Four of them lie between two tables of level 2.
    let checked = |level: usize| (found["levels"][level]["checked"].as_f64().unwrap() * 3500.0).round();
    assert_eq!([checked(0), checked(1)], [3500.0, 3496.0]);
    // Half of the stored keys are found in level 1 and the others, which also check level 1, in level 2.
    assert!(found["stored_reads"]["value"].as_f64().unwrap() >= 1.0, "{found}");
}

#[test]
fn a_table_by_itself_has_rates_and_no_verdict() {
    let words = table("words-4096-bloom10-snappy.ldb");
    let shown = run_long(&args!["tune", words]).expect(0).quiet().out;
    assert!(shown.contains("\n  Filters take 396 B, 10 bits per key; false-positive rate "), "{shown}");
    let rows = shown.lines().skip_while(|line| !line.starts_with("  bits per key")).skip(1);
    let rows: Vec<_> = rows.take_while(|line| line.starts_with("      ")).collect();
    assert_eq!(rows.len(), 8, "{shown}");
    let now: Vec<_> = rows.iter().filter(|row| row.ends_with("  now")).collect();
    assert!(now.len() == 1 && now[0].starts_with("            10     396 B "), "{shown}");
    assert!(!shown.contains("level") && !shown.contains("stored  "), "{shown}");
    let tuning = tuning(&run_long(&args!["tune", "--json", words]).expect(0));
    assert_eq!([&tuning["verdict"], &tuning["absent_reads"], &tuning["action"]], [&Value::Null; 3]);
    assert_eq!((&tuning["filter_size"], &tuning["bits_per_key"]), (&json!(396.0), &json!(10)));
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
    let arguments =
        args!["tune", "--json", "--budget", "1", "--hex", "--lookups", list, database("unfiltered")];
    let found = tuning(&run_long(&arguments).expect(0));
    assert_eq!(found["lookups"], json!({"given": 60, "used": 60, "stored": 40}));
    assert_eq!((&found["budget"], &found["verdict"]), (&json!(1), &json!("fine")));
    assert!(found["stored_reads"]["value"].as_f64().unwrap() >= 1.0, "{found}");
    assert!(found["absent_reads"]["value"].as_f64().unwrap() > 0.0, "{found}");
}

/// The verdict rests on the lookups that are given. Keys that are all stored say nothing about absent ones.
#[test]
fn the_verdict_rests_on_the_lookups_that_are_given() {
    let folder = two_levels(None);
    let keys = |of: &dyn Fn(u32) -> String| file(&folder, "keys", (0..1000).map(of).collect::<String>());
    let verdict = |list: &PathBuf| {
        let found = tuning(&run_long(&args!["tune", "--json", "--lookups", list, folder.path()]).expect(0));
        (found["verdict"].as_str().unwrap().to_owned(), found["absent_reads"]["value"].as_f64().unwrap())
    };
    let (is_better, reads) = verdict(&keys(&|number| format!("{:08}x\n", number + 10)));
    assert!(is_better == "could-be-better" && reads > 1.9, "{reads}");
    // Keys of level 1, which a lookup finds at once.
    assert_eq!(verdict(&keys(&|number| format!("{:08}\n", 2 * number + 1))), ("fine".to_owned(), 0.0));
    // No table has such keys in its range.
    assert_eq!(verdict(&keys(&|number| format!("z{number}\n"))), ("fine".to_owned(), 0.0));
}

/// A rebuild that follows the advice has the predicted size and reads.
#[test]
fn the_advice_can_be_followed() {
    let folder = two_levels(None);
    let found = tuning(&run_long(&args!["tune", "--json", folder.path()]).expect(0));
    assert_eq!(
        [&found["verdict"], &found["reason"], &found["action"]],
        ["could-be-better", "reads", "rebuild"]
    );
    assert_eq!(found["conditions"], json!(["program-sets-policy"]));
    assert_eq!(found["arguments"], json!(["--policy", "leveldb.BuiltinBloomFilter2"]));
    let shown = run_long(&args!["tune", folder.path()]).expect(0).quiet().out;
    let (first, rest) = shown.split_once('\n').unwrap();
    assert!(first.ends_with(": could be better, if its program uses filters"), "{shown}");
    let (condition, command) = rest.split_once("\n    ").unwrap();
    assert!(condition.ends_with("see docs/programs.md. If yours does:"), "{shown}");
    assert!(command.ends_with(" --policy leveldb.BuiltinBloomFilter2\n") && command.lines().count() == 1);
    // The page says the same.
    let beside = super::folder();
    let page = beside.path().join("page.html");
    let line = run_long(&args!["report", folder.path(), "-o", page]).expect(0).out;
    assert_eq!(line, format!("{first}; the page is {}\n", page.display()));
    assert!(fs::read_to_string(&page).unwrap().contains("class=\"verdict better two\""));

    let target = beside.path().join("new");
    let mut rebuild = args!["rebuild", "--json", folder.path(), "--to", target].to_vec();
    rebuild.extend(found["arguments"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().into()));
    let rebuilt = run(&rebuild).expect(0).all_json().pop().unwrap();
    let then = found["by_bits"].as_array().unwrap().iter().find(|of| of["bits_per_key"] == 10).unwrap();
    assert_eq!(rebuilt["new_filter_size"].as_f64(), then["filter_size"].as_f64());

    let new = tuning(&run_long(&args!["tune", "--json", target]).expect(0));
    assert_eq!([&new["verdict"], &new["reason"]], ["fine", "enough"]);
    assert_eq!((&new["filter_size"], &new["bits_per_key"]), (&then["filter_size"], &json!(10)));
    for reads in ["absent_reads", "stored_reads"] {
        let now = &new[reads];
        let [value, low, high] = ["value", "low", "high"].map(|name| now[name].as_f64().unwrap());
        let said = then[reads].as_f64().unwrap();
        assert!((value - said).abs() < 2.0 * (high - low), "{reads}: {value} {said}");
    }
    let shown = run_long(&args!["tune", target]).expect(0).quiet().out;
    assert_eq!(shown.lines().count(), 3, "{shown}");
    assert!(shown.ends_with("  More than 10 bits per key would save less than 0.1 blocks.\n"), "{shown}");
}

/// Filters of the policy show that the program sets it, so that the advice has no condition.
#[test]
fn too_few_bits_could_be_better_without_a_condition() {
    let folder = two_levels(bits(4));
    let found = tuning(&run_long(&args!["tune", "--json", folder.path()]).expect(0));
    assert_eq!([&found["verdict"], &found["bits_per_key"]], [&json!("could-be-better"), &json!(4)]);
    assert_eq!((&found["conditions"], &found["arguments"]), (&json!([]), &json!(["--bits-per-key", "10"])));
    // The best that fits.
    let found = tuning(&run_long(&args!["tune", "--json", "--budget", "11K", folder.path()]).expect(0));
    assert_eq!(found["arguments"], json!(["--bits-per-key", "6"]), "{found}");
    let shown = run_long(&args!["tune", "--wide", folder.path()]).expect(0).out;
    for words in [
        ": could be better\n  A lookup reads 0.2",
        "\n  data blocks per lookup      now  10 bits  95% interval now\n  absent key, random       ",
        "\n    between stored numbers ",
        "  now\n",
        "  advised\n",
        "\n  level  tables  entries   filters  tables checked per absent key\n",
    ] {
        assert!(shown.contains(words), "{words} {shown}");
    }
}

/// Nobody notices the filters of a database that fits into any cache.
#[test]
fn a_small_database_is_fine() {
    let found = tuning(&run_long(&args!["tune", "--json", database("unfiltered")]).expect(0));
    assert_eq!([&found["verdict"], &found["reason"]], ["fine", "too-small"]);
    assert!(found["text"].as_str().unwrap().contains("less than 1 MiB") && found["arguments"].is_null());
}

/// goleveldb's own filters have the name `leveldb.BuiltinBloomFilter`, and it uses no filters of another name.
#[test]
fn a_database_that_goleveldb_opened_is_advised_its_name() {
    let folder = two_levels(None);
    for (first, name, program) in [
        ("=============== Nov 24, 2026 (UTC) ===============\n", "leveldb.BuiltinBloomFilter", "go-ethereum"),
        (
            "2026/11/24-10:00:00.000000 7f00 Recovering log #3\n",
            "leveldb.BuiltinBloomFilter2",
            "Bitcoin Core",
        ),
    ] {
        std::fs::write(folder.path().join("LOG"), first).unwrap();
        let found = tuning(&run_long(&args!["tune", "--json", folder.path()]).expect(0));
        assert_eq!((&found["policy"], &found["policy_assumed"]), (&json!(name), &json!(true)));
        let arguments = found["arguments"].as_array().unwrap();
        assert_eq!(arguments[..2], [json!("--policy"), json!(name)]);
        assert!(found["text"].as_str().unwrap().contains(program), "{found}");
    }
}

/// The object about a path if at most so many bytes are decoded.
pub(super) fn within(max_output: u64, path: &Path) -> Value {
    let inputs = Inputs { paths: vec![path.to_owned()], ..Inputs::default() };
    let mut line = Vec::new();
    let engine = Engine::new().max_output(max_output);
    engine.tune(inputs, &TuneRequest::default(), &mut |tuned: Tuned| tuned.write_json(&mut line)).unwrap();
    serde_json::from_slice(&line).unwrap()
}

/// No block is larger than the limit, but all blocks of a table together are.
#[test]
fn the_limit_on_what_is_decoded_holds_for_a_whole_table() {
    let line = within(22_000, &database("levels"));
    assert_eq!(
        [&line["verdict"], &line["reason"], &line["left_out"]],
        [&json!("unknown"), &json!("unread"), &json!(1)]
    );
    let error = line["error"].as_str().unwrap();
    assert!(error.starts_with("000005.ldb: ") && error.contains("limit"), "{line:#}");
}

/// Of several databases, those that need something are named, and those that gain most come first.
#[test]
fn of_several_databases_those_that_need_something_are_shown() {
    let parent = folder();
    let database = |name: &str, policy| {
        let folder = parent.path().join(name);
        fs::create_dir(&folder).unwrap();
        write_two_levels(&folder, policy);
    };
    for (name, policy) in [("a-fine", bits(10)), ("b-some", bits(4)), ("c-most", bits(1)), ("d-none", None)] {
        database(name, policy);
    }
    let encrypted = parent.path().join("e-encrypted");
    fs::create_dir(&encrypted).unwrap();
    for name in ["CURRENT", "MANIFEST-000002", "000005.ldb"] {
        fs::write(encrypted.join(name), [0x80, 0x1d, 0x30, 0x01, 1, 2, 3]).unwrap();
    }
    let shown = run_long(&args!["tune", "-r", parent.path()]).expect(2).quiet().out;
    let lines: Vec<_> = shown.lines().collect();
    let starts = [
        ("c-most: could be better: 0.4", " fewer blocks per lookup, 10 KiB more"),
        ("filterblock rebuild ", " --bits-per-key 10"),
        ("b-some: could be better: 0.2", " more"),
        ("filterblock rebuild ", " --bits-per-key 10"),
        ("d-none: could be better, if its program uses filters: 1.9", " fewer blocks"),
        ("e-encrypted: cannot tell: encrypted by Minecraft of NetEase (China)", ""),
        ("5 databases: 1 fine, 3 could be better, 1 cannot tell", ""),
    ];
    assert_eq!(lines.len(), starts.len(), "{shown}");
    for (line, (start, end)) in lines.iter().zip(starts) {
        assert!(line.contains(start) && line.ends_with(end), "{start} {end}: {shown}");
    }
}

/// Tables that goleveldb made, with a filter for each 512 KiB, under LevelDB's old policy name.
#[test]
fn goleveldbs_databases_are_tuned_at_their_range() {
    let path = tables::testdata().join("goleveldb/base-lg-19");
    let found = tuning(&run_long(&args!["tune", "--json", path]).expect(0));
    assert_eq!((&found["policy"], &found["base_lg"]), (&json!("leveldb.BuiltinBloomFilter"), &json!(19)));
    let now =
        found["by_bits"].as_array().unwrap().iter().find(|of| of["bits_per_key"] == found["bits_per_key"]);
    assert_eq!(now.unwrap()["filter_size"], found["filter_size"]);
}

/// Bits that no program can keep, and limits of our own, are no options.
#[test]
fn what_programs_cannot_set_is_not_tried() {
    for option in ["--min-size=1", "--max-output=1", "--policy=filterblock.Murmur3BloomFilter1"] {
        run(&args!["tune", option, database("levels")]).expect(2);
    }
    let folder = two_levels(Some(LegacyBloomPolicy::new(10).into()));
    let found = tuning(&run_long(&args!["tune", "--json", folder.path()]).expect(0));
    assert_eq!([&found["verdict"], &found["policy"]], ["fine", "leveldb.BuiltinBloomFilter"]);
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
        "docs/filters.md",
    ] {
        assert!(help.contains(words), "{help}");
    }
}
