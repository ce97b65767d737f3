//! Folders, files and groups that belong to others. Only root can set up most of these; other users skip such tests.

use std::os::unix::fs::{PermissionsExt as _, chown};

use super::*;

const USER: u32 = 12345;
const OTHER_GROUP: u32 = 54321;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Gives the whole database to another owner and group. Returns false without root's rights.
fn give_away(db: &Db, owner: u32, group: u32) -> bool {
    set_mode(&db.path, 0o755);
    let paths = names(&db.dir()).into_iter().map(|name| db.file(&name)).chain([db.dir()]);
    paths.into_iter().all(|path| chown(path, Some(owner), Some(group)).is_ok())
}

impl Db {
    /// Runs the program as a user who is in no group but their own.
    fn run_as_user(&self, options: &[&str]) -> Run {
        let dir = self.dir();
        let mut arguments = args!["rebuild", dir].to_vec();
        arguments.extend(options.iter().map(Into::into));
        run_as(USER, &arguments)
    }
}

/// While root works in a user's folder, that user could exchange the files in it.
#[test]
fn root_does_not_work_in_the_folder_of_a_user() {
    let db = usual();
    if !give_away(&db, USER, USER) {
        return;
    }
    let why = "{db}: belongs to user 12345, who could redirect root's writes\nrun: sudo -u '#12345' filterblock rebuild ";
    db.refused(1, &["--in-place"], &format!("{why}{{word}} --in-place …"));
    db.refused(1, &["--in-place", "--dry-run"], &format!("{why}{{word}} --in-place …"));
    db.refused(1, &["--undo"], &format!("{why}--undo {{word}}"));
    db.refused(1, &["--discard"], &format!("{why}--discard {{word}}"));
    // The owner may, if the folder around it is writable for them.
    chown(&db.path, Some(USER), Some(USER)).unwrap();
    db.run_as_user(&["--in-place"]).expect(0).quiet();
    db.run_as_user(&["--undo"]).expect(0).quiet();
}

#[test]
fn root_makes_a_copy_only_where_nobody_else_can_exchange_a_folder() {
    let db = usual();
    let (between, inner) = (db.path.join("between"), db.path.join("between/inner"));
    fs::create_dir_all(&inner).unwrap();
    let target = inner.join("new");
    let copy = || db.run(&["--to", target.to_str().unwrap()]);
    if chown(&between, Some(USER), None).is_err() {
        return;
    }
    let expected = |who: &str| {
        format!(
            "filterblock: {}: {who} can replace {}; nothing was changed\n\
             filterblock: choose another place, or run it as the owner of that folder\n",
            inner.display(),
            between.display()
        )
    };
    assert_eq!(copy().expect(1).err, expected(&format!("user {USER}")));
    chown(&between, Some(0), None).unwrap();
    for mode in [0o775, 0o757] {
        set_mode(&between, mode);
        assert_eq!(copy().expect(1).err, expected("others"));
    }
    assert_eq!(names(&inner), [""; 0]);
    // Like /tmp: nobody removes or renames what belongs to others.
    set_mode(&between, 0o1777);
    copy().expect(0).quiet();
}

/// The group of the old files cannot be given to the new ones, so the group of the new ones has no rights.
#[test]
fn a_group_that_cannot_be_given_loses_its_rights() {
    let db = usual();
    if !give_away(&db, USER, OTHER_GROUP) {
        return;
    }
    chown(&db.path, Some(USER), Some(USER)).unwrap();
    for name in ["000012.ldb", "CURRENT"] {
        set_mode(&db.file(name), 0o664);
    }
    let is_private = |path: &Path| {
        use std::os::unix::fs::MetadataExt as _;
        let found = fs::metadata(path).unwrap();
        assert_eq!((found.uid(), found.gid()), (USER, USER), "{}", path.display());
        assert_eq!(found.mode() & 0o070, 0, "{}", path.display());
    };
    let note = "the group of the old files has no rights to the new ones, as it could not be given to them";
    let target = db.path.join("new");
    let run = db.run_as_user(&["--to", target.to_str().unwrap()]).expect(0);
    assert_eq!(run.err, format!("filterblock: {}: {note}\n", target.display()));
    names(&target).into_iter().for_each(|name| is_private(&target.join(name)));
    is_private(&target);
    let run = db.run_as_user(&["--in-place"]).expect(0);
    assert_eq!(run.err, db.fill(&format!("filterblock: {{db}}: {note}\n")));
    for (_, name) in db.live() {
        is_private(&db.file(&name));
    }
    is_private(&db.file("CURRENT"));
    assert_eq!(db.run_as_user(&["--undo"]).expect(0).err, "");
}

