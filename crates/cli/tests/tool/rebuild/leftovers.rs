//! The files that an interrupted run leaves, put together by hand, and what the next run does with them.

use serde_json::json;

use super::*;

const MARKER: &str = "filterblock-rebuild";
/// The options of `--bits-per-key 20`, as the journal has them.
const BITS_20: &str = "Make { bits: 20, policy: None, hash: None, base_lg: None }";

pub(super) const OLD_FILES: [&str; 4] = ["000012.ldb", "000020.ldb", "000030.ldb", "MANIFEST-000040"];
pub(super) const NEW_FILES: [&str; 4] = ["000042.ldb", "000043.ldb", "000044.ldb", "MANIFEST-000045"];

const ABANDONED: &str = "an earlier run was cut off before its commit; what it had written is removed";
const FINISHED: &str = "an earlier run was cut off after its commit; it is finished now";

/// The files of the usual database after a rebuild with 20 bits a key.
pub(super) fn rebuilt() -> Contents {
    let db = usual();
    db.done(&["--in-place", "--bits-per-key", "20", "--no-undo"]);
    contents(&db.dir())
}

pub(super) fn record(name: &str, contents: &[u8]) -> Value {
    json!({ "name": name, "length": contents.len(), "crc32c": crc32c::crc32c(contents) })
}

/// The journal of a rebuild of the usual database, without the new MANIFEST.
pub(super) fn journal(db: &Db) -> Value {
    json!({
        "format": 1,
        "action": "rebuild",
        "options": BITS_20,
        "keeps_undo": false,
        "old": record("MANIFEST-000040", &db.read("MANIFEST-000040")),
        "new": null,
        "new_files": NEW_FILES,
        "old_files": OLD_FILES,
    })
}

impl Db {
    pub(super) fn write_marker(&self, journal: &Value) {
        self.write(MARKER, serde_json::to_vec(journal).unwrap());
    }

    /// Runs the program, which has to succeed with this note on an earlier run.
    #[track_caller]
    fn done_with_note(&self, options: &[&str], note: &str) -> String {
        let run = self.run(options).expect(0);
        assert_eq!(run.err, self.fill(&format!("filterblock: {{db}}: {note}\n")));
        run.out
    }
}

/// The databases that a run leaves if it is cut off before its commit, each with its name. They differ in how many
/// tables are written, how many of these have their final names, whether there is a new MANIFEST, and whether there is
/// an undo folder, complete or not.
fn before_the_commit() -> Vec<(String, Db)> {
    let new = rebuilt();
    let mut states = Vec::new();
    for written in 0..=3 {
        for named in [0, 1, 2, 3].into_iter().filter(|&named| named == 0 || written == 3) {
            let db = usual();
            let mut journal = journal(&db);
            for (at, name) in NEW_FILES[..3].iter().enumerate().rev().take(written) {
                // The newest table gets its name first.
                let temporary = name.replace("ldb", "dbtmp");
                db.write(if 2 - at < named { name } else { &temporary }, &new[*name]);
            }
            if written == 3 {
                journal["new"] = record("MANIFEST-000045", &new["MANIFEST-000045"]);
            }
            db.write_marker(&journal);
            states.push((format!("{written} written, {named} named"), db));
        }
    }
    for undo in 0..=5 {
        let db = usual();
        NEW_FILES.iter().for_each(|name| db.write(name, &new[*name]));
        let mut journal = journal(&db);
        (journal["new"], journal["keeps_undo"]) =
            (record("MANIFEST-000045", &new["MANIFEST-000045"]), true.into());
        db.write_marker(&journal);
        db.write("000045.dbtmp", "MANIFEST-000045\n");
        if undo > 0 {
            fs::create_dir(db.undo_folder()).unwrap();
        }
        for name in OLD_FILES.iter().take(undo.max(1) - 1) {
            fs::hard_link(db.file(name), db.undo_folder().join(name)).unwrap();
        }
        if undo == 5 {
            fs::write(db.undo_folder().join("filterblock-undo"), "{}").unwrap();
        }
        states.push((format!("all there, undo {undo}"), db));
    }
    states
}

#[test]
fn before_the_commit_the_next_run_begins_anew() {
    let expected = rebuilt();
    for (state, db) in before_the_commit() {
        println!("{state}");
        let out = db.done_with_note(&["--in-place", "--bits-per-key", "20", "--no-undo"], ABANDONED);
        assert!(out.contains(": rebuilt: 3 tables have new filters"), "{out}");
        assert_same(&contents(&db.dir()), &expected);
        assert_eq!(names(&db.path), ["db"]);
    }
}

#[test]
fn before_the_commit_there_is_nothing_to_undo() {
    let before = usual().contents();
    for (state, db) in before_the_commit() {
        println!("{state}");
        let run = db.run(&["--undo"]).expect(1);
        let why = "{db}.filterblock-undo: no such folder: the tables from before the rebuild are not kept";
        assert_eq!(run.err, db.fill(&format!("filterblock: {why}; nothing was changed; {ABANDONED}\n")));
        db.is_as(&before);
    }
}

