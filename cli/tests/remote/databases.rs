//! Databases and folders in a bucket, as `inspect`, `verify` and `query` see them.

use std::time::Duration;

use serde_json::Value;

use super::probe::Probe;
use super::{known, put_folder, run, table, testdata};

/// The fields that may differ between an object in a store and a file.
const PLACE: [&str; 8] = ["input", "path", "depth", "e_tag", "requests", "bytes_read", "logs", "notes"];

/// Each line without the fields of [`PLACE`], after the names of its file and its logs.
fn anywhere(mut lines: Vec<Value>) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for line in &mut lines {
        let path = line["path"].as_str().unwrap().to_owned();
        let logs = line["logs"].as_array().cloned().unwrap_or_default();
        let name = |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap().to_owned();
        let logs: Vec<String> = logs.iter().map(|log| name(log.as_str().unwrap())).collect();
        PLACE.iter().for_each(|field| drop(line.as_object_mut().unwrap().remove(*field)));
        found.push((format!("{} {logs:?}", name(&path)), line.clone()));
    }
    found
}

/// The names of the databases in testdata.
fn databases() -> Vec<String> {
    let names = std::fs::read_dir(testdata("databases")).unwrap().map(Result::unwrap);
    let names = names.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = names.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.len() > 2, "{names:?}");
    names
}

/// Runs a command on each database, once in a store and once in its folder. The lines have to be the same but for
/// [`PLACE`].
fn compare(command: &[&str], behind: &[&str]) {
    for name in databases() {
        let in_store = format!("{}-{name}", command.join(""));
        let store = known(&in_store, Probe::default());
        put_folder(&store, &format!("databases/{name}"), &name);
        let url = format!("memory://{in_store}/{name}");
        let remote = run(command.iter().chain(&["--ordered", &url]).chain(behind));
        let path = testdata(&format!("databases/{name}"));
        let local = run(command.iter().chain(&[path.to_str().unwrap()]).chain(behind));
        assert_eq!(remote.status, local.status, "{name}: {}\n{}", remote.err, local.err);
        let (remote, local) = (anywhere(remote.lines()), anywhere(local.lines()));
        assert_eq!(remote.len(), local.len(), "{name}");
        for (remote, local) in remote.iter().zip(&local) {
            assert_eq!(remote, local, "{name}");
        }
    }
}

#[test]
fn inspect_finds_what_it_finds_in_folders() {
    compare(&["inspect", "--json", "--depth", "all"], &[]);
}

#[test]
fn verify_finds_what_it_finds_in_folders() {
    compare(&["verify", "--json"], &[]);
}

#[test]
fn query_finds_what_it_finds_in_folders() {
    compare(&["query", "--json"], &["--", "item/0001/919", "item/0000/0", "key000001", "nothing"]);
}

