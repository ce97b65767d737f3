//! `filterblock tune` for filters of this library's own, and for filters and tables that are damaged or gone.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use filterblock::table::{ReadOptions, Table, TableBuilder, WriteOptions};
use serde_json::json;

use super::manifest::copy_of;
use super::*;

/// The settings tried, and the conclusions from them.
#[track_caller]
fn tune(arguments: &[OsString], status: i32) -> (Vec<Value>, Value, String) {
    let run = run_long(&[&args!["tune", "--json"][..], arguments].concat()).expect(status);
    let mut lines = run.all_json();
    let tuning = lines.pop().unwrap();
    assert_eq!(tuning["object"], "tuning", "{run:?}");
    (lines, tuning, run.err)
}

/// Filters of 272 settings are made and asked, four times as many as for LevelDB's own, so each test looks at one run.
fn is_tried_with_all_policies(arguments: &[OsString], name: &str) {
    let (settings, tuning, _) = tune(arguments, 0);
    assert_eq!((&tuning["policy"], &tuning["faults"]), (&json!(name), &json!([])));
    assert_eq!(tuning["uniform"]["policy"], name);
    assert_eq!(settings.len(), 4 * 4 * 17);
    let used: Vec<_> = settings.iter().filter(|tried| tried["in_use"] == true).collect();
    let setting = |of: &Value| [&of["policy"], &of["base_lg"], &of["bits_per_key"]].map(Clone::clone);
    let expected = [json!(name), json!(11), json!(7)];
    assert_eq!(used.iter().map(|used| setting(used)).collect::<Vec<_>>(), [expected]);
    for tried in &settings {
        let passed = tried["outcome"]["rates"]["random"]["rate"].as_f64().unwrap();
        assert!(passed < 0.17, "{tried}");
        assert!(passed > 0.01 || tried["bits_per_key"].as_u64() > Some(4), "{tried}");
    }
    // The filters made are those of the tables.
    for used in used {
        let (made, now) = (&used["outcome"], &tuning["now"]);
        assert_eq!(made["size"], now["size"]);
        assert_eq!(made["rates"]["near"], now["rates"]["near"]);
    }
}

/// A copy of a database that has filters of this policy, in a folder of its own.
fn rebuilt(policy: &str) -> (tempfile::TempDir, PathBuf) {
    let parent = folder();
    let copy = parent.path().join("db");
    run(&args!["rebuild", database("levels"), "--to", copy, "--policy", policy, "--bits-per-key", "7"])
        .expect(0);
    (parent, copy)
}

/// These filters are made from keys, not from hashes.
#[test]
fn a_database_with_filters_of_keys_is_tuned() {
    let (_parent, copy) = rebuilt("murmur3");
    is_tried_with_all_policies(&args![copy], "filterblock.Murmur3BloomFilter1");
}

#[test]
fn a_table_with_filters_that_only_this_library_reads_is_tuned() {
    let (_parent, copy) = rebuilt("cassandra");
    let tables = std::fs::read_dir(copy).unwrap().map(|entry| entry.unwrap().path());
    let table = tables.filter(|path| path.extension().is_some_and(|of| of == "ldb")).max().unwrap();
    is_tried_with_all_policies(&args![table], "filterblock.CassandraBloomFilter1");
}

