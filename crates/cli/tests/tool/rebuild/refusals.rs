//! Databases that are not rebuilt, and the reasons as users read them. Nothing is changed.

use super::*;
use crate::repair::idb;

#[test]
fn what_is_no_database() {
    let root = folder();
    let path = fs::canonicalize(root.path()).unwrap();
    for options in
        [&["--in-place"][..], &["--to", "new"], &["--undo"], &["--discard"], &["--in-place", "--dry-run"]]
    {
        let mut arguments = args!["rebuild", path].to_vec();
        arguments.extend(options.iter().map(Into::into));
        let nothing = run(&arguments).expect(2);
        let why = "no database here: no CURRENT, table (.ldb, .sst) or log";
        assert_eq!(nothing.err, format!("filterblock: {}: {why}\n", path.display()));
        arguments[1] = path.join("missing").into();
        let missing = run(&arguments).expect(2);
        let why = format!("{}: {}", path.join("missing").display(), not_found());
        assert_eq!(missing.err, format!("filterblock: {why}\n"));
    }
    assert_eq!(names(&path), [""; 0]);
    let file = file(&root, "file.ldb", "x");
    let run = run(&args!["rebuild", file, "--in-place"]).expect(2);
    assert!(run.err.starts_with(&format!("filterblock: {}/file.ldb", path.display())), "{run:?}");
}

#[test]
fn a_database_without_current_is_one_to_repair() {
    let db = usual();
    fs::remove_file(db.file("CURRENT")).unwrap();
    db.repaired_first(&["--in-place"], "{db}: CURRENT is missing");
}

#[test]
fn a_missing_or_strange_manifest() {
    let db = usual();
    for (current, found) in [
        (&b"MANIFEST-000040"[..], "no line feed at its end, as a text editor or a shell may write it"),
        (b"../MANIFEST-000040\n", "\"../MANIFEST-000040\\x0a\""),
        (b"000012.ldb\n", "\"000012.ldb\\x0a\""),
        (&[b'0'; 1 << 20], "more than 64 bytes"),
    ] {
        db.write("CURRENT", current);
        db.repaired_first(&["--in-place"], &format!("{{db}}/CURRENT: has {found}"));
    }
    db.write("CURRENT", "MANIFEST-000039\n");
    db.repaired_first(&["--in-place"], "{db}/MANIFEST-000039: is missing, and CURRENT names it");
}

/// The MANIFEST has a tag that RocksDB and other relatives write.
#[test]
fn a_manifest_with_fields_that_are_not_leveldbs() {
    let mut made = plan([spec(1, 12, 0..20)]);
    made.more = manifest::Edit::default().varint(100).varint(7);
    let db = made.make();
    let before = db.contents();
    let target = db.path.join("new");
    for options in [
        &["--in-place"][..],
        &["--to", target.to_str().unwrap()],
        &["--in-place", "--drop", "--keep-undecodable"],
    ] {
        let run = db.run(options).expect(1);
        let refusal =
            db.fill("filterblock: {db}: a RocksDB database; filterblock reads LevelDB; nothing was ");
        assert!(run.err.starts_with(&refusal), "{run:?}");
        db.is_as(&before);
    }
}

#[test]
fn a_damaged_manifest() {
    let db = usual();
    let mut bytes = db.read("MANIFEST-000040");
    bytes[20] ^= 1;
    db.write("MANIFEST-000040", bytes);
    let before = db.contents();
    let target = db.path.join("new");
    for options in [&["--in-place"][..], &["--in-place", "--dry-run"], &["--to", target.to_str().unwrap()]] {
        let run = db.run(options).expect(1);
        assert!(run.err.starts_with(&db.fill("filterblock: {db}/MANIFEST-000040: ")), "{run:?}");
        assert!(run.err.contains("a record is damaged, at offset 0; nothing was changed\n"), "{run:?}");
        db.is_as(&before);
    }
}

