//! Tables replaced in groups, with a commit for each.

use super::*;

fn ten() -> Db {
    let tables: Vec<_> = (0..10).map(|at| spec(2, 5 + u64::from(at), at * 50..at * 50 + 50)).collect();
    plan(tables).make()
}

fn size_of_one(db: &Db) -> u64 {
    db.read("000005.ldb").len() as u64
}

/// Rebuilds the database in groups of this size. Returns the number of commits, which the MANIFEST's number shows.
#[track_caller]
fn commits(db: &Db, batch: u64) -> u64 {
    let first = 42 + db.live().len() as u64;
    db.done(&["--in-place", "--no-undo", "--batch", &batch.to_string()]);
    let current = String::from_utf8(db.read("CURRENT")).unwrap();
    let number: u64 = current.trim_end().strip_prefix("MANIFEST-").unwrap().parse().unwrap();
    assert_eq!(db.manifest().next_file_number(), number + 1);
    number - first + 1
}

#[test]
fn groups_have_at_most_so_many_bytes_and_at_least_one_table() {
    let one = size_of_one(&ten());
    // The last table's keys are as long as the first one's, but their values compress differently.
    for (batch, expected) in [(1, 10), (one * 3 + one / 2, 4), (one * 100, 1)] {
        let db = ten();
        assert_eq!(commits(&db, batch), expected, "{batch}");
        db.is_sound();
        let names: Vec<_> = db.live().into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, (42..52).map(|number| format!("{number:06}.ldb")).collect::<Vec<_>>());
    }
}

#[test]
fn the_result_is_that_of_one_commit_but_for_the_manifests_number() {
    let (one, many) = (ten(), ten());
    one.done(&["--in-place", "--no-undo", "--bits-per-key", "16"]);
    many.done(&["--in-place", "--no-undo", "--bits-per-key", "16", "--batch", "1"]);
    let (mut one_edit, mut many_edit) = (one.manifest().snapshot(), many.manifest().snapshot());
    (one_edit.next_file_number, many_edit.next_file_number) = (None, None);
    assert_eq!(one_edit, many_edit);
    for (_, name) in one.live() {
        assert!(one.read(&name) == many.read(&name));
    }
}

/// The newest tables come first, so that after each commit a higher number still means a newer table. The third table
/// to be replaced is damaged: the two newer ones get their new filters, and the rest stays as it was.
#[test]
fn a_failure_leaves_the_groups_before_it() {
    let db = ten();
    damage(&db.file("000012.ldb"));
    let before = db.contents();
    let options = ["--in-place", "--no-undo", "--bits-per-key", "20", "--batch", "1"];
    let run = db.run(&options).expect(1);
    assert!(
        run.err.contains("; the database is sound, and some of its tables have their new filters\n"),
        "{run:?}"
    );
    let names: Vec<_> = db.live().into_iter().map(|(_, name)| name).collect();
    let expected =
        ["000005", "000006", "000007", "000008", "000009", "000010", "000011", "000012", "000050", "000051"];
    assert_eq!(names, expected.map(|number| format!("{number}.ldb")));
    for name in &names[..8] {
        assert!(db.read(name) == before[&format!("db/{name}")]);
    }
    assert!((20..30).contains(&bits_of(&db.file("000050.ldb"))));
    assert_eq!(db.read("CURRENT"), b"MANIFEST-000053\n");
    assert_eq!(
        db.names().len(),
        10 + ["MANIFEST-000053", "CURRENT", "LOCK", "LOG", "000041.log"].len(),
        "{:?}",
        db.names()
    );
    // The next run goes on from there, with all tables.
    db.done(&["--in-place", "--no-undo", "--keep-undecodable", "--batch", "1"]);
    let first = db.live()[0].1.clone();
    assert_eq!(first, "000054.ldb");
}

/// After each commit, the database is sound and complete. A damaged table stops each run before the next commit.
#[test]
fn the_database_is_sound_after_each_commit() {
    for stop in [5, 9, 14] {
        let db = ten();
        let entries = |db: &Db| -> usize {
            db.live().iter().map(|(_, name)| open(&db.file(name)).iter().map(Result::unwrap).count()).sum()
        };
        let before = entries(&db);
        let bytes = db.read(&format!("{stop:06}.ldb"));
        damage(&db.file(&format!("{stop:06}.ldb")));
        let run = db.run(&["--in-place", "--no-undo", "--batch", "1"]).expect(1);
        assert_eq!(run.err.contains("as it was before"), stop == 14, "{run:?}");
        db.write(&format!("{stop:06}.ldb"), bytes);
        assert_eq!(entries(&db), before);
        db.is_sound();
        let numbers: Vec<_> = db.manifest().tables().iter().map(|table| table.number).collect();
        assert!(numbers.is_sorted(), "the order of age: {numbers:?}");
        assert_eq!(numbers.iter().filter(|&&number| number >= 42).count() as u64, 14 - stop);
    }
}

#[test]
fn a_batch_needs_to_do_without_undo() {
    let db = ten();
    let before = db.contents();
    for options in [&["--in-place", "--batch", "1"][..], &["--to", "new", "--batch", "1"]] {
        let run = db.run(options).expect(2);
        assert!(run.err.contains("'--batch <SIZE>'") || run.err.contains("--no-undo"), "{run:?}");
    }
    db.is_as(&before);
}

#[test]
fn sizes_have_units() {
    let db = ten();
    db.done(&["--in-place", "--no-undo", "--batch", "1M"]);
    assert_eq!(db.read("CURRENT"), b"MANIFEST-000052\n");
}
