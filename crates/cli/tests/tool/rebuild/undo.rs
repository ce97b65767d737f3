//! `--undo` and `--discard`, and incomplete undo folders: from a first attempt, from a run that was cut off, from a removal.

use serde_json::json;

use super::leftovers::record;
use super::*;

const RECORD: &str = "filterblock-undo";
const NONE: &str = "{db}.filterblock-undo: no such folder: the tables from before the rebuild are not kept";

fn rebuilt() -> Db {
    let db = usual();
    db.done(&["--in-place", "--bits-per-key", "20"]);
    db
}

impl Db {
    fn read_record(&self) -> Value {
        serde_json::from_slice(&fs::read(self.undo_folder().join(RECORD)).unwrap()).unwrap()
    }

    fn write_record(&self, record: &Value) {
        fs::write(self.undo_folder().join(RECORD), serde_json::to_vec(record).unwrap()).unwrap();
    }

    /// Runs `--undo`, which has to refuse because of `what`: something was written since the rebuild.
    #[track_caller]
    fn undo_would_lose(&self, what: &str) {
        let message = format!(
            "{{db}}: {what} since the rebuild: --undo would lose writes\n\
             to delete the old tables: filterblock rebuild --discard {{word}}"
        );
        self.refused(1, &["--undo"], &message);
    }
}

/// Promise: B8.
#[test]
fn all_is_as_before() {
    let before = usual().contents();
    for options in [&["--bits-per-key", "3"][..], &["--drop"], &["--base-lg", "63"]] {
        let db = usual();
        db.done(&[&["--in-place"], options].concat());
        assert_eq!(
            db.done(&["--undo"]),
            db.fill("{db}: undone: the tables from before the rebuild are back\n")
        );
        db.is_as(&before);
        db.refused(1, &["--undo"], NONE);
        db.refused(1, &["--discard"], NONE);
    }
}

#[test]
fn discarding_leaves_the_new_tables() {
    let db = rebuilt();
    let new = contents(&db.dir());
    assert_eq!(
        db.done(&["--discard"]),
        db.fill("{db}: discarded: the tables from before the rebuild are deleted\n")
    );
    assert_eq!(names(&db.path), ["db"]);
    assert_same(&contents(&db.dir()), &new);
    db.refused(1, &["--discard"], NONE);
    db.refused(1, &["--undo"], NONE);
}

#[test]
fn a_database_that_was_opened_is_not_undone() {
    let db = rebuilt();
    let manifest = db.read("MANIFEST-000045");
    // LevelDB writes a new MANIFEST.
    db.write("MANIFEST-000047", &manifest);
    db.write("CURRENT", "MANIFEST-000047\n");
    db.undo_would_lose("was opened");
    // goleveldb goes on with the old one.
    db.write("CURRENT", "MANIFEST-000045\n");
    let more = manifest::log(&[manifest::Edit::default().number(4, 2000).0]).0;
    db.write("MANIFEST-000045", [manifest.clone(), more].concat());
    db.undo_would_lose("was opened");
    // A MANIFEST as long as the one before, but with other bytes.
    let mut other = plan([spec(1, 12, 0..20)]);
    other.more = manifest::Edit::default().number(4, 1001);
    let mut changed = manifest.clone();
    *changed.last_mut().unwrap() ^= 1;
    db.write("MANIFEST-000045", changed);
    db.undo_would_lose("was opened");
    db.write("MANIFEST-000045", manifest);
    fs::remove_file(db.file("MANIFEST-000047")).unwrap();
    db.done(&["--undo"]);
}

#[test]
fn a_log_that_was_written_to_is_not_undone() {
    let db = rebuilt();
    let log = db.read("000041.log");
    db.write("000041.log", [&log[..], b"more"].concat());
    db.undo_would_lose("000041.log was changed");
    db.write("000041.log", [&log[..log.len() - 1], b"x"].concat());
    db.undo_would_lose("000041.log was changed");
    fs::remove_file(db.file("000041.log")).unwrap();
    db.undo_would_lose("000041.log was changed");
    db.write("000041.log", log);
    db.write("000046.log", "");
    db.undo_would_lose("000046.log was written");
    fs::remove_file(db.file("000046.log")).unwrap();
    // A log older than all live ones is of no use to anyone.
    db.write("000040.log", "");
    db.done(&["--undo"]);
}

#[test]
fn undo_needs_the_tables_before() {
    let db = rebuilt();
    let path = db.undo_folder().join("000020.ldb");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[1..]).unwrap();
    let why = format!("has {} bytes, and had {} before the rebuild", bytes.len() - 1, bytes.len());
    db.refused(1, &["--undo"], &format!("{{db}}.filterblock-undo/000020.ldb: {why}"));
    fs::remove_file(&path).unwrap();
    db.refused(1, &["--undo"], "{db}.filterblock-undo/000020.ldb: is missing");
    fs::write(&path, bytes).unwrap();
    let path = db.undo_folder().join("MANIFEST-000040");
    let manifest = fs::read(&path).unwrap();
    let why =
        "{db}.filterblock-undo/MANIFEST-000040: is missing, or not the MANIFEST from before the rebuild";
    fs::write(&path, &manifest[1..]).unwrap();
    db.refused(1, &["--undo"], why);
    fs::remove_file(&path).unwrap();
    db.refused(1, &["--undo"], why);
    fs::write(&path, manifest).unwrap();
    db.done(&["--undo"]);
    run(&args!["verify", db.dir()]).expect(0).quiet();
}

