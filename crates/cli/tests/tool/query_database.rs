//! `filterblock query` with a MANIFEST that names the order of keys.

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
    assert_eq!(answers.len(), 4 * keys.len());
    let (of_log, answers): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| !answer["log"].is_null());
    assert_eq!((of_log.len(), answers.len()), (keys.len(), 3 * keys.len()));
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
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    fs::write(copy.path().join("000010.log"), "").unwrap();
    let run_outside = run(&args!["query", copy.path(), "\u{10ffff}"]).expect(1).quiet();
    assert!(run_outside.out.ends_with(": a lookup reads at most 0 data blocks\n"), "{run_outside:?}");
    let with_log = run(&args!["query", database("levels"), "\u{10ffff}"]).expect(1).quiet();
    assert!(with_log.out.contains("000010.log: \"\u{10ffff}\": not there, in no write of this log\n"));

    let first = unhex(&listing("databases/levels.entries")[0][1]);
    let key = String::from_utf8(first).unwrap();
    let run_first = run(&args!["query", copy.path(), key]).expect(0);
    let reads = run_first.out.lines().last().unwrap();
    assert!(reads.contains("a lookup reads at most ") && !reads.contains(" 0 data"), "{run_first:?}");

    // The order of another comparator is not known.
    let reversed = run(&args!["query", "--json", database("reversed"), "x"]);
    assert!(reversed.json().iter().all(|answer| answer["by_index"] == false), "{reversed:?}");
}

#[test]
fn a_log_makes_query_unsure_only_if_it_cannot_be_read_to_its_end() {
    let copy = folder();
    for entry in fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    // Space that was reserved for a log and never used.
    let log = file(&copy, "000010.log", [0; 4096]);
    run(&args!["query", copy.path(), "\u{10ffff}"]).expect(1).quiet();
    assert!(!run(&args!["inspect", copy.path()]).expect(0).quiet().out.contains("1 log"));
    fs::write(&log, []).unwrap();
    run(&args!["query", copy.path(), "\u{10ffff}"]).expect(1).quiet();
    // A damaged log may hold writes.
    fs::write(&log, [&[0, 0, 0, 0, 4, 0, 1][..], b"data", &[0; 100]].concat()).unwrap();
    let damaged = run(&args!["query", copy.path(), "\u{10ffff}"]).expect(2);
    assert!(damaged.err.contains("000010.log: a record is damaged, at offset 0"), "{damaged:?}");
    assert!(
        damaged.out.contains("000010.log: \"\u{10ffff}\": may be there: a record is damaged"),
        "{damaged:?}"
    );
    let inspected = run(&args!["inspect", copy.path()]);
    assert!(inspected.out.contains("000010.log is damaged: its first write cannot be read"), "{inspected:?}");
}

#[test]
fn without_a_manifest_that_can_be_read_every_log_counts() {
    let copy = folder();
    file(&copy, "CURRENT", "MANIFEST-000008\n");
    file(&copy, "MANIFEST-000008", "damaged");
    file(&copy, "000003.log", "some writes");
    let run = run(&args!["query", copy.path(), "key"]).expect(2);
    assert!(run.err.contains("000003.log: the last write is incomplete, at offset 0"), "{run:?}");
}

#[test]
fn a_log_has_a_number() {
    let copy = folder();
    fs::copy(table("single-4096-bloom10.ldb"), copy.path().join("000005.ldb")).unwrap();
    file(&copy, "notes.log", "no writes");
    run(&args!["query", copy.path(), "key"]).quiet();
    file(&copy, "000004.log", "some writes");
    let run = run(&args!["query", copy.path(), "key"]);
    assert!(run.err.contains("000004.log: the last write is incomplete, at offset 0"), "{run:?}");
}

#[test]
fn paths_come_from_a_list_too() {
    let folder = folder();
    let (levels, reversed) = (database("levels"), database("reversed"));
    let list = file(&folder, "list", format!("{}\0{}\0/missing\0", levels.display(), reversed.display()));
    let of_list = run(&args!["query", "--json", "--files-from", list, "-0", "key", "other"]);
    // Three tables and a log, two tables, and a missing file, each with two keys.
    let answers = of_list.json();
    assert_eq!(answers.len(), 2 * (4 + 2 + 1));
    assert!(answers.iter().step_by(2).all(|answer| answer["key"] == "key"));
    let expected = format!("missing: {}", not_found());
    assert!(of_list.err.contains(&expected), "{of_list:?}");
    let below = run(&args!["query", "--json", "--recursive", levels.parent().unwrap(), "key"]).json();
    assert_eq!(below.len(), 4 + 2 + 2, "{below:?}");

    for (arguments, message) in [
        (&["query", "--files-from", "-"][..], "keys"),
        (&["query", "--files-from", "-", "--keys-from", "-"], "cannot both come from standard input"),
        (&["query", "--recursive", "x"], "KEY"),
    ] {
        let wrong = run(arguments).expect(2);
        assert!(wrong.out.is_empty() && wrong.err.contains(message), "{wrong:?}");
    }
    let nothing = run(&args!["query", folder.path(), "key"]).expect(2);
    assert!(nothing.err.contains("no database here"), "{nothing:?}");
    // A database may have no tables yet.
    write_manifest(folder.path(), &[manifest::Edit::default()]);
    run(&args!["query", folder.path(), "key"]).expect(1).quiet();
}

