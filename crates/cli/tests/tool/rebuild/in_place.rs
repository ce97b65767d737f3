//! Tables replaced in the folder of the database, also after another program has opened it since a run that was cut off.

use super::leftovers::{NEW_FILES, OLD_FILES, journal, rebuilt, record};
use super::*;

/// Promise: B3.
#[test]
fn tables_get_new_filters_and_numbers_and_keep_their_data() {
    let db = usual();
    let before = db.contents();
    let data = |name: &str| data_of(&db.file(name));
    let old = ["000012.ldb", "000020.ldb", "000030.ldb"].map(data);
    db.done(&["--in-place", "--bits-per-key", "20"]);
    assert_eq!(
        db.live(),
        [(0, "000044.ldb".into()), (1, "000042.ldb".into()), (2, "000043.ldb".into())],
        "the order of age"
    );
    for (name, old) in ["000042.ldb", "000043.ldb", "000044.ldb"].iter().zip(old) {
        assert!(data_of(&db.file(name)) == old, "{name}");
        assert_eq!(filters_of(&db.file(name)), Some((NEW.to_owned(), 11)));
        assert!((20..30).contains(&bits_of(&db.file(name))), "{}", bits_of(&db.file(name)));
    }
    assert_eq!(db.read("CURRENT"), b"MANIFEST-000045\n");
    assert_eq!(db.read("000041.log"), before["db/000041.log"]);
    db.is_sound();
    // The former tables are kept as they were.
    for name in ["000012.ldb", "000020.ldb", "000030.ldb", "MANIFEST-000040"] {
        assert!(fs::read(db.undo_folder().join(name)).unwrap() == before[&format!("db/{name}")], "{name}");
    }
    assert_eq!(
        names(&db.undo_folder()),
        ["000012.ldb", "000020.ldb", "000030.ldb", "MANIFEST-000040", "filterblock-undo"]
    );
}

/// With the filters that it had before, a new table has the bytes of the old one.
#[test]
fn a_table_with_the_filters_it_had_has_the_bytes_it_had() {
    let db = usual();
    let old = ["000012.ldb", "000020.ldb", "000030.ldb"].map(|name| db.read(name));
    db.done(&["--in-place"]);
    let new = ["000042.ldb", "000043.ldb", "000044.ldb"].map(|name| db.read(name));
    assert!(old == new);
}

#[test]
fn what_was_done_is_said_with_what_to_do_next() {
    let db = usual();
    let out = db.done(&["--in-place", "--bits-per-key", "20"]);
    let expected = "{db}: rebuilt: 3 tables have new filters, and no entry changed
  filters  1.0 KiB before, 2 KiB now: 20 bits per key
  New tables get what the program sets.
  The old tables are in {db}.filterblock-undo. To delete them, or to go back:
    filterblock rebuild --discard {word}
    filterblock rebuild --undo {word}
";
    assert_eq!(out, db.fill(expected));
    // Each of the two is ready to paste.
    db.done(&["--undo"]);
    let verbose = db.done(&["--in-place", "--verbose"]);
    for name in ["000030.ldb", "000012.ldb", "000020.ldb"] {
        assert!(verbose.lines().any(|line| line.starts_with("  level ") && line.contains(name)), "{verbose}");
    }
    let none = plan([Spec { policy: None, ..spec(1, 10, 0..100) }]).make();
    let out = none.done(&["--in-place", "--policy", NEW, "--no-undo"]);
    assert!(
        out.contains("\n  filters  none before, ")
            && out.contains(" only if the program sets this policy.\n"),
        "{out}"
    );
}

#[test]
fn a_dry_run_shows_the_sum_and_writes_nothing() {
    let db = usual();
    let before = db.contents();
    let out = db.done(&["--in-place", "--dry-run", "--bits-per-key", "20"]);
    db.is_as(&before);
    let expected = "{db}: 3 tables would be rebuilt; nothing was written
  filters  1.0 KiB now, 2 KiB then: 20 bits per key
";
    assert_eq!(out, db.fill(expected));
    // The rebuild then does what the dry run says.
    let foretold =
        db.run(&["--in-place", "--dry-run", "--bits-per-key", "20", "--json"]).expect(0).all_json();
    let done = db.run(&["--in-place", "--bits-per-key", "20", "--json"]).expect(0).all_json();
    assert_eq!(foretold[..3], done[..3]);
}

