//! The output as JSON: a line for the database, whatever the outcome, and before it, unless the run
//! fails, a line for each table.

use serde_json::json;

use super::*;

/// Returns the line for the database, which is the last one, and the lines before it.
#[track_caller]
fn lines(run: &Run) -> (Value, Vec<Value>) {
    let mut lines = run.all_json();
    let last = lines.pop().expect("a line");
    assert_eq!(last["object"], "database", "{run:?}");
    assert!(lines.iter().all(|line| line["object"] == "table"), "{run:?}");
    (last, lines)
}

fn status_of(db: &Db, status: i32, options: &[&str]) -> String {
    let run = db.run(&[options, &["--json"]].concat()).expect(status);
    let (database, tables) = lines(&run);
    assert_eq!(database["path"], db.dir().to_str().unwrap());
    if status == 0 {
        assert_eq!(database["error"], Value::Null);
        assert_eq!(run.err, "");
    } else {
        // The text and the JSON have the same words.
        let notes = database["notes"].as_array().unwrap();
        let said = [&database["error"]].into_iter().chain(notes);
        let said: String = said.map(|text| format!("filterblock: {}\n", text.as_str().unwrap())).collect();
        assert_eq!(run.err, said);
        assert_eq!(tables.len(), 0);
    }
    assert_eq!(database["tables"], tables.len());
    database["status"].as_str().unwrap().to_owned()
}

#[test]
fn every_outcome_has_a_status() {
    let db = usual();
    assert_eq!(status_of(&db, 0, &["--in-place", "--dry-run"]), "dry-run");
    let target = db.path.join("new");
    let to = target.to_str().unwrap();
    assert_eq!(status_of(&db, 0, &["--to", to, "--dry-run"]), "dry-run");
    assert_eq!(status_of(&db, 0, &["--to", to]), "rebuilt");
    assert_eq!(status_of(&db, 1, &["--to", to]), "refused");
    assert_eq!(status_of(&db, 0, &["--in-place"]), "rebuilt");
    assert_eq!(status_of(&db, 1, &["--in-place"]), "refused");
    assert_eq!(status_of(&db, 0, &["--undo"]), "undone");
    assert_eq!(status_of(&db, 1, &["--undo"]), "refused");
    assert_eq!(status_of(&db, 0, &["--in-place"]), "rebuilt");
    assert_eq!(status_of(&db, 0, &["--discard"]), "discarded");
    let lock = filterblock::database::DatabaseLock::exclusive(db.dir()).unwrap();
    for options in [&["--in-place"][..], &["--undo"], &["--discard"], &["--in-place", "--dry-run"]] {
        assert_eq!(status_of(&db, 3, options), "in-use");
    }
    drop(lock);
    fs::remove_file(db.file("CURRENT")).unwrap();
    assert_eq!(status_of(&db, 1, &["--in-place"]), "refused");
}

/// A fault in the database has a kind, unlike a request that cannot be met.
#[test]
fn a_fault_in_the_files_has_a_kind() {
    let kind = |db: &Db, status: i32, options: &[&str]| {
        let run = db.run(&[options, &["--json"]].concat()).expect(status);
        lines(&run).0["error_kind"].clone()
    };
    let db = usual();
    assert_eq!(kind(&db, 0, &["--in-place", "--dry-run"]), Value::Null);
    let of_two_hashes = plan([Spec { keys: vec![b"keys\xff".to_vec()], ..spec(1, 5, 0..1) }]).make();
    assert_eq!(kind(&of_two_hashes, 1, &["--in-place", "--policy", "old"]), Value::Null);
    assert_eq!(kind(&db, 1, &["--undo"]), "missing");
    db.write("filterblock-rebuild", "x");
    assert_eq!(kind(&db, 1, &["--in-place"]), "damaged");
    fs::remove_file(db.file("filterblock-rebuild")).unwrap();
    damage(&db.file("000020.ldb"));
    assert_eq!(kind(&db, 1, &["--in-place"]), "damaged");
    fs::remove_file(db.file("000020.ldb")).unwrap();
    assert_eq!(kind(&db, 1, &["--in-place"]), "missing");
    db.write("CURRENT", "x");
    assert_eq!(kind(&db, 1, &["--in-place"]), "damaged");
    fs::remove_file(db.file("CURRENT")).unwrap();
    assert_eq!(kind(&db, 1, &["--in-place"]), "missing");
}