/// Promise: B7.
#[test]
fn tables_that_are_missing_or_of_another_size() {
    let db = usual();
    let bytes = db.read("000012.ldb");
    let len = bytes.len();
    fs::remove_file(db.file("000012.ldb")).unwrap();
    let missing = "{db}/000012.ldb: is missing";
    let target = db.path.join("new");
    let all = [
        &["--in-place"][..],
        &["--in-place", "--dry-run"],
        &["--in-place", "--drop", "--keep-undecodable"],
        &["--to", target.to_str().unwrap()],
    ];
    for options in all {
        db.repaired_first(options, missing);
    }
    db.write("000012.ldb", &bytes[..len - 1]);
    let bytes_of = |len: usize| format!("{},{:03} bytes", len / 1000, len % 1000);
    let size =
        |found| format!("{{db}}/000012.ldb: has {} and should have {}", bytes_of(found), bytes_of(len));
    all.iter().for_each(|options| db.repaired_first(options, &size(len - 1)));
    db.write("000012.ldb", [&bytes[..], b"x"].concat());
    all.iter().for_each(|options| db.repaired_first(options, &size(len + 1)));
}

#[test]
fn one_number_on_two_levels() {
    let db = usual();
    let bytes = db.read("000012.ldb").len() as u64;
    let old = db.manifest().tables().iter().find(|table| table.number == 12).unwrap().clone();
    let more = manifest::Edit::default().add(5, 12, bytes, &old.smallest, &old.largest);
    db.write("MANIFEST-000040", [db.read("MANIFEST-000040"), manifest::log(&[more.0]).0].concat());
    db.repaired_first(&["--in-place"], "{db}/MANIFEST-000040: table 12 is on two levels");
}

#[test]
fn a_comparator_that_may_take_different_keys_for_equal() {
    let mut made = plan([spec(1, 12, 0..300)]);
    made.comparator = b"theirs \x1b";
    let db = made.make();
    let message = "{db}: keys are ordered by \"theirs \\x1b\", not known here\n\
                   --assume-bytewise-equality, if it never takes different bytes for equal";
    db.refused(1, &["--in-place"], message);
    db.refused(1, &["--in-place", "--dry-run"], message);
    let target = db.path.join("new");
    db.refused(1, &["--to", target.to_str().unwrap()], message);
    db.done(&["--in-place", "--assume-bytewise-equality", "--no-undo"]);
    assert_eq!(db.manifest().comparator(), Some(&b"theirs \x1b"[..]));
    assert_eq!(db.live(), [(1, "000042.ldb".into())]);
    // Without filters, nothing can be hidden.
    db.done(&["--in-place", "--drop"]);
    assert_eq!(db.manifest().comparator(), Some(&b"theirs \x1b"[..]));
}

/// In Chromium's order, zero equals minus zero.
#[test]
fn keys_that_equal_others_in_chromiums_order_get_no_filters() {
    const POLICY: &str = "--policy=leveldb.BuiltinBloomFilter2";
    let dir = idb(&[-2.0, 0.0, 2.0]);
    let lines = run(&args!["scan", dir.path()]).expect(0).out;
    run(&args!["rebuild", "--in-place", "--no-undo", POLICY, dir.path()]).expect(0);
    let tables = run(&args!["inspect", "--json", dir.path()]).expect(0).out;
    assert!(tables.contains("leveldb.BuiltinBloomFilter2"), "{tables}");
    run(&args!["verify", dir.path()]).expect(0);
    assert_eq!(run(&args!["scan", dir.path()]).expect(0).out, lines);

    let dir = idb(&[-2.0, -0.0, 2.0]);
    for how in [&["--in-place"][..], &["--in-place", "--dry-run"]] {
        let mut arguments = args!["rebuild", POLICY, dir.path()].to_vec();
        arguments.extend(how.iter().map(Into::into));
        let refused = run(&arguments).expect(1);
        let why = "000005.ldb: has keys that idb_cmp1 takes for equal, as \"\\x00\\x01";
        let remedy = "\nfilterblock: --keep-undecodable leaves it as it is\n";
        assert!(refused.err.contains(why) && refused.err.ends_with(remedy), "{refused:?}");
    }
    run(&args!["rebuild", "--in-place", "--no-undo", "--drop", dir.path()]).expect(0);
}

