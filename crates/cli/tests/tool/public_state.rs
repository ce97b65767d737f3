//! Databases whose MANIFEST misses tables, whose log is missing, or whose tables have other names, after public reports:
//! every command tells, none advises to open them with their program, and `rebuild` refuses them.

use std::fs;
use std::path::Path;

use super::databases::{BYTEWISE, Edit, internal_key, log};
use super::reports::{self, Listed, database, put, table};
use super::*;

/// The edit that adds a table.
fn add(edit: Edit, Listed(level, number, file, [first, last]): &Listed) -> Edit {
    edit.add(*level, *number, file.len() as u64, first, last)
}

/// How much of the MANIFEST's second record there is.
#[derive(Clone, Copy, PartialEq, Debug)]
enum End {
    Cut,
    Zeros,
    Missing,
}

/// A database whose MANIFEST lists `listed` by a first record and `lost` by a second one, which is as `end` says. The
/// next file number is `next` by the first record and 99 by the second. `logs`: log 3 and its batches.
fn torn(
    folder: &Path,
    comparator: &[u8],
    next: u64,
    (listed, lost): (Vec<Listed>, Vec<Listed>),
    logs: &[Vec<u8>],
    end: End,
) {
    let first = Edit::default().comparator(comparator).number(2, 3).number(3, next).number(4, 1);
    let first = listed.iter().fold(first, add).number(9, 0).0;
    let second = lost.iter().fold(Edit::default().number(3, 99).number(4, 900), add).0;
    let (mut manifest, offsets) = log(&[first, second]);
    let (start, len) = (offsets[1] as usize, manifest.len());
    match end {
        End::Cut => manifest.truncate(len - 3),
        End::Zeros => manifest[start..].fill(0),
        End::Missing => manifest.truncate(start),
    }
    let tables: Vec<_> = listed.into_iter().chain(lost).collect();
    database(folder, comparator, (3, 1), &[(3, logs.to_vec())], &tables);
    fs::write(folder.join("MANIFEST-000002"), manifest).unwrap();
}

fn value(number: u64, key: &str, sequence: u64) -> Listed {
    Listed::new(0, number, vec![put(key.as_bytes(), sequence, b"v")])
}

/// Runs each command of a database that reads it, and returns the statuses: those of `inspect`, `verify`, `manifest`,
/// `tune`, `scan`, `report`, and a lookup of `key`. No output may name the program of the database as a remedy, and each
/// that fails names `words`.
#[track_caller]
fn statuses(at: &Path, key: &str, words: &str) -> [i32; 7] {
    let page = at.with_extension("html");
    let runs = [
        run(&args!["inspect", at]),
        run(&args!["verify", at]),
        run(&args!["manifest", at]),
        run(&args!["tune", at]),
        run(&args!["scan", at]),
        run(&args!["report", at, "-o", &page]),
        run(&args!["get", at, key]),
    ];
    // `manifest` names the file before its state.
    let named = |run: &Run| {
        let said = [&*run.out, &*run.err].concat();
        ["its end", "a part"].into_iter().zip(["the end", "a part"]).fold(said, |said, (short, long)| {
            said.replace(&format!("{short} is missing,"), &format!("{long} of MANIFEST-000002 is missing,"))
        })
    };
    for run in &runs {
        let said = named(run);
        assert!(!said.contains("open the database once"), "{run:?}");
        assert!(run.status == 0 || said.contains(words), "{words}: {run:?}");
    }
    for command in ["inspect", "verify", "manifest", "tune", "scan"] {
        let json = run(&args![command, "--json", at]);
        let at_place = ["inspect", "verify", "manifest", "tune", "scan"].iter().position(|it| *it == command);
        assert_eq!(json.status, runs[at_place.unwrap()].status, "{json:?}");
        assert!(json.status == 0 || named(&json).contains(words), "{words}: {json:?}");
    }
    runs.map(|run| run.status)
}

const DAMAGED: [i32; 7] = [1, 1, 1, 1, 1, 1, 2];
const SOUND: [i32; 7] = [0; 7];