/// A dry run writes nothing, and reads the database as it is.
#[test]
fn a_dry_run_leaves_leftovers_alone() {
    let (_, db) = before_the_commit().swap_remove(2);
    let before = db.contents();
    db.done(&["--in-place", "--dry-run"]);
    db.is_as(&before);
}

/// The databases that a run leaves if it is cut off after its commit: with none, some or all of the old files.
fn after_the_commit() -> Vec<Db> {
    let (new, old) = (rebuilt(), usual());
    let states = (0..=4).map(|left| {
        let db = usual();
        let mut journal = journal(&db);
        journal["new"] = record("MANIFEST-000045", &new["MANIFEST-000045"]);
        OLD_FILES.iter().for_each(|name| fs::remove_file(db.file(name)).unwrap());
        new.iter().for_each(|(name, bytes)| db.write(name, bytes));
        OLD_FILES.iter().rev().take(left).for_each(|name| db.write(name, old.read(name)));
        db.write_marker(&journal);
        db
    });
    states.collect()
}

#[test]
fn after_the_commit_the_same_run_only_finishes() {
    let expected = rebuilt();
    for db in after_the_commit() {
        let out = db.done_with_note(&["--in-place", "--bits-per-key", "20"], FINISHED);
        assert_eq!(out, db.fill("{db}: rebuilt: an earlier run is finished now\n"));
        assert_same(&contents(&db.dir()), &expected);
    }
}

#[test]
fn after_the_commit_another_run_goes_on() {
    for db in after_the_commit() {
        let out = db.done_with_note(&["--in-place", "--bits-per-key", "12"], FINISHED);
        assert!(out.contains(": rebuilt: 3 tables have new filters"), "{out}");
        assert_eq!(db.live()[0].1, "000048.ldb");
        db.is_sound();
    }
}

/// The undo folder was complete before the commit, so it stays and is named.
#[test]
fn after_the_commit_undo_is_possible() {
    let before = usual().contents();
    for [same, undo] in [[true, true], [true, false], [false, true]] {
        let db = usual();
        db.done(&["--in-place", "--bits-per-key", "20"]);
        let mut journal = journal(&usual());
        (journal["new"], journal["keeps_undo"]) =
            (record("MANIFEST-000045", &db.read("MANIFEST-000045")), true.into());
        db.write_marker(&journal);
        OLD_FILES.iter().for_each(|name| fs::hard_link(db.undo_folder().join(name), db.file(name)).unwrap());
        if same {
            let out = db.done_with_note(&["--in-place", "--bits-per-key", "20"], FINISHED);
            let lines = "{db}: rebuilt: an earlier run is finished now
  The old tables are in {db}.filterblock-undo. To delete them, or to go back:
    filterblock rebuild --discard {word}
    filterblock rebuild --undo {word}\n";
            assert_eq!(out, db.fill(lines));
            if undo {
                db.done(&["--undo"]);
                db.is_as(&before);
            }
        } else {
            let out = db.done_with_note(&["--undo"], FINISHED);
            assert_eq!(out, db.fill("{db}: undone: the tables from before the rebuild are back\n"));
            db.is_as(&before);
        }
    }
}

/// A live table is missing or cut off. The leftovers may be all that there is of its data.
#[test]
fn nothing_is_removed_while_a_table_is_missing() {
    for is_new in [false, true] {
        let db = usual();
        let new = rebuilt();
        let mut journal = journal(&db);
        journal["new"] = record("MANIFEST-000045", &new["MANIFEST-000045"]);
        NEW_FILES.iter().for_each(|name| db.write(name, &new[*name]));
        if is_new {
            db.write("CURRENT", "MANIFEST-000045\n");
        }
        let gone = if is_new { "000043.ldb" } else { "000020.ldb" };
        let moved = db.path.join(gone);
        db.write_marker(&journal);
        for cut in [false, true] {
            match cut {
                true => fs::write(db.file(gone), "cut").unwrap(),
                false => fs::rename(db.file(gone), &moved).unwrap(),
            }
            let before = db.contents();
            for options in [&["--in-place"][..], &["--undo"], &["--discard"]] {
                let run = db.run(options).expect(1);
                assert!(
                    run.err.contains(gone) && run.err.contains("nothing of what it left is removed"),
                    "{run:?}"
                );
                db.is_as(&before);
            }
        }
        fs::rename(&moved, db.file(gone)).unwrap();
        run(&args!["rebuild", db.dir(), "--in-place", "--no-undo"]).expect(0);
        db.is_sound();
    }
}

