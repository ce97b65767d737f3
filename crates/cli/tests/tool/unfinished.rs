//! Incomplete tables and other files in a database's folder. Only what was looked at is called sound.

use std::fs;

use serde_json::json;

use super::*;

/// A database with a table that was cut off and left behind, and one that is still being written.
fn levels() -> tempfile::TempDir {
    let copy = folder();
    for entry in fs::read_dir(database("levels")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let table = fs::read(copy.path().join("000005.ldb")).unwrap();
    file(&copy, "000003.ldb", &table[..table.len() / 2]);
    file(&copy, "000099.ldb", &table[..100]);
    copy
}

#[test]
fn files_that_the_database_does_not_use_are_neither_damage_nor_sound() {
    let copy = levels();
    let inspect = run(&args!["inspect", "--json", copy.path()]).expect(0);
    let state = |name: &str| {
        let lines = inspect.json();
        let line = lines.iter().find(|line| line["path"].as_str().unwrap().ends_with(name)).unwrap();
        (line["verdict"].clone(), line["live"].clone(), line["error_kind"].clone())
    };
    for name in ["000003.ldb", "000099.ldb"] {
        assert_eq!(state(name), (json!("fine"), json!(false), json!(null)), "{name}");
    }
    assert_eq!(state("000005.ldb"), (json!("fine"), json!(true), json!(null)));
    let totals = inspect.all_json().pop().unwrap();
    assert_eq!(
        ["tables", "damaged", "not_live"].map(|field| totals[field].clone()),
        [5, 0, 2].map(|n| json!(n))
    );

    let verify = run(&args!["verify", "--json", copy.path()]).expect(0);
    let lines = verify.json();
    assert!(lines.iter().all(|line| line["verdict"] == "fine"), "{lines:?}");
    let told = |line: &&Value| line["notes"].to_string().contains("incomplete and unused");
    assert_eq!(lines.iter().filter(told).count(), 2);
    let text = run(&args!["verify", copy.path()]).expect(0).quiet().out;
    assert!(text.contains("  2 unused tables are incomplete: 000003.ldb, 000099.ldb\n"), "{text}");
    let text = run(&args!["verify", "-v", copy.path()]).expect(0).quiet().out;
    assert!(text.contains("it is being written, or was left behind"), "{text}");
    run(&args!["query", copy.path(), "no such key"]).expect(1);

    // A live table has to be whole.
    let live = copy.path().join("000007.ldb");
    let whole = fs::read(&live).unwrap();
    fs::write(&live, &whole[..whole.len() - 9]).unwrap();
    let inspect = run(&args!["inspect", "--json", copy.path()]).expect(1);
    let lines = inspect.json();
    let line = lines.iter().find(|line| line["path"] == live.to_str().unwrap()).unwrap();
    assert_eq!((&line["verdict"], &line["error_kind"]), (&json!("damaged"), &json!("damaged")));
    run(&args!["verify", copy.path()]).expect(1);
    run(&args!["query", copy.path(), "no such key"]).expect(2);
    // Without a MANIFEST that can be relied on, every table has to be whole.
    fs::write(&live, whole).unwrap();
    file(&copy, "MANIFEST-000008", "damaged");
    let statuses: Vec<_> = run(&args!["verify", "--json", copy.path()])
        .expect(1)
        .json()
        .iter()
        .map(|line| line["verdict"].clone())
        .collect();
    assert_eq!(statuses, ["damaged", "fine", "damaged", "fine", "fine", "fine", "damaged"]);
}

#[test]
fn a_file_that_is_named_is_judged_as_a_table() {
    let copy = levels();
    for (name, contents) in [("x", "xxx"), ("x.ldb", "xxx")] {
        file(&copy, name, contents);
    }
    for name in ["x", "x.ldb", "000003.ldb", "000099.ldb"] {
        let path = copy.path().join(name);
        let line = run(&args!["verify", "--json", path]).expect(1).one();
        assert_eq!(line["verdict"], "damaged", "{name}");
        assert_eq!(line["problems"][0]["code"], "not-a-table", "{name}");
        let line = run(&args!["inspect", "--json", path]).expect(1).one();
        assert_eq!((&line["verdict"], &line["error_kind"]), (&json!("damaged"), &json!("damaged")), "{name}");
        assert!(!line["live"].is_null() && !line["comparator"].is_null(), "{name}");
    }
}

#[test]
fn folders_that_are_no_database_and_hold_no_table_are_not_sound() {
    let folder = folder();
    let deep = folder.path().join("some").join("database");
    fs::create_dir_all(&deep).unwrap();
    let hint = format!("no database here, but one below: {}", filterblock::escape_path(&deep));
    for tables in [false, true] {
        if tables {
            fs::copy(table("single-4096-bloom10.ldb"), deep.join("000005.ldb")).unwrap();
        }
        let page = folder.path().join("page.html");
        for command in [
            &args!["inspect", folder.path()][..],
            &args!["verify", folder.path()],
            &args!["get", folder.path(), "key"],
            &args!["manifest", folder.path()],
            &args!["report", folder.path(), "-o", page],
        ] {
            let run = run(command).expect(2);
            let all = run.out.clone() + &run.err;
            assert!(all.contains("no database here"), "{run:?}");
            assert_eq!(all.contains(&hint), tables, "{run:?}");
        }
        let query = run(&args!["query", folder.path(), "key"]).expect(2);
        assert_eq!(query.err.contains(&hint), tables, "{query:?}");
        let status = if tables { 0 } else { 2 };
        run(&args!["inspect", "--recursive", folder.path()]).expect(status);
        run(&args!["verify", "--recursive", folder.path()]).expect(status);
    }
}

/// A pointer as Git LFS documents it, the beginnings of an archive and of a compressed file, text, zeros, and tables in
/// which a transfer has put CR LF for LF.
#[test]
fn files_of_another_kind_are_called_that() {
    let crlf = |name: &str| {
        let table = fs::read(table(name)).unwrap();
        table.iter().flat_map(|&byte| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] }).collect()
    };
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    let files: [(&str, Vec<u8>); 7] = [
        ("a Git LFS pointer", pointer.into()),
        ("a zip archive", [b"PK\x03\x04\x14\0".as_slice(), &[7; 100]].concat()),
        ("a gzip file", [b"\x1f\x8b\x08\0".as_slice(), &[7; 100]].concat()),
        ("a text file", "Caf\u{e9} <html>\n".repeat(10_000).into()),
        ("of zeros", vec![0; 5000]),
        ("a transfer as text", crlf("binary-256-bloom10.ldb")),
        ("a transfer as text", crlf("noise-2048-bloom10-snappy.ldb")),
    ];
    for (kind, contents) in files {
        let folder = folder();
        let path = file(&folder, "000005.ldb", contents);
        for command in [
            args!["inspect", "--json", path].to_vec(),
            args!["query", "--json", path, "key"].to_vec(),
            args!["verify", "--json", path].to_vec(),
        ] {
            let line = run(&command).one();
            let error = if line["error"].is_null() { &line["problems"][0]["found"] } else { &line["error"] };
            assert!(error.as_str().unwrap().contains(kind), "{kind}: {line}");
            assert_eq!(line["error_kind"], "damaged", "{line}");
        }
    }
    // Other damage is not called anything.
    let sound = fs::read(table("binary-256-bloom10.ldb")).unwrap();
    let folder = folder();
    let cut = file(&folder, "cut.ldb", &sound[..sound.len() - 10]);
    let line = run(&args!["inspect", "--json", cut]).expect(1).one();
    assert!(!line["error"].as_str().unwrap().contains("the file is"), "{line}");
}

