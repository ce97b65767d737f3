//! `filterblock query` with several tables and many keys.

use std::fs;

use serde_json::{Value, json};

use super::*;

/// Two tables without a database around them, the first without the key "one", and their paths.
fn two_tables() -> (tempfile::TempDir, [PathBuf; 2]) {
    let folder = folder();
    let pairs = file(&folder, "pairs", "one\t1\ntwo\t2\n");
    let [first, second] = ["1.ldb", "2.ldb"].map(|name| folder.path().join(name));
    run(&args!["build", pairs, second]).expect(0);
    fs::write(&pairs, "two\t2\n").unwrap();
    run(&args!["build", pairs, first]).expect(0);
    (folder, [first, second])
}

/// The path, the key and the answer of each line of JSON.
fn answers(run: &Run) -> Vec<(String, String, bool)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let answer =
        |line: &Value| (text(&line["path"]), text(&line["key"]), line["may_match"].as_bool().unwrap());
    run.json().iter().map(answer).collect()
}

#[test]
fn keys_behind_two_dashes_are_asked_of_all_tables_before_them() {
    let (folder, tables) = two_tables();
    let [first, second] = tables.each_ref().map(|path| path.to_str().unwrap().to_owned());
    let expected: Vec<_> =
        [(&first, "one", false), (&first, "-x", false), (&second, "one", true), (&second, "-x", false)]
            .map(|(path, key, may)| (path.clone(), key.to_owned(), may))
            .into();
    let both = run(&args!["query", "--json", first, second, "--", "one", "-x"]).expect(0).quiet();
    assert_eq!(answers(&both), expected);
    let list = file(&folder, "list", format!("{second}\n"));
    let listed = run(&args!["query", "--json", "--files-from", list, first, "--", "one", "-x"]).expect(0);
    assert_eq!(answers(&listed), expected);
    // One table needs no `--`.
    assert_eq!(answers(&run(&args!["query", "--json", first, "--", "one", "-x"]).expect(1)), expected[..2]);
    assert_eq!(answers(&run(&args!["query", "--json", first, "one"]).expect(1)), expected[..1]);
    // With a file of keys, all arguments are tables.
    let keys = file(&folder, "keys", "one\n-x\n");
    let from_file = run(&args!["query", "--json", first, second, "--keys-from", keys]).expect(0);
    assert_eq!(answers(&from_file), expected);
}

/// Other commands take paths as in `query *.ldb key`. Here, all but the first table would be keys.
#[test]
fn a_table_in_the_place_of_a_key_is_refused_with_the_way_to_say_it() {
    let (folder, [first, second]) = two_tables();
    let keys = file(&folder, "keys", "one\n");
    for arguments in [
        args!["query", first, second, "one"].to_vec(),
        args!["query", "--json", first, "one", second].to_vec(),
        args!["query", first, second, "one", "--keys-from", keys].to_vec(),
        args!["query", "--files-from", keys, "one", second].to_vec(),
        args!["query", first, database("levels"), "one"].to_vec(),
    ] {
        let refused = run(&arguments).expect(2);
        assert_eq!(refused.out, "", "{arguments:?}");
        assert!(refused.err.contains(": is a file or database, not a key"), "{refused:?}");
        assert!(refused.err.contains("filterblock query TABLE... -- KEY..."), "{refused:?}");
    }
    // After `--` it can only be a key.
    let name = second.to_str().unwrap();
    assert_eq!(answers(&run(&args!["query", "--json", first, "--", second]).expect(1))[0].1, name);
}

#[test]
fn only_matches_leaves_out_the_keys_that_are_not_there() {
    let (_folder, [first, second]) = two_tables();
    let arguments = |more: &[&str]| {
        let mut all = args!["query", first, second].to_vec();
        all.extend(more.iter().map(Into::into));
        all.extend(args!["--", "no", "one", "two", "x"]);
        all
    };
    for format in [&[][..], &["--json"]] {
        let all = run(&arguments(format)).expect(0).quiet();
        let matches = run(&arguments(&[format, &["--only-matches"]].concat())).expect(0).quiet();
        assert_eq!(all.out.lines().count(), 8);
        // "two" is in both tables, "one" in the second.
        let lines: Vec<_> = all.out.lines().collect();
        let expected = [lines[2], lines[5], lines[6]];
        assert_eq!(matches.out.lines().collect::<Vec<_>>(), expected);
    }
    // The status does not depend on what is shown.
    let none = run(&args!["query", "--only-matches", first, "no"]).expect(1).quiet();
    assert_eq!(none.out, "");
    run(&args!["query", "--only-matches", first.with_extension("missing"), "no"]).expect(2);
    // Of the costs of lookups, those remain that are not zero.
    let levels = run(&args!["query", "--only-matches", database("levels"), "item/0000/0", "\u{10ffff}"]);
    let costs: Vec<_> = levels.out.lines().filter(|line| line.contains("a lookup reads")).collect();
    assert_eq!(costs, ["\"item/0000/0\": a lookup reads at most 3 data blocks"]);
}