/// Some filters are made from the keys themselves. The keys of a block that share bytes may be a thousand times as long
/// as the block.
#[test]
fn long_keys_that_are_shared_are_not_held_for_filters_of_keys() {
    let options = WriteOptions::default().block_size(1 << 20).restart_interval(10_000);
    let mut builder = TableBuilder::new(Vec::new(), options);
    for number in 0..600_u32 {
        builder.add(&[&[b'k'; 16 << 10][..], &number.to_be_bytes()].concat(), b"").unwrap();
    }
    let dir = folder();
    let table = file(&dir, "shared.ldb", builder.finish().unwrap().0);
    let (_, tuning, err) = tune(&args!["--policy", "murmur3", table], 1);
    let fault = &tuning["faults"][0];
    assert_eq!((&tuning["error_kind"], &fault["path"]), (&json!("unsupported"), &json!(table)));
    let error = "the keys of a data block are larger than the limit on what is held";
    assert_eq!(fault["error"], error);
    assert!(err.contains(error), "{err}");
    let (_, tuning, _) = tune(&args!["--policy", "new", table], 0);
    assert_eq!(tuning["sample"]["tables"], 1);
    // What is decoded is limited within a block, too.
    let (_, tuning, _) = tune(&args!["--policy", "new", "--max-output", "1000000", table], 1);
    let error = "its blocks and keys are larger than the limit on what is decoded";
    assert_eq!(tuning["faults"][0]["error"], error);
}

/// Makes the filters of a table deny some of its keys: the first `first` bytes of the filter block have no bit set.
fn deny(path: &Path, first: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let handle = Table::open_path(path, &ReadOptions::default()).unwrap().filter_handle().unwrap();
    let (start, end) = (handle.offset as usize, (handle.offset + handle.size) as usize);
    bytes[start..start + first].fill(0);
    let crc = crc32c::crc32c(&bytes[start..=end]).rotate_right(15).wrapping_add(0xa282_ead8);
    bytes[end + 1..end + 5].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(path, bytes).unwrap();
}

/// Nothing is as urgent as new filters that deny no stored key.
#[test]
fn filters_that_deny_stored_keys_are_to_be_made_anew() {
    let copy = copy_of(&database("levels"));
    let table = copy.path().join("000005.ldb");
    deny(&table, 300);
    let verdict = run(&args!["verify", "--json", table]).expect(1).all_json().remove(0);
    let denied = verdict["denied"].as_u64().unwrap();
    assert!(denied == 83, "{verdict}");

    let message = format!("filters deny {denied} keys that are stored: programs do not find them");
    let (_, tuning, err) = tune(&args![copy.path()], 1);
    assert_eq!((&tuning["status"], &tuning["error_kind"]), (&json!("ok"), &json!("damaged")));
    assert_eq!(tuning["faults"], json!([{ "path": table, "error": message }]));
    assert!(err.contains(&format!("000005.ldb: {message}\n")), "{err}");
    let levels = tuning["levels"].as_array().unwrap();
    let sums = ["tables", "unfiltered"]
        .map(|name| levels.iter().map(|level| level[name].as_u64().unwrap()).sum::<u64>());
    assert_eq!(sums, [3, 1]);
    let advice = &tuning["advice"];
    assert_eq!(advice["action"], "rebuild");
    assert_eq!(advice["text"], format!("{message}. No entry is lost: new filters bring them back"));
    assert_eq!((&advice["choice"], &advice["arguments"]), (&Value::Null, &json!(["--bits-per-key", "10"])));

    let text = run_long(&args!["tune", "-r", copy.path(), table]).expect(1).out;
    for words in [
        format!("\n  filters deny     {denied} stored keys, in 1 table\n"),
        "; 1 of 3 tables have no sound ones\n".to_owned(),
        format!("\nAdvice: filters deny {denied} keys that are stored"),
        "\n  filterblock rebuild ".to_owned(),
        format!("{REBUILT} --bits-per-key 10\n"),
        format!(": 1 of 2 databases\n  {denied} stored keys no longer denied: "),
    ] {
        assert!(text.contains(&words), "{words} {text}");
    }

    let parent = folder();
    let new = parent.path().join("new");
    run(&args!["rebuild", copy.path(), "--to", new, "--bits-per-key", "10"]).expect(0);
    run(&args!["verify", new]).expect(0);
}

