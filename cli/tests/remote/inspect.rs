//! `inspect`: the same findings as of files, with few requests.

use serde_json::Value;

use super::probe::Probe;
use super::{known, put_folder, run, table, testdata};

/// The fields of an object that say where it is and what reading it took.
const PLACE: [&str; 8] = ["input", "path", "depth", "e_tag", "requests", "bytes_read", "logs", "notes"];

/// The lines without what differs from place to place.
fn anywhere(mut lines: Vec<Value>) -> Vec<Value> {
    for line in &mut lines {
        PLACE.iter().for_each(|field| drop(line.as_object_mut().unwrap().remove(*field)));
    }
    lines
}

#[test]
fn a_database_is_the_same_as_in_a_folder() {
    for folder in ["databases/levels"] {
        let store = known("inspect-all", Probe::default());
        put_folder(&store, folder, "db");
        let remote = run(["inspect", "--json", "--depth", "all", "--ordered", "memory://inspect-all/db/"]);
        let local = run(["inspect".into(), "--json".into(), testdata(folder).into_os_string()]);
        assert_eq!(remote.status, local.status, "{}", remote.err);
        assert_eq!(anywhere(remote.lines()), anywhere(local.lines()), "{folder}");
        let expected = "memory://inspect-all/db/000005.ldb";
        assert_eq!(remote.all("table")[0]["path"], expected, "{:?}", remote.lines());
    }
}

#[test]
fn a_tail_takes_one_request() {
    let store = known("tail", Probe::default());
    store.put("t/000005.ldb", table(19_000));
    let size = table(19_000).len();
    let found = run(["inspect", "--json", "memory://tail/t/"]);
    let line = found.one("table");
    assert_eq!((store.gets(), store.heads(), store.lists()), (1, 0, 1), "{found:#?}");
    assert_eq!(store.bytes(), 65_536);
    assert_eq!(
        *store.ranges.lock().unwrap(),
        [("t/000005.ldb".to_owned(), size as u64 - 65_536..size as u64)]
    );
    assert_eq!((&line["requests"], &line["bytes_read"]), (&1.into(), &65_536.into()));
    assert_eq!(
        (&line["depth"], &line["status"], &line["error"]),
        (&"tail".into(), &"ok".into(), &Value::Null)
    );
    for unknown in ["keys", "compression", "key_format"] {
        assert_eq!(line[unknown], Value::Null, "{unknown}");
    }
    assert_eq!(line["filter"]["policy"], "leveldb.BuiltinBloomFilter2");
    assert!(line["filter"]["estimated_fpr"].as_f64().is_some_and(|rate| (0.005..0.02).contains(&rate)));
    assert!(line["data_blocks"].as_u64().is_some_and(|blocks| blocks > 400));
    assert!(line["e_tag"].is_string());
}