#[test]
fn a_record_that_is_missing_or_strange() {
    let db = rebuilt();
    let path = db.undo_folder().join(RECORD);
    let sound = db.read_record();
    let refused = |found: &str| {
        let message = format!(
            "{{db}}.filterblock-undo/{RECORD}: is no record of a rebuild ({found}), and --undo needs it"
        );
        db.refused(1, &["--undo"], &message);
    };
    fs::remove_file(&path).unwrap();
    refused("no such file");
    fs::write(&path, "{").unwrap();
    refused("EOF while parsing an object at line 1 column 1");
    let mut record = sound.clone();
    record["format"] = json!(2);
    db.write_record(&record);
    refused("format 2, not 1");
    for name in ["../000012.ldb", "CURRENT", "LOCK", "/etc/passwd", "", RECORD, "000012.dbtmp"] {
        let places: [fn(&mut Value) -> &mut Value; 5] = [
            |record| &mut record["original"]["name"],
            |record| &mut record["rebuilt"]["name"],
            |record| &mut record["original_tables"][1]["name"],
            |record| &mut record["rebuilt_tables"][1],
            |record| &mut record["logs"][0]["name"],
        ];
        for place in places {
            let mut record = sound.clone();
            *place(&mut record) = json!(name);
            db.write_record(&record);
            refused(&format!("{} in it", filterblock::quote(name.as_bytes())));
        }
    }
    // A log is neither a table nor a MANIFEST.
    for field in ["original_tables", "rebuilt_tables"] {
        let mut record = sound.clone();
        match field {
            "rebuilt_tables" => record[field][0] = json!("000041.log"),
            _ => record[field][0]["name"] = json!("000041.log"),
        }
        db.write_record(&record);
        refused("\"000041.log\" in it");
    }
    db.write_record(&sound);
    db.done(&["--undo"]);
}

#[test]
fn a_folder_with_files_of_others_stays_as_it_is() {
    let db = rebuilt();
    for name in ["notes", "CURRENT", "000041.log", "LOCK"] {
        let other = db.undo_folder().join(name);
        fs::write(&other, "precious").unwrap();
        let message = format!(
            "{{db}}.filterblock-undo: has \"{name}\", which no rebuild has made\nmove it somewhere else"
        );
        db.refused(1, &["--undo"], &message);
        db.refused(1, &["--discard"], &message);
        fs::remove_file(other).unwrap();
    }
    db.done(&["--undo"]);
}

/// An undo is cut off before its commit, when none, some or all of the old files are back.
#[test]
fn an_undo_that_was_cut_off_before_its_commit() {
    let before = usual().contents();
    let noted = "an earlier run was cut off before its commit; what it had written is removed";
    for there in [0, 2, 4] {
        for options in [&["--undo"][..], &["--discard"], &["--in-place", "--bits-per-key", "20"]] {
            let db = rebuilt();
            let new = db.contents();
            let journal = undo_marker(&db);
            db.write("filterblock-rebuild", &journal);
            for name in ["000012.ldb", "000020.ldb", "000030.ldb", "MANIFEST-000040"].iter().take(there) {
                fs::hard_link(db.undo_folder().join(name), db.file(name)).unwrap();
            }
            let run = db.run(options);
            match options[0] {
                "--undo" => {
                    assert_eq!(run.expect(0).err, db.fill(&format!("filterblock: {{db}}: {noted}\n")));
                    db.is_as(&before);
                }
                "--discard" => {
                    assert_eq!(run.expect(0).err, db.fill(&format!("filterblock: {{db}}: {noted}\n")));
                    db.is_sound();
                    assert!(!db.undo_folder().exists());
                }
                _ => {
                    let state =
                        format!("; nothing was changed; {noted}\nfilterblock: to delete the old tables: ");
                    assert!(run.expect(1).err.contains(&state));
                    db.is_as(&new);
                }
            }
        }
    }
}