/// `rebuild`, in both forms, refuses the database and leaves it as it is.
#[track_caller]
fn rebuild_is_refused(at: &Path) {
    let before = contents(at);
    let target = at.with_extension("new");
    let policy = ["--policy", "leveldb.BuiltinBloomFilter2"];
    for how in [&args!["--to", &target][..], &args!["--in-place"], &args!["--in-place", "--dry-run"]] {
        let run = run(&[&args!["rebuild", at], how, &args![policy[0], policy[1]]].concat());
        if cfg!(windows) && how[0] == "--in-place" {
            continue;
        }
        assert_eq!(run.status, 1, "{run:?}");
        assert!(run.err.contains("nothing was changed"), "{run:?}");
        assert!(run.err.contains("\nfilterblock: first: filterblock repair "), "{run:?}");
        assert!(!target.exists() && contents(at) == before, "{run:?}");
    }
}

#[track_caller]
fn can_be_rebuilt(at: &Path) {
    let policy = ["--policy", "leveldb.BuiltinBloomFilter2"];
    let target = at.with_extension("new");
    let to = run(&args!["rebuild", at, "--to", &target, policy[0], policy[1]]);
    assert_eq!(to.status, 0, "{to:?}");
    if cfg!(not(windows)) {
        let in_place = run(&args!["rebuild", at, "--in-place", policy[0], policy[1]]);
        assert_eq!(in_place.status, 0, "{in_place:?}");
    }
}

fn contents(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = files.filter(|file| file.file_name() != "LOCK");
    let mut files: Vec<_> = files.map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn entries_that_only_unlisted_tables_have_are_damage() {
    let many = |number: u64| {
        (0..300_u64).map(|at| put(format!("k{at:04}").as_bytes(), number * 1000 + at, b"v")).collect()
    };
    let deletion = || Listed::new(0, 7, vec![(internal_key(b"a", 800, 0), Vec::new())]);
    // Of the entries of a table of many blocks, only the last is not in a live table.
    let blocks = |last: u64| -> Vec<Vec<_>> {
        (0..50)
            .map(|at| vec![put(format!("k{at:04}").as_bytes(), if at == 49 { last } else { at + 1 }, b"v")])
            .collect()
    };
    let of_blocks = |level, number, last| {
        let blocks = blocks(last);
        let ends = [blocks[0][0].0.clone(), blocks[49][0].0.clone()];
        Listed(level, number, table(&blocks), ends)
    };
    let a = || value(4, "a", 1);
    for (name, next, listed, lost) in [
        ("a table", 6, vec![a()], vec![value(5, "b", 9)]),
        ("a table of a new number", 5, vec![a()], vec![value(5, "b", 9)]),
        ("two tables", 6, vec![a()], vec![value(5, "b", 9), value(7, "c", 10)]),
        ("a leftover and a table", 6, vec![a()], vec![value(5, "a", 1), value(7, "c", 10)]),
        ("a table and a leftover", 6, vec![a()], vec![value(5, "c", 10), value(7, "a", 1)]),
        ("a deletion", 6, vec![a()], vec![deletion()]),
        ("a newer version", 6, vec![a()], vec![value(5, "a", 2)]),
        ("the last of many blocks", 6, vec![of_blocks(1, 4, 50)], vec![of_blocks(0, 5, 77)]),
        ("many entries", 6, vec![Listed::new(1, 4, many(1))], vec![Listed::new(0, 5, many(2))]),
        ("no live tables", 6, vec![], vec![value(5, "b", 9)]),
    ] {
        for end in [End::Cut, End::Zeros] {
            let place = folder();
            let at = place.path().join("db");
            let names: Vec<_> = lost.iter().map(|lost| format!("{:06}.ldb", lost.1)).collect();
            let key = if name == "a deletion" { "a" } else { "zz" };
            let clone = |tables: &[Listed]| -> Vec<Listed> {
                tables
                    .iter()
                    .map(|Listed(l, n, file, ends)| Listed(*l, *n, file.clone(), ends.clone()))
                    .collect()
            };
            torn(&at, BYTEWISE, next, (clone(&listed), clone(&lost)), &[], end);
            assert_eq!(
                statuses(&at, key, "the end of MANIFEST-000002 is missing"),
                DAMAGED,
                "{name}, {end:?}"
            );
            for command in ["inspect", "verify", "scan", "manifest"] {
                let run = run(&args![command, &at]);
                let said = [&*run.out, &*run.err].concat();
                assert!(names.iter().all(|name| said.contains(name)), "{name}: {run:?}");
            }
            rebuild_is_refused(&at);
            // Repair's test is the same: it saves what is in no table of the MANIFEST.
            let repaired = run(&args!["repair", &at, "--to", place.path().join("repaired")]);
            assert_eq!(repaired.status, 5, "{name}: {repaired:?}");
        }
    }
}

#[test]
fn a_manifest_that_is_older_than_the_tables_is_damaged() {
    let place = folder();
    let at = place.path().join("db");
    torn(&at, BYTEWISE, 5, (vec![value(4, "a", 1)], vec![value(5, "b", 9)]), &[], End::Missing);
    let found = statuses(&at, "b", "000005.ldb");
    assert_eq!(found, DAMAGED);
    // No newer value of this key can be in the table.
    let get = run(&args!["get", &at, "a"]);
    assert_eq!((get.status, &*get.out), (0, "v"), "{get:?}");
    rebuild_is_refused(&at);
}

#[test]
fn leftovers_of_compactions_and_flushes_are_no_damage() {
    for (name, next, lost, logs) in [
        ("a leftover", 6, vec![value(5, "a", 1)], vec![]),
        ("a newer leftover", 5, vec![value(5, "a", 1)], vec![]),
        ("two leftovers", 5, vec![value(5, "a", 1), value(6, "a", 1)], vec![]),
        (
            "a log that is being written to a table",
            5,
            vec![value(5, "b", 2)],
            vec![reports::batch(2, &[(b"b", b"v")])],
        ),
        ("no table", 6, vec![], vec![]),
    ] {
        for end in [End::Cut, End::Zeros, End::Missing] {
            let place = folder();
            let at = place.path().join("db");
            let lost = lost.iter().map(|Listed(l, n, file, ends)| Listed(*l, *n, file.clone(), ends.clone()));
            torn(&at, BYTEWISE, next, (vec![value(4, "a", 1)], lost.collect()), &logs, end);
            assert_eq!(statuses(&at, "a", ""), SOUND, "{name}, {end:?}");
            let get = run(&args!["get", &at, "nokey"]);
            assert_eq!(get.status, 1, "{get:?}");
            can_be_rebuilt(&at);
        }
    }
    // A table that is not complete was being written.
    for len in [0, 1, 60] {
        for end in [End::Cut, End::Missing] {
            let place = folder();
            let at = place.path().join("db");
            torn(&at, BYTEWISE, 5, (vec![value(4, "a", 1)], vec![value(5, "b", 9)]), &[], end);
            let path = at.join("000005.ldb");
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, &bytes[..len]).unwrap();
            assert_eq!(statuses(&at, "a", "000005.ldb")[1..6], [0; 5], "{len}, {end:?}");
        }
    }
}

