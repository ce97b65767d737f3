//! Pages of databases that have grown, are damaged, have no filters or no tables, or hostile names.

use std::fs;
use std::path::Path;

use filterblock::{BloomFilterPolicy, FilterPolicy, Keys};

use super::super::rebuild::{Db, Spec, plan, spec};
use super::*;

/// Makes the page of the database, and checks it.
#[track_caller]
fn page_of(path: &Path, status: i32, options: &[&str]) -> Node {
    report_with(path, status, options).1
}

/// A table whose keys are every `step`-th of these numbers.
fn stepped(level: u8, number: u64, keys: std::ops::Range<u32>, step: usize, bits: u32) -> Spec {
    let table = spec(level, number, 0..1);
    let keys = keys.step_by(step).map(|key| format!("user/{key:07}/name").into_bytes()).collect();
    Spec { keys, ..table }.policy(BloomFilterPolicy::new(bits))
}

/// A database with tables on four levels. Some of the tables have no filters.
fn grown() -> Db {
    let mut tables = vec![stepped(0, 90, 0..30_000, 60, 10), stepped(0, 91, 4000..29_000, 50, 10)];
    for at in 0..3 {
        tables.push(stepped(1, 80 + u64::from(at), at * 10_000..at * 10_000 + 9000, 20, 10));
    }
    for at in 0..8 {
        let table =
            stepped(2, 60 + u64::from(at), at * 3700..at * 3700 + 3600, 5, if at < 3 { 5 } else { 10 });
        tables.push(Spec { policy: table.policy.filter(|_| at != 5), ..table });
    }
    for at in 0..20 {
        let start = at * 1500;
        let table = stepped(3, 20 + u64::from(at), start..start + 500 + 49 * at, 1, 8);
        tables.push(Spec { policy: table.policy.filter(|_| at % 7 != 3), ..table });
    }
    plan(tables).make()
}

#[test]
fn a_grown_database() {
    let db = grown();
    let page = page_of(&db.dir(), 0, &[]);
    let levels = lines(&page, "without filters");
    let counts: Vec<_> = levels.iter().map(|line| (&*line[0], &*line[1], &*line[2])).collect();
    assert_eq!(
        counts,
        [("level 0", "2", "0"), ("level 1", "3", "0"), ("level 2", "8", "1"), ("level 3", "20", "3")]
    );
    // Tables and rates of four levels each.
    assert_eq!(page.pictures().len(), 8);
}

#[test]
fn a_database_in_which_every_kind_of_thing_is_wrong() {
    let db = grown();
    let cut = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let path = db.dir().join(name);
        let mut bytes = fs::read(&path).unwrap();
        change(&mut bytes);
        fs::write(path, bytes).unwrap();
    };
    cut("000020.ldb", &|bytes| bytes[2000] ^= 1);
    cut("000021.ldb", &|bytes| bytes.truncate(3000));
    cut("000060.ldb", &|bytes| bytes.clear());
    fs::remove_file(db.dir().join("000061.ldb")).unwrap();
    fs::create_dir(db.dir().join("000099.ldb")).unwrap();
    let page = page_of(&db.dir(), 1, &["--no-tune"]);
    let codes: Vec<_> = lines(&page, "what it means").into_iter().map(|line| line[1].clone()).collect();
    for code in ["checksum", "not-a-table", "table-missing", "unreadable"] {
        assert!(codes.iter().any(|found| found == code), "{code}: {codes:?}");
    }
    let happened = lines(&page, "what happened");
    for word in ["lost", "corrected", "saved"] {
        assert!(happened.iter().any(|line| line[0] == word), "{word}: {happened:?}");
    }
}

#[test]
fn a_database_without_filters_and_one_without_tables() {
    let page = page_of(&database("unfiltered"), 0, &["--no-tune"]);
    assert!(page.words().contains("Nothing wrong was seen"));
    let db = plan([]).make();
    let page = page_of(&db.dir(), 0, &[]);
    assert!(page.words().contains("No tables yet"));
}

