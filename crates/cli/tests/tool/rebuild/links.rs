//! Links, and other files that are not regular.

use std::os::unix::fs::symlink;

use super::*;

/// Moves a file out of the folder and leaves a link to it.
fn replace_by_link(db: &Db, name: &str) {
    let elsewhere = db.path.join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::rename(db.file(name), elsewhere.join(name)).unwrap();
    symlink(elsewhere.join(name), db.file(name)).unwrap();
}

#[test]
fn links_in_the_folder_are_refused_in_place() {
    for name in ["000012.ldb", "CURRENT", "MANIFEST-000040"] {
        let db = usual();
        replace_by_link(&db, name);
        let message = "is a link, or no file\n--to NEW makes a copy";
        db.refused(1, &["--in-place"], &format!("{{db}}/{name}: {message}"));
        // A copy has files in their place.
        let target = db.path.join("new");
        db.done(&["--to", target.to_str().unwrap()]);
        assert!(fs::symlink_metadata(target.join(name)).unwrap().is_file());
        run(&args!["verify", target]).expect(0).quiet();
    }
}

#[test]
fn a_lock_that_is_a_link_is_refused() {
    let db = usual();
    replace_by_link(&db, "LOCK");
    let before = db.contents();
    for options in [&["--in-place"][..], &["--undo"], &["--discard"]] {
        let run = db.run(options).expect(2);
        assert!(run.err.starts_with(&db.fill("filterblock: {db}/LOCK: ")), "{run:?}");
        assert!(run.err.contains("a symbolic link"), "{run:?}");
        db.is_as(&before);
    }
}

/// The undo folder is beside the folder itself, not beside the link.
#[test]
fn the_folder_itself_may_be_a_link() {
    let db = usual();
    let before = db.contents();
    let elsewhere = folder();
    let link = elsewhere.path().join("link");
    symlink(db.dir(), &link).unwrap();
    run(&args!["rebuild", link, "--in-place", "--bits-per-key", "20"]).expect(0).quiet();
    assert_eq!(names(elsewhere.path()), ["link"]);
    assert_eq!(names(&db.path), ["db", "db.filterblock-undo"]);
    db.is_sound();
    run(&args!["rebuild", "--undo", link]).expect(0).quiet();
    db.is_as(&before);
}

#[test]
fn a_link_in_the_place_of_the_target_is_refused() {
    let db = usual();
    let (link, elsewhere) = (db.path.join("link"), db.path.join("elsewhere"));
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &link).unwrap();
    db.refused(
        1,
        &["--to", link.to_str().unwrap()],
        &format!("{}: exists and is not a folder", link.display()),
    );
    // Into a folder that a link leads to.
    db.done(&["--to", link.join("new").to_str().unwrap()]);
    run(&args!["verify", elsewhere.join("new")]).expect(0).quiet();
    // The link may lead to the database.
    fs::remove_file(&link).unwrap();
    symlink(db.dir(), &link).unwrap();
    let target = link.join("new");
    db.refused(
        1,
        &["--to", target.to_str().unwrap()],
        &format!("{}: lies in the database itself", target.display()),
    );
}

/// Opening a pipe would wait for its other end.
#[test]
fn pipes_are_not_waited_for() {
    for name in ["CURRENT", "MANIFEST-000040", "000012.ldb", "LOCK", "filterblock-rebuild"] {
        let db = usual();
        let _ = fs::remove_file(db.file(name));
        assert!(Command::new("mkfifo").arg(db.file(name)).status().unwrap().success());
        let before = db.contents();
        for options in [&["--in-place"][..], &["--in-place", "--dry-run"], &["--undo"]] {
            if name == "filterblock-rebuild" && options.contains(&"--dry-run") {
                continue;
            }
            let run = db.run(options);
            assert!([1, 2].contains(&run.status), "{name} {options:?}: {run:?}");
            db.is_as(&before);
        }
    }
}

/// The link may lead to any folder.
#[test]
fn an_undo_folder_that_is_a_link_is_not_removed() {
    let db = usual();
    db.done(&["--in-place"]);
    let elsewhere = db.path.join("elsewhere");
    fs::rename(db.undo_folder(), &elsewhere).unwrap();
    symlink(&elsewhere, db.undo_folder()).unwrap();
    let message =
        "{db}.filterblock-undo: is not a folder; that of the tables from before the rebuild has this name";
    db.refused(1, &["--undo"], message);
    db.refused(1, &["--discard"], message);
}