/// Live files stay even if a journal lists them.
#[test]
fn live_files_are_never_removed() {
    let old = usual();
    for is_new in [false, true] {
        let db = usual();
        let mut journal = journal(&db);
        if is_new {
            journal["new"] = journal["old"].clone();
            journal["old"] = record("MANIFEST-000039", b"");
        }
        let all: Vec<_> = OLD_FILES.iter().chain(&NEW_FILES).chain(&["000012.sst", "12.ldb"]).collect();
        (journal["new_files"], journal["old_files"]) = (json!(all), json!(all));
        NEW_FILES.iter().for_each(|name| db.write(name, "left over"));
        db.write_marker(&journal);
        db.run(&["--undo"]).expect(1);
        db.is_as(&old.contents());
    }
}

#[test]
fn markers_that_name_other_files_are_refused() {
    let names = [
        "../precious",
        "../000001.ldb",
        "/etc/passwd",
        "CURRENT",
        "LOCK",
        "LOG",
        "000041.log",
        "000041.dbtmp",
        "CURRENT.000001",
        "",
        ".",
        "filterblock-rebuild",
        "000012.ldb/..",
        "000012.ldb\u{0}",
    ];
    for name in names {
        for field in ["new_files", "old_files", "old", "new"] {
            let db = usual();
            fs::write(db.path.join("precious"), "").unwrap();
            fs::write(db.path.join("000001.ldb"), "").unwrap();
            let mut journal = journal(&db);
            match field {
                "old" => journal["old"]["name"] = json!(name),
                "new" => journal["new"] = record(name, b""),
                _ => journal[field][1] = json!(name),
            }
            db.write_marker(&journal);
            let found = format!("{} in it", filterblock::quote(name.as_bytes()));
            refused_marker(&db, &found);
        }
    }
}

/// Checks that no action changes anything while there is a journal that is not understood.
#[track_caller]
fn refused_marker(db: &Db, found: &str) {
    let message =
        format!("{{db}}/filterblock-rebuild: is none of filterblock's ({found}): look at it, then remove it");
    for options in [&["--in-place"][..], &["--undo"], &["--discard"]] {
        db.refused(1, options, &message);
    }
}

#[test]
fn what_is_no_marker_is_refused() {
    let db = usual();
    let sound = journal(&db);
    let changed = |field: &str, value: Value| {
        let mut journal = sound.clone();
        journal[field] = value;
        serde_json::to_vec(&journal).unwrap()
    };
    for (contents, found) in [
        (b"".to_vec(), "EOF while parsing a value at line 1 column 0"),
        (b"notes".to_vec(), "expected ident at line 1 column 2"),
        (changed("format", json!(2)), "format 2, not 1"),
        (b"{}".to_vec(), "missing field `format` at line 1 column 2"),
    ] {
        db.write(MARKER, contents);
        refused_marker(&db, found);
    }
    for contents in [
        changed("format", json!(-1)),
        changed("action", json!("discard")),
        changed("old", Value::Null),
        changed("new_files", json!("000042.ldb")),
        serde_json::to_vec(&sound).unwrap().split_last().unwrap().1.to_vec(),
        [serde_json::to_vec(&sound).unwrap(), b"more".to_vec()].concat(),
        vec![b'['; 1 << 20],
    ] {
        db.write(MARKER, contents);
        let before = db.contents();
        let run = db.run(&["--in-place"]).expect(1);
        assert!(run.err.contains("is none of filterblock's ("), "{run:?}");
        db.is_as(&before);
    }
}

/// If the journal is not complete, nothing was written after it, so it does not matter.
#[test]
fn a_marker_that_was_being_written_is_removed() {
    let db = usual();
    let before = db.contents();
    db.write("filterblock-rebuild.tmp", "{\"format\": 1, \"act");
    db.run(&["--undo"]).expect(1);
    db.is_as(&before);
}

/// An obstacle in the file system makes one run fail. Without it, the next run goes on.
#[test]
fn recovery_that_fails_says_why_and_goes_on_later() {
    let db = usual();
    let journal = journal(&db);
    db.write_marker(&journal);
    // A folder cannot be removed as a file is.
    fs::create_dir(db.file("000043.ldb")).unwrap();
    let run = db.run(&["--in-place"]).expect(2);
    assert!(run.err.starts_with(&db.fill("filterblock: {db}/000043.ldb: removing it: ")), "{run:?}");
    assert!(db.file(MARKER).exists());
    fs::remove_dir(db.file("000043.ldb")).unwrap();
    db.done_with_note(&["--in-place"], ABANDONED);
    db.is_sound();
}

/// A rebuild fails after it has cleared away an earlier run's files. The message reports both.
#[test]
fn a_refusal_also_tells_what_was_cleared_away() {
    let db = usual();
    db.write_marker(&journal(&db));
    damage(&db.file("000012.ldb"));
    let run = db.run(&["--in-place"]).expect(1);
    assert!(run.err.contains(&format!("; nothing was changed; {ABANDONED}\n")), "{run:?}");
}
