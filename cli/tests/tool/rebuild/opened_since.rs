//! Another program has opened the database after a run that was cut off.

use super::leftovers::{NEW_FILES, OLD_FILES, marker, rebuilt, record};
use super::*;

const FORGOTTEN: &str =
    "an earlier run was cut off, and the database was opened since; its marker is removed";
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
            let mut marker = marker(&db);
            (marker["new"], marker["keeps_undo"]) =
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
            db.write_marker(&marker);
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
    let mut marker = marker(&db);
    db.done(&["--in-place"]);
    (marker["new"], marker["keeps_undo"]) = (record("MANIFEST-000045", b"of another time"), true.into());
    let manifest = db.read("MANIFEST-000045");
    db.write("MANIFEST-000047", manifest);
    db.write("CURRENT", "MANIFEST-000047\n");
    let before = db.contents();
    db.write("000042.dbtmp", "cut off");
    db.write_marker(&marker);
    let run = db.run(&["--in-place"]).expect(1);
    let why = "{db}.filterblock-undo: the tables from before an earlier rebuild are there, and the database was opened \
               since, so they cannot come back; `filterblock rebuild --discard DB` removes them";
    assert_eq!(run.err, db.fill(&format!("filterblock: {why}; {FORGOTTEN}\n")));
    db.is_as(&before);
    db.done(&["--discard"]);
    db.done(&["--in-place"]);
}