#[test]
fn the_entries_at_the_start_of_a_table_cut_short_are_counted() {
    let path = table("binary-256-bloom10.ldb");
    let sound = fs::read(&path).unwrap();
    let opened = filterblock::table::Table::open(&sound[..], &Default::default()).unwrap();
    // The file is cut off `end` bytes after the first blocks, whose number is `blocks`. Damage in the second block
    // takes only its own entries.
    for (blocks, end, is_damaged) in [(1, 0, false), (3, 1, false), (10, 4, false), (10, 4, true)] {
        let handles: Vec<_> = opened.data_blocks().take(blocks + 1).map(Result::unwrap).collect();
        let mut entries = 0;
        for (at, handle) in handles[..blocks].iter().enumerate() {
            if is_damaged && at == 1 {
                continue;
            }
            let mut cursor = opened.block_cursor(*handle).unwrap();
            while cursor.next().unwrap() {
                entries += 1;
            }
        }
        let folder = folder();
        let mut cut = sound[..handles[blocks].offset as usize + end].to_vec();
        cut[handles[1.min(blocks - 1)].offset as usize + 5] ^= u8::from(is_damaged);
        let cut = file(&folder, "cut.ldb", &cut);
        let expected = format!("{entries} entries at its start can be read.");
        for command in [args!["inspect", cut], args!["verify", cut]] {
            let run = run(&command).expect(1);
            assert!(run.out.contains(&expected), "{expected}: {run:?}");
        }
    }
}

/// The example in the help of `inspect` finds the tables that the totals count.
#[test]
fn an_unfinished_file_is_no_table_without_filters() {
    let copy = manifest::copy_of(&database("unfiltered"));
    fs::write(copy.path().join("000099.ldb"), "begun").unwrap();
    let lines = run(&args!["inspect", "--json", copy.path()]).expect(0).all_json();
    let tables = lines.iter().filter(|line| line["object"] == "table");
    let without = |line: &&Value| !line["data_blocks"].is_null() && line["filter"].is_null();
    let totals = lines.iter().find(|line| line["object"] == "totals").unwrap();
    assert_eq!(tables.clone().count(), 3);
    assert_eq!(tables.filter(without).count() as u64, totals["without_filters"].as_u64().unwrap());
    assert_eq!(totals["without_filters"], 2);
}
