//! `inspect` on objects: the same findings as on files, with few requests.

use std::sync::Arc;

use serde_json::Value;

use super::bucket::Bucket;
use super::probe::Probe;
use super::process::with_s3;
use super::{known, run, table};

/// The fields that may differ between an object in a store and a file.
const PLACE: [&str; 8] = ["input", "path", "depth", "e_tag", "requests", "bytes_read", "logs", "notes"];

/// Inspects a table with this number of keys at this depth, as a file and in a store. Returns both reports and the
/// store.
fn both(name: &str, keys: u32, depth: &str) -> (Value, Value, Arc<Probe>) {
    let bytes = table(keys);
    let file = tempfile::Builder::new().suffix(".ldb").tempfile().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    let arguments = ["inspect", "--json", "--depth", depth].map(AsRef::as_ref);
    let local = run(arguments.into_iter().chain([file.path().as_os_str()])).one("table");
    let store = known(name, Probe::default());
    store.place("t/000005.ldb", bytes);
    let found = run(["inspect", "--json", "--depth", depth, &format!("memory://{name}/t/")]);
    assert_eq!(found.status, 0, "{found:#?}");
    (local, found.one("table"), store)
}

/// Compares the fields of `remote` with those of `local`. The fields in `unknown`, which are not known at this depth,
/// have to be null.
#[track_caller]
fn agree(local: &Value, remote: &Value, unknown: &[&str]) {
    for (field, found) in remote.as_object().unwrap() {
        match field.as_str() {
            field if PLACE.contains(&field) => {}
            "filter" => agree(&local["filter"], found, unknown),
            field if unknown.contains(&field) => assert_eq!(*found, Value::Null, "{field}"),
            field => assert_eq!(*found, local[field], "{field}"),
        }
    }
}

#[test]
fn a_tail_takes_one_request() {
    let (local, line, store) = both("tail", 19_000, "tail");
    let size = local["file_size"].as_u64().unwrap();
    assert!((1_500_000..2_500_000).contains(&size), "{size}");
    assert_eq!((store.gets(), store.heads(), store.lists()), (1, 0, 1));
    assert_eq!(*store.ranges.lock().unwrap(), [("t/000005.ldb".to_owned(), size - 65_536..size)]);
    assert_eq!((&line["requests"], &line["bytes_read"]), (&1.into(), &65_536.into()));
    assert_eq!(line["depth"], "tail");
    assert!(line["e_tag"].is_string());
    let unknown =
        ["entries", "distinct_keys", "compression", "key_format", "dialect", "random_fpr", "neighbour_fpr"];
    agree(&local, &line, &[&unknown[..], &["larger_ranges"]].concat());
}

#[test]
fn a_sample_takes_four_requests() {
    let (local, line, store) = both("sample", 19_000, "sample");
    assert_eq!((store.gets(), store.heads(), store.lists()), (4, 0, 1), "{line:#}");
    assert!(store.bytes() <= 200_000, "{}", store.bytes());
    assert_eq!((&line["requests"], &line["bytes_read"]), (&4.into(), &store.bytes().into()));
    assert_eq!(line["depth"], "sample");
    // These rates are measured with other questions, and estimated from other blocks.
    for changed in ["random_fpr", "neighbour_fpr"] {
        let rate = |line: &Value| line["filter"][changed]["rate"].as_f64().unwrap();
        assert!((rate(&line) / rate(&local) - 1.0).abs() < 0.5, "{changed}: {line:#}");
    }
    let keys = &line["entries"];
    let within = keys["low"].as_u64() <= Some(19_000) && keys["high"].as_u64() >= Some(19_000);
    assert!(within && keys["exact"] == false, "{keys}");
    let mut line = line;
    for differs in ["random_fpr", "neighbour_fpr", "larger_ranges"] {
        line["filter"].as_object_mut().unwrap().remove(differs);
    }
    for count in ["entries", "distinct_keys"] {
        line.as_object_mut().unwrap().remove(count);
    }
    agree(&local, &line, &[]);
}

/// A table of three data blocks of more than 200 KiB each, written by the library.
fn table_of_large_blocks() -> Vec<u8> {
    use filterblock::BloomFilterPolicy;
    use filterblock::table::{Compression, TableBuilder, WriteOptions};

    let options = WriteOptions::default().filter_policy(BloomFilterPolicy::new(10));
    let options = options.compression(Compression::None).block_size(200 << 10);
    let mut builder = TableBuilder::new(Vec::new(), options);
    (0..294).for_each(|key| builder.add(format!("key{key:03}").as_bytes(), &[7; 2100]).unwrap());
    builder.finish().unwrap().0
}

#[test]
fn a_large_block_at_the_beginning_of_a_table_is_part_of_a_sample() {
    let bytes = table_of_large_blocks();
    let file = tempfile::Builder::new().suffix(".ldb").tempfile().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    let server = Bucket::new([(&b"t/000005.ldb"[..], bytes)]).serve();
    let file = file.path().to_str().unwrap();
    for (command, behind, object) in [("inspect", &[][..], "table"), ("query", &["--", "key001"], "answer")] {
        let local = run([&[command, "--json", file], behind].concat());
        let depth: &[&str] = if command == "inspect" { &["--depth", "sample"] } else { &[] };
        let url = &["s3://bucket/t/000005.ldb"][..];
        let found = with_s3(&server, &[&[command, "--json"], depth, url, behind].concat());
        assert_eq!((found.status, found.lines.len()), (i32::from(local.status), 1), "{found:#?}");
        let (local, mut line) = (local.one(object), found.lines[0].clone());
        // These rates are measured with other questions.
        if let Some(filter) = line.get_mut("filter").and_then(Value::as_object_mut) {
            for rate in ["random_fpr", "neighbour_fpr", "larger_ranges"] {
                filter.remove(rate);
            }
        }
        agree(&local, &line, &[]);
        assert!(command != "inspect" || line["data_blocks"] == 3, "{line:#}");
    }
    let largest = server
        .requests()
        .iter()
        .filter_map(|request| request.range())
        .map(|(first, last)| last - first)
        .max();
    assert!(largest > Some(500 << 10), "{largest:?}");
}

#[test]
fn of_a_large_table_that_was_cut_short_only_both_ends_are_read() {
    for depth in ["tail", "sample"] {
        let mut bytes = table(60_000);
        bytes.truncate(5 << 20);
        let store = known(&format!("cut-{depth}"), Probe::default());
        store.place("t/000005.ldb", bytes);
        let found = run(["inspect", "--json", "--depth", depth, &format!("memory://cut-{depth}/t/")]);
        assert_eq!((found.status, &found.one("table")["error_kind"]), (1, &"damaged".into()), "{found:#?}");
        assert_eq!((store.gets(), store.bytes()), (2, 2 * 65_536), "{depth}");
    }
}

#[test]
fn small_tables_are_known_by_their_tail() {
    for depth in ["tail", "sample", "all"] {
        let (local, line, store) = both(&format!("small-{depth}"), 300, depth);
        assert_eq!((store.gets(), &line["bytes_read"]), (1, &local["file_size"]), "{depth}");
    }
    let (local, line, _) = both("small-again", 300, "sample");
    assert_eq!((&line["entries"], &line["entries"]["exact"]), (&local["entries"], &true.into()));
}

#[test]
fn an_index_beyond_the_tail_is_fetched_too() {
    let (local, line, store) = both("long", 60_000, "tail");
    assert!((2..=4).contains(&store.gets()), "{line:#}");
    assert_eq!(line["data_blocks"], local["data_blocks"]);
    assert_eq!(line["requests"], store.gets());
}
