use std::fs;

use filterblock::FilterPolicy as _;
use filterblock::table::{ReadOptions, Table};
use serde_json::{Value, json};

use super::tables::{Crafted, listing, samples, unhex};
use super::*;

fn hex(key: &[u8]) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file of these keys in hexadecimal.
fn key_file(folder: &tempfile::TempDir, keys: &[Vec<u8>]) -> PathBuf {
    file(folder, "keys", keys.iter().map(|key| hex(key) + "\n").collect::<String>())
}

/// Each stored user key, with the offsets of the data blocks that hold it.
fn stored(sample: &tables::Sample) -> Vec<(Vec<u8>, Vec<u64>)> {
    let table = sample.open();
    let mut all: Vec<(Vec<u8>, Vec<u64>)> = Vec::new();
    for handle in table.data_blocks() {
        let handle = handle.unwrap();
        let mut entries = table.block_cursor(handle).unwrap();
        while entries.next().unwrap() {
            let suffix = if sample.name.starts_with("versions") { 8 } else { 0 };
            let key = &entries.key()[..entries.key().len() - suffix];
            match all.last_mut() {
                Some((last, blocks)) if last == key => blocks.push(handle.offset),
                _ => all.push((key.to_vec(), vec![handle.offset])),
            }
        }
    }
    all
}

#[test]
fn no_stored_key_is_denied() {
    for sample in samples() {
        let folder = folder();
        let stored = stored(&sample);
        let keys: Vec<_> = stored.iter().map(|(key, _)| key.clone()).collect();
        if keys.is_empty() {
            continue;
        }
        let (path, keys) = (table(&sample.name), key_file(&folder, &keys));
        for order in [&["--comparator", "bytewise"][..], &[]] {
            let mut arguments = args!["query", "--json", "--hex", path, "--keys-from", keys].to_vec();
            arguments.extend(order.iter().map(Into::into));
            let answers = run(&arguments).expect(0).json();
            assert_eq!(answers.len(), stored.len());
            for (answer, (key, blocks)) in answers.iter().zip(&stored) {
                assert_eq!(answer["key_hex"], hex(key), "{}", sample.name);
                assert_eq!(answer["may_match"], true, "{} {answer}", sample.name);
                let found: Vec<_> =
                    answer["blocks"].as_array().unwrap().iter().map(|b| b.as_u64().unwrap()).collect();
                if answer["by_index"] == true {
                    // The newest entry of a key is in the first of its blocks.
                    assert!(found.contains(&blocks[0]) && found.len() <= 2, "{} {answer}", sample.name);
                } else {
                    assert!(blocks.iter().all(|block| found.contains(block)), "{} {answer}", sample.name);
                }
            }
            let told = answers.iter().all(|answer| answer["by_index"] == !order.is_empty());
            assert!(told || !sample.filtered, "{}", sample.name);
        }
    }
}

#[test]
fn absent_keys_are_denied_as_often_as_the_filters_promise() {
    let folder = folder();
    let keys: Vec<Vec<u8>> = (0..2000).map(|key| format!("absent {key}").into_bytes()).collect();
    let keys = key_file(&folder, &keys);
    for (name, share) in [("words-256-bloom10.ldb", 0.2), ("versions-512-bloom10.ldb", 0.02)] {
        let path = table(name);
        let answers = run(&args!["query", "--json", "--hex", path, "--keys-from", keys]).json();
        let may = answers.iter().filter(|answer| answer["may_match"] == true).count();
        let chance = answers[0]["estimated_fpr"].as_f64().unwrap();
        assert!(chance < share, "{name} {chance}");
        assert!((may as f64) < 2000.0 * share, "{name} {may}");
        // The chance is that of several filters, more than that of one.
        let one = run(&args!["inspect", "--json", path]).one()["filter"]["estimated_fpr"].as_f64().unwrap();
        assert!(chance > 2.0 * one, "{name} {chance} {one}");
    }
}

#[test]
fn json_has_all_fields() {
    let path = table("single-4096-bloom10.ldb");
    let answers = run(&args!["query", "--json", "--hex", path, "", "ff0a", "c3a9"]).expect(0).json();
    let frame = ["schema_version", "object", "input", "path_bytes", "error_kind", "notes"];
    let answers: Vec<_> = answers
        .into_iter()
        .map(|mut answer| {
            frame.iter().for_each(|field| assert!(answer.as_object_mut().unwrap().remove(*field).is_some()));
            answer
        })
        .collect();
    let name = path.to_str().unwrap();
    let rate = answers[0]["estimated_fpr"].as_f64().unwrap();
    assert!(rate > 0.0 && rate < 0.001);
    let expected = json!([
        {"path": name, "key": "", "key_hex": "", "may_match": true, "blocks": [0], "error": null,
         "log": null, "by_index": false, "lookup_blocks": null, "estimated_fpr": rate},
        {"path": name, "key": null, "key_hex": "ff0a", "may_match": false, "blocks": [], "error": null,
         "log": null, "by_index": false, "lookup_blocks": null, "estimated_fpr": rate},
        {"path": name, "key": "é", "key_hex": "c3a9", "may_match": false, "blocks": [], "error": null,
         "log": null, "by_index": false, "lookup_blocks": null, "estimated_fpr": rate},
    ]);
    assert_eq!(Value::from(answers), expected);
}

