//! Arguments that go together, and arguments that do not.

use super::*;

#[test]
fn wrong_usage_changes_nothing() {
    let db = usual();
    let before = db.contents();
    for options in [
        &[][..],
        &["--in-place", "--to", "new"],
        &["--in-place", "--undo"],
        &["--undo", "--discard"],
        &["--to", "new", "--no-undo"],
        &["--in-place", "--bits-per-key", "0"],
        &["--in-place", "--bits-per-key", "101"],
        &["--in-place", "--bits-per-key", "0=20,1=10"],
        &["--in-place", "--bits-per-key", "ten"],
        &["--in-place", "--base-lg", "64"],
        &["--in-place", "--base-lg", "-1"],
        &["--in-place", "--policy", "leveldb.BuiltinBloomFilter3"],
        &["--in-place", "--hash", "both"],
        &["--in-place", "--jobs", "0"],
        &["--in-place", "more"],
        &["--in-place", "--drop", "--bits-per-key", "10"],
        &["--in-place", "--drop", "--policy", NEW],
        &["--in-place", "--drop", "--hash", "signed"],
        &["--in-place", "--drop", "--base-lg", "11"],
    ] {
        let run = db.run(options).expect(2);
        assert!(run.err.contains("error: ") && run.out.is_empty(), "{options:?}: {run:?}");
        db.is_as(&before);
    }
}

/// Neither `--undo` nor `--discard` goes with an option for making filters or tables.
#[test]
fn undo_and_discard_take_no_other_options() {
    let db = usual();
    db.done(&["--in-place"]);
    let before = db.contents();
    for action in ["--undo", "--discard"] {
        for option in [
            &["--bits-per-key", "10"][..],
            &["--policy", NEW],
            &["--hash", "signed"],
            &["--base-lg", "11"],
            &["--drop"],
            &["--keep-undecodable"],
            &["--jobs", "1"],
            &["--dry-run"],
            &["--assume-bytewise-equality"],
            &["--no-undo"],
        ] {
            let run = db.run(&[&[action], option].concat()).expect(2);
            assert!(run.err.contains("error: "), "{action} {option:?}: {run:?}");
            db.is_as(&before);
        }
    }
    db.run(&["--undo", "--json"]).expect(0);
}

#[test]
fn the_help_tells_what_matters() {
    let help = run(&["rebuild", "--help"]).expect(0).quiet().out;
    for word in [
        "Usage: filterblock rebuild ",
        "--to <NEW>",
        "--in-place",
        "--undo",
        "--discard",
        "Examples:\n  filterblock rebuild ",
        "Exit status:\n  0    done\n  1    refused, nothing was changed\n",
        "  3    another program has it open\n",
        "Close the program that uses the database first.",
    ] {
        assert!(help.contains(word), "{word}: {help}");
    }
    assert!(run(&["--help"]).expect(0).out.contains("\n  rebuild "));
}

#[test]
fn short_names_of_policies() {
    for (short, long) in [("new", NEW), ("old", OLD)] {
        let db = usual();
        db.done(&["--in-place", "--policy", short, "--hash", "unsigned"]);
        assert_eq!(filters_of(&db.file("000042.ldb")).unwrap().0, long);
    }
}
