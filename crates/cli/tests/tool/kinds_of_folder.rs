//! The result of each command for each kind of folder.

use std::fs;
use std::path::Path;

use super::manifest::copy_of;
use super::*;

/// The commands that take folders, but `repair`.
const COMMANDS: [&str; 9] =
    ["inspect", "query", "scan", "get", "manifest", "verify", "tune", "report", "rebuild"];

/// For each kind of folder the exit statuses of the commands, also with `--recursive`. `query` and `get` are asked for a key
/// that is there; `scan` is given no `--comparator`.
const STATUSES: [(&str, [i32; 9]); 10] = [
    ("database", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("tables and logs", [1, 0, 2, 2, 2, 1, 1, 1, 1]),
    ("logs alone", [1, 0, 2, 2, 2, 1, 1, 1, 1]),
    ("tables alone", [0, 0, 0, 0, 2, 0, 2, 0, 1]),
    ("CURRENT missing", [1, 0, 2, 2, 2, 1, 1, 1, 1]),
    ("CURRENT damaged", [1, 0, 2, 2, 1, 1, 1, 1, 1]),
    ("MANIFEST missing", [1, 0, 2, 2, 2, 1, 1, 1, 1]),
    ("MANIFEST damaged", [1, 0, 2, 2, 1, 1, 1, 1, 1]),
    ("empty", [2, 2, 2, 2, 2, 2, 2, 2, 2]),
    ("missing", [2, 2, 2, 2, 2, 2, 2, 2, 2]),
];

/// Makes a folder of this kind.
fn make(kind: &str, at: &Path) {
    let source = copy_of(&database("levels"));
    let keep = |is_kept: &dyn Fn(&str) -> bool| {
        fs::create_dir(at).unwrap();
        for entry in fs::read_dir(source.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if is_kept(name) {
                fs::copy(&path, at.join(name)).unwrap();
            }
        }
    };
    let is_table = |name: &str| name.ends_with(".ldb");
    let is_log = |name: &str| name.ends_with(".log");
    match kind {
        "database" => keep(&|_| true),
        "tables and logs" => keep(&|name| is_table(name) || is_log(name)),
        "logs alone" => keep(&is_log),
        "tables alone" => keep(&is_table),
        "CURRENT missing" => keep(&|name| name != "CURRENT"),
        "CURRENT damaged" => {
            keep(&|_| true);
            fs::write(at.join("CURRENT"), "no name").unwrap();
        }
        "MANIFEST missing" => keep(&|name| !name.starts_with("MANIFEST")),
        "MANIFEST damaged" => {
            keep(&|_| true);
            let path = at.join("MANIFEST-000008");
            let mut bytes = fs::read(&path).unwrap();
            bytes[20] ^= 1;
            fs::write(path, bytes).unwrap();
        }
        "empty" => fs::create_dir(at).unwrap(),
        "missing" => {}
        other => panic!("{other} in the table"),
    }
}

/// Runs a command on each kind of folder, and compares its exit status with the table. `says` holds for each
/// kind a text that has to be in the output, and one that must not be.
fn walk(command: &str, before: &[&str], behind: &[&str], recursive: bool, says: &[(&str, &str, &str)]) {
    let column = COMMANDS.iter().position(|name| *name == command).unwrap();
    for (kind, statuses) in STATUSES {
        let status = statuses[column];
        for more in [&[][..], &["--recursive"]].iter().take(if recursive { 2 } else { 1 }) {
            let folder = folder();
            let at = folder.path().join("db");
            make(kind, &at);
            if (command, kind) == ("tune", "database") {
                // Without tables there is less to try.
                fs::remove_file(at.join("000009.ldb")).unwrap();
                write_manifest(&at, &[]);
            }
            let output = folder.path().join("output");
            let mut arguments = args![command].to_vec();
            arguments.extend(before.iter().map(Into::into));
            arguments.extend(more.iter().map(Into::into));
            arguments.push(at.into());
            let place = |word: &&str| if *word == "OUTPUT" { output.clone().into() } else { word.into() };
            arguments.extend(behind.iter().map(place));
            let run = run(&arguments);
            assert_eq!(run.status, status, "{command} {more:?} of {kind}: {run:?}");
            let said = [&*run.out, &*run.err].concat();
            if status == 2 || (status == 1 && !before.contains(&"--json")) {
                assert!(!said.is_empty(), "{command} {more:?} of {kind}");
            }
            for (of, says, not) in says.iter().filter(|(of, ..)| *of == kind) {
                assert!(said.contains(says), "{command} {more:?} of {of}, {says}: {run:?}");
                assert!(not.is_empty() || !said.contains(not), "{command} of {of}, {not}: {run:?}");
            }
        }
    }
}

const NOTHING: (&str, &str, &str) = ("empty", "no database here: no CURRENT, table (.ldb, .sst) or log", "");

#[test]
fn inspect() {
    let says = [
        NOTHING,
        ("tables and logs", "damaged", ""),
        ("logs alone", "damaged", ""),
        ("tables alone", "3 ", "damaged"),
    ];
    walk("inspect", &[], &[], true, &says);
}

#[test]
fn get() {
    let newer = "there may be a newer value";
    let says = [
        NOTHING,
        ("tables and logs", newer, ""),
        ("MANIFEST damaged", newer, ""),
        ("tables alone", "", newer),
    ];
    walk("get", &[], &["item/0001/919"], false, &says);
}

#[test]
fn manifest() {
    let says = [
        NOTHING,
        ("tables and logs", "CURRENT is missing", "the folder has"),
        ("tables alone", "no MANIFEST here, only tables", ""),
        (
            "CURRENT missing",
            "; the folder has MANIFEST-000008\nfilterblock: to see it: filterblock manifest ",
            "",
        ),
        (
            "CURRENT damaged",
            "; the folder has MANIFEST-000008\nfilterblock: to see it: filterblock manifest ",
            "",
        ),
        ("MANIFEST missing", "MANIFEST-000008 is missing, and CURRENT names it", ""),
        ("MANIFEST damaged", "a record is damaged, at offset 0", "live on"),
    ];
    walk("manifest", &[], &[], false, &says);
}

#[test]
fn query() {
    let log = "000010.log: \"item/0000/0\": may be there, with a value in this log";
    let says = [
        NOTHING,
        ("database", log, "CURRENT"),
        ("tables and logs", log, ""),
        ("tables and logs", "CURRENT is missing", ""),
        ("logs alone", log, ""),
        ("tables alone", "000005.ldb", "log"),
        ("MANIFEST damaged", log, ""),
    ];
    walk("query", &[], &["--", "item/0000/0"], true, &says);
}

#[test]
fn scan() {
    let (newest, older) = ("item/0000/0\t162\n", "item/0000/0\t12\n");
    let one_by_one = "so each table and log is shown by itself, with old values and deleted keys";
    let says = [
        NOTHING,
        ("database", newest, older),
        ("tables and logs", newest, ""),
        ("tables and logs", older, ""),
        ("tables and logs", one_by_one, ""),
        ("logs alone", newest, older),
        ("logs alone", "CURRENT is missing, so", ""),
        ("tables alone", older, newest),
        ("tables alone", "no MANIFEST, so each table is shown by itself", "CURRENT"),
        ("CURRENT missing", newest, ""),
        ("CURRENT damaged", one_by_one, ""),
        ("MANIFEST missing", older, ""),
        ("MANIFEST damaged", one_by_one, ""),
    ];
    walk("scan", &["--sizes"], &[], true, &says);
    // Each of these notes is in JSON, too.
    let notes = ["tables and logs", "tables alone"].map(|kind| (kind, "shown by itself", ""));
    walk("scan", &["--json"], &[], true, &notes);
    // So is the state of the file that an entry is from.
    for kind in ["tables and logs", "CURRENT damaged"] {
        let folder = folder();
        let at = folder.path().join("db");
        make(kind, &at);
        let named = table("single-4096-bloom10.ldb");
        for line in run(&args!["scan", "--json", "--all", at, named]).expect(2).all_json() {
            let path = line["path"].as_str().unwrap();
            if line["object"] == "entry" {
                let state = match path {
                    _ if path == named.to_str().unwrap() => Value::Null,
                    _ if path.ends_with(".log") => "log".into(),
                    _ => "unknown".into(),
                };
                assert_eq!(line["state"], state, "{line}");
            }
        }
    }
    // With an order, the newest writes win.
    for kind in ["database", "tables and logs", "CURRENT missing", "CURRENT damaged", "MANIFEST damaged"] {
        let folder = folder();
        let at = folder.path().join("db");
        make(kind, &at);
        let merged = run(&args!["scan", "--comparator", "bytewise", at]).out;
        assert!(merged == run(&args!["scan", database("levels")]).expect(0).out, "{kind}");
    }
}

/// Whatever is missing or damaged: `query`, `scan` and `scan --carve` read the same logs.
#[test]
fn a_folder_has_the_same_logs_for_all_commands() {
    let kinds = STATUSES.iter().map(|(kind, _)| *kind).filter(|kind| *kind != "missing");
    for kind in kinds {
        let folder = folder();
        let at = folder.path().join("db");
        make(kind, &at);
        let log = at.join("000010.log");
        let named = |line: &Value| line["path"] == *log.to_str().unwrap();
        let asked = run(&args!["query", "--json", at, "item/0000/0"]).all_json();
        for more in [&[][..], &["--all"], &["--comparator", "bytewise", "--all"], &["--carve", "--all"]] {
            let mut arguments = args!["scan", "--json"].to_vec();
            arguments.extend(more.iter().map(Into::into));
            arguments.push(at.as_path().into());
            let found = run(&arguments).all_json();
            // If entries are merged without all versions, the log's entries are among the newest.
            let is_scanned = found.iter().any(|line| named(line) && line["object"] == "entry");
            assert_eq!(is_scanned, asked.iter().any(named), "{kind} {more:?}");
            assert_eq!(is_scanned, log.exists(), "{kind} {more:?}");
        }
    }
}

/// `--carve` does not use the MANIFEST.
#[test]
fn carving_shows_the_writes_of_logs_too() {
    for kind in ["database", "tables and logs", "logs alone", "MANIFEST damaged"] {
        let folder = folder();
        let at = folder.path().join("db");
        make(kind, &at);
        let run = run(&args!["scan", "--carve", "--sizes", at]).expect(0);
        assert!(run.out.lines().any(|line| line == "item/0000/0\t162"), "{kind}: {run:?}");
    }
}

/// In a folder that is no database, only tables with internal keys are merged.
#[test]
fn tables_alone_are_merged_by_the_order_that_is_given() {
    let folder = folder();
    let at = folder.path().join("db");
    make("tables alone", &at);
    let merge = |more: &[&str], path: &Path| {
        let mut arguments = args!["scan", "--keys", "--comparator", "bytewise"].to_vec();
        arguments.extend(more.iter().map(Into::into));
        arguments.push(path.into());
        run(&arguments).expect(0)
    };
    let merged = merge(&[], &at).quiet().out;
    let keys: Vec<&str> = merged.lines().collect();
    assert!(keys.is_sorted_by(|a, b| a < b) && keys.len() > 300, "{}", keys.len());
    let apart = merge(&["--key-format", "user"], &at);
    assert!(apart.out.lines().count() > 800 && apart.err.contains("by itself"), "{apart:?}");
    let plain = folder.path().join("plain");
    fs::create_dir(&plain).unwrap();
    for name in ["1.ldb", "2.ldb"] {
        fs::copy(table("words-256-bloom10.ldb"), plain.join(name)).unwrap();
    }
    let apart = merge(&[], &plain);
    assert!(apart.out.lines().count() == 600 && apart.err.contains("by itself"), "{apart:?}");
    // The format of keys is known from the tables that are not damaged.
    fs::write(at.join("000011.ldb"), "damaged").unwrap();
    let damaged = run(&args!["scan", "--keys", "--comparator", "bytewise", at]).expect(1);
    assert!(damaged.out == merged && damaged.err.contains("000011.ldb"), "{damaged:?}");
}

#[test]
fn verify() {
    let says = [
        NOTHING,
        ("database", "fine", ""),
        ("tables and logs", "CURRENT", ""),
        ("logs alone", "CURRENT", ""),
        ("tables alone", "fine", "CURRENT"),
    ];
    walk("verify", &[], &[], true, &says);
}

#[test]
fn tune() {
    let says = [
        NOTHING,
        ("tables and logs", "CURRENT is missing", ""),
        ("logs alone", "CURRENT is missing", ""),
        ("tables alone", "found tables without a MANIFEST: give them one by one", ""),
    ];
    walk("tune", &[], &[], true, &says);
}

#[test]
fn report() {
    let damaged = "damaged: CURRENT is missing";
    let says = [
        NOTHING,
        ("database", ": fine", damaged),
        ("tables and logs", damaged, ": fine"),
        ("logs alone", damaged, ": fine"),
        ("tables alone", ": fine", damaged),
    ];
    walk("report", &["--no-tune"], &["-o", "OUTPUT"], false, &says);
}

#[test]
fn rebuild() {
    let current = "CURRENT is missing";
    let says = [
        NOTHING,
        ("tables and logs", current, ""),
        ("logs alone", current, ""),
        ("tables alone", current, ""),
    ];
    walk("rebuild", &[], &["--to", "OUTPUT"], false, &says);
}

/// If the list of paths cannot be read, that is an error even with `--keep-going`.
#[test]
fn a_list_that_cannot_be_read_fails_all_commands() {
    for command in ["inspect", "scan", "verify", "tune"] {
        let folder = folder();
        let list = folder.path().join("list");
        let run = run(&args![command, "--keep-going", "--files-from", list]).expect(2);
        assert!([&*run.out, &*run.err].concat().contains("list"), "{run:?}");
    }
}

#[test]
fn a_stray_file_does_not_make_another_database_of_one_of_leveldbs() {
    let expected = |command: &str, db: &Path| run(&args![command, db]).expect(0).out;
    for name in ["IDENTITY", "OPTIONS-000007", "marker.format-version.000001.013"] {
        let (root, copy) = (folder(), copy_of(&database("levels")));
        let db = copy.path().to_owned();
        let before = ["verify", "scan", "manifest"].map(|command| expected(command, &db));
        fs::write(db.join(name), "# This is a RocksDB option file.").unwrap();
        assert!(["verify", "scan", "manifest"].map(|command| expected(command, &db)) == before, "{name}");
        run(&args!["repair", db, "--to", root.path().join("new")]).expect(0);
        // Nor without a MANIFEST, and beside a table of RocksDB's.
        let stray = [&[0; 100][..], &0x88e2_41b7_85f4_cff7_u64.to_le_bytes()].concat();
        fs::write(db.join("000001.ldb"), stray).unwrap();
        fs::remove_file(db.join("CURRENT")).unwrap();
        assert!(run(&args!["scan", db]).expect(2).out.contains("item/"));
        let repair = run(&args!["repair", db, "--to", root.path().join("newer")]);
        assert!(repair.out.contains("all 371 keys"), "{repair:?}");
    }
    // A folder that is no database at all.
    let root = folder();
    fs::write(root.path().join("IDENTITY"), "x").unwrap();
    let none = run(&args!["verify", root.path()]).expect(2).err;
    assert!(none.contains("no database here"), "{none}");
    // Other relatives are read.
    for relative in ["basho", "bedrock"] {
        let run = run(&args!["inspect", tables::testdata().join(relative)]);
        assert!(!(run.out + &run.err).contains("cannot tell"), "{relative}");
    }
}