#[test]
fn a_line_for_each_table_and_key_in_the_order_given() {
    let folder = folder();
    fs::copy(table("single-4096-bloom10.ldb"), folder.path().join("000007.ldb")).unwrap();
    fs::copy(table("empty-4096-bloom10.ldb"), folder.path().join("000005.ldb")).unwrap();
    let keys = file(&folder, "keys", "b\r\n\na");
    let out = run(&args!["query", folder.path(), "z", "a\n", "--keys-from", keys]).expect(0).quiet().out;
    let [five, seven] =
        ["000005.ldb", "000007.ldb"].map(|name| folder.path().join(name).display().to_string());
    let expected = format!(
        "{five}: \"z\": not there
{five}: \"a\\x0a\": not there
{five}: \"b\": not there
{five}: \"\": not there
{five}: \"a\": not there
{seven}: \"z\": not there
{seven}: \"a\\x0a\": not there
{seven}: \"b\": not there
{seven}: \"\": may be there, in 1 of 1 data block: 0 (all filters checked; false-positive rate <0.01%)
{seven}: \"a\": not there
"
    );
    assert_eq!(out, expected);
}

#[test]
fn the_index_picks_one_block() {
    let path = table("dense-256-bloom10.ldb");
    let table = Table::open_path(&path, &ReadOptions::default()).unwrap();
    let mut index = table.index();
    let mut key = Vec::new();
    while index.next().unwrap() && index.handle().unwrap().offset < 3000 {
        key = index.key().to_vec();
    }
    let key = hex(&key);
    let run = run(&args!["query", "--hex", "--comparator", "bytewise", path, key]).expect(0).quiet();
    assert!(run.out.contains(": may be there, in the data block at "), "{run:?}");
    assert!(run.out.contains(" by the index (false-positive rate 0."), "{run:?}");
}

/// LevelDB reads the first block whose index entry is not below the key.
#[test]
fn of_equal_index_entries_the_first_is_taken() {
    let folder = folder();
    let mut crafted = Crafted::default();
    let [first, second] = ["a", "b"].map(|key| crafted.entries(&[(key, "value")]));
    let path = file(&folder, "1.ldb", crafted.finish(&[(b"b", first), (b"b", second)], &[]));
    let answer = run(&args!["query", "--json", "--comparator", "bytewise", path, "a"]).expect(0).one();
    assert_eq!((&answer["by_index"], &answer["blocks"]), (&json!(true), &json!([first.0])));
}

#[test]
fn keys_beyond_the_index_are_not_there() {
    let answer = |name: &str| {
        let path = table(name);
        run(&args!["query", "--json", "--comparator", "bytewise", "--hex", path, "ffffffffffffffffffffffff"])
            .one()
    };
    let without_filter = answer("words-4096-unfiltered.ldb");
    assert_eq!((&without_filter["may_match"], &without_filter["by_index"]), (&false.into(), &true.into()));
}

#[test]
fn an_order_that_is_not_the_tables_is_noticed() {
    // The tables without their MANIFEST, which names the order.
    let folder = folder();
    let path = folder.path().join("tables");
    fs::create_dir(&path).unwrap();
    for name in ["000005.ldb", "000007.ldb"] {
        fs::copy(database("reversed").join(name), path.join(name)).unwrap();
    }
    let keys: Vec<_> = listing("databases/reversed.live").into_iter().map(|line| unhex(&line[0])).collect();
    let keys = key_file(&folder, &keys);
    let plain = run(&args!["query", "--json", "--hex", path, "--keys-from", keys]);
    let asked =
        run(&args!["query", "--json", "--hex", "--comparator", "bytewise", path, "--keys-from", keys]);
    assert!(asked.err.contains("the index is not in bytewise order"), "{asked:?}");
    let mut asked = asked.json();
    for answer in &mut asked {
        let notes = answer["notes"].take();
        assert!(notes[0].as_str().unwrap().starts_with("the index is not in bytewise order"), "{notes}");
        answer["notes"] = Value::Array(Vec::new());
    }
    assert_eq!(plain.json(), asked);
}