/// A table belongs to another owner. In place, the new file would have a new owner, which is refused. In a copy, a new
/// owner is expected.
#[test]
fn another_owner_of_a_table_is_refused_in_place_and_not_in_a_copy() {
    let db = usual();
    if !give_away(&db, USER, USER) {
        return;
    }
    chown(&db.path, Some(USER), Some(USER)).unwrap();
    chown(db.file("000020.ldb"), Some(USER + 1), Some(USER)).unwrap();
    let before = db.contents();
    let run = db.run_as_user(&["--in-place"]);
    assert!([1, 2].contains(&run.status) && run.err.contains("run this as the user"), "{run:?}");
    db.is_as(&before);
    db.run_as_user(&["--to", db.path.join("new").to_str().unwrap()]).expect(0).quiet();
}

/// An undo folder that belonged to another user could not be told from a forged one.
#[test]
fn a_folder_of_another_user_is_refused_before_anything_is_done() {
    let db = usual();
    if !give_away(&db, USER, USER) {
        return;
    }
    for path in [&db.dir(), &db.path] {
        chown(path, Some(USER + 1), Some(USER)).unwrap();
        set_mode(path, 0o775);
    }
    let before = db.contents();
    let run = db.run_as_user(&["--in-place"]).expect(1);
    let why = "belongs to user 12346, and the folder for --undo would have to, too; nothing was changed";
    let remedy = "filterblock: --no-undo does without this folder\n";
    assert_eq!(run.err, db.fill(&format!("filterblock: {{db}}: {why}\n{remedy}")));
    db.is_as(&before);
    db.run_as_user(&["--in-place", "--no-undo"]).expect(0).quiet();
}

/// Whoever can write beside the database could forge this folder, and bring keys of their own into the database.
#[test]
fn an_undo_folder_of_somebody_elses_making_is_refused() {
    let rebuilt = || {
        let db = usual();
        db.done(&["--in-place"]);
        db
    };
    let refused = |db: &Db, options: &[&[&str]]| {
        let before = db.contents();
        for options in options {
            let run = db.run(options).expect(1);
            assert!(
                run.err.contains("move it somewhere else") || run.err.contains("has another owner or mode"),
                "{run:?}"
            );
            db.is_as(&before);
        }
    };
    // Modes by which somebody else may have written.
    for (name, mode) in [("", 0o777), ("", 0o730), ("filterblock-undo", 0o666)] {
        let db = rebuilt();
        set_mode(&db.undo_folder().join(name), mode);
        let all: [&[&str]; 3] = [&["--undo"], &["--discard"], &["--in-place"]];
        // The record is not needed to remove the folder.
        refused(&db, if name.is_empty() { &all } else { &all[..1] });
    }
    // A table that somebody else may have changed since, by its mode.
    let db = rebuilt();
    set_mode(&db.undo_folder().join("000012.ldb"), 0o666);
    refused(&db, &[&["--undo"]]);
    // Owners, which only root can give.
    for name in ["", "filterblock-undo", "000012.ldb", "MANIFEST-000040"] {
        let db = rebuilt();
        if chown(db.undo_folder().join(name), Some(USER), None).is_err() {
            return;
        }
        refused(&db, &[&["--undo"]]);
    }
}

/// A rebuild by an earlier version gave the undo folder the mode of the database's folder, and its record holds no
/// owners.
#[test]
fn an_undo_folder_of_an_earlier_version_can_be_undone() {
    let before = usual().contents();
    let db = usual();
    db.done(&["--in-place"]);
    set_mode(&db.undo_folder(), 0o755);
    let path = db.undo_folder().join("filterblock-undo");
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for table in record["original_tables"].as_array_mut().unwrap() {
        table.as_object_mut().unwrap().remove("rights").expect("this version has it");
    }
    fs::write(&path, record.to_string()).unwrap();
    set_mode(&path, 0o644);
    db.done(&["--undo"]);
    db.is_as(&before);
}

/// Obstacles to the undo folder are found before any table is read, even a damaged one.
#[test]
fn what_makes_undoing_impossible_is_found_first() {
    let db = usual();
    damage(&db.file("000020.ldb"));
    let long = db.path.join("x".repeat(250));
    fs::rename(db.dir(), &long).unwrap();
    let rebuild = |options: &[&str]| {
        let mut arguments = args!["rebuild", long].to_vec();
        arguments.extend(options.iter().map(Into::into));
        run(&arguments)
    };
    let before = contents(&long);
    let said = rebuild(&["--in-place"]).expect(1).err;
    assert!(said.contains("making the folder for --undo: "), "{said}");
    assert!(said.ends_with("\nfilterblock: --no-undo does without this folder\n"), "{said}");
    assert_same(&contents(&long), &before);
    assert_eq!(names(&db.path), [long.file_name().unwrap().to_str().unwrap()]);
    let said = rebuild(&["--in-place", "--no-undo"]).expect(1).err;
    assert!(said.contains("000020.ldb") && !said.contains("--undo"), "{said}");

    // A folder that only root can write to.
    let db = usual();
    damage(&db.file("000020.ldb"));
    set_mode(&db.path, 0o555);
    let status = db.run(&["--in-place"]);
    set_mode(&db.path, 0o755);
    assert_eq!(status.status, 1);
    assert!(status.err.contains("--no-undo does without") || status.err.contains("000020.ldb"), "{status:?}");
}
