//! Failures on the way to a table. Each is reported in one line, and none is taken for damage.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use object_store::path::Path;
use object_store::{ObjectStoreExt as _, PutPayload};
use serde_json::{Value, json};

use super::probe::{Manners, Probe};
use super::server::{Reply, Server, part};
use super::{known, run, table};

/// Inspects a table on the server, with time limits that suit a test.
fn inspect(server: &Server) -> (Value, u8) {
    let url = format!("http://{}/db/000005.ldb", server.address);
    let found = run(["inspect", "--json", "--timeout", "0.3", &url]);
    assert_eq!(found.lines().len(), 1, "{found:#?}");
    assert!(found.err.lines().count() <= 1, "{found:#?}");
    (found.one("table"), found.status)
}

#[track_caller]
fn unreadable(found: (Value, u8), kind: &str, text: &str) {
    let (line, status) = found;
    assert_eq!((&line["error_kind"], status), (&kind.into(), 2), "{line:#}");
    assert!(line["error"].as_str().unwrap().contains(text), "{line:#}");
    assert_eq!(line["filter"], Value::Null);
}

#[test]
fn a_sound_server_is_asked_twice() {
    let bytes = table(5000);
    let server = Server::start(move |_, request| part(request, &bytes, Some("\"a\"")));
    let (line, status) = inspect(&server);
    assert_eq!((&line["status"], status), (&"ok".into(), 0), "{line:#}");
    let requests = server.requests();
    let methods: Vec<&str> = requests.iter().map(|request| &*request.method).collect();
    assert_eq!(methods, ["HEAD", "GET"]);
    assert_eq!(
        (&line["requests"], &line["bytes_read"], &line["e_tag"]),
        (&2.into(), &65_536.into(), &"\"a\"".into())
    );
    assert!(requests[1].range().is_some(), "{requests:?}");
}