#[test]
fn a_table_has_all_that_became_of_it() {
    let db = plan([spec(1, 12, 0..200), Spec { policy: None, ..spec(0, 30, 0..100) }]).make();
    let sizes = ["000012.ldb", "000030.ldb"].map(|name| db.read(name).len());
    let old_filter = open(&db.file("000012.ldb")).filter_handle().unwrap().size;
    let run = db.run(&["--in-place", "--bits-per-key", "12", "--json"]).expect(0).quiet();
    let (database, tables) = lines(&run);
    let new = |name: &str| (db.read(name).len(), open(&db.file(name)).filter_handle().unwrap().size);
    let table = |old: &str,
                 new_name: &str,
                 level: u8,
                 old_size: usize,
                 bits: u32,
                 old_filter: Value,
                 entries: u32| {
        let (new_size, filter_size) = new(new_name);
        json!({
            "object": "table",
            "path": db.file(old),
            "level": level,
            "new_name": new_name,
            "old_size": old_size,
            "new_size": new_size,
            "old_filter": old_filter,
            "new_filter": { "policy": NEW, "size": filter_size, "base_lg": 11, "bits_per_key": bits },
            "entries": entries,
            "status": "rebuilt",
            "error": null,
            "error_kind": null,
        })
    };
    let before = json!({ "policy": NEW, "size": old_filter, "base_lg": 11, "bits_per_key": null });
    let expected = [
        table("000030.ldb", "000043.ldb", 0, sizes[1], 12, Value::Null, 100),
        table("000012.ldb", "000042.ldb", 1, sizes[0], 12, before, 200),
    ];
    for (found, expected) in tables.iter().zip(expected) {
        has_all(found, &expected);
    }
    let expected = json!({
        "object": "database",
        "path": db.dir(),
        "status": "rebuilt",
        "error": null,
        "tables": 2,
        "unchanged": 0,
        "old_size": sizes[0] + sizes[1],
        "new_size": new("000042.ldb").0 + new("000043.ldb").0,
        "old_filter_size": old_filter,
        "new_filter_size": new("000042.ldb").1 + new("000043.ldb").1,
        "policy": NEW,
        "manifest": "MANIFEST-000044",
        "target": null,
        "undo": db.undo_folder(),
    });
    has_all(&database, &expected);
}

/// Compares the fields of `expected`. The others are those that every line of the tool has.
#[track_caller]
fn has_all(found: &Value, expected: &Value) {
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(found.get(field), Some(value), "{field}: {found}");
    }
}

#[test]
fn the_database_has_what_is_special_to_a_run() {
    let db = usual();
    let target = db.path.join("new");
    let run = db.run(&["--to", target.to_str().unwrap(), "--drop", "--json"]).expect(0).quiet();
    let (database, tables) = lines(&run);
    let expected = json!({
        "policy": null, "manifest": "MANIFEST-000040", "target": target, "undo": null,
    });
    has_all(&database, &expected);
    for table in &tables {
        // Nothing is decoded to drop filters.
        assert_eq!((&table["new_filter"], &table["entries"]), (&Value::Null, &Value::Null));
        assert!(
            table["path"].as_str().unwrap().ends_with(table["new_name"].as_str().unwrap()),
            "the same name"
        );
    }
    let run = db.run(&["--in-place", "--dry-run", "--json"]).expect(0).quiet();
    let (database, tables) = lines(&run);
    has_all(&database, &json!({ "manifest": null, "target": null, "undo": null }));
    assert_eq!(tables[0]["new_name"], "000044.ldb");
}

#[test]
fn tables_that_stay_as_they_are_say_why() {
    let db = usual();
    damage(&db.file("000020.ldb"));
    let old_filter = open(&db.file("000020.ldb")).filter_handle().unwrap().size;
    let run = db.run(&["--in-place", "--keep-undecodable", "--json"]).expect(0).quiet();
    let (database, tables) = lines(&run);
    assert_eq!(database["unchanged"], 1);
    let found: Vec<_> = tables.iter().map(|table| json!([table["status"], table["error_kind"]])).collect();
    assert_eq!(found, [json!(["rebuilt", null]), json!(["rebuilt", null]), json!(["unchanged", "damaged"])]);
    let error = tables[2]["error"].as_str().unwrap();
    assert!(error.contains("000020.ldb: a block is damaged, at offset "), "{error}");
    let expected = json!({ "policy": NEW, "size": old_filter, "base_lg": 11, "bits_per_key": null });
    assert_eq!((&tables[2]["new_filter"], &tables[2]["entries"]), (&expected, &Value::Null));
    assert_eq!(tables[2]["new_size"], tables[2]["old_size"]);
}

#[test]
fn notes_are_in_the_line_for_the_database() {
    let db = usual();
    db.write("filterblock-rebuild", "x");
    let run = db.run(&["--in-place", "--json"]).expect(1);
    assert_eq!(lines(&run).0["status"], "refused");
    // A journal of a database that was opened since.
    let journal = json!({
        "format": 1, "action": "rebuild", "options": "", "keeps_undo": false,
        "old": { "name": "MANIFEST-000001", "length": 0, "crc32c": 0 }, "new": null,
        "new_files": [], "old_files": [],
    });
    db.write("filterblock-rebuild", serde_json::to_vec(&journal).unwrap());
    let run = db.run(&["--in-place", "--json"]).expect(0);
    let note = "an earlier run was cut off, and the database was opened since; its journal is removed";
    assert_eq!(run.err, db.fill(&format!("filterblock: {{db}}: {note}\n")));
    let (database, _) = lines(&run);
    assert!(database["notes"].to_string().contains(note), "{database}");
}

/// Nobody reads the output, but the rebuild is finished.
#[test]
fn output_that_nobody_reads() {
    for options in [&["--in-place"][..], &["--in-place", "--json"]] {
        let db = usual();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = command(&args!["rebuild", db.dir()]);
        let child = command.args(options).stdout(writer).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(141));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(db.live()[0].1, "000044.ldb");
        db.is_sound();
    }
}

#[test]
fn a_path_that_is_no_text_is_escaped() {
    let mut made = plan([spec(1, 12, 0..20)]);
    made.comparator = b"a\x1b\"b";
    let db = made.make();
    let run = db.run(&["--in-place", "--json"]).expect(1);
    let (database, _) = lines(&run);
    assert!(
        database["error"].as_str().unwrap().contains("ordered by \"a\\x1b\\\"b\", not known here"),
        "{database}"
    );
    assert!(!run.err.contains('\x1b'), "{run:?}");
}