/// A dry run writes nothing, not even the lock file that an opened database has.
#[test]
fn a_dry_run_creates_no_lock() {
    let db = usual();
    fs::remove_file(db.file("LOCK")).unwrap();
    let before = db.contents();
    db.done(&["--in-place", "--dry-run"]);
    db.is_as(&before);
    db.done(&["--in-place"]);
    assert_eq!(db.read("LOCK"), b"");
}

#[test]
fn filters_are_dropped() {
    let db = usual();
    let data = data_of(&db.file("000012.ldb"));
    let out = db.done(&["--in-place", "--drop"]);
    for (_, name) in db.live() {
        assert_eq!(open(&db.file(&name)).filter_name(), None, "{name}");
    }
    assert!(data_of(&db.file("000042.ldb")) == data);
    db.is_sound();
    assert!(out.contains(": 3 tables have no filters, and no entry changed\n"), "{out}");
    assert!(out.contains(" before, none now\n  New tables get what the program sets.\n"), "{out}");
}

#[test]
fn without_undo_nothing_is_kept() {
    let db = usual();
    let out = db.done(&["--in-place", "--no-undo"]);
    assert_eq!(names(&db.path), ["db"]);
    assert!(!out.contains("--undo"), "{out}");
    db.is_sound();
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let tables: Vec<_> = (0..20).map(|at| spec(2, 5 + u64::from(at), at * 50..at * 50 + 50)).collect();
    let all = ["1", "2", "7"].map(|jobs| {
        let db = plan(tables.clone()).make();
        db.done(&["--in-place", "--no-undo", "--bits-per-key", "16", "--jobs", jobs]);
        db.is_sound();
        db.contents()
    });
    assert_same(&all[1], &all[0]);
    assert_same(&all[2], &all[0]);
}

#[test]
fn databases_of_leveldb_and_goleveldb() {
    for (group, name) in [("databases", "levels"), ("goleveldb", "base-lg-11"), ("goleveldb", "base-lg-19")] {
        let source = tables::testdata().join(group).join(name);
        let root = folder();
        let dir = root.path().join("db");
        fs::create_dir(&dir).unwrap();
        for name in names(&source) {
            fs::copy(source.join(&name), dir.join(name)).unwrap();
        }
        let scan = || run(&args!["scan", "--json", dir]).expect(0).out.replace("\\u", "");
        let (before, levels) = (scan(), live(&dir).len());
        run(&args!["rebuild", dir, "--in-place", "--hash", "unsigned", "--bits-per-key", "17"])
            .expect(0)
            .quiet();
        let after = scan();
        assert!(!before.is_empty());
        assert_eq!(before.lines().count(), after.lines().count(), "{name}");
        assert_eq!(live(&dir).len(), levels);
        run(&args!["verify", dir]).expect(0).quiet();
        run(&args!["rebuild", "--undo", dir]).expect(0).quiet();
        assert_eq!(scan(), before);
    }
}

/// A database that was just made, or whose entries are all in logs.
#[test]
fn a_database_without_tables_stays_as_it_is() {
    let db = plan([]).make();
    let before = db.read("CURRENT");
    for options in [&["--drop"][..], &[], &["--policy", "new", "--no-undo"]] {
        let out = db.done(&[&["--in-place"], options].concat());
        assert!(out.ends_with("/db: no tables yet, so there is nothing to do\n"), "{out}");
        assert_eq!(db.read("CURRENT"), before);
        assert!(!db.undo_folder().exists());
    }
}

/// Files that do not belong to the database stay, and so do obsolete tables.
#[test]
fn other_files_stay() {
    let db = usual();
    let others = ["000003.ldb", "notes.txt", "000002.log", "LOG.old", "MANIFEST-000001", "CURRENT.000001"];
    others.iter().for_each(|name| db.write(name, name));
    db.done(&["--in-place"]);
    for name in others {
        assert_eq!(db.read(name), name.as_bytes());
    }
    db.done(&["--undo"]);
    for name in others {
        assert_eq!(db.read(name), name.as_bytes());
    }
}

