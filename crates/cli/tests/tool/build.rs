//! `filterblock build`.

use std::ffi::OsString;
use std::path::Path;

use filterblock::BloomFilterPolicy;
use filterblock::table::{ReadOptions, Table, TableBuilder, WriteOptions};

use super::{args, file, not_found, run, run_with_input};

fn arguments(options: &[&str], input: &Path, output: &Path) -> Vec<OsString> {
    let options = options.iter().map(OsString::from);
    [OsString::from("build")].into_iter().chain(options).chain([input.into(), output.into()]).collect()
}

fn entries(path: &Path, options: &ReadOptions) -> Vec<(Vec<u8>, Vec<u8>)> {
    let table = Table::open_path(path, options).unwrap();
    assert!(table.filter_error().is_none());
    table.iter().map(|entry| entry.unwrap()).map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
}

/// The names of the files in the folder, including temporary ones.
fn names(folder: &tempfile::TempDir) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn lines_in_any_order_become_the_table_the_library_writes() {
    let folder = tempfile::tempdir().unwrap();
    let pairs: Vec<(String, String)> =
        (0..500).map(|i| (format!("key{i:04}"), format!("value\t{i}"))).collect();
    let mut shuffled: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}\t{value}\n")).collect();
    shuffled.sort_by_key(|line| line.bytes().rev().collect::<Vec<_>>());
    assert!(!shuffled.is_sorted());
    let input = file(&folder, "pairs.tsv", shuffled.concat());
    let output = folder.path().join("new.ldb");
    let report = run(&arguments(&["--compression", "none"], &input, &output)).expect(0).quiet().out;
    assert!(report.contains("500 entries") && report.contains("leveldb.BuiltinBloomFilter2"), "{report}");

    let options = WriteOptions::default()
        .compression(filterblock::table::Compression::None)
        .filter_policy(BloomFilterPolicy::new(10));
    let mut builder = TableBuilder::new(Vec::new(), options);
    pairs.iter().for_each(|(key, value)| builder.add(key.as_bytes(), value.as_bytes()).unwrap());
    assert_eq!(std::fs::read(&output).unwrap(), builder.finish().unwrap().0);
    assert_eq!(names(&folder), ["new.ldb", "pairs.tsv"]);
}

#[test]
fn sorted_lines_are_read_as_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("new.ldb");
    let given = arguments(&["--sorted", "--base-lg", "63", "--policy", "old"], Path::new("-"), &output);
    run_with_input(&given, b"a\t1\nb\nc\t\t3").expect(0).quiet();
    let expected = [("a", "1"), ("b", ""), ("c", "\t3")];
    let expected = expected.map(|(key, value)| (key.as_bytes().to_vec(), value.as_bytes().to_vec()));
    assert_eq!(entries(&output, &ReadOptions::default()), expected);
    let shown = run(&["inspect".as_ref(), "--json".as_ref(), output.as_os_str()]).expect(0).one();
    assert_eq!(shown["filter_policies"][0], "leveldb.BuiltinBloomFilter");
}

#[test]
fn hexadecimal_keys_hold_anything() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(&folder, "pairs", "ff0a09\t00\r\n\t0A\r\n00\n");
    let output = folder.path().join("new.ldb");
    run(&arguments(&["--hex", "--no-filter"], &input, &output)).expect(0).quiet();
    let expected = [(vec![], vec![10]), (vec![0], vec![]), (vec![0xff, 10, 9], vec![0])];
    assert_eq!(entries(&output, &ReadOptions::default()), expected);
}

/// To `build` and to `query`, lines that end in CR LF mean the same as lines that end in LF.
#[test]
fn lines_may_end_in_cr_lf() {
    let folder = tempfile::tempdir().unwrap();
    let [unix, windows] = ["a\t1\nb\nc\t", "a\t1\r\nb\r\nc\t\r\n"];
    let outputs = [unix, windows].map(|lines| {
        let (input, output) = (file(&folder, "pairs", lines), folder.path().join("new.ldb"));
        run(&arguments(&["--force"], &input, &output)).expect(0).quiet();
        std::fs::read(output).unwrap()
    });
    assert_eq!(outputs[0], outputs[1]);
    let keys = file(&folder, "keys", "a\r\nb\r\nc\r\n");
    let asked = run(&args!["query", "--json", folder.path().join("new.ldb"), "--keys-from", keys]).expect(0);
    assert!(asked.json().iter().all(|answer| answer["may_match"] == true), "{asked:?}");
}