#[test]
fn tables_that_were_never_there_are_missing() {
    let copy = copy_of(&database("levels"));
    let tables = std::fs::read_dir(copy.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut tables: Vec<_> = tables.filter(|path| path.extension().is_some_and(|of| of == "ldb")).collect();
    let gone = tables.pop().unwrap();
    std::fs::remove_file(&gone).unwrap();
    let inspected = run(&args!["inspect", "--json", copy.path()]).expect(1).all_json();
    let inspected = inspected.iter().find(|line| line["error_kind"] == "missing").unwrap();
    let (_, tuning, err) = tune(&args![copy.path()], 1);
    assert_eq!(tuning["faults"], json!([{ "path": gone, "error": inspected["error"] }]));
    assert_eq!(tuning["error_kind"], "missing");
    assert!(err.contains("is missing: the MANIFEST has a table of") && !err.contains("vanished"), "{err}");

    tables.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    let (_, tuning, _) = tune(&args![copy.path()], 1);
    assert_eq!(tuning["advice"]["text"], "no advice: all tables are missing");
    assert_eq!(tuning["faults"].as_array().unwrap().len(), 1 + tables.len());
    std::fs::write(&gone, "damaged").unwrap();
    let (_, tuning, _) = tune(&args![copy.path()], 1);
    assert_eq!(tuning["advice"]["text"], "no advice: no table can be read");
}

#[test]
fn filters_of_another_policy_are_no_sign_that_a_program_uses_none() {
    let path = tables::testdata().join("goleveldb/base-lg-11");
    let text = run_long(&args!["tune", "--policy", "new", "--min-size", "1", path]).expect(0).out;
    let text = text.replace('\n', " ");
    for words in [
        "Advice: if the program that opens the database sets the filter policy leveldb.BuiltinBloomFilter2, and only",
        "That no table has filters of that policy is a sign that it sets another, and then these filters save nothing",
        "  filters take     nothing: there are none of this policy ",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

/// Filters of the policy show that the program sets it, so the advice has no condition.
#[test]
fn with_filters_of_the_policy_the_advice_has_no_condition() {
    let copy = copy_of(&database("levels"));
    let advice = tune(&args!["--min-size", "1", "--budget", "1M", copy.path()], 0).1["advice"].clone();
    let text = advice["text"].as_str().unwrap();
    assert!(advice["action"] == "rebuild" && text.contains("fewer wasted reads for"), "{advice}");
    assert!(!text.contains("only then") && !text.contains("is a sign"), "{text}");
}

/// Level 0 keeps the program's ten bits, however many the budget allows.
#[test]
fn bits_by_level_that_read_more_are_no_gain() {
    let copy = copy_of(&database("levels"));
    let text = run_long(&args!["tune", "--budget", "1M", copy.path()]).expect(0).out.replace('\n', " ");
    let (_, gains) = text.split_once("  gains            ").unwrap();
    assert!(gains.starts_with("nothing: 0.0"), "{text}");
    let (gains, _) = gains.split_once("  lasts ").unwrap();
    let words = gains.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.ends_with(", as level 0 keeps the program's own bits"), "{words}");
}

/// A rebuild is refused as long as a table is missing or damaged, and then it is carried out.
#[test]
fn what_is_missing_or_damaged_is_restored_first() {
    let beside = folder();
    let copy = copy_of(&database("levels"));
    let arguments = args!["--min-size", "1", "--budget", "1M", copy.path()];
    let advice = |status| {
        let advice = tune(&arguments, status).1["advice"].clone();
        assert_eq!(advice["action"], "rebuild");
        assert_eq!(advice["arguments"].is_null(), status > 0, "a command that would be refused");
        advice["text"].as_str().unwrap().to_owned()
    };
    let target = beside.path().join("new");
    let rebuild = |status| run(&args!["rebuild", copy.path(), "--to", target]).expect(status);
    let table = copy.path().join("000005.ldb");
    let contents = std::fs::read(&table).unwrap();
    let words = ". Rebuild refuses a damaged database: first, restore it from a backup or, failing that, save what can be \
                 saved with filterblock repair";
    std::fs::remove_file(&table).unwrap();
    assert!(advice(1).ends_with(words));
    rebuild(1);
    std::fs::write(&table, &contents[..contents.len() / 2]).unwrap();
    assert!(advice(1).ends_with(words));
    rebuild(1);
    // A table that is sound, but another one.
    std::fs::copy(copy.path().join("000007.ldb"), &table).unwrap();
    assert!(advice(1).ends_with(words));
    rebuild(1);
    std::fs::write(&table, contents).unwrap();
    assert!(!advice(0).contains("Rebuild refuses"));
    rebuild(0);
}

/// The MANIFEST ends within a record, as after a power failure, and misses no table.
#[test]
fn an_incomplete_record_of_the_manifest_needs_nothing_first() {
    let copy = copy_of(&database("levels"));
    let path = copy.path().join("MANIFEST-000008");
    let mut manifest = std::fs::read(&path).unwrap();
    manifest.extend([1, 2, 3, 4, 100, 0, 1, 9, 9]);
    std::fs::write(path, manifest).unwrap();
    let advice = tune(&args!["--min-size", "1", "--budget", "1M", copy.path()], 0).1["advice"].clone();
    assert!(!advice["text"].as_str().unwrap().contains("first"), "{advice}");
    let beside = folder();
    run(&args!["rebuild", copy.path(), "--to", beside.path().join("new")]).expect(0);
    if cfg!(not(windows)) {
        run(&args!["rebuild", copy.path(), "--in-place", "--no-undo"]).expect(0);
    }
}

/// A block of one table has an unknown codec. The table's filters deny nothing, and new filters can be made for the
/// other tables.
#[test]
fn tables_in_an_unknown_codec_have_to_be_kept() {
    let copy = copy_of(&database("levels"));
    let path = copy.path().join("000005.ldb");
    let mut file = std::fs::read(&path).unwrap();
    let block =
        Table::open(file.clone(), &ReadOptions::default()).unwrap().data_blocks().next().unwrap().unwrap();
    let (start, end) = (block.offset as usize, (block.offset + block.size) as usize);
    file[end] = 100;
    let crc = crc32c::crc32c(&file[start..=end]).rotate_right(15).wrapping_add(0xa282_ead8);
    file[end + 1..end + 5].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(path, file).unwrap();
    let advice = tune(&args!["--min-size", "1", "--budget", "1M", copy.path()], 1).1["advice"].clone();
    let words =
        "Rebuild refuses tables that it cannot decode, unless --keep-undecodable leaves them as they are";
    assert!(advice["text"].as_str().unwrap().ends_with(words), "{advice}");
    let beside = folder();
    run(&args!["rebuild", copy.path(), "--to", beside.path().join("new")]).expect(1);
    run(&args!["rebuild", copy.path(), "--to", beside.path().join("new"), "--keep-undecodable"]).expect(0);
}

/// A rebuild is refused as long as the tables from before an earlier one are kept.
#[cfg(unix)]
#[test]
fn an_earlier_rebuild_is_decided_on_first() {
    let parent = folder();
    let path = parent.path().join("db");
    std::fs::rename(copy_of(&database("levels")).keep(), &path).unwrap();
    run(&args!["rebuild", path, "--in-place"]).expect(0);
    let tables = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
    let table = tables.filter(|path| path.extension().is_some_and(|of| of == "ldb")).max().unwrap();
    deny(&table, 100);
    let words = "first, filterblock rebuild --discard has to remove them or, if no program has opened the database since, \
                 --undo to bring them back";
    let advice = || tune(&args![path], 1).1["advice"]["text"].as_str().unwrap().to_owned();
    let page = parent.path().join("page.html");
    let report = || {
        run_long(&args!["report", path, "-o", page]).expect(1);
        std::fs::read_to_string(&page).unwrap()
    };
    assert!(
        advice().ends_with(&format!("The tables from before an earlier rebuild are still there: {words}"))
    );
    assert!(report().contains(words));
    run(&args!["rebuild", path, "--discard"]).expect(0);
    assert!(!advice().contains("--discard"));
}