#[test]
fn a_server_that_fails_once_is_asked_again() {
    let bytes = table(5000);
    let server = Server::start(move |number, request| match number {
        1 => Reply::Answer("503 Slow Down", Vec::new(), Vec::new()),
        3 => Reply::Reset,
        _ => part(request, &bytes, Some("\"a\"")),
    });
    assert_eq!(inspect(&server).1, 0);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_server_that_fails_always_is_given_up_on() {
    for reply in ["503", "reset", "truncated", "stall"] {
        let bytes = table(5000);
        let server = Server::start(move |_, request| match (&*request.method, reply) {
            ("HEAD", _) => part(request, &bytes, Some("\"a\"")),
            (_, "503") => Reply::Answer("503 Slow Down", Vec::new(), b"<Error>busy</Error>".to_vec()),
            (_, "reset") => Reply::Reset,
            (_, "truncated") => {
                let head = "HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Length: 65536\r\n";
                let (first, last) = request.range().unwrap();
                let head = format!("{head}Content-Range: bytes {first}-{last}/{}\r\n\r\n", bytes.len());
                Reply::CutOff([head.as_bytes(), &bytes[first..=last]].concat(), head.len() + 1000)
            }
            _ => Reply::Stall,
        });
        let start = Instant::now();
        unreadable(inspect(&server), "unreadable", "");
        assert!(start.elapsed() < Duration::from_secs(15), "{reply}: {:?}", start.elapsed());
        assert!(server.requests().len() > 2, "{reply}: no second attempt");
    }
}

#[test]
fn a_server_that_ignores_ranges_is_named() {
    let bytes = table(5000);
    let server = Server::start(move |_, request| match &*request.method {
        "HEAD" => part(request, &bytes, None),
        _ => Reply::Answer("200 OK", Vec::new(), bytes.clone()),
    });
    unreadable(inspect(&server), "unsupported", "the server ignores ranges");
}

#[test]
fn a_table_that_is_not_there_is_missing() {
    let server = Server::start(|_, _| Reply::Answer("404 Not Found", Vec::new(), Vec::new()));
    unreadable(inspect(&server), "missing", "no such object");
    let server = Server::start(|_, _| Reply::Answer("403 Forbidden", Vec::new(), Vec::new()));
    unreadable(inspect(&server), "denied", "access denied");
}

#[test]
fn plain_http_is_never_listed() {
    let server = Server::start(|_, _| Reply::Answer("200 OK", Vec::new(), Vec::new()));
    let found = run(["inspect", "--json", &format!("http://{}/db/", server.address)]);
    let line = found.one("unreadable");
    assert!(line["error"].as_str().unwrap().contains("such servers are not listed"), "{line:#}");
    assert_eq!((found.status, server.requests().len()), (2, 0));
}

#[test]
fn a_change_between_two_requests_is_told_by_if_match_and_by_the_tag() {
    for honours in [true, false] {
        let (bytes, other) = (table(60_000), table(60_000));
        let server = Server::start(move |number, request| match number {
            0 | 1 => part(request, &bytes, Some("\"a\"")),
            _ if honours && request.header("if-match") == Some("\"a\"") => {
                Reply::Answer("412 Precondition Failed", Vec::new(), Vec::new())
            }
            _ => part(request, &other, Some("\"b\"")),
        });
        unreadable(inspect(&server), "changed", "changed while it was read");
        let requests = server.requests();
        let tags: Vec<_> = requests.iter().map(|request| request.header("if-match")).collect();
        // The tag is sent as it was in the answer to a request for a range.
        assert_eq!(tags[..3], [None, None, Some("\"a\"")]);
    }
}

#[test]
fn a_weak_tag_is_compared_here_and_not_sent() {
    let bytes = table(60_000);
    let server = Server::start(move |_, request| match request.header("if-match") {
        Some(_) => Reply::Answer("412 Precondition Failed", Vec::new(), Vec::new()),
        None => part(request, &bytes, Some("W/\"a\"")),
    });
    let (line, status) = inspect(&server);
    assert_eq!((&line["status"], status), (&"ok".into(), 0), "{line:#}");
    assert!(line["requests"].as_u64() > Some(2), "{line:#}");
}

/// Runs a command on a table. Before each request for a range but the first, the table is replaced by another one of
/// the same size, or by the original one again.
fn swapped(name: &str, manners: Manners, depth: &str, command: &str) -> Value {
    let (one, other) = (table(60_000), table(60_000));
    let mut other = other;
    // Another value in the middle. The table passes for sound as long as no checksum is verified.
    let middle = other.len() / 2;
    other[middle] ^= 1;
    assert_eq!(one.len(), other.len());
    let mut store = Probe::default();
    store.manners = manners;
    let contents = [one.clone(), other];
    store.hook = Some(Box::new(move |number, is_range, inner| {
        if is_range && number > 0 {
            let next = PutPayload::from(contents[number as usize % 2].clone());
            wait_apart(inner.put(&Path::from("t/000005.ldb"), next)).unwrap();
        }
    }));
    let store = known(name, store);
    store.place("t/000005.ldb", one);
    let url = format!("memory://{name}/t/000005.ldb");
    let mut arguments = vec![command, "--json"];
    if command == "inspect" {
        arguments.extend(["--depth", depth]);
    }
    arguments.push(&url);
    let found = run(arguments);
    assert_eq!(found.status, 2, "{found:#?}");
    assert!(store.gets() > 1);
    found.one("table")
}

/// Returns the result of a future that is ready at once.
fn wait_apart<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(result) => result,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

#[test]
fn tables_swapped_between_ranges_are_changed_every_time() {
    let all = [
        Manners::default(),
        Manners { ignores_if_match: true, ..Manners::default() },
        Manners { lists_no_tags: true, ..Manners::default() },
        Manners { lists_bare_tags: true, ..Manners::default() },
        Manners { lists_bare_tags: true, ignores_if_match: true, ..Manners::default() },
    ];
    for (at, manners) in all.into_iter().enumerate() {
        for (command, depth) in
            [("inspect", "tail"), ("inspect", "sample"), ("inspect", "all"), ("verify", "all")]
        {
            let name = format!("swapped-{at}-{command}-{depth}");
            let line = swapped(&name, manners, depth, command);
            assert_eq!(line["error_kind"], "changed", "{manners:?} {depth}: {line:#}");
            assert!(!line.to_string().contains("damaged"), "{line:#}");
        }
    }
}

#[test]
fn a_table_that_stays_is_read_from_stores_of_all_manners() {
    let all = [
        Manners::default(),
        Manners { lists_no_tags: true, ..Manners::default() },
        Manners { has_no_tags: true, ..Manners::default() },
        Manners { lists_bare_tags: true, ..Manners::default() },
    ];
    for (at, manners) in all.into_iter().enumerate() {
        let name = format!("stays-{at}");
        let mut store = Probe::default();
        store.manners = manners;
        let store = known(&name, store);
        store.place("t/000005.ldb", table(60_000));
        for depth in ["tail", "sample", "all"] {
            let before = store.gets();
            let found = run(["inspect", "--json", "--depth", depth, &format!("memory://{name}/t/")]);
            assert_eq!(found.status, 0, "{manners:?} {depth}: {found:#?}");
            assert!(store.gets() - before > 1);
            let has_tag = found.one("table")["e_tag"].is_string();
            assert_eq!(has_tag, !manners.has_no_tags, "{manners:?}");
        }
    }
}

#[test]
fn an_object_that_is_no_table_takes_little() {
    for (name, bytes) in [
        ("zeros", vec![0; 8 << 20]),
        ("cut", table(60_000)[..5_000_000].to_vec()),
        ("text", b"some text\n".repeat(600_000)),
    ] {
        let store = known(name, Probe::default());
        store.place("t/000005.ldb", bytes);
        for depth in ["tail", "sample"] {
            let before = (store.gets(), store.bytes());
            let found = run(["inspect", "--json", "--depth", depth, &format!("memory://{name}/t/")]);
            assert_eq!((found.one("table")["error_kind"].clone(), found.status), ("damaged".into(), 1));
            assert!(store.gets() - before.0 <= 4 && store.bytes() - before.1 <= 200_000, "{name}");
        }
    }
}

/// Runs a command on a table that `before_read` changes between its listing and its first read.
fn after_listing(
    name: &str,
    command: &str,
    manners: Manners,
    before_read: impl Fn(&object_store::memory::InMemory) + Send + Sync + 'static,
) -> (Value, u8) {
    let mut store = Probe::default();
    store.manners = manners;
    store.hook = Some(Box::new(move |number, is_range, inner| {
        if is_range && number == 0 {
            before_read(inner);
        }
    }));
    let store = known(name, store);
    store.place("t/000005.ldb", table(3000));
    let found = run([command, "--json", &format!("memory://{name}/t/")]);
    assert_eq!(store.gets.load(Ordering::SeqCst), 1, "{found:#?}");
    (found.one("table"), found.status)
}

#[test]
fn a_table_that_went_after_the_listing_has_vanished() {
    for command in ["inspect", "verify"] {
        let (line, status) =
            after_listing(&format!("gone-{command}"), command, Manners::default(), |inner| {
                wait_apart(inner.delete(&Path::from("t/000005.ldb"))).unwrap();
            });
        assert_eq!((&line["error_kind"], status), (&"vanished".into(), 2), "{line:#}");
    }
}

/// The writes of the log are in a table by then.
#[test]
fn a_log_that_went_after_the_listing_is_no_fault() {
    let mut store = Probe::default();
    store.hook = Some(Box::new(|number, _, inner| {
        if number == 0 {
            wait_apart(inner.delete(&Path::from("d/000010.log"))).unwrap();
        }
    }));
    let store = known("gone-log", store);
    let levels = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/databases/levels");
    for entry in std::fs::read_dir(levels).unwrap() {
        let path = entry.unwrap().path();
        store.place(
            &format!("d/{}", path.file_name().unwrap().to_str().unwrap()),
            std::fs::read(&path).unwrap(),
        );
    }
    let found = run(["inspect", "--json", "memory://gone-log/d/"]);
    let folder = found.one("folder");
    assert_eq!((found.status, &folder["logs"], &folder["notes"]), (0, &json!([]), &json!([])), "{folder:#}");
    assert_eq!(found.all("table").len(), 3);
}

#[test]
fn a_table_that_changed_after_the_listing_is_changed() {
    for command in ["inspect", "verify"] {
        let no_tags = Manners { has_no_tags: true, ..Manners::default() };
        for (keys, manners) in [(3000, Manners::default()), (3001, Manners::default()), (3001, no_tags)] {
            let name = format!("rewritten-{command}-{keys}-{}", manners.has_no_tags);
            let (line, status) = after_listing(&name, command, manners, move |inner| {
                wait_apart(inner.put(&Path::from("t/000005.ldb"), table(keys).into())).unwrap();
            });
            assert_eq!((&line["error_kind"], status), (&"changed".into(), 2), "{line:#}");
        }
    }
}

#[test]
fn an_empty_object_is_no_table() {
    let store = known("empty", Probe::default());
    store.place("t/000005.ldb", Vec::new());
    store.place("t/000006.ldb", vec![7; 47]);
    for command in ["inspect", "verify"] {
        let found = run([command, "--json", "--ordered", "memory://empty/t/"]);
        let lines = found.all("table");
        assert_eq!(found.status, 1, "{found:#?}");
        for line in &lines {
            assert_eq!(line["error_kind"], "damaged", "{line:#}");
        }
        assert!(lines[0].to_string().contains("0 bytes"), "{:#}", lines[0]);
    }
}

#[test]
fn urls_that_cannot_be_looked_at_are_named() {
    known("nothing", Probe::default());
    for (url, kind, text) in [
        ("hdfs://name/db/", "unreadable", "hdfs, which is not supported"),
        ("memory://nothing/db/", "missing", "no such object or folder"),
        ("memory://nothing/db", "missing", "no such object or folder"),
        ("memory://unknown-store/db", "missing", "no store of this name"),
    ] {
        for command in ["inspect", "verify"] {
            let found = run([command, "--json", url]);
            let line = found.one("unreadable");
            assert_eq!((&line["error_kind"], found.status), (&kind.into(), 2), "{line:#}");
            assert!(line.to_string().contains(text), "{line:#}");
        }
    }
    let found = run(["inspect", "--json", "memory://nothing/db/1.ldb"]);
    assert_eq!(found.one("table")["error_kind"], "missing");
}
