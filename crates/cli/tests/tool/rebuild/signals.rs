//! Signals in the middle of a rebuild: the database stays sound, and the program ends as it should.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use super::*;

const TERM: i32 = 15;

/// A database that takes some time to rebuild, since each table is synced.
fn large() -> Db {
    let tables: Vec<_> = (0..150).map(|at| spec(2, 5 + u64::from(at), at * 20..at * 20 + 20)).collect();
    let db = Plan { manifest: 200, log: 201, next: 202, ..plan(tables) };
    db.make()
}

/// Starts a rebuild, sends SIGTERM once `is_begun`, and waits for the end.
#[track_caller]
fn interrupted(
    db: &Db,
    options: &[&str],
    mut is_begun: impl FnMut() -> bool,
) -> (ExitStatus, String, String) {
    let dir = db.dir();
    let mut arguments = args!["rebuild", dir, "--jobs", "1"].to_vec();
    arguments.extend(options.iter().map(Into::into));
    let mut child = command(&arguments).spawn().unwrap();
    let start = Instant::now();
    while !is_begun() {
        assert!(start.elapsed() < Duration::from_secs(600), "it has not begun");
        std::thread::sleep(Duration::from_millis(1));
    }
    let sent = Command::new("sh").args(["-c", &format!("kill -TERM {}", child.id())]).status().unwrap();
    assert!(sent.success());
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(600), "it does not end");
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status, text(output.stdout), text(output.stderr))
}

#[test]
fn in_place_all_is_as_before() {
    let db = large();
    let before = db.contents();
    let dir = db.dir();
    let temporary = || names(&dir).iter().filter(|name| name.ends_with(".dbtmp")).count() > 1;
    let (status, out, err) = interrupted(&db, &["--in-place"], temporary);
    assert_eq!(status.signal(), Some(TERM), "{status}: {out}{err}");
    assert_eq!((&*err, &*out), ("filterblock: interrupted; nothing was changed\n", ""));
    db.is_as(&before);
    // Between the tables' names and the commit.
    let named = || names(&dir).iter().any(|name| name.starts_with("000351"));
    let (status, out, err) = interrupted(&db, &["--in-place", "--json"], named);
    assert_eq!(status.signal(), Some(TERM), "{status}: {out}{err}");
    let line: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&line["object"], &line["status"]), (&"database".into(), &"interrupted".into()));
    assert_eq!(line["error"], "interrupted; nothing was changed");
    db.is_as(&before);
    db.done(&["--in-place"]);
    run(&args!["verify", dir]).expect(0);
}

#[test]
fn a_copy_is_not_there() {
    let db = large();
    let before = db.contents();
    let target = db.path.join("new");
    let (status, out, err) =
        interrupted(&db, &["--to", target.to_str().unwrap()], || names(&db.path).len() > 1);
    assert_eq!(status.signal(), Some(TERM), "{status}: {out}{err}");
    assert_eq!((&*err, &*out), ("filterblock: interrupted\n", ""));
    db.is_as(&before);
}