/// An undo is cut off after its commit. The next run removes the new tables and the undo folder.
#[test]
fn an_undo_that_was_cut_off_behind_its_commit() {
    let before = usual().contents();
    let noted = "an earlier run was cut off after its commit; it is finished now";
    for gone in [0, 2, 4, 5, 7, 9] {
        for (options, said) in [
            (&["--undo"][..], "{db}: undone: the tables from before the rebuild are back\n"),
            (&["--discard"], "{db}: undone: an earlier --undo is finished now\n"),
        ] {
            let db = rebuilt();
            let journal = undo_marker(&db);
            for name in ["000012.ldb", "000020.ldb", "000030.ldb", "MANIFEST-000040"] {
                fs::hard_link(db.undo_folder().join(name), db.file(name)).unwrap();
            }
            db.write("CURRENT", "MANIFEST-000040\n");
            db.write("filterblock-rebuild", &journal);
            let new = ["000042.ldb", "000043.ldb", "000044.ldb", "MANIFEST-000045"].map(|name| db.file(name));
            let kept = [RECORD, "000012.ldb", "000020.ldb", "000030.ldb", "MANIFEST-000040"];
            let kept = kept.map(|name| db.undo_folder().join(name));
            new.iter().chain(&kept).take(gone).for_each(|path| fs::remove_file(path).unwrap());
            let run = db.run(options).expect(0);
            assert_eq!(run.err, db.fill(&format!("filterblock: {{db}}: {noted}\n")));
            assert_eq!(run.out, db.fill(said));
            db.is_as(&before);
        }
    }
}

/// The journal of an undo of the usual database.
fn undo_marker(db: &Db) -> Vec<u8> {
    let original = fs::read(db.undo_folder().join("MANIFEST-000040")).unwrap();
    let journal = json!({
        "format": 1,
        "action": "undo",
        "options": "",
        "keeps_undo": false,
        "old": record("MANIFEST-000045", &db.read("MANIFEST-000045")),
        "new": record("MANIFEST-000040", &original),
        "new_files": ["000012.ldb", "000020.ldb", "000030.ldb", "MANIFEST-000040"],
        "old_files": ["000042.ldb", "000043.ldb", "000044.ldb", "MANIFEST-000045"],
    });
    serde_json::to_vec(&journal).unwrap()
}

/// A new file under the name of an old one belongs to another program.
#[test]
fn a_file_in_the_way_is_not_replaced() {
    let db = rebuilt();
    db.write("000020.ldb", "somebody's");
    db.undo_would_lose("another 000020.ldb was written");
    fs::remove_file(db.file("000020.ldb")).unwrap();
    // The same contents and the same time, but another file.
    let kept = db.undo_folder().join("MANIFEST-000040");
    db.write("MANIFEST-000040", fs::read(&kept).unwrap());
    let copy = fs::OpenOptions::new().write(true).open(db.file("MANIFEST-000040")).unwrap();
    copy.set_modified(fs::metadata(kept).unwrap().modified().unwrap()).unwrap();
    db.undo_would_lose("another MANIFEST-000040 was written");
    fs::remove_file(db.file("MANIFEST-000040")).unwrap();
    // The file itself, which the rebuild could not remove.
    fs::hard_link(db.undo_folder().join("000020.ldb"), db.file("000020.ldb")).unwrap();
    db.done(&["--undo"]);
    db.is_as(&usual().contents());
}

/// The leftovers of a first attempt to make the undo folder, in the database's folder or beside it.
#[test]
fn a_first_attempt_that_was_cut_off_is_cleared_away() {
    let expected = {
        let db = usual();
        db.done(&["--in-place"]);
        db.contents()
    };
    for (place, contents) in [
        ("db/filterblock-undo.tmp", None),
        ("db/filterblock-undo.tmp", Some("")),
        ("db/filterblock-undo.tmp", Some("MANIFEST-000040\n")),
        ("db.filterblock-undo", None),
        ("db.filterblock-undo", Some("")),
        ("db.filterblock-undo", Some("MANIFEST-000003\n")),
    ] {
        let db = usual();
        fs::create_dir(db.path.join(place)).unwrap();
        if let Some(contents) = contents {
            fs::write(db.path.join(place).join("CURRENT"), contents).unwrap();
        }
        db.done(&["--in-place"]);
        assert_same(&db.contents(), &expected);
    }
    // The record of a folder that was being made is of no use either.
    let db = usual();
    fs::create_dir(db.file("filterblock-undo.tmp")).unwrap();
    for name in ["filterblock-undo", "000012.ldb", "MANIFEST-000040"] {
        fs::write(db.file("filterblock-undo.tmp").join(name), "").unwrap();
    }
    db.done(&["--in-place"]);
    assert_same(&db.contents(), &expected);
    // Files of others stay.
    for name in ["notes", "CURRENT"] {
        let db = usual();
        fs::create_dir(db.undo_folder()).unwrap();
        fs::write(db.undo_folder().join(name), "precious").unwrap();
        let found = format!(
            "{{db}}.filterblock-undo: has \"{name}\", which no rebuild has made\nmove it somewhere else"
        );
        db.refused(1, &["--in-place"], &found);
    }
}

/// A `--discard` that was cut off has removed the record first.
#[test]
fn the_rest_of_a_discard_is_called_that() {
    let db = usual();
    db.done(&["--in-place"]);
    fs::remove_file(db.undo_folder().join("filterblock-undo")).unwrap();
    let why = "{db}: an earlier --discard was cut off: finish it first\nto delete the old tables: filterblock rebuild --discard {word}";
    db.refused(1, &["--in-place"], why);
    db.done(&["--discard"]);
    db.done(&["--in-place"]);
}
