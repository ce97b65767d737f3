//! `filterblock tune` for filters of this library's own, and for filters and tables that are damaged or gone.

use std::ffi::OsString;
use std::path::Path;

use filterblock::table::{ReadOptions, Table, TableBuilder, WriteOptions};
use serde_json::json;

use super::manifest::copy_of;
use super::*;

/// The object that is printed.
#[track_caller]
fn tune(arguments: &[OsString], status: i32) -> Value {
    let run = run_long(&[&args!["tune", "--json"][..], arguments].concat()).expect(status).quiet();
    run.all_json().pop().unwrap()
}

/// Programs set neither policy. Filters that programs do not use save nothing.
#[test]
fn filters_that_no_program_uses_are_not_judged() {
    for name in ["murmur3", "cassandra"] {
        let parent = folder();
        let copy = parent.path().join("db");
        run(&args!["rebuild", database("levels"), "--to", copy, "--policy", name, "--bits-per-key", "7"])
            .expect(0);
        let tuning = tune(&args![copy], 2);
        assert_eq!([&tuning["verdict"], &tuning["reason"], &tuning["action"]], ["unknown", "policy", "none"]);
        let shown = run_long(&args!["tune", copy]).expect(2).quiet().out;
        assert!(shown.contains(": cannot tell: filters of the policy \"filterblock."), "{shown}");
    }
}

/// What is decoded is limited within a block, too: keys may share bytes.
#[test]
fn long_keys_that_are_shared_are_decoded_up_to_a_limit() {
    let options = WriteOptions::default().block_size(1 << 20).restart_interval(10_000);
    let mut builder = TableBuilder::new(Vec::new(), options);
    for number in 0..600_u32 {
        builder.add(&[&[b'k'; 16 << 10][..], &number.to_be_bytes()].concat(), b"").unwrap();
    }
    let dir = folder();
    let table = file(&dir, "shared.ldb", builder.finish().unwrap().0);
    assert_eq!(tune(&args![table], 0)["tables_read"], 1);
    let tuning = super::tune::within(1_000_000, &table);
    assert_eq!([&tuning["verdict"], &tuning["error_kind"]], ["unknown", "unsupported"]);
    let error = "shared.ldb: its blocks and keys are larger than the limit on what is decoded";
    assert_eq!(tuning["error"], error);
}

/// Makes the filters of a table hide some of its keys: the first `first` bytes of the filter block have no bit set.
fn hide(path: &Path, first: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let handle = Table::open_path(path, &ReadOptions::default()).unwrap().filter_handle().unwrap();
    let (start, end) = (handle.offset as usize, (handle.offset + handle.size) as usize);
    bytes[start..start + first].fill(0);
    let crc = crc32c::crc32c(&bytes[start..=end]).rotate_right(15).wrapping_add(0xa282_ead8);
    bytes[end + 1..end + 5].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(path, bytes).unwrap();
}

/// Nothing is as urgent as filters that hide no stored key.
#[test]
fn filters_that_hide_stored_keys_are_to_be_made_anew() {
    let copy = copy_of(&database("levels"));
    let table = copy.path().join("000005.ldb");
    hide(&table, 300);
    let tuning = tune(&args![copy.path()], 1);
    assert_eq!([&tuning["verdict"], &tuning["action"]], ["false-negatives", "rebuild"]);
    assert_eq!((&tuning["false_negatives"], &tuning["error_kind"]), (&json!(83), &json!("damaged")));
    assert_eq!(tuning["arguments"], json!(["--bits-per-key", "10"]));
    let levels = tuning["levels"].as_array().unwrap();
    let sums = ["tables", "without_filters"]
        .map(|name| levels.iter().map(|level| level[name].as_u64().unwrap()).sum::<u64>());
    assert_eq!(sums, [3, 1]);

    let shown = run_long(&args!["tune", copy.path()]).expect(1).quiet().out;
    let lines: Vec<_> = shown.lines().collect();
    assert!(lines[0].ends_with(": false negatives: filters of 000005.ldb hide 83 of 450 keys"), "{shown}");
    assert_eq!(lines[1], "  Programs that use filters do not find these keys. No entry is lost.");
    assert!(lines[2].starts_with("  New filters bring the keys back"), "{shown}");
    assert!(lines[3].starts_with("    filterblock rebuild "), "{shown}");
    assert!(lines[3].ends_with(&format!("{REBUILT} --bits-per-key 10")) && lines.len() == 4, "{shown}");
    let shown = run_long(&args!["tune", copy.path(), database("levels")]).expect(1).quiet().out;
    assert!(
        shown.contains(": false negatives: filters of 000005.ldb hide 83 keys\n    filterblock "),
        "{shown}"
    );
    assert!(shown.ends_with("\n2 databases: 1 fine, 1 with false negatives\n"), "{shown}");
    // A table by itself cannot be rebuilt.
    let tuning = tune(&args![table], 1);
    assert_eq!((&tuning["verdict"], &tuning["action"]), (&json!("false-negatives"), &json!("none")));

    let parent = folder();
    let new = parent.path().join("new");
    run(&args!["rebuild", copy.path(), "--to", new, "--bits-per-key", "10"]).expect(0);
    run(&args!["verify", new]).expect(0);
}