#[test]
fn a_second_rebuild_needs_a_decision_about_the_first() {
    let db = usual();
    db.done(&["--in-place"]);
    let message = "{db}: an earlier rebuild can still be undone: --discard or --undo first\n\
                   to delete the old tables: filterblock rebuild --discard {word}\n\
                   to go back: filterblock rebuild --undo {word}";
    db.refused(1, &["--in-place", "--bits-per-key", "12"], message);
    db.refused(1, &["--in-place", "--dry-run"], message);
    db.done(&["--discard"]);
    db.done(&["--in-place", "--bits-per-key", "12"]);
    assert_eq!(db.live()[1].1, "000046.ldb");
    db.is_sound();
}

const FORGOTTEN: &str =
    "an earlier run was cut off, and the database was opened since; its journal is removed";
const OVERTAKEN: &str = "an earlier run was cut off before its commit, and the database was opened since; what was \
                         left of that run is removed";

/// Another program has opened the database since, and has used the same numbers. The old tables are live, so the run
/// never committed, and there is nothing to undo.
#[test]
fn after_somebody_opened_the_database_before_the_commit_all_that_was_left_goes() {
    for appended in [false, true] {
        for keeps_undo in [false, true] {
            let db = usual();
            let new = rebuilt();
            let mut journal = journal(&db);
            (journal["new"], journal["keeps_undo"]) =
                (record("MANIFEST-000045", &new["MANIFEST-000045"]), keeps_undo.into());
            NEW_FILES[..3].iter().for_each(|name| db.write(name, "of the other program"));
            let manifest = db.read("MANIFEST-000040");
            if appended {
                let more = manifest::log(&[manifest::Edit::default().number(4, 2000).0]).0;
                db.write("MANIFEST-000040", [manifest, more].concat());
            } else {
                db.write("MANIFEST-000046", manifest);
                db.write("CURRENT", "MANIFEST-000046\n");
            }
            let before = db.contents();
            if keeps_undo {
                fs::create_dir(db.undo_folder()).unwrap();
                OLD_FILES
                    .iter()
                    .for_each(|name| fs::hard_link(db.file(name), db.undo_folder().join(name)).unwrap());
                fs::write(db.undo_folder().join("filterblock-undo"), "{}").unwrap();
            }
            // LevelDB keeps what has the number of a live table.
            db.write("000042.dbtmp", "cut off");
            db.write("filterblock-rebuild.tmp", "cut off");
            db.write_marker(&journal);
            let run = db.run(&["--undo"]).expect(1);
            assert!(run.err.ends_with(&format!("; {OVERTAKEN}\n")), "{run:?}");
            db.is_as(&before);
        }
    }
}

/// None of the old tables is live, so the run may have committed. The files that `--undo` would need stay, and the next
/// rebuild says that it is too late to undo.
#[test]
fn after_somebody_opened_the_database_behind_the_commit_only_marker_and_temporary_files_go() {
    let db = usual();
    let mut journal = journal(&db);
    db.done(&["--in-place"]);
    (journal["new"], journal["keeps_undo"]) = (record("MANIFEST-000045", b"of another time"), true.into());
    let manifest = db.read("MANIFEST-000045");
    db.write("MANIFEST-000047", manifest);
    db.write("CURRENT", "MANIFEST-000047\n");
    let before = db.contents();
    db.write("000042.dbtmp", "cut off");
    db.write_marker(&journal);
    let run = db.run(&["--in-place"]).expect(1);
    let why =
        "{db}: the tables from before an earlier rebuild are kept, but it was opened since: --discard first";
    let discard = "filterblock: to delete the old tables: filterblock rebuild --discard {word}\n";
    let lines = format!("filterblock: {why}; nothing was changed; {FORGOTTEN}\n{discard}");
    assert_eq!(run.err, db.fill(&lines));
    db.is_as(&before);
    db.done(&["--discard"]);
    db.done(&["--in-place"]);
}