#[test]
fn what_cannot_be_known_of_an_unlisted_table_is_not_held_for_sound() {
    // Its only block is damaged.
    let place = folder();
    let at = place.path().join("db");
    torn(&at, BYTEWISE, 6, (vec![value(4, "a", 1)], vec![value(5, "a", 1)]), &[], End::Cut);
    let path = at.join("000005.ldb");
    let mut bytes = fs::read(&path).unwrap();
    bytes[3] ^= 0x55;
    bytes[5] ^= 0x55;
    fs::write(&path, bytes).unwrap();
    assert_eq!(statuses(&at, "a", "the end of MANIFEST-000002 is missing"), DAMAGED);
    rebuild_is_refused(&at);
    // Its order is not known.
    let place = folder();
    let at = place.path().join("db");
    torn(&at, b"x.Order", 6, (vec![value(4, "a", 1)], vec![value(5, "b", 9)]), &[], End::Cut);
    let verify = run(&args!["verify", &at]);
    assert!(verify.status == 1 && verify.out.contains("is not known"), "{verify:?}");
    rebuild_is_refused(&at);
    // A MANIFEST that is whole is not doubted for that.
    let place = folder();
    let at = place.path().join("db");
    torn(&at, b"x.Order", 5, (vec![value(4, "a", 1)], vec![value(5, "b", 9)]), &[], End::Missing);
    assert_eq!(run(&args!["verify", &at]).status, 0);
    // Chromium's order is known.
    let key = |i: u8| [&[0, 1, 1, 1, 3][..], &[0; 7], &[i]].concat();
    let listed = |number, i, sequence| Listed::new(0, number, vec![put(&key(i), sequence, b"v")]);
    for (lost, status) in [(listed(5, 200, 9), 1), (listed(5, 1, 1), 0)] {
        let place = folder();
        let at = place.path().join("db");
        torn(&at, b"idb_cmp1", 6, (vec![listed(4, 1, 1)], vec![lost]), &[], End::Cut);
        let verify = run(&args!["verify", &at]);
        assert_eq!(verify.status, status, "{verify:?}");
    }
}