#[test]
fn counts_are_those_of_the_answers() {
    let (folder, [first, second]) = two_tables();
    let missing = folder.path().join("missing.ldb");
    let keys: Vec<String> = (0..5000).map(|key| format!("key {key}\n")).collect();
    let keys = file(&folder, "keys", keys.concat() + "one\ntwo\n");
    let words = table("words-256-bloom10.ldb");
    let tables = [&first, &second, &words, &missing].map(|path| format!("{}\n", path.display())).concat();
    let list = file(&folder, "list", tables);
    let arguments = |more: &[&str]| {
        let mut all = args!["query", "--files-from", list, "--keys-from", keys].to_vec();
        all.extend(more.iter().map(Into::into));
        all
    };
    let all = run(&arguments(&["--json"])).expect(0).json();
    let counts = run(&arguments(&["--json", "--count"])).expect(0).json();
    assert_eq!((all.len(), counts.len()), (4 * 5002, 4));
    for (count, answers) in counts.iter().zip(all.chunks(5002)) {
        let matches = answers.iter().filter(|answer| answer["may_match"] == true).count();
        let rate =
            answers.iter().map(|answer| answer["estimated_fpr"].as_f64().unwrap()).sum::<f64>() / 5002.0;
        let (found, mut count) = (count["estimated_fpr"].as_f64().unwrap(), count.clone());
        assert!((found - rate).abs() < 1e-9, "{found} {rate}");
        count["estimated_fpr"] = Value::Null;
        // The frame is that of the answers.
        let mut expected = json!({
            "keys": 5002, "matches": matches, "error": answers[0]["error"], "estimated_fpr": null,
            "object": "count",
        });
        for field in ["schema_version", "input", "path", "path_bytes", "error_kind", "notes"] {
            expected[field] = answers[0][field].clone();
        }
        assert_eq!(count, expected);
    }
    let matches: Vec<_> = counts.iter().map(|count| count["matches"].as_u64().unwrap()).collect();
    assert!(matches[0] >= 1 && matches[1] >= 2 && matches[2] < 1500 && matches[3] == 5002, "{matches:?}");

    let text = run(&arguments(&["--count"])).expect(0).out;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 5);
    let rate = counts[1]["estimated_fpr"].as_f64().unwrap();
    assert!(rate < 0.01, "{rate}");
    let (name, found) = (second.display(), matches[1]);
    assert!(
        lines[1].starts_with(&format!("{name}: {found} of 5,002 keys may be there (false-positive rate "))
    );
    assert_eq!(lines[3], format!("{}: 5,002 of 5,002 keys may be there: {}", missing.display(), not_found()));
    assert_eq!(lines[4], "4 files in all: 5,002 of 5,002 keys may be in one");
    // Each key counts once, in however many tables it may be.
    for [former, latter] in [[&first, &second], [&second, &first]] {
        let both = run(&args!["query", "--count", former, latter, "--", "one", "two", "no"]).expect(0).out;
        assert!(both.ends_with("\n2 files in all: 2 of 3 keys may be in one\n"), "{both}");
    }
    // A database of three tables and a log gives no line for each key.
    let levels = run(&args!["query", "--count", database("levels"), "item/0000/0", "x"]).out;
    assert_eq!(levels.lines().count(), 5, "{levels}");
    run(&args!["query", "--count", first, "no"]).expect(1);
    run(&args!["query", "--count", "--only-matches", first, "no"]).expect(2);
}

/// With --hex, a key may be given as the results show it between quotes.
#[test]
fn keys_as_results_show_them_are_taken_with_hex() {
    let path = table("versions-512-bloom10.ldb");
    let folder = folder();
    let raw = "user\0\u{1}\"\\";
    let shown = run(&args!["query", path, "--keys-from", file(&folder, "keys", raw)]).out;
    let (_, shown) = shown.split_once(": \"").unwrap();
    let (shown, _) = shown.split_once("\": ").unwrap();
    let again = run(&args!["query", "--json", "--hex", path, shown, "0x75 73 65 72000122 5c"]).json();
    for answer in again {
        assert_eq!(answer["key"], raw);
    }
    // Without --hex a key is what was given.
    assert_eq!(run(&args!["query", "--json", path, shown]).one()["key"], shown);
}
