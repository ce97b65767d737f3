//! A second database in a folder of its own.

use super::*;

impl Db {
    fn target(&self) -> PathBuf {
        self.path.join("new")
    }

    #[track_caller]
    fn run_to(&self, options: &[&str]) -> Run {
        let (dir, target) = (self.dir(), self.target());
        let mut arguments = args!["rebuild", dir, "--to", target].to_vec();
        arguments.extend(options.iter().map(Into::into));
        run(&arguments)
    }

    /// Runs the program, which has to fail without a change to the folder or beside it.
    #[track_caller]
    fn refused_to(&self, status: i32, target: &Path, message: &str) {
        let target = target.to_str().unwrap();
        self.refused(status, &["--to", target], message);
    }
}

#[test]
fn the_new_database_has_the_same_files_with_other_filters() {
    let db = usual();
    db.write("000003.ldb", "obsolete");
    db.write("000005.log", "obsolete");
    db.write("notes.txt", "not the database's");
    let before = contents(&db.dir());
    let out = db.run_to(&["--bits-per-key", "20"]).expect(0).quiet().out;
    assert_same(&contents(&db.dir()), &before);
    assert_eq!(names(&db.path), ["db", "new"]);
    let new = db.target();
    assert_eq!(
        names(&new),
        ["000012.ldb", "000020.ldb", "000030.ldb", "000041.log", "CURRENT", "MANIFEST-000040"]
    );
    for name in ["CURRENT", "000041.log"] {
        assert_eq!(fs::read(new.join(name)).unwrap(), before[name]);
    }
    for name in ["000012.ldb", "000020.ldb", "000030.ldb"] {
        assert!(data_of(&new.join(name)) == data_of(&db.file(name)));
        assert!((20..30).contains(&bits_of(&new.join(name))));
    }
    let (old, new_manifest) = (db.manifest(), Manifest::read(&new).unwrap());
    assert_eq!((new_manifest.next_file_number(), old.next_file_number()), (42, 42));
    let levels = |manifest: &Manifest| -> Vec<_> {
        manifest.tables().iter().map(|table| (table.level, table.number)).collect()
    };
    assert_eq!(levels(&new_manifest), levels(&old));
    run(&args!["verify", new]).expect(0).quiet();
    let path = new.display();
    assert!(out.ends_with(&format!("sets.\n  The new database is {path}.\n")), "{out}");
    assert!(
        out.starts_with(&db.fill("{db}: rebuilt: 3 tables have new filters, and no entry changed\n")),
        "{out}"
    );
}

/// The copy is a complete database, so it can be rebuilt in turn.
#[test]
fn the_new_database_goes_on() {
    let db = usual();
    db.run_to(&[]).expect(0);
    for name in ["000012.ldb", "000020.ldb", "000030.ldb"] {
        assert!(fs::read(db.target().join(name)).unwrap() == db.read(name), "the filters are the same");
    }
    run(&args!["rebuild", db.target(), "--in-place", "--drop"]).expect(0).quiet();
    assert_eq!(live(&db.target())[0].1, "000044.ldb");
    run(&args!["rebuild", "--undo", db.target()]).expect(0).quiet();
    run(&args!["verify", db.target()]).expect(0).quiet();
}

/// The next file number is above the MANIFEST's own number, even if that was not so in the old MANIFEST.
#[test]
fn the_next_number_is_above_that_of_the_manifest() {
    let mut made = plan([spec(1, 12, 0..20)]);
    (made.next, made.manifest) = (13, 77);
    let db = made.make();
    db.run_to(&[]).expect(0);
    assert_eq!(Manifest::read(db.target()).unwrap().next_file_number(), 78);
}

#[test]
fn an_empty_folder_is_taken_and_no_other() {
    let db = usual();
    fs::create_dir(db.target()).unwrap();
    db.run_to(&[]).expect(0);
    let new = |why: &str| format!("{}: exists and is not {why}", db.target().display());
    db.refused_to(1, &db.target(), &new("empty: choose another --to"));
    fs::remove_dir_all(db.target()).unwrap();
    fs::write(db.target(), "a file").unwrap();
    db.refused_to(1, &db.target(), &new("a folder"));
    db.refused_to(1, &db.dir(), "{db}: exists and is not empty: choose another --to");
}