#[test]
fn damaged_data_is_refused_or_kept() {
    let db = usual();
    damage(&db.file("000012.ldb"));
    let before = db.contents();
    let target = db.path.join("new");
    let all = [
        &["--in-place"][..],
        &["--in-place", "--dry-run"],
        &["--in-place", "--drop"],
        &["--to", target.to_str().unwrap()],
    ];
    for options in all {
        let run = db.run(options).expect(1);
        assert!(
            run.err.starts_with(&db.fill("filterblock: {db}/000012.ldb: a block is damaged, at offset ")),
            "{run:?}"
        );
        let first = "; nothing was changed\nfilterblock: first: filterblock repair ";
        assert!(run.err.contains(first) && run.err.lines().count() == 2, "{run:?}");
        db.is_as(&before);
    }
    let out = db.done(&["--in-place", "--keep-undecodable", "--bits-per-key", "20"]);
    assert!(
        out.starts_with(&db.fill("{db}: rebuilt: 2 tables have new filters, and no entry changed\n")),
        "{out}"
    );
    assert!(
        out.contains(&db.fill("\n  unchanged: 1 table\n  {db}/000012.ldb: a block is damaged, at offset ")),
        "{out}"
    );
    assert!(db.read("000042.ldb") == before["db/000012.ldb"], "under its new number");
    assert!((20..30).contains(&bits_of(&db.file("000043.ldb"))));
    db.done(&["--undo"]);
    db.is_as(&before);
}

/// The file has no footer of a table, or is too short for one.
#[test]
fn what_is_no_table_is_refused_or_kept() {
    for contents in [vec![b'x'; 1000], b"short".to_vec()] {
        let db = usual();
        let edit = manifest::Edit::default().delete(1, 12).add(
            1,
            13,
            contents.len() as u64,
            &manifest::value_key("a"),
            &manifest::value_key("b"),
        );
        db.write("000013.ldb", &contents);
        db.write("MANIFEST-000040", [db.read("MANIFEST-000040"), manifest::log(&[edit.0]).0].concat());
        let before = db.contents();
        let run = db.run(&["--in-place"]).expect(1);
        assert!(run.err.starts_with(&db.fill("filterblock: {db}/000013.ldb: ")), "{run:?}");
        db.is_as(&before);
        db.done(&["--in-place", "--keep-undecodable"]);
        assert_eq!(db.read("000042.ldb"), contents);
    }
}

/// Two tables of one level that overlap. Only verification finds that, because each block can be decoded.
#[test]
fn tables_that_are_not_sound() {
    let db = plan([spec(1, 12, 0..200), spec(1, 13, 100..300)]).make();
    let before = db.contents();
    let target = db.path.join("new");
    for options in [&["--in-place"][..], &["--in-place", "--drop"], &["--to", target.to_str().unwrap()]] {
        let run = db.run(options).expect(1);
        assert!(run.err.contains("on the same level 1"), "{run:?}");
        assert!(run.err.starts_with(&db.fill("filterblock: {db}/000013.ldb: ")), "{run:?}");
        assert!(run.err.contains("; the table was so before; `filterblock verify` tells more"), "{run:?}");
        db.is_as(&before);
    }
}

/// The test's process, which is another one than the program's, holds the lock.
#[test]
fn a_database_in_use() {
    let db = usual();
    db.done(&["--in-place"]);
    let lock = filterblock::database::DatabaseLock::exclusive(db.dir()).unwrap();
    // `LOCK` is not read meanwhile: that would release the lock.
    let before = names(&db.dir());
    let target = db.path.join("new");
    let all = [
        &["--in-place"][..],
        &["--in-place", "--dry-run"],
        &["--to", target.to_str().unwrap()],
        &["--undo"],
        &["--discard"],
    ];
    for options in all {
        let run = db.run(options).expect(3);
        let message = "filterblock: {db}/LOCK: another program has it open: close it\n";
        assert_eq!(run.err, db.fill(message));
        assert_eq!((names(&db.dir()), run.out), (before.clone(), String::new()));
    }
    assert_eq!(names(&db.path), ["db", "db.filterblock-undo"]);
    drop(lock);
    db.done(&["--undo"]);
}