#[test]
fn damaged_and_missing_tables_are_found_as_in_folders() {
    let dir = tempfile::tempdir().unwrap();
    let store = known("damaged", Probe::default());
    for entry in std::fs::read_dir(testdata("databases/levels")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        match name {
            "000005.ldb" => continue,
            "000007.ldb" => bytes[100] ^= 1,
            "000009.ldb" => bytes.truncate(3000),
            _ => {}
        }
        std::fs::write(dir.path().join(name), &bytes).unwrap();
        store.place(&format!("db/{name}"), bytes);
    }
    // Neither of these tables is the database's.
    for name in ["000003.ldb", "backup.ldb"] {
        std::fs::write(dir.path().join(name), table(300)).unwrap();
        store.place(&format!("db/{name}"), table(300));
    }
    for (command, behind) in [
        (&["inspect", "--json", "--depth", "all"][..], &[][..]),
        (&["verify", "--json"], &[]),
        (&["query", "--json"], &["--", "item/0001/919"]),
    ] {
        let before = store.lists();
        let remote = run(command.iter().chain(&["--ordered", "memory://damaged/db/"]).chain(behind));
        // A table is missing, so that the folder is listed once more.
        assert_eq!(store.lists() - before, 2);
        let local = run(command.iter().chain(&[dir.path().to_str().unwrap()]).chain(behind));
        assert_eq!(remote.status, local.status);
        let text = |lines: Vec<Value>| {
            let lines = anywhere(lines).into_iter().map(|(_, line)| line.to_string()).collect::<Vec<_>>();
            lines.join("\n").replace(dir.path().to_str().unwrap(), "memory://damaged/db")
        };
        assert_eq!(text(remote.lines()), text(local.lines()), "{command:?}");
        assert!(remote.out.contains("000005.ldb") && remote.out.contains("backup.ldb"), "{}", remote.out);
    }
    // An obsolete table is not asked, and so not read.
    let before = store.ranges.lock().unwrap().len();
    run(["query", "memory://damaged/db/", "--", "key"]);
    let ranges = store.ranges.lock().unwrap();
    assert!(ranges[before..].iter().all(|(key, _)| key != "db/000003.ldb"), "{ranges:?}");
    drop(ranges);
    // Reading the tails alone finds all damage except in the parts that are not read.
    let tail = run(["inspect", "--json", "--ordered", "memory://damaged/db/"]);
    let status = |line: &Value| {
        (line["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned(), line["error_kind"].clone())
    };
    let found: Vec<_> = tail.all("table").iter().map(status).collect();
    let of = |name: &str| found.iter().find(|(of, _)| of == name).unwrap().1.clone();
    assert_eq!(
        (of("000005.ldb"), of("000007.ldb"), of("000009.ldb")),
        ("missing".into(), Value::Null, "damaged".into())
    );
}

#[test]
fn an_empty_current_is_damage() {
    let store = known("no-current", Probe::default());
    put_folder(&store, "databases/levels", "db");
    store.place("db/CURRENT", Vec::new());
    let found = run(["inspect", "--json", "memory://no-current/db/"]);
    let folder = found.one("folder");
    assert_eq!((&folder["error_kind"], &folder["database"]), (&"damaged".into(), &true.into()), "{folder:#}");
    assert_eq!((found.all("table").len(), found.status), (3, 1));
}

#[test]
fn folders_below_are_looked_into_if_that_is_asked_for() {
    let store = known("below", Probe::default());
    put_folder(&store, "databases/levels", "all/one/db");
    put_folder(&store, "databases/levels", "all/two");
    store.place("all/readme.txt", b"text".to_vec());
    let flat = run(["inspect", "--json", "memory://below/all/"]);
    assert_eq!(flat.status, 2);
    assert!(flat.one("unreadable")["error"].as_str().unwrap().contains("--recursive"), "{flat:#?}");
    let found = run(["inspect", "--json", "--recursive", "--ordered", "memory://below/all"]);
    assert_eq!(found.status, 0, "{found:#?}");
    let path = |line: &Value| line["path"].as_str().unwrap().to_owned();
    let folders: Vec<_> = found.all("folder").iter().map(path).collect();
    assert_eq!(folders, ["memory://below/all/one/db", "memory://below/all/two"]);
    assert_eq!((found.all("table").len(), found.all("totals").len()), (6, 2), "{found:#?}");
    for line in found.lines() {
        assert_eq!(line["input"], "memory://below/all");
    }
}

#[test]
fn lists_of_paths_may_hold_urls() {
    let store = known("listed", Probe::default());
    store.place("a/000001.ldb", table(300));
    store.place("a b/%41.ldb", table(300));
    let file = testdata("databases/levels/000005.ldb");
    let mut list = tempfile::NamedTempFile::new().unwrap();
    let lines = [
        "memory://listed/a/000001.ldb".to_owned(),
        format!("file://{}", file.display()),
        "memory://listed/a b/%41.ldb".to_owned(),
        "memory://listed/a/000002.ldb".to_owned(),
    ];
    std::io::Write::write_all(&mut list, lines.join("\n").as_bytes()).unwrap();
    let found = run(["inspect", "--json", "--ordered", "--files-from", list.path().to_str().unwrap()]);
    let field = |name: &str| found.lines().iter().map(|line| line[name].clone()).collect::<Vec<_>>();
    assert_eq!(field("input"), lines);
    assert_eq!(field("error_kind"), [Value::Null, Value::Null, Value::Null, "missing".into()]);
    assert_eq!(found.lines()[1]["path"], file.to_str().unwrap());
    assert_eq!(found.status, 2);
    // An exact key: its size is asked for, and nothing is listed.
    assert_eq!((store.lists(), store.heads(), store.gets()), (0, 3, 2));
}

#[test]
fn a_key_that_does_not_end_like_a_table_is_asked_for_before_it_is_listed() {
    let store = known("exact", Probe::default());
    store.place("tables/backup", table(300));
    store.place("tables/folder/000001.ldb", table(300));
    let found = run(["inspect", "--json", "memory://exact/tables/backup"]);
    assert_eq!((found.status, found.one("table")["status"].clone()), (0, "ok".into()));
    assert_eq!((store.lists(), store.heads()), (0, 1));
    let found = run(["inspect", "--json", "memory://exact/tables/folder"]);
    assert_eq!((found.status, found.all("folder").len()), (0, 1));
    assert_eq!((store.lists(), store.heads()), (1, 2));
}

#[test]
fn results_come_as_they_are_there_or_in_order() {
    let mut store = Probe::default();
    store.latency = Duration::from_millis(5);
    let store = known("order", store);
    for number in 0..40 {
        // The first tables need more requests.
        store.place(&format!("t/{number:06}.ldb"), table(if number < 4 { 60_000 } else { 200 }));
    }
    let paths = |ordered: bool| {
        let mut arguments = vec!["inspect", "--json", "--in-flight", "8", "memory://order/t/"];
        arguments.extend(ordered.then_some("--ordered"));
        let found = run(arguments);
        let lines = found.lines();
        assert_eq!((&lines[0]["object"], &lines[41]["object"]), (&"folder".into(), &"totals".into()));
        let path = |line: &Value| line["path"].as_str().unwrap().to_owned();
        found.all("table").iter().map(path).collect::<Vec<_>>()
    };
    let (as_they_come, in_order) = (paths(false), paths(true));
    assert!(in_order.is_sorted() && !as_they_come.is_sorted(), "{as_they_come:?}");
    let mut sorted = as_they_come;
    sorted.sort();
    assert_eq!(sorted, in_order);
    let most = store.most_at_once.load(std::sync::atomic::Ordering::SeqCst);
    assert!((6..=8).contains(&most), "{most}");
}