#[test]
fn the_summary_counts_in_words_that_fit() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("new.ldb");
    let summary = |options: &[&str], lines: &str| {
        let input = file(&folder, "pairs", lines);
        let out = run(&arguments(&[options, &["--force"]].concat(), &input, &output)).expect(0).quiet().out;
        let size = std::fs::metadata(&output).unwrap().len();
        let expected = format!("{}: ", output.display());
        let rest = out.strip_prefix(&expected).unwrap_or_else(|| panic!("{out}")).trim_end().to_owned();
        (rest, size)
    };
    let (text, size) = summary(&[], "a\t1\n");
    let filters = "; leveldb.BuiltinBloomFilter2: 1 filter (0 empty), 18 B";
    assert_eq!(text, format!("1 entry in 1 data block, {size} B{filters}"));
    let (text, size) = summary(&["--no-filter"], "");
    assert_eq!(text, format!("0 entries in 0 data blocks, {size} B"));
    let lines: String = (0..2000).map(|key| format!("{key:010}\n")).collect();
    let (text, _) = summary(&["--block-size", "1", "--base-lg", "0", "--compression", "none"], &lines);
    assert!(text.starts_with("2,000 entries in 2,000 data blocks, "), "{text}");
    // A filter for each byte of data blocks. A block is an entry of 3 + 10 bytes, restarts of 8 bytes
    // and a trailer of 5.
    assert_eq!(2000 * (3 + 10 + 8 + 5), 52_000);
    assert!(text.contains("BuiltinBloomFilter2: 52,000 filters (50,000 empty), "), "{text}");
}

#[test]
fn both_policies_get_their_filters() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(&folder, "pairs", "a\t1\n");
    let output = folder.path().join("new.ldb");
    run(&arguments(&["--policy", "new", "--policy", "old"], &input, &output)).expect(0).quiet();
    let shown = run(&["inspect".as_ref(), "--json".as_ref(), output.as_os_str()]).expect(0).one();
    let expected = ["leveldb.BuiltinBloomFilter", "leveldb.BuiltinBloomFilter2"];
    assert_eq!(shown["filter_policies"], serde_json::json!(expected));
}

/// Each policy makes filters of its own, which let the keys pass that they were made for.
#[test]
fn each_policy_makes_filters_by_which_its_keys_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..5000).map(|key| format!("key {key:05}\tvalue\n")).collect();
    let input = file(&folder, "pairs", lines);
    let mut rates = Vec::new();
    for policy in ["new", "old", "cassandra", "murmur3"] {
        let output = folder.path().join(policy).with_extension("ldb");
        run(&arguments(&["--policy", policy, "--bits-per-key", "12"], &input, &output)).expect(0).quiet();
        let verified = run(&args!["verify", "--json", output]).expect(0).quiet().one();
        assert_eq!((&verified["entries"], &verified["false_negatives"]), (&5000.into(), &0.into()));
        let shown = run(&args!["inspect", "--json", output]).expect(0).one();
        rates.push(shown["filter"]["policy"].as_str().unwrap().to_owned());
    }
    rates.dedup();
    assert_eq!(rates.len(), 4, "{rates:?}");
    // One table with filters of all four policies.
    let output = folder.path().join("all.ldb");
    let all = ["new", "old", "cassandra", "murmur3"].map(|policy| ["--policy", policy]).concat();
    run(&arguments(&all, &input, &output)).expect(0).quiet();
    let shown = run(&args!["inspect", "--json", output]).expect(0).one();
    assert_eq!(shown["filter_policies"].as_array().unwrap().len(), 4, "{shown}");
}

#[test]
fn a_dash_stands_for_the_standard_streams() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..3000).rev().map(|key| format!("key {key:05}\tvalue {key}\n")).collect();
    let (input, output) = (file(&folder, "pairs", &lines), folder.path().join("new.ldb"));
    let to_file = run(&arguments(&[], &input, &output)).expect(0).quiet();
    let table = std::fs::read(&output).unwrap();
    let piped = run_with_input(&["build", "-", "-"], lines.as_bytes()).expect(0);
    assert!(piped.raw == table);
    // The summary goes to standard error, because the table goes to standard output.
    let summary = to_file.out.replace(&output.display().to_string(), "standard output");
    assert_eq!(piped.err, format!("filterblock: {summary}"));
    assert!(run(&args!["build", input, "-"]).expect(0).raw == table);
    assert_eq!(names(&folder), ["new.ldb", "pairs"]);
    let wrong = run_with_input(&["build", "-", "-"], b"a\n\nb\n").expect(2);
    let expected =
        "filterblock: standard input: line 2: expected a key, a tab and a value, found an empty line\n";
    assert_eq!((wrong.err.as_str(), wrong.out.as_str()), (expected, ""));
    let wrong = run_with_input(&["build", "--sorted", "-", "-"], b"b\na\n").expect(2);
    assert!(wrong.err.starts_with("filterblock: standard input: line 2: expected a key after"), "{wrong:?}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_ends_building_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..100_000).map(|key| format!("key {key:07}\tvalue\n")).collect();
    let input = file(&folder, "pairs", lines);
    let mut child =
        super::command(&args!["build", "--sorted", "--compression", "none", input, "-"]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(141), &b""[..]));
}

