//! Object keys that do not look like the path of a file. Beside an object of such a key is a sound table, which is
//! shown whatever the other key is.

use serde_json::Value;

use super::bucket::{Bucket, answer};
use super::process::{Found, with_s3};
use super::server::Server;
use super::{run, table};

/// The keys of the second tables, each with the reason that is given if the table cannot be read.
fn keys() -> Vec<(Vec<u8>, Option<&'static str>)> {
    let sound = [
        "d/a%b.ldb",
        "d/a%2Fb.ldb",
        "d/%2e%2e/e.ldb",
        "d/a\\b.ldb",
        "d/~.ldb",
        "d/a#b.ldb",
        "d/a?b.ldb",
        "d/ a .ldb",
        "d/a+b&<\">'.ldb",
        "d/\u{1f600}e\u{301}.ldb",
        "d/*.ldb",
        "d/..a/b..ldb",
        "d/\u{85}\u{2028}.ldb",
        "e/s3://d.ldb",
    ];
    let odd: [(&[u8], _); 13] = [
        (b"d//b.ldb", "an empty part"),
        (b"d///b.ldb", "an empty part"),
        (b"d/./c.ldb", "the part ."),
        (b"d/../e.ldb", "the part .."),
        (b"../f.ldb", "the part .."),
        (b"d/a\tb.ldb", "a control character"),
        (b"d/a\nb.ldb", "a control character"),
        (b"d/\x1b[2J.ldb", "a control character"),
        (b"d/a\x7f.ldb", "a control character"),
        (b"d/\r/b.ldb", "a control character"),
        (b"/lead.ldb", "a slash at its beginning"),
        (b"d/end.ldb/", "a slash at its end"),
        (b"d/a\xff.ldb", "not UTF-8"),
    ];
    let mut keys: Vec<_> = sound.iter().map(|key| (key.as_bytes().to_vec(), None)).collect();
    // The longest key that S3 allows.
    keys.push((format!("d/{}.ldb", "k".repeat(1018)).into_bytes(), None));
    keys.extend(odd.map(|(key, reason)| (key.to_vec(), Some(reason))));
    // "e/s3://d.ldb" has an empty part, too.
    keys.iter_mut()
        .filter(|(key, _)| key.starts_with(b"e/"))
        .for_each(|(_, reason)| *reason = Some("an empty part"));
    keys
}

/// A server with a bucket for each key: `b0`, `b1` and so on. A bucket holds a sound table and a table under the key.
fn server() -> Server {
    let bucket = |key: &[u8]| Bucket::new([(&b"d/000005.ldb"[..], table(300)), (key, table(400))]);
    let buckets: Vec<_> = keys().iter().map(|(key, _)| bucket(key)).collect();
    let names: Vec<_> = (0..buckets.len()).map(|at| format!("b{at}")).collect();
    Server::start(move |_, request| {
        let named: Vec<_> = names.iter().map(String::as_str).zip(&buckets).collect();
        answer(&named, request)
    })
}

/// Returns true if a line is about this URL. Outside Unix, where paths are text, bytes that are not UTF-8 are replaced.
fn is_about(line: &Value, url: &[u8]) -> bool {
    match str::from_utf8(url) {
        Ok(url) => line["path"] == url && line["path_bytes"] == Value::Null,
        Err(_) if cfg!(unix) => {
            let digits: String = url.iter().map(|byte| format!("{byte:02x}")).collect();
            line["path_bytes"] == digits
        }
        Err(_) => line["path"] == *String::from_utf8_lossy(url),
    }
}

#[test]
fn one_odd_key_hides_no_other_table() {
    let server = server();
    for (at, (key, reason)) in keys().into_iter().enumerate() {
        let what = key.escape_ascii().to_string();
        let root = format!("s3://b{at}/");
        let Found { lines, status, .. } =
            with_s3(&server, &["inspect", "--json", "--recursive", "--depth", "all", &root]);
        let sound = |line: &&Value| line["path"] == format!("{root}d/000005.ldb");
        let tables: Vec<_> = lines.iter().filter(|line| line["object"] == "table").collect();
        assert_eq!(tables.iter().filter(|line| sound(line)).count(), 1, "{what}: {lines:#?}");
        let url = [root.as_bytes(), &key].concat();
        let line = lines.iter().find(|line| is_about(line, &url) && line["object"] != "folder");
        let line = line.unwrap_or_else(|| panic!("{what}: {lines:#?}"));
        match reason {
            None => {
                assert_eq!((&line["entries"]["count"], status), (&400.into(), 0), "{what}: {line:#}");
                assert_eq!(tables.len(), 2, "{what}");
            }
            Some(reason) => {
                let error = line["error"].as_str().or(line["found"].as_str()).unwrap_or_default();
                assert!(error.contains(reason), "{what}: {line:#}");
                assert_eq!(
                    (&line["object"], &line["error_kind"], status),
                    (&"unreadable".into(), &"unreadable".into(), 2)
                );
                assert_eq!(tables.len(), 1, "{what}");
            }
        }
    }
}