/// A process that reads the database, as `--to` does, prevents writing, but not reading.
#[test]
fn a_database_that_is_read() {
    let db = usual();
    let lock = filterblock::database::DatabaseLock::shared(db.dir()).unwrap().unwrap();
    db.run(&["--in-place"]).expect(3);
    db.done(&["--in-place", "--dry-run"]);
    let target = db.path.join("new");
    db.done(&["--to", target.to_str().unwrap()]);
    drop(lock);
    db.done(&["--in-place"]);
}

#[test]
fn what_is_no_folder_is_refused() {
    let db = usual();
    let file = db.file("CURRENT");
    let folder = filterblock_engine::text::path_word(file.parent().unwrap());
    let message = format!("filterblock: {}: a file; give its folder: {folder}\n", file.display());
    for options in [&["--in-place"][..], &["--undo"], &["--discard"], &["--to", "/new"]] {
        let mut arguments = args!["rebuild", file].to_vec();
        arguments.extend(options.iter().map(Into::into));
        assert_eq!(run(&arguments).expect(2).err, message);
    }
    let run = db.run(&["--to", file.join("new").to_str().unwrap()]).expect(2);
    assert_eq!(run.err, message);
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_to() {
    use std::os::unix::fs::PermissionsExt as _;
    let db = usual();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&db.dir(), 0o555);
    if fs::write(db.file("try"), "").is_ok() {
        println!("skipped: permissions do not stop this user, who is probably root");
        return;
    }
    let before = db.contents();
    let run = db.run(&["--in-place"]).expect(1);
    assert!(run.err.contains("Permission denied") && run.err.contains("run this as the user"), "{run:?}");
    let run = db.run(&["--in-place", "--no-undo"]).expect(2);
    assert!(run.err.contains("Permission denied") && run.err.contains("run this as the user"), "{run:?}");
    db.is_as(&before);
    db.done(&["--in-place", "--dry-run"]);
    mode(&db.dir(), 0o755);
    // The undo folder cannot be made beside it.
    mode(&db.path, 0o555);
    let run = db.run(&["--in-place"]).expect(1);
    assert!(run.err.contains("making the folder for --undo: Permission denied"), "{run:?}");
    assert!(
        run.err.ends_with("; nothing was changed\nfilterblock: --no-undo does without this folder\n"),
        "{run:?}"
    );
    db.is_as(&before);
    db.done(&["--in-place", "--no-undo"]);
    mode(&db.path, 0o755);
    // A table that may not be read.
    mode(&db.file("000042.ldb"), 0);
    let run = db.run(&["--in-place"]).expect(2);
    assert!(run.err.contains("000042.ldb: reading it: Permission denied"), "{run:?}");
    let kept = db.run(&["--in-place", "--keep-undecodable"]).expect(2);
    assert!(kept.err.contains("000042.ldb: reading it: Permission denied"), "{kept:?}");
}

/// A table of 8 TiB, nearly all of it a hole: more than the file systems of a test run have room for.
#[cfg(target_os = "linux")]
#[test]
fn a_file_system_without_room() {
    use std::os::unix::fs::FileExt as _;
    let db = usual();
    let bytes = db.read("000012.ldb");
    let len = 8_u64 << 40;
    let file = fs::OpenOptions::new().write(true).open(db.file("000012.ldb")).unwrap();
    if file.set_len(len).is_err() {
        println!("skipped: this file system has no files of 8 TiB");
        return;
    }
    file.write_all_at(&bytes[bytes.len() - 48..], len - 48).unwrap();
    drop(file);
    let old = db.manifest().tables().iter().find(|table| table.number == 12).unwrap().clone();
    let edit = manifest::Edit::default().delete(1, 12);
    let edits = [edit.0, manifest::Edit::default().add(1, 12, len, &old.smallest, &old.largest).0];
    db.write("MANIFEST-000040", [db.read("MANIFEST-000040"), manifest::log(&edits).0].concat());
    let before = db.names();
    let target = db.path.join("new");
    for options in [&["--in-place"][..], &["--to", target.to_str().unwrap()]] {
        let run = db.run(options).expect(1);
        assert!(run.err.contains(": needs 8.0 TiB free, has "), "{run:?}");
        assert!(
            run.err.ends_with("\nfilterblock: --to NEW on another disk, or free some space\n"),
            "{run:?}"
        );
        assert_eq!(db.names(), before);
    }
    assert_eq!(names(&db.path), ["db"]);
}