#[test]
fn json_says_what_a_lookup_costs() {
    let copy = folder();
    for entry in fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    fs::copy(copy.path().join("000005.ldb"), copy.path().join("000099.ldb")).unwrap();
    let key = String::from_utf8(unhex(&listing("databases/levels.entries")[0][1])).unwrap();
    let obsolete = copy.path().join("000099.ldb");
    let answers = run(&args!["query", "--json", copy.path(), obsolete, "--", key]).expect(0).json();
    let costs: Vec<_> = answers.iter().map(|answer| answer["lookup_blocks"].as_u64().unwrap()).collect();
    let blocks: Vec<_> = answers.iter().map(|answer| answer["blocks"].as_array().unwrap().len()).collect();
    // The first answer is the log's. The last is that of an obsolete table, which has the key and is not read.
    assert_eq!((costs.len(), costs[4], blocks[4]), (5, 0, 1));
    assert!(costs[..4].iter().zip(&blocks).all(|(&cost, &blocks)| cost == blocks as u64));
    let text = run(&args!["query", copy.path(), key]).expect(0).out;
    let sum = costs.iter().sum::<u64>();
    assert!(text.contains(&format!("a lookup reads at most {sum} data block")), "{text}");

    let unknown = run(&args!["query", "--json", database("reversed"), key]).json();
    assert!(unknown.iter().all(|answer| answer["lookup_blocks"].is_null()), "{unknown:?}");
}

/// The blocks of a table that cannot be opened are not known, so the sum without them is no upper bound.
#[test]
fn a_sum_says_which_tables_it_leaves_out() {
    let copy = folder();
    for entry in fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let key = String::from_utf8(unhex(&listing("databases/levels.entries")[0][1])).unwrap();
    fs::write(copy.path().join("000005.ldb"), b"no table").unwrap();
    let text = run(&args!["query", copy.path(), key]).out;
    assert!(text.contains(", and those of 1 table that cannot be read\n"), "{text}");
    fs::remove_file(copy.path().join("000005.ldb")).unwrap();
    fs::remove_file(copy.path().join("000009.ldb")).unwrap();
    let text = run(&args!["query", copy.path(), key]).out;
    assert!(text.contains(", and those of 2 tables that cannot be read\n"), "{text}");
}

/// An index out of order says nothing about keys within the table's range. The table counts once, whichever of the
/// keys is within the range.
#[test]
fn a_table_that_some_keys_leave_out_counts_once() {
    let folder = one_table(manifest::BYTEWISE, &["c", "b", "a"], ["a", "c"]);
    for keys in [["x", "b", "a"], ["b", "x", "a"]] {
        let text = run(&[&args!["query", folder.path()][..], &keys.map(Into::into)].concat()).out;
        assert!(text.contains(", and those of 1 table that cannot be read\n"), "{keys:?}: {text}");
    }
}

#[test]
fn the_order_that_a_manifest_names_holds_whatever_the_user_says() {
    let path = database("reversed");
    for arguments in
        [args!["query", "--json", path, "a", "key"].to_vec(), args!["verify", "--json", path].to_vec()]
    {
        let claimed = [&arguments[..], &args!["--comparator", "bytewise"]].concat();
        assert_eq!(run(&claimed).out, run(&arguments).out);
    }
}