/// Without --recursive, a folder whose objects cannot be requested is still reported.
#[test]
fn an_odd_folder_is_named_beside_a_table() {
    let objects = [&b"d/000005.ldb"[..], b"d//b.ldb", b"d/sub/1.ldb", b"d/x\t.log", b"d/CUR\tRENT"];
    let server = Bucket::new(objects.map(|key| (key, table(300)))).serve();
    let all = [("unreadable", "d//"), ("unreadable", "d/x\t.log"), ("table", "d/000005.ldb")];
    // `inspect` has a note on the log, as on a log that is a link.
    for (command, expected) in [("inspect", &[all[0], all[2]][..]), ("verify", &all)] {
        let found = with_s3(&server, &[command, "--json", "s3://bucket/d/"]);
        let lines =
            found.lines.iter().filter(|line| line["object"] != "folder" && line["object"] != "totals");
        let lines: Vec<_> = lines.map(|line| (line["object"].clone(), line["path"].clone())).collect();
        let expected =
            expected.iter().map(|(object, key)| (Value::from(*object), format!("s3://bucket/{key}").into()));
        assert_eq!(lines, expected.collect::<Vec<_>>(), "{found:#?}");
        assert!(found.out.contains("one with an empty part") && found.status == 2, "{found:#?}");
    }
    let found = with_s3(&server, &["inspect", "s3://bucket/d/"]);
    assert!(found.out.contains("000005.ldb"), "{found:#?}");
    // The log is passed over like one that is a link. Nothing is said of objects that are neither table nor log.
    assert!(found.err.contains("x\\x09.log") && found.err.contains("s3://bucket/d//"), "{found:#?}");
    assert!(!(found.out + &found.err).contains(['\t', '\x1b']));
}

/// In text output, the name of a table with an odd key is escaped.
#[test]
fn an_odd_key_is_shown_escaped() {
    let server = Bucket::new([&b"d/1.ldb"[..], b"d/a\nb\x1b[2J.ldb"].map(|key| (key, table(300)))).serve();
    for command in ["inspect", "verify"] {
        let found = with_s3(&server, &[command, "s3://bucket/d/"]);
        let text = found.out + &found.err;
        assert!(text.contains(r"s3://bucket/d/a\x0ab\x1b[2J.ldb"), "{text}");
        assert!(text.contains("1.ldb") && !text.contains('\x1b'), "{text}");
    }
    let found = with_s3(&server, &["query", "s3://bucket/d/", "--", "key000000007"]);
    // The key is in the other table.
    assert_eq!(found.status, 0, "{found:#?}");
    assert!(
        found.out.contains("d/1.ldb: \"key000000007\": may be there")
            && found.err.contains(r"a\x0ab\x1b[2J.ldb"),
        "{found:#?}"
    );
}

/// No other object is read instead: `/lead.ldb` is not `lead.ldb`, and `d//b.ldb` is not `d/b.ldb`.
#[test]
fn an_odd_key_that_is_named_is_refused() {
    let keys = [&b"lead.ldb"[..], b"d/end.ldb", b"d/b.ldb", b"/lead.ldb", b"d//b.ldb"];
    let server = Bucket::new(keys.map(|key| (key, table(300)))).serve();
    for (key, reason) in [
        ("/lead.ldb", "a slash at its beginning"),
        ("d//b.ldb", "an empty part"),
        ("d/./b.ldb", "the part ."),
    ] {
        for command in ["inspect", "verify"] {
            let found = with_s3(&server, &[command, "--json", &format!("s3://bucket/{key}")]);
            assert_eq!((found.lines.len(), found.status), (1, 2), "{found:#?}");
            assert!(found.out.contains(reason), "{found:#?}");
        }
        let found = run(["inspect", "--json", &format!("http://{}/bucket/{key}", server.address)]);
        assert!(
            found.one("table")["error"].as_str().unwrap().contains("a key that can be asked for"),
            "{found:#?}"
        );
    }
    assert_eq!(server.requests().len(), 0);
    // A folder may have any name.
    let found = with_s3(&server, &["inspect", "--json", "s3://bucket//"]);
    let lines: Vec<_> = found.lines.iter().filter(|line| line["object"] == "unreadable").collect();
    assert_eq!((lines.len(), &lines[0]["path"]), (1, &"s3://bucket//lead.ldb".into()), "{found:#?}");
}

/// Web consoles make an empty object for a folder. Nothing is reported about it.
#[test]
fn an_entry_for_a_folder_is_passed_over() {
    let empty = [&b"d/"[..], b"d/e.ldb/", b"f/"].map(|key| (key, Vec::new()));
    let server = Bucket::new(empty.into_iter().chain([(&b"d/000005.ldb"[..], table(300))])).serve();
    for arguments in
        [&["inspect", "--json", "s3://bucket/d/"][..], &["verify", "--json", "--recursive", "s3://bucket/"]]
    {
        let found = with_s3(&server, arguments);
        let tables = found.lines.iter().filter(|line| line["object"] == "table").count();
        let unreadable = found.lines.iter().filter(|line| line["object"] == "unreadable").count();
        assert_eq!((tables, unreadable, found.status), (1, 0, 0), "{found:#?}");
    }
}