#[test]
fn the_folder_is_outside_the_database_and_beside_something() {
    let db = usual();
    db.refused_to(1, &db.file("new"), "{db}/new: lies in the database itself");
    fs::create_dir(db.file("below")).unwrap();
    db.refused_to(1, &db.file("below/new"), "{db}/below/new: lies in the database itself");
    let missing = db.path.join("missing");
    db.refused_to(
        2,
        &missing.join("new"),
        &format!("{}: {}: create it first", missing.display(), not_found()),
    );
    db.refused_to(1, &db.path.join(".."), &format!("{}/..: does not end with a name", db.path.display()));
    db.refused_to(1, Path::new("/"), "/: exists already");
}

#[test]
fn a_path_may_be_relative_or_end_with_a_slash() {
    let db = usual();
    let mut here = command(&["rebuild", "db/", "--to", "new/"]);
    finish(here.current_dir(&db.path).spawn().unwrap()).expect(0).quiet();
    run(&args!["verify", db.target()]).expect(0).quiet();
}

#[test]
fn a_dry_run_makes_no_folder() {
    let db = usual();
    let before = db.contents();
    let out = db.run_to(&["--dry-run"]).expect(0).quiet().out;
    db.is_as(&before);
    assert!(out.starts_with(&db.fill("{db}: 3 tables would be rebuilt; nothing was written\n")), "{out}");
    assert!(!out.contains("The new database"), "{out}");
}

/// The files written before the failure are gone.
#[test]
fn a_failure_leaves_no_folder() {
    let db = usual();
    damage(&db.file("000020.ldb"));
    let before = db.contents();
    let run = db.run_to(&[]).expect(1);
    assert!(run.err.starts_with(&db.fill("filterblock: {db}/000020.ldb: ")), "{run:?}");
    db.is_as(&before);
    db.run_to(&["--keep-undecodable"]).expect(0);
    assert!(fs::read(db.target().join("000020.ldb")).unwrap() == db.read("000020.ldb"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        assert_eq!(fs::metadata(db.target().join("000020.ldb")).unwrap().nlink(), 1, "nothing is shared");
    }
}

/// An incomplete record is of no use. The copy has the records before it, and so has the MANIFEST of a rebuild in place.
#[test]
fn a_manifest_cut_off_within_a_record_is_copied_without_the_rest() {
    let db = usual();
    db.write("MANIFEST-000040", [&db.read("MANIFEST-000040")[..], &[0, 0, 0, 0, 16, 0, 1, 9]].concat());
    db.run_to(&[]).expect(0).quiet();
    run(&args!["verify", db.target()]).expect(0).quiet();
    assert_eq!(Manifest::read(db.target()).unwrap().incomplete_tail(), None);
    db.done(&["--in-place"]);
    assert_eq!(db.manifest().incomplete_tail(), None);
    db.is_sound();
}

#[test]
fn both_live_logs_are_copied() {
    let mut made = plan([spec(1, 12, 0..20)]);
    made.more = manifest::Edit::default().number(9, 39);
    let db = made.make();
    db.write("000038.log", "obsolete");
    db.write("000039.log", "the one before");
    db.write("000043.log", "the one after");
    db.run_to(&[]).expect(0).quiet();
    assert_eq!(
        names(&db.target()),
        ["000012.ldb", "000039.log", "000041.log", "000043.log", "CURRENT", "MANIFEST-000040"]
    );
    assert_eq!(fs::read(db.target().join("000039.log")).unwrap(), b"the one before");
}

/// Leftovers of a rebuild in place do no harm, because nothing is written to that folder.
#[test]
fn leftovers_of_a_rebuild_in_place_do_not_matter() {
    let db = usual();
    db.done(&["--in-place"]);
    let before = db.contents();
    db.write("filterblock-rebuild", "whatever");
    db.run_to(&[]).expect(0).quiet();
    fs::remove_dir_all(db.target()).unwrap();
    fs::remove_file(db.file("filterblock-rebuild")).unwrap();
    db.is_as(&before);
}