/// A policy of any name.
struct Named(String);

impl FilterPolicy for Named {
    fn name(&self) -> &str {
        &self.0
    }
    fn create_filter(&self, _: Keys<'_>, dst: &mut Vec<u8>) -> filterblock::Result<()> {
        dst.push(1);
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

const SCRIPT: &str = "<script>document.title='run'</script><img src=x onerror=alert(1)>\"'&lt;";

/// Names and keys that a page must only show, not act on: in the comparator's name, policies, keys, file names and the
/// path.
#[test]
fn hostile_names() {
    let table = |number: u64, keys: Vec<Vec<u8>>| Spec { keys, ..spec(2, number, 0..1) };
    let script = table(20, vec![b"".to_vec(), SCRIPT.as_bytes().to_vec()]).policy(Named(SCRIPT.to_owned()));
    let marks = "\u{202e}\u{2066}gnp.elbat\u{200f}";
    let bidi = table(21, vec![marks.as_bytes().to_vec(), [0xff; 10_000].to_vec()]);
    let bidi = bidi.policy(Named(format!("{marks}{}", "x".repeat(10_000))));
    let mut plan = plan([script, bidi]);
    plan.comparator = Box::leak(SCRIPT.repeat(50).into_bytes().into_boxed_slice());
    let db = plan.make();
    let strays =
        ["<script>alert(1)<a href=x>.ldb", "\"onload=alert(1) x=\".ldb", "\u{202e}bdl.\n\u{1b}[31m.ldb"];
    for stray in strays {
        fs::copy(db.dir().join("000020.ldb"), db.dir().join(stray)).unwrap();
    }
    let dir = db.dir().with_file_name("db<script>alert(2)<!--");
    fs::rename(db.dir(), &dir).unwrap();
    let page = page_of(&dir, 2, &["--no-tune"]);
    // No program has policies of such long names.
    let problems = lines(&page, "at offset");
    assert_eq!((problems.len(), &*problems[0][0], &*problems[0][1]), (1, "000021.ldb", "unsupported"));
    let words = page.words();
    // A long path is cut.
    assert!(words.contains("db<script>alert(2)<!--") || dir.as_os_str().len() > 100, "{words}");
    for text in [
        "<script>alert(1)<a href=x>.ldb",
        "\"onload=alert(1) x=\".ldb",
        r"\xe2\x80\xaebdl.\x0a\x1b[31m.ldb",
        SCRIPT,
        r"\xe2\x80\xae\xe2\x81\xa6gnp.elbat\xe2\x80\x8fxxx",
        "bytes)",
        r#""<script>document.title='run'</script>"#,
    ] {
        assert!(words.contains(text), "{text}");
    }
    assert!(page.of_name("script").len() == 1 && page.of_name("img").is_empty());

    // What a repair says of such keys and files is text, too.
    let keys = [SCRIPT.as_bytes(), marks.as_bytes(), &[b'x'; 10_000], b"\xff<b>"].map(<[u8]>::to_vec);
    let mut keys: Vec<_> = (0..200).map(|key| format!("<i>{key:04}").into_bytes()).chain(keys).collect();
    keys.sort();
    let db = self::plan([table(30, keys)]).make();
    let path = db.dir().join("000030.ldb");
    let mut bytes = fs::read(&path).unwrap();
    (0..1500).step_by(7).for_each(|at| bytes[at] ^= 0x55);
    fs::write(&path, bytes).unwrap();
    let page = page_of(&db.dir(), 1, &["--no-tune"]);
    let lost = &lines(&page, "what happened")[0];
    assert!(lost[0] == "lost" && lost[2].contains("(10,000 bytes)") || lost[2].contains("<i>"), "{lost:?}");
    assert!(page.of_name("i").is_empty() && page.of_name("script").len() == 1);
}
