//! Google Cloud Storage through its XML interface, as far as it is used: listings page by page, and ranges.

use std::collections::BTreeSet;

use serde_json::Value;

use super::bucket::Bucket;
use super::process::{Found, program};
use super::{run, testdata};

/// The lines without the fields that may differ between a store and a folder.
fn facts(lines: &[Value]) -> Vec<Value> {
    let of = |line: &Value| {
        let mut line = line.clone();
        for place in ["input", "path", "depth", "e_tag", "requests", "bytes_read", "logs"] {
            line.as_object_mut().unwrap().remove(place);
        }
        line
    };
    lines.iter().map(of).collect()
}

#[test]
fn a_database_is_read_as_from_a_folder() {
    let folder = testdata("databases/levels");
    let mut bucket = Bucket { page: 2, ..Bucket::default() };
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let key = format!("backups/a db/{}", path.file_name().unwrap().to_str().unwrap());
        bucket.objects.insert(key.into_bytes(), std::fs::read(path).unwrap());
    }
    let pages = bucket.objects.len().div_ceil(2);
    let server = bucket.serve();
    let url = format!("http://{}", server.address);
    // Without a signature there is no need for credentials.
    let environment = [("GOOGLE_BASE_URL", &*url), ("GOOGLE_SKIP_SIGNATURE", "true")];
    let folder = folder.to_str().unwrap();
    for (command, options, behind) in [
        ("inspect", &["--depth", "all"][..], &[][..]),
        ("verify", &[], &[]),
        ("query", &[], &["--", "item/0001/919", "no such key"]),
    ] {
        let arguments =
            [&[command, "--json", "--ordered"], options, &["gs://bucket/backups/a db/"], behind].concat();
        let found = Found::of(program(&arguments, &environment));
        let local = run([&[command, "--json"], options, &[folder], behind].concat());
        assert_eq!(
            (facts(&found.lines), found.status),
            (facts(&local.lines()), i32::from(local.status)),
            "{command}"
        );
        assert!(found.lines.len() > 3, "{found:#?}");
    }
    let requests = server.requests();
    let lists = requests.iter().filter(|request| request.path.contains("list-type=2"));
    let tokens: BTreeSet<_> = lists.map(|request| request.path.contains("continuation-token=")).collect();
    assert_eq!(tokens, [false, true].into());
    let lists = requests.iter().filter(|request| request.path.contains("list-type=2")).count();
    assert_eq!(lists, 3 * pages);
    let others = requests.iter().filter(|request| !request.path.contains("list-type=2"));
    assert!(
        others.clone().count() > 5 && others.into_iter().all(|request| request.range().is_some()),
        "{requests:#?}"
    );
}