/// `inspect --policy` accepts the same names.
#[test]
fn policies_are_given_by_their_names_or_for_short() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(&folder, "pairs", "a\t1\n");
    let build = |policy: &str| {
        let output = folder.path().join("new.ldb");
        run(&arguments(&["--force", "--policy", policy], &input, &output)).expect(0).quiet();
        std::fs::read(output).unwrap()
    };
    let names = [
        ("leveldb.BuiltinBloomFilter2", "new"),
        ("leveldb.BuiltinBloomFilter", "old"),
        ("filterblock.CassandraBloomFilter1", "cassandra"),
        ("filterblock.Murmur3BloomFilter1", "murmur3"),
    ];
    // The names of all policies that tables are read with, except RocksDB's, whose filters are not written here.
    let read = filterblock::policy::default_read_policies();
    let read: Vec<_> = read.iter().map(|policy| policy.name().to_owned()).collect();
    assert_eq!(read[..4], names.map(|(name, _)| name));
    for (name, short) in names {
        let table = Table::open(build(name), &ReadOptions::default()).unwrap();
        let mut metaindex = table.metaindex().unwrap();
        assert!(metaindex.next().unwrap());
        assert_eq!(metaindex.key(), format!("filter.{name}").as_bytes());
        assert_eq!(build(short), build(name));
    }
    let unknown = arguments(&["--policy", "newest"], &input, &folder.path().join("other.ldb"));
    let err = run(&unknown).expect(2).err;
    assert!(err.contains("leveldb.BuiltinBloomFilter2, leveldb.BuiltinBloomFilter"), "{err}");
}

/// Of two lines with the same key, the later is the newer version.
#[test]
fn internal_keys_are_numbered_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(&folder, "pairs", "b\told\na\t1\nb\tnew\n");
    let output = folder.path().join("new.ldb");
    run(&arguments(&["--internal-keys"], &input, &output)).expect(0).quiet();
    let table = Table::open_path(&output, &ReadOptions::default().internal_keys(true)).unwrap();
    let keys: Vec<Vec<u8>> = table.iter().map(|entry| entry.unwrap().0.to_vec()).collect();
    assert_eq!(keys, [b"a\x01\x02\0\0\0\0\0\0", b"b\x01\x03\0\0\0\0\0\0", b"b\x01\x01\0\0\0\0\0\0"]);
    let shown = run(&["inspect".as_ref(), "--json".as_ref(), output.as_os_str()]).expect(0).one();
    assert_eq!(shown["key_format"], "internal");
}

#[test]
fn what_is_wrong_with_a_line_is_said_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("new.ldb");
    for (options, lines, expected) in [
        (&[][..], "b\t1\na\t2\nb\t3\n", "line 3: expected every key once, found \"b\" of line 1 again"),
        (&["--sorted"], "b\t1\na\t2\n", "line 2: expected a key after that of line 1, found \"a\""),
        (&["--sorted"], "b\t1\nb\t2\n", "line 2: expected every key once, found \"b\" of line 1 again\n"),
        (
            &["--sorted", "--internal-keys"],
            "b\t1\nb\t2\n",
            "found \"b\"; without --sorted, lines come in any order\n",
        ),
        (&[], "a\t1\n\nb\t2\n", "line 2: expected a key, a tab and a value, found an empty line"),
        (&["--hex"], "00\t1\n", "line 1: expected an even number of hexadecimal digits, found 1"),
        (&["--hex"], "0\x1bg\t11\n", "line 1: expected hexadecimal digits, found \"\\x1b\" at position 2"),
        (&["--restart-interval", "0"], "a\t1\n", "restart_interval"),
        (&["--bits-per-key", "4294967295"], "a\t1\n", "expected at most 4294967296 bits"),
    ] {
        let input = file(&folder, "pairs", lines);
        let err = run(&arguments(options, &input, &output)).expect(2).err;
        assert!(err.contains(expected) && err.lines().count() == 1, "{err}");
        assert_eq!(names(&folder), ["pairs"], "{err}");
    }
}

#[test]
fn nothing_is_replaced_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(&folder, "pairs", "a\t1\n");
    let output = file(&folder, "old.ldb", "precious");
    let err = run(&arguments(&[], &input, &output)).expect(2).err;
    assert!(err.contains("old.ldb: exists already; --force replaces it"), "{err}");
    assert_eq!(std::fs::read(&output).unwrap(), b"precious");
    run(&arguments(&["--force"], &input, &output)).expect(0).quiet();
    assert_eq!(entries(&output, &ReadOptions::default()).len(), 1);
    let err = run(&arguments(&["--force"], &input, &input)).expect(2).err;
    assert!(err.contains("is the file that is read"), "{err}");
    assert_eq!(std::fs::read(&input).unwrap(), b"a\t1\n");
}

#[test]
fn inputs_and_outputs_that_are_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(&folder, "pairs", "a\t1\n");
    let missing = folder.path().join("missing");
    let err = run(&arguments(&[], &missing, &folder.path().join("new"))).expect(2).err;
    assert!(err.contains(&format!("missing: {}", not_found())), "{err}");
    let err = run(&arguments(&[], folder.path(), &folder.path().join("new"))).expect(2).err;
    assert!(err.contains("is a folder, not a file of lines"), "{err}");
    let err = run(&arguments(&[], &input, &missing.join("new"))).expect(2).err;
    assert!(err.contains("new: its folder does not exist") && !err.contains(".filterblock-"), "{err}");
    let err = run(&arguments(&["--force"], &input, folder.path())).expect(2).err;
    assert!(err.contains("exists and is not a regular file"), "{err}");
}
