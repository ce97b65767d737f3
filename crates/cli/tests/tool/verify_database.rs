//! `filterblock verify` on database folders and on many tables at once.

use std::fs;
use std::path::Path;

use filterblock::database::Manifest;
use serde_json::{Value, json};

use super::*;

const DATABASES: [(&str, &str); 5] = [
    ("databases", "levels"),
    ("databases", "reversed"),
    ("databases", "unfiltered"),
    ("goleveldb", "base-lg-11"),
    ("goleveldb", "base-lg-19"),
];

fn testdata(group: &str, name: &str) -> PathBuf {
    tables::testdata().join(group).join(name)
}

/// A copy of the database `levels` to do harm to.
fn levels() -> tempfile::TempDir {
    let copy = folder();
    for entry in fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    copy
}

#[track_caller]
fn verify(path: &Path, status: i32) -> Vec<Value> {
    run(&args!["verify", "--json", path]).expect(status).json()
}

/// All problems about the file of this name: code, expected, found.
fn problems(reports: &[Value], name: &str) -> Vec<(String, String, String)> {
    let of_file = reports.iter().filter(|report| report["path"].as_str().unwrap().ends_with(name));
    let problems = of_file.flat_map(|report| report["problems"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    problems.map(|f| (text(&f["code"]), text(&f["expected"]), text(&f["found"]))).collect()
}

#[test]
fn databases_are_sound_whoever_wrote_them() {
    for (group, name) in DATABASES {
        let run = run(&args!["verify", "--json", testdata(group, name)]).expect(0);
        assert!(run.json().iter().all(|report| report["verdict"] == "fine"), "{run:?}");
        let keys: u64 = run.json().iter().map(|report| report["entries"].as_u64().unwrap()).sum();
        assert!(keys > 200, "{name}: {keys}");
        let unknown_order =
            "the order of the keys is \"filterblock.testdata.Reversed\"'s, and was not checked";
        assert_eq!(run.out.contains(&unknown_order.replace('"', "\\\"")), name == "reversed", "{run:?}");
    }
}

#[test]
fn a_table_alone_is_held_against_the_manifest_beside_it() {
    let copy = levels();
    fs::copy(copy.path().join("000007.ldb"), copy.path().join("000005.ldb")).unwrap();
    let reports = verify(&copy.path().join("000005.ldb"), 1);
    let codes: Vec<_> = problems(&reports, "000005.ldb").into_iter().map(|(code, ..)| code).collect();
    assert_eq!(codes, ["table-range", "table-range", "table-size"]);
}

#[test]
fn tables_that_are_missing_or_of_another_size() {
    let copy = levels();
    let path = copy.path().join("000007.ldb");
    let size = fs::metadata(&path).unwrap().len();
    fs::remove_file(&path).unwrap();
    let reports = verify(copy.path(), 1);
    assert_eq!(
        problems(&reports, "000007.ldb"),
        [("table-missing".into(), format!("a table of {size} bytes on level 1"), "no such file".into())]
    );
    assert_eq!(reports.len(), 4, "the others are looked at nevertheless");

    // Grown in place, with its footer at the new end: LevelDB would not find it.
    let mut grown = fs::read(database("levels").join("000007.ldb")).unwrap();
    let footer = grown.split_off(grown.len() - 48);
    grown.extend([0; 10]);
    grown.extend(footer);
    fs::write(&path, grown).unwrap();
    let reports = verify(copy.path(), 1);
    let expected = (
        "table-size".into(),
        format!("{size} bytes, as the MANIFEST has it"),
        format!("{} bytes", size + 10),
    );
    assert_eq!(problems(&reports, "000007.ldb"), [expected]);
}

#[test]
fn unused_tables_are_no_problems() {
    let copy = levels();
    let with_another_number = |name: &str, note: &str| {
        let path = copy.path().join(name);
        fs::copy(copy.path().join("000007.ldb"), &path).unwrap();
        let text = run(&args!["verify", copy.path()]).expect(0);
        assert!(text.out.ends_with(&format!("\n  1 unused table is fine, too: {name}\n")), "{text:?}");
        let json = run(&args!["verify", "--json", copy.path()]).expect(0);
        assert_eq!(json.out.matches(&format!("the table is {note}\"")).count(), 1, "{json:?}");
        assert_eq!(json.out.matches("the table is ").count(), 1, "{json:?}");
        fs::remove_file(path).unwrap();
    };
    with_another_number("000001.ldb", "obsolete: the database does not use it");
    // The table may be part of the database by the next edit of the MANIFEST.
    with_another_number("000099.ldb", "not in the MANIFEST: it is being written, or was left behind");
}

#[test]
fn without_a_sound_manifest_all_tables_are_taken() {
    let copy = levels();
    let manifest = copy.path().join("MANIFEST-000008");
    let mut bytes = fs::read(&manifest).unwrap();
    bytes[20] ^= 1;
    fs::write(&manifest, bytes).unwrap();
    let reports = verify(copy.path(), 1);
    assert_eq!(problems(&reports, "MANIFEST-000008").len(), 1, "{reports:?}");
    let verdicts: Vec<_> = reports.iter().map(|report| report["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["damaged", "fine", "fine", "fine", "fine"]);
    assert_eq!(reports[0]["problems"][0]["code"], "manifest-damaged");

    fs::remove_file(&manifest).unwrap();
    let reports = verify(copy.path(), 1);
    assert_eq!((reports.len(), &reports[4]["problems"][0]["code"]), (5, &json!("manifest-missing")));

    // The log shows that there was a database.
    fs::remove_file(copy.path().join("CURRENT")).unwrap();
    let reports = verify(copy.path(), 1);
    assert_eq!(reports[4]["problems"][0]["code"], "current-missing", "{reports:?}");

    // Without any sign of a database, it is a folder of tables.
    fs::remove_file(copy.path().join("000010.log")).unwrap();
    assert_eq!(verify(copy.path(), 0).len(), 3);
}

/// LevelDB uses the records before the incomplete one, which list all tables.
#[test]
fn a_manifest_that_ends_within_a_record_is_no_finding() {
    let copy = levels();
    fs::copy(copy.path().join("000005.ldb"), copy.path().join("000099.ldb")).unwrap();
    let path = copy.path().join("MANIFEST-000008");
    // The first bytes of a record of 16 bytes.
    let sound = fs::read(&path).unwrap();
    fs::write(&path, [&sound[..], &[0, 0, 0, 0, 16, 0, 1, 9]].concat()).unwrap();
    let reports = verify(copy.path(), 0);
    assert!(reports.iter().all(|report| report["verdict"] == "fine"), "{reports:?}");
}

#[test]
fn a_folder_without_tables_says_so() {
    let folder = folder();
    let nothing = run(&args!["verify", folder.path()]).expect(2);
    assert!(nothing.err.contains("no database here: no CURRENT"), "{nothing:?}");
    // A database may have no tables yet.
    write_manifest(folder.path(), &[manifest::Edit::default()]);
    let text = run(&args!["verify", folder.path()]).expect(0).quiet();
    assert!(
        text.out.ends_with("\n  0 tables and the MANIFEST were read: every block, key and filter\n"),
        "{text:?}"
    );
    let sound = run(&args!["verify", "--json", folder.path()]).expect(0).quiet();
    assert_eq!(sound.all_json()[0]["verdict"], "fine");
}

#[test]
fn the_output_does_not_depend_on_the_number_of_threads() {
    let folder = folder();
    // More than are checked at once by one thread.
    for at in 0..40 {
        let contents = if at % 7 == 3 {
            b"damaged".to_vec()
        } else {
            let name = ["words-256-bloom10.ldb", "dense-256-bloom10.ldb"][at % 2];
            fs::read(table(name)).unwrap()
        };
        file(&folder, &format!("{at:06}.ldb"), contents);
    }
    let outputs = ["1", "2", "5"]
        .map(|jobs| run(&args!["verify", "--json", "--jobs", jobs, folder.path()]).expect(1).quiet().out);
    assert_eq!(outputs[0].lines().count(), 1 + 40);
    assert_eq!(outputs[0], outputs[1]);
    assert_eq!(outputs[0], outputs[2]);
    let paths: Vec<_> = outputs[0]
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["path"].to_string())
        .collect();
    // The folder comes last.
    assert!(paths[..40].is_sorted());
}

#[test]
fn every_path_of_a_list_gets_a_line() {
    let folder = folder();
    let sound = table("words-256-bloom10.ldb");
    let list = format!("{}\n\n/missing/a b.ldb\r\n{}\n", sound.display(), folder.path().display());
    let paths = |run: &Run| -> Vec<String> {
        run.json().iter().map(|report| report["path"].as_str().unwrap().to_owned()).collect()
    };
    let empty = folder.path().display().to_string();
    let expected = [sound.display().to_string(), "/missing/a b.ldb".to_owned(), empty];
    let listed = run_with_input(&["verify", "--json", "--files-from", "-"], list.as_bytes()).expect(2);
    assert_eq!(paths(&listed), expected);
    let zeros = list.replace("\r\n", "\0").replace('\n', "\0");
    let run_zeros =
        run_with_input(&["verify", "--json", "--files-from", "-", "-0"], zeros.as_bytes()).expect(2);
    assert_eq!(paths(&run_zeros), expected);
    let list = file(&folder, "list", format!("{}\n", sound.display()));
    run(&args!["verify", "--files-from", list, sound]).expect(0).quiet();
    let missing = run(&args!["verify", "--json", "--files-from", "/missing/list"]).expect(2);
    assert_eq!(paths(&missing), ["/missing/list"]);
}

#[test]
fn folders_below_folders() {
    let databases = tables::testdata().join("databases");
    let below = run(&args!["verify", "--json", "--recursive", databases]).expect(0);
    assert_eq!(below.json().len(), 4 + 2 + 2);
    assert!(below.json().iter().all(|report| report["verdict"] == "fine"), "{below:?}");
    // Each database has its MANIFEST, and one of these names an order that is not bytewise.
    assert_eq!(below.out.matches("and was not checked").count(), 2, "{below:?}");
}

#[cfg(unix)]
#[test]
fn links_to_folders_are_not_followed_on_the_way_down() {
    let (inside, outside) = (folder(), folder());
    let contents = fs::read(testdata("tables", "single-4096-bloom10.ldb")).unwrap();
    file(&outside, "1.ldb", &contents);
    fs::create_dir(inside.path().join("below")).unwrap();
    let below = inside.path().join("below").join("2.ldb");
    fs::write(&below, contents).unwrap();
    std::os::unix::fs::symlink(outside.path(), inside.path().join("link")).unwrap();
    std::os::unix::fs::symlink(inside.path(), inside.path().join("below").join("up")).unwrap();
    let report = run(&args!["verify", "--json", "--recursive", inside.path()]).expect(0).one();
    assert_eq!(report["path"], below.to_str().unwrap());
}

/// Appends a record to the MANIFEST that moves table 7 to the level of table 5, which has the same keys.
#[test]
fn tables_that_overlap_on_a_level_below_0() {
    let copy = levels();
    let manifest = Manifest::read(copy.path()).unwrap();
    let table = manifest.tables().iter().find(|table| table.number == 7).unwrap();
    // Deleted file: level, number. New file: level, number, size, first and last key.
    let mut edit = vec![6, 1, 7, 7, 2, 7];
    edit.extend(tables::varint(table.size));
    for key in [&table.smallest, &table.largest] {
        edit.extend(tables::varint(key.len() as u64));
        edit.extend_from_slice(key);
    }
    let full = 1;
    let crc = crc32c::crc32c_append(crc32c::crc32c(&[full]), &edit);
    let path = copy.path().join("MANIFEST-000008");
    let mut contents = fs::read(&path).unwrap();
    contents.extend(crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
    contents.extend((edit.len() as u16).to_le_bytes());
    contents.push(full);
    contents.extend(edit);
    fs::write(&path, contents).unwrap();

    let reports = verify(copy.path(), 1);
    let all: Vec<_> = reports.iter().flat_map(|report| report["problems"].as_array().unwrap()).collect();
    assert_eq!(all.len(), 1, "{reports:?}");
    assert_eq!(all[0]["code"], "table-overlap");
    let expected = all[0]["expected"].as_str().unwrap();
    assert!(expected.ends_with(" on the same level 2"), "{expected}");

    // The advised command repairs it.
    let place = folder();
    let new = place.path().join("new");
    run(&args!["repair", copy.path(), "--to", &new]).expect(0);
    verify(&new, 0);
    let entries = |dir: &Path| {
        let lines = run(&args!["scan", "--json", dir]).expect(0).json();
        lines.iter().map(|line| format!("{} {}", line["key"], line["value"])).collect::<Vec<_>>()
    };
    let expected = entries(&database("levels"));
    assert!(expected[0].starts_with("\"item/0000/0\" \"6974"), "{expected:?}");
    assert_eq!(entries(&new), expected);
}

/// A database with a table for each of these: number, level, first and last user key. Each holds
/// both keys, the first with the sequence number that is given, the last with 1.
fn tables_at(places: &[(u64, u64, (&str, u64), &str)]) -> tempfile::TempDir {
    let folder = folder();
    let mut edit = manifest::Edit::default();
    for &(number, level, (first, sequence), last) in places {
        let keys = [
            manifest::internal_key(first.as_bytes(), sequence, 1),
            manifest::internal_key(last.as_bytes(), 1, 1),
        ];
        let mut crafted = tables::Crafted::default();
        let data = crafted.entries(&keys.each_ref().map(|key| (key, b"value")));
        let path = file(&folder, &format!("{number:06}.ldb"), crafted.finish(&[(&keys[1], data)], &[]));
        edit = edit.add(level, number, fs::metadata(path).unwrap().len(), &keys[0], &keys[1]);
    }
    write_manifest(folder.path(), &[edit]);
    folder
}

/// The numbers of the tables that are reported to overlap, each with that of the other table.
#[track_caller]
fn overlaps(places: &[(u64, u64, (&str, u64), &str)]) -> Vec<(u64, u64)> {
    let folder = tables_at(places);
    let run = run(&args!["verify", "--json", folder.path()]);
    let reports = run.json();
    assert_eq!(reports.len(), places.len(), "{run:?}");
    let mut found = Vec::new();
    for report in &reports {
        let number =
            Path::new(report["path"].as_str().unwrap()).file_stem().unwrap().to_str().unwrap().parse();
        for problem in report["problems"].as_array().unwrap() {
            assert_eq!(
                (&problem["code"], &problem["offset"]),
                (&json!("table-overlap"), &Value::Null),
                "{run:?}"
            );
            let expected = problem["expected"].as_str().unwrap();
            let (_, other) = expected.split_once("the last of table ").unwrap();
            let (other, level) = other.split_once(" on the same level ").unwrap();
            let number = number.clone().unwrap();
            let place = places.iter().find(|place| place.0 == number).unwrap();
            assert_eq!(level.parse(), Ok(place.1));
            found.push((number, other.parse().unwrap()));
        }
    }
    assert_eq!(run.status, i32::from(!found.is_empty()), "{run:?}");
    found
}

/// The border between one table and the next. As in LevelDB, internal keys count: a user key may be
/// the last of one table and, in an older version, the first of the next.
#[test]
fn tables_that_meet_at_a_key() {
    // One table ends and the other begins with the same internal key: user key, sequence number 1 and type.
    assert_eq!(overlaps(&[(5, 1, ("a", 9), "m"), (6, 1, ("m", 1), "z")]), [(6, 5)]);
    // A newer version of the last key comes before it, an older one after it.
    assert_eq!(overlaps(&[(5, 1, ("a", 9), "m"), (6, 1, ("m", 2), "z")]), [(6, 5)]);
    assert_eq!(overlaps(&[(5, 1, ("a", 9), "m"), (6, 1, ("m", 0), "z")]), []);
    // Side by side, as user keys go.
    assert_eq!(overlaps(&[(5, 1, ("a", 9), "m"), (6, 1, ("m\0", 9), "z")]), []);
    assert_eq!(overlaps(&[(5, 1, ("a", 9), "m"), (6, 1, ("l\u{7f}", 9), "z")]), [(6, 5)]);
}

#[test]
fn tables_that_lie_in_others() {
    // The order in the MANIFEST does not matter, nor that of the numbers.
    assert_eq!(overlaps(&[(6, 2, ("c", 9), "d"), (5, 2, ("a", 9), "z")]), [(6, 5)]);
    assert_eq!(overlaps(&[(5, 2, ("c", 9), "d"), (6, 2, ("a", 9), "z")]), [(5, 6)]);
    // After a table that lies within another, the outer one still counts.
    assert_eq!(
        overlaps(&[
            (5, 2, ("a", 9), "m"),
            (6, 2, ("b", 9), "c"),
            (7, 2, ("e", 9), "f"),
            (8, 2, ("n", 9), "o")
        ]),
        [(6, 5), (7, 5)]
    );
    // Both tables begin with the same key.
    assert_eq!(overlaps(&[(5, 2, ("a", 9), "b"), (6, 2, ("a", 9), "c")]), [(6, 5)]);
}

#[test]
fn tables_of_level_0_and_of_different_levels_may_overlap() {
    assert_eq!(overlaps(&[(5, 0, ("a", 9), "m"), (6, 0, ("a", 9), "m"), (7, 0, ("m", 1), "z")]), []);
    assert_eq!(overlaps(&[(5, 1, ("a", 9), "m"), (6, 2, ("a", 9), "m"), (7, 3, ("m", 1), "z")]), []);
    assert_eq!(
        overlaps(&[
            (5, 0, ("a", 9), "z"),
            (6, 1, ("a", 9), "m"),
            (7, 1, ("m", 1), "z"),
            (8, 2, ("m", 1), "z")
        ]),
        [(7, 6)]
    );
}

#[test]
fn what_a_writer_left_unfinished_is_no_finding() {
    let copy = levels();
    let whole = fs::read(copy.path().join("000007.ldb")).unwrap();
    file(&copy, "000099.ldb", &whole[..whole.len() / 2]);
    let run = run(&args!["verify", copy.path()]).expect(0);
    assert!(run.out.contains("1 unused table is incomplete: 000099.ldb"), "{run:?}");
    // Without a MANIFEST, it may be all there is.
    fs::remove_file(copy.path().join("CURRENT")).unwrap();
    fs::remove_file(copy.path().join("MANIFEST-000008")).unwrap();
    assert_eq!(problems(&verify(copy.path(), 1), "000099.ldb")[0].0, "not-a-table");
}

#[test]
fn a_live_table_that_is_not_whole_is_a_finding() {
    let copy = levels();
    let whole = fs::read(copy.path().join("000007.ldb")).unwrap();
    file(&copy, "000007.ldb", &whole[..whole.len() / 2]);
    let found = problems(&verify(copy.path(), 1), "000007.ldb");
    let codes: Vec<_> = found.iter().map(|(code, ..)| code.as_str()).collect();
    assert_eq!(codes, ["not-a-table", "table-size"]);
}

/// The last keys of a damaged table were not read, so nothing is known of them.
#[test]
fn the_range_of_a_damaged_table_is_not_judged() {
    let copy = levels();
    let path = copy.path().join("000007.ldb");
    let mut contents = fs::read(&path).unwrap();
    let last = {
        let table = filterblock::table::Table::open_path(&path, &Default::default()).unwrap();
        table.data_blocks().last().unwrap().unwrap().offset as usize
    };
    contents[last + 5] ^= 1;
    fs::write(&path, contents).unwrap();
    let codes: Vec<_> =
        problems(&verify(&path, 1), "000007.ldb").into_iter().map(|(code, ..)| code).collect();
    assert_eq!(codes, ["checksum"]);
}

/// CR belongs to a path if a zero byte ends it. Only where LF ends a path, CR LF may stand for LF.
#[cfg(unix)]
#[test]
fn a_path_may_end_in_cr_where_zeros_end_the_paths() {
    let folder = folder();
    let path = file(&folder, "table\r", fs::read(table("words-256-bloom10.ldb")).unwrap());
    let list = format!("{}\0", path.display());
    let found = run_with_input(&["verify", "--json", "--files-from", "-", "-0"], list.as_bytes()).expect(0);
    assert_eq!(found.one()["path"], path.to_str().unwrap());
}

/// What is fine is only counted. With --verbose, each file has a line.
#[test]
fn problems_and_a_sum_are_shown() {
    let copy = manifest::copy_of(&database("levels"));
    let name = copy.path().display();
    let text = run(&args!["verify", copy.path()]).expect(0).quiet().out;
    let read = "3 tables, 1 log and the MANIFEST were read: every block, key and filter";
    assert_eq!(text, format!("{name}: fine\n  {read}\n"));
    let verbose = run(&args!["verify", "-v", copy.path()]).expect(0).quiet().out;
    assert!(verbose.starts_with(&text), "{verbose}");
    let lines: Vec<_> = verbose.lines().skip(2).collect();
    let expected = [
        "  CURRENT, MANIFEST-000008  2 records",
        "  000010.log           10 writes    fine",
        "  000005.ldb  level 2  450 entries  fine",
        "  000007.ldb  level 1  215 entries  fine",
        "  000009.ldb  level 0  146 entries  fine",
    ];
    assert_eq!(lines, expected);

    let path = copy.path().join("000005.ldb");
    let mut file = std::fs::read(&path).unwrap();
    file[100..110].fill(0);
    std::fs::write(&path, file).unwrap();
    let text = run(&args!["verify", copy.path()]).expect(1).out;
    assert!(
        text.starts_with(&format!("{name}: damaged\n  000005.ldb  1 of 21 data blocks is damaged, ")),
        "{text}"
    );
    assert!(!text.contains("000007.ldb") && !text.contains("expected"), "{text}");
    let verbose = run(&args!["verify", "--verbose", copy.path()]).expect(1).out;
    assert!(verbose.contains(": expected 0x") && verbose.contains("000007.ldb"), "{verbose}");
}

/// Of many databases, each with a problem has a line and a command.
#[test]
fn many_databases_have_a_sum() {
    let place = folder();
    for (name, damage) in [("a", ""), ("b", "CURRENT"), ("c", "")] {
        let db = place.path().join(name);
        fs::create_dir(&db).unwrap();
        for entry in fs::read_dir(database("levels")).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, db.join(path.file_name().unwrap())).unwrap();
        }
        if !damage.is_empty() {
            fs::remove_file(db.join(damage)).unwrap();
        }
    }
    let text = run(&args!["verify", "-r", place.path()]).expect(1).quiet().out;
    let b = place.path().join("b").display().to_string();
    let (db, to) = (word(&b), word(&format!("{b}-repaired")));
    let expected = format!(
        "{b}: damaged: CURRENT is missing; do not open it\n    filterblock repair {db} --to {to}\n\
         3 databases: 2 fine, 1 damaged\n"
    );
    assert_eq!(text, expected);
}
