//! Listings that no store should write. Reading each of them ends, and an incomplete one is never taken for complete.

use std::collections::BTreeSet;

use super::bucket::{Bucket, answer, contents, listed, listing};
use super::process::{Found, with_s3};
use super::server::{Reply, Request, Server};
use super::table;

/// A server with a sound table in the folder `d/`. `list` answers the requests for listings, and is given the request's
/// number.
fn server(list: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Server {
    let bucket = Bucket::new([(&b"d/000005.ldb"[..], table(300))]);
    Server::start(move |number, request| match request.path.contains("list-type") {
        true => list(number, request),
        false => answer(&[("bucket", &bucket)], request),
    })
}

fn inspect(server: &Server) -> Found {
    with_s3(server, &["inspect", "--json", "--timeout", "0.3", "s3://bucket/d/"])
}

fn sound() -> String {
    contents("d/000005.ldb", table(300).len())
}

fn xml(text: &str) -> Reply {
    Reply::Answer("200 OK", Vec::new(), text.into())
}

/// Runs the program, which has to report that the folder cannot be listed, with this reason, after this number of
/// requests.
#[track_caller]
fn refused(requests: usize, reason: &str, list: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) {
    let server = server(list);
    let found = inspect(&server);
    assert_eq!((found.lines.len(), found.status), (1, 2), "{found:#?}");
    let line = &found.lines[0];
    assert_eq!((&line["object"], &line["path"]), (&"unreadable".into(), &"s3://bucket/d/".into()));
    assert_eq!(line["error_kind"], "unreadable");
    assert!(line["error"].as_str().unwrap().contains(reason), "{reason}: {line:#}");
    assert_eq!(server.requests().len(), requests);
}

fn more(token: &str) -> String {
    format!("<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>")
}

#[test]
fn a_token_that_comes_again_ends_the_listing() {
    refused(2, "one that was there before", |_, _| xml(&listing(&format!("{}{}", sound(), more("again")))));
    // Two tokens in turn.
    refused(3, "one that was there before", |number, _| {
        xml(&listing(&format!(
            "{}{}",
            contents(&format!("d/{number}.ldb"), 7),
            more(&(number % 2).to_string())
        )))
    });
}

#[test]
fn a_truncated_listing_without_a_token_is_not_complete() {
    refused(1, "expected the rest of the listing, found no token", |_, _| {
        xml(&listing(&format!("{}<IsTruncated>true</IsTruncated>", sound())))
    });
    refused(1, "found no token", |_, _| {
        xml(&listing(&format!("{}<IsTruncated>true</IsTruncated><NextContinuationToken/>", sound())))
    });
}

/// Each page has a new token and the same table.
#[test]
fn new_tokens_without_new_names_end() {
    refused(101, "100 pages without a new name", |number, _| {
        xml(&listing(&format!("{}{}", sound(), more(&number.to_string()))))
    });
}

#[test]
fn a_listing_that_is_cut_off_is_not_complete() {
    refused(1, "not found before end of input", |_, _| {
        let text = listing(&sound());
        xml(&text[..text.len() - 5])
    });
    refused(1, "found one that is cut off", |_, _| {
        let text = listing(&sound());
        xml(&text[..text.find("<Size>").unwrap() + 7])
    });
}

#[test]
fn an_answer_that_is_no_listing_is_named() {
    refused(1, "found the element html", |_, _| {
        xml("<!DOCTYPE html>\n<html><body>Sign in<br></body></html>")
    });
    refused(1, "found no XML", |_, _| xml(""));
    refused(1, "found no XML", |_, _| xml("{\"items\": []}"));
    refused(1, "found the error InternalError", |_, _| {
        xml("<?xml version=\"1.0\"?><Error><Code>InternalError</Code><Message>Again</Message></Error>")
    });
}

/// The connection ends before the body does. The program asks for the listing again, as it does for a table.
#[test]
fn an_answer_that_is_shorter_than_it_says_is_not_complete() {
    let server = server(|_, _| {
        let text = listing(&sound());
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", text.len() + 100);
        Reply::CutOff([head, text].concat().into_bytes(), usize::MAX)
    });
    let found = inspect(&server);
    assert_eq!((found.lines.len(), found.status), (1, 2), "{found:#?}");
    assert_eq!(
        (&found.lines[0]["object"], &found.lines[0]["error_kind"]),
        (&"unreadable".into(), &"unreadable".into())
    );
    assert!(server.requests().len() > 1);
}

/// The declared length is too short, which cuts the listing off.
#[test]
fn an_answer_that_is_longer_than_it_says_is_not_complete() {
    refused(1, "expected", |_, _| {
        let text = listing(&sound());
        Reply::Answer("200 OK", vec![format!("Content-Length: {}", text.len() - 10)], text.into())
    });
}

/// A listing of more than 32 MiB is not taken into memory.
#[test]
fn an_answer_without_end_is_refused() {
    let padding = " ".repeat(33 << 20);
    let server = server(move |_, _| xml(&listing(&format!("{}{padding}", sound()))));
    let found = with_s3(&server, &["inspect", "--json", "s3://bucket/d/"]);
    assert_eq!((found.lines.len(), found.status), (1, 2), "{found:#?}");
    assert!(found.out.contains("a listing of up to 33554432 bytes"), "{found:#?}");
}

#[test]
fn names_that_are_not_in_the_folder_are_refused() {
    refused(1, "in the folder, found e/000005.ldb", |_, _| xml(&listing(&contents("e/000005.ldb", 7))));
    refused(1, "in the folder, found d/e/000005.ldb", |_, _| xml(&listing(&contents("d/e/000005.ldb", 7))));
    // With --recursive, such a folder would be listed for ever.
    refused(1, "in the folder, found d/", |_, _| {
        xml(&listing("<CommonPrefixes><Prefix>d/</Prefix></CommonPrefixes>"))
    });
}

#[test]
fn an_object_without_a_size_is_not_guessed() {
    refused(1, "found one without", |_, _| xml(&listing("<Contents><Key>d/000005.ldb</Key></Contents>")));
}

/// The pages name the tables in any order, and some twice. Each table is shown once, in the order of the numbers.
#[test]
fn the_order_of_a_listing_does_not_matter() {
    let keys = ["d/000007.ldb", "d/000006.ldb", "d/000005.ldb"];
    let bucket = Bucket::new(keys.map(|key| (key.as_bytes(), table(300))));
    let entry = move |at: usize| contents(keys[at % 3], table(300).len());
    let server = Server::start(move |number, request| match (request.path.contains("list-type"), number) {
        (true, 0) => xml(&listing(&format!("{}{}{}", entry(0), entry(1), more("next")))),
        (true, _) => listed(&listing(&format!("{}{}{}", entry(2), entry(0), entry(2)))),
        _ => answer(&[("bucket", &bucket)], request),
    });
    let found = with_s3(&server, &["inspect", "--json", "--ordered", "s3://bucket/d/"]);
    let tables = found.lines.iter().filter(|line| line["object"] == "table");
    let paths: Vec<_> = tables.map(|line| line["path"].as_str().unwrap()).collect();
    let expected: BTreeSet<_> = keys.iter().map(|key| format!("s3://bucket/{key}")).collect();
    assert_eq!(paths, expected.iter().collect::<Vec<_>>(), "{found:#?}");
    assert_eq!(found.status, 0);
}

/// If a folder has more names than fit into an answer, its listing is put together from several answers.
#[test]
fn a_listing_of_many_pages_is_complete() {
    let keys: BTreeSet<_> = (1..=7).map(|number| format!("d/{number:06}.ldb")).collect();
    let bucket = Bucket::new(keys.iter().map(|key| (key.as_bytes(), table(300))));
    let server = Bucket { page: 2, ..bucket }.serve();
    let found = with_s3(&server, &["inspect", "--json", "s3://bucket/d/"]);
    let tables = found.lines.iter().filter(|line| line["object"] == "table");
    let paths: BTreeSet<_> =
        tables.map(|line| line["path"].as_str().unwrap()["s3://bucket/".len()..].to_owned()).collect();
    assert_eq!((paths, found.status), (keys, 0), "{found:#?}");
    let lists = server.requests().iter().filter(|request| request.path.contains("list-type")).count();
    assert_eq!(lists, 4);
}