#[test]
fn tables_that_were_never_there_are_missing() {
    let copy = copy_of(&database("levels"));
    let tables = std::fs::read_dir(copy.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut tables: Vec<_> = tables.filter(|path| path.extension().is_some_and(|of| of == "ldb")).collect();
    let gone = tables.pop().unwrap();
    std::fs::remove_file(&gone).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let tuning = tune(&args![copy.path()], 1);
    assert_eq!([&tuning["verdict"], &tuning["action"]], ["damaged", "repair"]);
    assert_eq!((&tuning["error_kind"], &tuning["left_out"]), (&json!("missing"), &json!(1)));
    let error = tuning["error"].as_str().unwrap();
    assert!(
        error.starts_with(&format!("{}: is missing: the MANIFEST has a table of", name(&gone))),
        "{error}"
    );
    let headline = || {
        let shown = run_long(&args!["tune", copy.path()]).expect(1).quiet().out;
        shown
            .lines()
            .next()
            .unwrap()
            .strip_prefix(&format!("{}: ", copy.path().display()))
            .unwrap()
            .to_owned()
    };
    assert_eq!(headline(), format!("damaged: {} is missing", name(&gone)));

    tables.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    assert_eq!(headline(), "damaged: 000009.ldb and 2 more tables are missing");
    assert_eq!(tune(&args![copy.path()], 1)["left_out"], 3);
    std::fs::write(&gone, "damaged").unwrap();
    assert_eq!(headline(), "damaged: 000009.ldb and 2 more tables");
}

/// A rebuild is refused as long as a table is missing or damaged, and is not advised.
#[test]
fn damage_comes_before_filters() {
    let parent = folder();
    let copy = super::tune::two_levels(None);
    let target = parent.path().join("new");
    let arguments = args!["rebuild", copy.path(), "--to", target, "--policy", "new"];
    let check = |status: i32, verdict: &str| {
        let tuning = tune(&args![copy.path()], status);
        assert_eq!(
            (tuning["verdict"].as_str().unwrap(), tuning["arguments"].is_null()),
            (verdict, status > 0)
        );
        run(&arguments).expect(status);
    };
    let table = copy.path().join("000011.ldb");
    let contents = std::fs::read(&table).unwrap();
    std::fs::remove_file(&table).unwrap();
    check(1, "damaged");
    std::fs::write(&table, &contents[..contents.len() / 2]).unwrap();
    check(1, "damaged");
    std::fs::write(&table, contents).unwrap();
    check(0, "could-be-better");
}

/// The MANIFEST ends within a record, as after a power failure, and misses no table.
#[test]
fn an_incomplete_record_of_the_manifest_needs_nothing_first() {
    let copy = copy_of(&database("levels"));
    let path = copy.path().join("MANIFEST-000008");
    let mut manifest = std::fs::read(&path).unwrap();
    manifest.extend([1, 2, 3, 4, 100, 0, 1, 9, 9]);
    std::fs::write(path, manifest).unwrap();
    assert_eq!(tune(&args![copy.path()], 0)["verdict"], "fine");
    let beside = folder();
    run(&args!["rebuild", copy.path(), "--to", beside.path().join("new")]).expect(0);
    if cfg!(not(windows)) {
        run(&args!["rebuild", copy.path(), "--in-place", "--no-undo"]).expect(0);
    }
}

/// A block of one table has an unknown codec. The table's filters hide nothing, and new filters can be made for the
/// other tables.
#[test]
fn tables_in_an_unknown_codec_have_to_be_kept() {
    let copy = copy_of(&database("levels"));
    let path = copy.path().join("000005.ldb");
    let mut file = std::fs::read(&path).unwrap();
    let block =
        Table::open(file.clone(), &ReadOptions::default()).unwrap().data_blocks().next().unwrap().unwrap();
    let (start, end) = (block.offset as usize, (block.offset + block.size) as usize);
    file[end] = 100;
    let crc = crc32c::crc32c(&file[start..=end]).rotate_right(15).wrapping_add(0xa282_ead8);
    file[end + 1..end + 5].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(path, file).unwrap();
    let tuning = tune(&args![copy.path()], 2);
    assert_eq!([&tuning["verdict"], &tuning["reason"], &tuning["action"]], ["unknown", "unread", "none"]);
    assert!(tuning["error"].as_str().unwrap().starts_with("000005.ldb: "), "{tuning}");
    let beside = folder();
    run(&args!["rebuild", copy.path(), "--to", beside.path().join("new")]).expect(1);
    run(&args!["rebuild", copy.path(), "--to", beside.path().join("new"), "--keep-undecodable"]).expect(0);
}

/// A rebuild is refused as long as the tables from before an earlier one are kept.
#[cfg(unix)]
#[test]
fn an_earlier_rebuild_is_decided_on_first() {
    let parent = folder();
    let path = parent.path().join("db");
    std::fs::rename(copy_of(&database("levels")).keep(), &path).unwrap();
    run(&args!["rebuild", path, "--in-place"]).expect(0);
    let tables = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
    let table = tables.filter(|path| path.extension().is_some_and(|of| of == "ldb")).max().unwrap();
    hide(&table, 100);
    let page = parent.path().join("page.html");
    let report = || {
        let line = run_long(&args!["report", path, "-o", page]).expect(1).out;
        assert_eq!(line.lines().count(), 2, "{line}");
        super::report::markup::check(&std::fs::read_to_string(&page).unwrap()).words()
    };
    assert_eq!(tune(&args![path], 1)["obstacles"], json!(["undo-exists"]));
    let shown = run_long(&args!["tune", path]).expect(1).quiet().out;
    let end = [
        "  The tables from before an earlier rebuild are still there. First delete them, or go back:"
            .to_owned(),
        format!("    filterblock rebuild --discard {}", word(path.to_str().unwrap())),
        format!("    filterblock rebuild --undo {}", word(path.to_str().unwrap())),
    ];
    assert!(shown.ends_with(&(end.join("\n") + "\n")), "{shown}");
    assert!(report().contains(end[2].trim()));
    run(&args!["rebuild", path, "--discard"]).expect(0);
    assert_eq!(tune(&args![path], 1)["obstacles"], json!([]));
    assert!(!report().contains("--discard"));
}
