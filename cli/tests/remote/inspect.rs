//! `inspect`: the same findings as of files, with few requests.

use std::sync::Arc;

use serde_json::Value;

use super::probe::Probe;
use super::{known, run, table};

/// The fields of an object that say where it is and what reading it took.
const PLACE: [&str; 8] = ["input", "path", "depth", "e_tag", "requests", "bytes_read", "logs", "notes"];

/// Inspects a table of so many keys: as a file, and in the store at this depth.
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

/// Compares the fields that are known at a depth. `unknown` ones have to be null, or be absent from
/// the local line.
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
    // Measured with other questions, and estimated from other blocks.
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