/// LevelDB does not look into obsolete tables, and removes them when it opens the database.
#[test]
fn obsolete_tables_are_asked_only_by_name_and_named_once() {
    let copy = folder();
    for name in ["CURRENT", "MANIFEST-000008", "000005.ldb", "000007.ldb", "000009.ldb"] {
        fs::copy(database("levels").join(name), copy.path().join(name)).unwrap();
    }
    fs::write(copy.path().join("000010.log"), "").unwrap();
    let sound = run(&args!["query", "--json", copy.path(), "item/0000/0", "z"]).quiet();
    for name in ["000001", "000002", "000003", "000011", "000099"] {
        fs::copy(copy.path().join("000005.ldb"), copy.path().join(name).with_extension("ldb")).unwrap();
    }
    let with_obsolete = run(&args!["query", "--json", copy.path(), "item/0000/0", "z"]).expect(0);
    assert_eq!(with_obsolete.json(), sound.json());
    let path = copy.path().display();
    assert_eq!(
        with_obsolete.err,
        format!(
            "filterblock: {path}: 5 unused tables were not checked: 000001.ldb, 000002.ldb, 000003.ldb, 000011.ldb, \
             …\n"
        )
    );
    let named = copy.path().join("000099.ldb");
    let named = run(&args!["query", "--json", named, "item/0000/0"]).expect(0).quiet().one();
    assert_eq!((&named["may_match"], &named["lookup_blocks"]), (&true.into(), &0.into()));
    // Without a MANIFEST nobody knows which tables are obsolete.
    fs::remove_file(copy.path().join("MANIFEST-000008")).unwrap();
    let all = run(&args!["query", "--json", copy.path(), "item/0000/0"]);
    assert_eq!(all.json().len(), 8, "{all:?}");
}