#[test]
fn a_log_that_the_manifest_names_is_missed() {
    for (log_number, number_of_file, damaged) in [
        (3, None, true),
        (12, None, true),
        (12, Some(13), true),
        (12, Some(11), true),
        (3, Some(3), false),
        (0, None, false),
    ] {
        let place = folder();
        let at = place.path().join("db");
        let tables = [Listed::new(0, 4, vec![put(b"k", 1, b"old")])];
        let logs: Vec<_> = number_of_file.map(|number| (number, Vec::new())).into_iter().collect();
        database(&at, BYTEWISE, (log_number, 1), &logs, &tables);
        let words = format!("log {log_number:06}.log is missing");
        let expected = if damaged { DAMAGED } else { SOUND };
        assert_eq!(statuses(&at, "k", &words), expected, "{log_number}, {number_of_file:?}");
        let get = run(&args!["get", &at, "k"]);
        assert_eq!(get.out, "old", "{get:?}");
        let get = run(&args!["get", &at, "nokey"]);
        assert_eq!(get.status, if damaged { 2 } else { 1 }, "{get:?}");
        if damaged {
            let verify = run(&args!["verify", "--json", &at]);
            assert!(verify.out.contains("\"log-missing\""), "{verify:?}");
            rebuild_is_refused(&at);
        }
    }
}

/// goleveldb removes a log to which nothing was written when it begins another, and does not record that.
#[test]
fn goleveldb_removes_empty_logs_without_a_record() {
    for (newer, messages, damaged) in [
        (Some(11), "=============== Nov 29, 2026 (UTC) ===============\n", false),
        (Some(11), "2026/11/29-09:20:48.679695 7f Recovering log #8\n", true),
        (Some(7), "=============== Nov 29, 2026 (UTC) ===============\n", true),
        (None, "=============== Nov 29, 2026 (UTC) ===============\n", true),
    ] {
        let place = folder();
        let at = place.path().join("db");
        let tables = [Listed::new(0, 4, vec![put(b"k", 1, b"old")])];
        let logs: Vec<_> = newer.map(|number| (number, Vec::new())).into_iter().collect();
        database(&at, BYTEWISE, (8, 1), &logs, &tables);
        fs::write(at.join("LOG"), messages).unwrap();
        let expected = if damaged { DAMAGED } else { SOUND };
        assert_eq!(statuses(&at, "k", "log 000008.log is missing"), expected, "{newer:?}, {messages}");
        let repair = run(&args!["repair", &at, "--to", place.path().join("new")]);
        assert_eq!(repair.out.contains("000008.log is missing"), damaged, "{repair:?}");
        if !damaged {
            can_be_rebuilt(&at);
            assert_eq!(statuses(&at.with_extension("new"), "k", "is missing"), SOUND);
        }
    }
}

#[test]
fn a_missing_table_is_shown_with_its_copy() {
    // On Windows both cases are one name.
    for case in &["copy-name", "upper-case"][..if cfg!(windows) { 1 } else { 2 }] {
        let place = folder();
        let at = place.path().join("db");
        reports::make(case, &at);
        let copy = if *case == "copy-name" { "000004 (1).ldb" } else { "000004.LDB" };
        let page = place.path().join("page.html");
        for arguments in [
            &args!["inspect", &at][..],
            &args!["verify", &at],
            &args!["tune", &at],
            &args!["scan", &at],
            &args!["get", &at, "k050"],
            &args!["query", &at, "k050"],
        ] {
            let run = run(arguments);
            let said = [&*run.out, &*run.err].concat();
            assert!(run.status > 0 && said.contains(&format!("{copy} has its size")), "{run:?}");
        }
        let report = run(&args!["report", &at, "-o", &page]);
        assert!(report.status == 1 && fs::read_to_string(&page).unwrap().contains(copy), "{report:?}");
        rebuild_is_refused(&at);
        // A file of another size is another table.
        fs::write(at.join(copy), "x").unwrap();
        let verify = run(&args!["verify", &at]);
        assert!(!verify.out.contains("has its size"), "{verify:?}");
    }
}