#[test]
fn live_keys_of_a_database_are_in_its_tables_or_log() {
    for name in ["levels", "unfiltered"] {
        let folder = folder();
        let entries = listing(format!("databases/{name}.entries"));
        let mut keys: Vec<_> = entries.iter().map(|line| unhex(&line[1])).collect();
        keys.dedup();
        let keys_from = key_file(&folder, &keys);
        let path = database(name);
        for order in [&[][..], &["--comparator", "bytewise"]] {
            let mut arguments = args!["query", "--json", "--hex", path, "--keys-from", keys_from].to_vec();
            arguments.extend(order.iter().map(Into::into));
            let answers = run(&arguments).expect(0).json();
            for key in &keys {
                let key = hex(key);
                let holders =
                    entries.iter().filter(|line| line[1] == key || (line[1] == "-" && key.is_empty()));
                for holder in holders {
                    let answer = answers.iter().find(|answer| {
                        answer["key_hex"] == key && answer["path"].as_str().unwrap().contains(&holder[0])
                    });
                    assert_eq!(answer.unwrap()["may_match"], true, "{name} {key} {holder:?}");
                }
            }
        }
    }
}

/// Without a MANIFEST a table may be missing unnoticed.
#[test]
fn no_key_is_certainly_absent_if_the_manifest_cannot_be_relied_on() {
    let folder = folder();
    let path = folder.path().join("db");
    fs::create_dir(&path).unwrap();
    for file in fs::read_dir(database("levels")).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), path.join(file.file_name())).unwrap();
    }
    run(&args!["query", path, "no such key"]).expect(1);
    for cut in [0, 30] {
        fs::write(path.join("MANIFEST-000008"), vec![0; cut]).unwrap();
        run(&args!["query", path, "no such key"]).expect(2);
        run(&args!["query", "--keep-going", path, "no such key"]).expect(0);
    }
}

#[test]
fn status_tells_a_sound_no_from_all_else() {
    let (filtered, unfiltered) = (table("single-4096-bloom10.ldb"), table("single-4096-unfiltered.ldb"));
    run(&args!["query", filtered, ""]).expect(0);
    run(&args!["query", filtered, "no", ""]).expect(0);
    run(&args!["query", filtered, "no"]).expect(1).quiet();
    run(&args!["query", unfiltered, "no"]).expect(0);
    let missing = filtered.with_extension("missing");
    let run_missing = run(&args!["query", "--json", missing, "no"]).expect(2);
    assert_eq!(run_missing.one()["may_match"], true);
    assert_eq!(run_missing.one()["error"], not_found());
    assert!(run_missing.err.contains(not_found()), "{run_missing:?}");

    let folder = folder();
    run(&args!["query", folder.path(), "no"]).expect(2);
    fs::copy(&filtered, folder.path().join("1.ldb")).unwrap();
    run(&args!["query", folder.path(), "no"]).expect(1);
    let log = file(&folder, "2.log", "");
    // A table may be missing, because nothing says which tables there were.
    run(&args!["query", folder.path(), "no"]).expect(2);
    fs::copy(database("levels").join("000010.log"), &log).unwrap();
    let run_log = run(&args!["query", folder.path(), "no"]).expect(2);
    assert!(run_log.err.contains("CURRENT") && run_log.err.contains("every table is checked"), "{run_log:?}");
    assert!(run_log.out.contains("2.log: \"no\": not there, in no write of this log\n"), "{run_log:?}");
    fs::remove_file(&log).unwrap();
    // A damaged table may hold a key. For the second key, a sound table says that it may hold it.
    file(&folder, "3.ldb", "damaged");
    run(&args!["query", folder.path(), "no"]).expect(2);
    run(&args!["query", folder.path(), ""]).expect(0);
}

#[test]
fn a_table_whose_filter_is_damaged_may_hold_everything() {
    let path = table("single-4096-bloom10.ldb");
    let mut contents = fs::read(&path).unwrap();
    let offset = run(&args!["inspect", "--json", path]).one()["filter"]["offset"].as_u64().unwrap() as usize;
    contents[offset] ^= 1;
    let folder = folder();
    let path = file(&folder, "damaged.ldb", contents);
    let run = run(&args!["query", "--json", path, "no"]).expect(2);
    assert_eq!(run.one()["may_match"], true);
    assert!(run.one()["error"].as_str().unwrap().starts_with("a block is damaged, at offset "), "{run:?}");
}