/// A lookup goes to one database, and to no table that is named alone.
#[test]
fn each_database_has_a_cost_of_its_own() {
    let (levels, alone) = (database("levels"), table("words-256-bloom10.ldb"));
    let folder = folder();
    let list = file(
        &folder,
        "list",
        [&levels, &alone, &levels, &database("reversed")]
            .map(|path| format!("{}\n", path.display()))
            .concat(),
    );
    let costs = |out: &str| {
        let lines = out.lines().filter(|line| line.contains(": a lookup reads at most "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let one = costs(&run(&args!["query", levels, "item/0001/919"]).out);
    assert_eq!(one.len(), 1);
    let many = costs(&run(&args!["query", "--files-from", list, "item/0001/919"]).out);
    assert_eq!(many, [&one[..], &one].concat());
}

/// A database of one table with these user keys. Its MANIFEST has the comparator `order` and this range.
fn one_table(order: &[u8], keys: &[&str], [smallest, largest]: [&str; 2]) -> tempfile::TempDir {
    let keys: Vec<_> = keys.iter().map(|key| manifest::value_key(key)).collect();
    let mut crafted = tables::Crafted::default();
    let blocks: Vec<_> =
        keys.iter().map(|key| (key.as_slice(), crafted.entries(&[(key, b"value")]))).collect();
    let folder = folder();
    let path = file(&folder, "000005.ldb", crafted.finish(&blocks, &[]));
    let size = fs::metadata(path).unwrap().len();
    let [smallest, largest] = [smallest, largest].map(manifest::value_key);
    let numbers = manifest::Edit::default().comparator(order).number(2, 0).number(3, 9).number(4, 100);
    let all = manifest::log(&[numbers.add(1, 5, size, &smallest, &largest).0]).0;
    file(&folder, "MANIFEST-000004", all);
    file(&folder, "CURRENT", "MANIFEST-000004\n");
    folder
}

/// The keys are in an order that the program does not know: one that ignores case.
#[test]
fn a_range_by_another_order_excludes_no_key() {
    let stored = ["a", "B", "c"];
    let folder = one_table(b"example.IgnoringCase", &stored, ["a", "c"]);
    let found = run(&args!["query", "--json", folder.path(), "a", "B", "c", "Z"]).expect(0).json();
    assert!(
        found.iter().all(|answer| answer["may_match"] == true && answer["by_index"] == false),
        "{found:?}"
    );
    let bytewise = one_table(manifest::BYTEWISE, &["a", "b", "c"], ["a", "c"]);
    let found = run(&args!["query", "--json", bytewise.path(), "B", "Z"]).expect(1).json();
    assert!(
        found.iter().all(|answer| answer["may_match"] == false && answer["by_index"] == true),
        "{found:?}"
    );
}

#[test]
fn a_range_that_ends_before_it_begins_excludes_no_key() {
    let folder = one_table(manifest::BYTEWISE, &["a", "b", "c"], ["c", "a"]);
    let found = run(&args!["query", "--json", folder.path(), "a", "b", "c"]).expect(0).json();
    assert!(found.iter().all(|answer| answer["may_match"] == true), "{found:?}");
}

/// A damaged file may be another table than the one that the MANIFEST describes.
#[test]
fn the_range_of_a_damaged_table_excludes_no_block() {
    let folder = one_table(manifest::BYTEWISE, &["a", "b", "c"], ["a", "b"]);
    let path = folder.path().join("000005.ldb");
    let blocks = |status| {
        let answer = run(&args!["query", "--json", path, "c"]).expect(status).one();
        (answer["may_match"].clone(), answer["blocks"].as_array().unwrap().len())
    };
    assert_eq!(blocks(1), (false.into(), 0));
    let mut contents = fs::read(&path).unwrap();
    contents[3] ^= 1;
    fs::write(&path, contents).unwrap();
    assert_eq!(blocks(2), (true.into(), 1));
}

/// Of each key that LevelDB's writes in the log set or delete, the newest write counts.
#[test]
fn the_writes_of_a_log_answer_for_their_keys() {
    let copy = folder();
    for name in ["CURRENT", "MANIFEST-000008", "000005.ldb", "000007.ldb", "000009.ldb", "000010.log"] {
        fs::copy(database("levels").join(name), copy.path().join(name)).unwrap();
    }
    let answer = |key: &str, status| {
        let run_key = run(&args!["query", "--json", copy.path(), key]).expect(status).quiet();
        let mut lines = run_key.json().into_iter();
        let of_log = lines.next().unwrap();
        assert!(of_log["path"].as_str().unwrap().ends_with("000010.log"));
        assert!(lines.all(|line| line["log"].is_null()));
        assert_eq!((&of_log["blocks"], &of_log["error"]), (&serde_json::json!([]), &serde_json::Value::Null));
        assert_eq!(
            (of_log["estimated_fpr"].as_f64(), of_log["lookup_blocks"].as_u64()),
            (Some(0.0), Some(0))
        );
        (of_log["log"].as_str().unwrap().to_owned(), of_log["may_match"].as_bool().unwrap())
    };
    assert_eq!(answer("item/0450/550", 0), ("value".to_owned(), true));
    assert_eq!(answer("item/0450/551", 1), ("absent".to_owned(), false));
    // A log with other writes: `new` is deleted, `both` is set, deleted and set again, and `gone` is deleted.
    let batch = |sequence: u8, writes: &[u8], count: u8| {
        [&[sequence, 9, 0, 0, 0, 0, 0, 0, count, 0, 0, 0][..], writes].concat()
    };
    let records =
        [batch(1, b"\0\x03new\x01\x04both\x01v", 2), batch(3, b"\0\x04both\x01\x04both\x01w\0\x04gone", 3)];
    file(&copy, "000010.log", manifest::log(&records).0);
    assert_eq!(answer("new", 1), ("deletion".to_owned(), false));
    assert_eq!(answer("both", 0), ("value".to_owned(), true));
    assert_eq!(answer("gone", 1), ("deletion".to_owned(), false));
    let text = run(&args!["query", copy.path(), "new", "both"]).expect(0).quiet().out;
    assert!(text.contains("000010.log: \"new\": not there: deleted in this log\n"), "{text}");
    assert!(text.contains("000010.log: \"both\": may be there, with a value in this log\n"), "{text}");
    // A later log that is damaged may say otherwise.
    file(&copy, "000011.log", [&[0, 0, 0, 0, 4, 0, 1][..], b"data", &[0; 100]].concat());
    run(&args!["query", copy.path(), "both"]).expect(0);
    run(&args!["query", copy.path(), "gone"]).expect(2);
}

/// An index is walked only if its keys take no more than 256 MiB together. They may share bytes, so the file may be
/// small.
#[test]
fn an_index_of_too_many_bytes_is_left_alone() {
    const KEY: usize = 1 << 20;
    for (blocks, is_walked) in [(256, true), (257, false)] {
        let mut crafted = tables::Crafted::default();
        let mut index = Vec::new();
        for at in 0..blocks {
            let data = tables::handle(crafted.entries(&[(format!("k{at:04}"), "value")]));
            let shared = if at == 0 { 0 } else { KEY };
            index.extend([tables::varint(shared as u64), tables::varint((KEY - shared) as u64)].concat());
            index.extend(tables::varint(data.len() as u64));
            index.resize(index.len() + KEY - shared, b'k');
            index.extend(&data);
        }
        index.extend([0, 0, 0, 0, 1, 0, 0, 0]);
        let metaindex = crafted.entries::<&[u8], &[u8]>(&[]);
        let index = crafted.block(&index);
        let folder = folder();
        let path = file(&folder, "table.ldb", crafted.footer(metaindex, index));
        let run = run(&args!["query", "--json", "--comparator", "bytewise", path, "k"]);
        assert_eq!(run.one()["by_index"], is_walked, "{blocks}: {run:?}");
        assert_eq!(run.err.contains("the keys of the index are too long altogether"), !is_walked, "{run:?}");
    }
}