#[test]
fn a_database_without_current_or_manifest_comes_to_repair_first() {
    for name in ["CURRENT", "MANIFEST-000002"] {
        let place = folder();
        let at = place.path().join("db");
        reports::make("zero-tail-64k", &at);
        fs::remove_file(at.join(name)).unwrap();
        let tune = run(&args!["tune", &at]);
        assert_eq!(tune.status, 1, "{tune:?}");
        assert!(tune.out.contains(&format!(": damaged: {name} is missing")), "{tune:?}");
        assert!(tune.out.contains("\n    filterblock repair "), "{tune:?}");
        let verify = run(&args!["verify", &at]);
        assert!(verify.status == 1 && verify.out.contains(&format!("{name} is missing")), "{verify:?}");
        assert!(verify.out.contains("\n    filterblock repair "), "{verify:?}");
        rebuild_is_refused(&at);
    }
}

#[test]
fn reserved_space_is_no_damage() {
    for case in ["zero-tail-64k", "zero-tail-1m"] {
        let place = folder();
        let at = place.path().join("db");
        reports::make(case, &at);
        let found = statuses(&at, "k", "");
        assert_eq!([found[2], found[3], found[6]], [0; 3], "{case}: {found:?}");
    }
}

#[test]
fn a_huge_manifest_is_noted() {
    let place = folder();
    let at = place.path().join("db");
    database(&at, BYTEWISE, (3, 1), &[(3, Vec::new())], &[value(4, "a", 1)]);
    let path = at.join("MANIFEST-000002");
    let page = place.path().join("page.html");
    for (len, is_huge) in [((64 << 20) - 1, false), (64 << 20, true)] {
        fs::File::options().write(true).open(&path).unwrap().set_len(len).unwrap();
        for arguments in [
            &args!["verify", &at][..],
            &args!["inspect", &at],
            &args!["manifest", &at],
            &args!["manifest", &path],
            &args!["report", &at, "-o", &page, "--no-tune"],
        ] {
            let run = run(arguments);
            assert_eq!(run.status, 0, "{run:?}");
            let page = fs::read_to_string(&page).unwrap_or_default();
            let said = [&*run.out, &*run.err, &*page].concat();
            let says = said.contains("64 MiB, and 1 KiB would do")
                && (said.contains("filterblock repair ") || arguments[0] == "manifest");
            assert_eq!(says, is_huge, "{run:?}");
        }
    }
}

#[test]
fn a_scan_names_the_options_that_help() {
    let place = folder();
    let at = place.path().join("db");
    let make = || {
        let _ = fs::remove_dir_all(&at);
        database(&at, BYTEWISE, (3, 9), &[(3, Vec::new())], &[value(4, "a", 1), value(5, "b", 2)]);
    };
    let damage = |name: &str, byte: usize, masks: &[u8]| {
        let path = at.join(name);
        let mut bytes = fs::read(&path).unwrap();
        masks.iter().enumerate().for_each(|(n, mask)| bytes[byte + n] ^= mask);
        fs::write(path, bytes).unwrap();
    };
    for (masks, corrects) in [(&[1][..], true), (&[1, 9], false)] {
        make();
        damage("000004.ldb", 3, masks);
        let scan = run(&args!["scan", &at]);
        assert_eq!(scan.status, 1, "{scan:?}");
        assert_eq!(scan.err.contains("`scan --correct`"), corrects, "{scan:?}");
        assert!(scan.err.contains("filterblock repair ") && !scan.err.contains("--carve"), "{scan:?}");
    }
    // The index.
    make();
    damage("000004.ldb", 50, &[0x55, 0x55]);
    let scan = run(&args!["scan", &at]);
    assert!(scan.err.contains("`scan --carve`") && scan.err.contains("filterblock repair "), "{scan:?}");
}

/// No page and no message advises to open a damaged database with its program.
#[test]
fn nothing_advises_to_open_a_damaged_database() {
    let place = folder();
    for case in
        ["manifest-cut", "manifest-zero", "no-log", "order", "swapped", "copy-name", "deeper", "short-key"]
    {
        let at = place.path().join(case);
        reports::make(case, &at);
        let page = place.path().join("page.html");
        for arguments in [
            &args!["verify", &at][..],
            &args!["tune", &at],
            &args!["report", &at, "-o", &page],
            &args!["rebuild", &at, "--to", place.path().join("x")],
        ] {
            let run = run(arguments);
            let said = [&*run.out, &*run.err, &*fs::read_to_string(&page).unwrap_or_default()].concat();
            let said = said.to_lowercase();
            assert!(
                !said.contains("open the database with") || said.contains("do not open the database with"),
                "{run:?}"
            );
            assert!(!said.contains("run: filterblock verify"), "{run:?}");
        }
    }
}
