//! Incomplete undo folders: from a first attempt, from a run that was cut off, from a removal.

use super::*;

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
            "{{db}}.filterblock-undo: expected only files of a rebuild, found \"{name}\"; move it \
                             somewhere else"
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
    let why = "{db}.filterblock-undo: an earlier --discard was cut off, and some of the tables are left that it was to \
               remove; `filterblock rebuild --discard DB` removes them";
    db.refused(1, &["--in-place"], why);
    db.done(&["--discard"]);
    db.done(&["--in-place"]);
}