#[test]
fn keys_that_are_no_hexadecimal_stop_it_before_anything_is_read() {
    let folder = folder();
    // Windows has no names with control characters.
    let (name, of_line) = if cfg!(windows) {
        ("keys", "keys: line 2: expected an even number of hexadecimal digits, found 1")
    } else {
        ("ke\x1bys", r"ke\x1bys: line 2: expected an even number of hexadecimal digits, found 1")
    };
    let keys = file(&folder, name, "00\n0\n");
    for (arguments, message) in [
        (
            args!["query", "--hex", "x", "00", "0g"].to_vec(),
            r#"key 2: expected hexadecimal digits, found "g" at position 2"#,
        ),
        (
            args!["query", "--hex", "x", "abc"].to_vec(),
            "key 1: expected an even number of hexadecimal digits, found 3",
        ),
        (
            args!["query", "--hex", "x", "\x1b0"].to_vec(),
            r#"key 1: expected hexadecimal digits, found "\x1b" at position 1"#,
        ),
        (args!["query", "--hex", "x", "--keys-from", keys].to_vec(), of_line),
    ] {
        let run = run(&arguments).expect(2);
        assert!(run.err.trim_end().ends_with(message), "{run:?}");
        assert!(run.out.is_empty(), "{run:?}");
    }
}

#[test]
fn keys_from_standard_input_and_missing_key_files() {
    let path = table("single-4096-bloom10.ldb");
    let arguments = args!["query", "--json", path, "first", "--keys-from", "-"];
    let answers = run_with_input(&arguments, b"second\nthird").expect(1).json();
    let keys: Vec<_> = answers.iter().map(|answer| answer["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["first", "second", "third"]);
    let none = run(&args!["query", path, "--keys-from", "-"]).expect(2);
    assert_eq!(none.err, "filterblock: standard input: has no keys\n");
    let missing = run(&args!["query", path, "key", "--keys-from", "/nonexistent/keys"]).expect(2);
    assert!(missing.err.starts_with("filterblock: /nonexistent/keys: "), "{missing:?}");
}

#[cfg(unix)]
#[test]
fn arguments_need_not_be_text() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

    let path = table("single-4096-bloom10.ldb");
    let key = OsString::from_vec(b"\xff\xfe".to_vec());
    let answer = run(&args!["query", "--json", path, key]).expect(1).quiet().one();
    assert_eq!((&answer["key"], &answer["key_hex"]), (&Value::Null, &"fffe".into()));
    let out = run(&args!["query", path, key]).expect(1).quiet().out;
    assert!(out.contains(r#": "\xff\xfe": not there"#), "{out}");
}

/// Without a filter, nothing tells internal keys from others. A user key is found even if it is the last of its block.
#[test]
fn without_a_filter_the_index_is_read_both_ways() {
    let tag = |sequence: u64| (sequence << 8 | 1).to_le_bytes();
    let entry = |key: &str, sequence| [key.as_bytes(), &tag(sequence)].concat();
    let mut crafted = Crafted::default();
    let blocks: Vec<_> = ["apple", "melon", "peach"]
        .iter()
        .map(|key| (entry(key, 9), crafted.entries(&[(entry(key, 9), b"value")])))
        .collect();
    let index: Vec<_> = blocks.iter().map(|(key, place)| (key.as_slice(), *place)).collect();
    let contents = crafted.finish(&index, &[]);
    let folder = folder();
    let path = file(&folder, "internal.ldb", contents);
    for (key, place) in ["apple", "melon", "peach"].iter().zip(blocks.iter().map(|(_, place)| place)) {
        let answer =
            run(&args!["query", "--json", "--comparator", "bytewise", path, key]).expect(0).quiet().one();
        assert_eq!(answer["by_index"], true);
        assert!(answer["blocks"].as_array().unwrap().contains(&place.0.into()), "{answer}");
    }
}

#[test]
fn the_answers_are_the_policys() {
    let path = table("binary-512-bloom1-snappy.ldb");
    let table = Table::open_path(&path, &ReadOptions::default()).unwrap();
    let filter = table.filter().unwrap();
    let keys: Vec<Vec<u8>> = (0..200).map(|key| format!("{key}").into_bytes()).collect();
    let folder = folder();
    let keys_from = key_file(&folder, &keys);
    let answers = run(&args!["query", "--json", "--hex", path, "--keys-from", keys_from]).expect(0).json();
    let mut denied = 0;
    for (answer, key) in answers.iter().zip(&keys) {
        let offsets = table.data_blocks().map(|handle| handle.unwrap().offset);
        let expected: Vec<_> = offsets.filter(|&offset| filter.key_may_match(offset, key)).collect();
        assert_eq!(answer["blocks"], json!(expected));
        let one = filter.filter(0).unwrap();
        denied += usize::from(!filter.policy().key_may_match(key, one));
    }
    assert!(denied > 20, "{denied}");
}
