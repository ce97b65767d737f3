use std::fs;

use super::tables::{Crafted, samples};
use super::*;

#[test]
fn the_block_comes_as_it_lies_in_the_table() {
    for sample in samples() {
        let run = run(&args!["extract", table(&sample.name)]);
        if !sample.filtered {
            assert_eq!(run.expect(1).raw, b"");
            continue;
        }
        let run = run.expect(0).quiet();
        assert_eq!(run.raw, sample.open().filter().unwrap().contents(), "{}", sample.name);
        let size = run.raw.len();
        assert!(sample.file.windows(size).any(|window| window == run.raw), "{}", sample.name);
    }
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let folder = folder();
    let path = table("words-256-bloom10.ldb");
    let block = run(&args!["extract", path]).raw;
    let output = folder.path().join("out");
    let run_to = |output: &std::path::Path| run(&args!["extract", path, "--output", output]);
    assert_eq!(run_to(&output).expect(0).quiet().out, "");
    assert_eq!(fs::read(&output).unwrap(), block);
    // An older file is replaced, and what stands beside it is left alone.
    fs::write(&output, "older").unwrap();
    run_to(&output).expect(0);
    assert_eq!(fs::read(&output).unwrap(), block);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);

    let missing = folder.path().join("missing").join("out");
    run_to(&missing).expect(2);
    run_to(folder.path()).expect(2);
    let none = run(&args!["extract", table("words-4096-unfiltered.ldb"), "-o", output]).expect(1);
    assert!(none.err.contains("has no filter block"), "{none:?}");
    assert_eq!(fs::read(&output).unwrap(), block);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn the_table_itself_is_not_replaced() {
    let folder = folder();
    let contents = fs::read(table("single-4096-bloom10.ldb")).unwrap();
    let path = file(&folder, "table", &contents);
    let run = run(&args!["extract", path, "-o", folder.path().join(".").join("table")]).expect(2);
    assert!(run.err.contains("is the file that is read"), "{run:?}");
    assert_eq!(fs::read(&path).unwrap(), contents);
}

#[test]
fn the_table_is_known_by_whatever_name_it_is_read() {
    let folder = folder();
    let contents = fs::read(table("single-4096-bloom10.ldb")).unwrap();
    let path = file(&folder, "table", &contents);
    fs::create_dir(folder.path().join("below")).unwrap();
    let other = folder.path().join("below").join("..").join("table");
    let run = run(&args!["extract", other, "-o", path]).expect(2);
    assert!(run.err.contains("is the file that is read"), "{run:?}");
    assert_eq!(fs::read(&path).unwrap(), contents);
}

/// `extract` writes a filter block, which is none of the files of a database, so it makes no file of their names.
/// `build` makes a table, and may do so under the name of one.
#[test]
fn no_file_of_a_database_is_replaced() {
    let folder = folder();
    let lines = file(&folder, "lines.tsv", "key\tvalue\n");
    for name in ["CURRENT", "MANIFEST-000008", "000010.log", "LOCK", "000009.ldb", "new.ldb"] {
        let path = folder.path().join(name);
        if name != "new.ldb" {
            fs::write(&path, "of a database").unwrap();
        }
        let before = fs::read(&path).ok();
        let runs = [
            run(&args!["extract", table("single-4096-bloom10.ldb"), "-o", path]),
            run(&args!["build", "--force", lines, path]),
        ];
        // A table may be replaced by another one.
        let refused = if name.ends_with(".ldb") { 1 } else { 2 };
        for run in &runs[..refused] {
            assert!(run.status == 2 && run.err.contains("databases have files of this name"), "{run:?}");
        }
        assert!(refused == 1 || fs::read(&path).ok() == before);
        assert!(refused == 2 || runs[1].status == 0);
    }
}

#[cfg(unix)]
#[test]
fn what_a_link_stands_for_is_replaced_and_devices_are_not() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = folder();
    let path = table("single-4096-bloom10.ldb");
    let target = file(&folder, "target", "older");
    let link = folder.path().join("link");
    symlink(&target, &link).unwrap();
    run(&args!["extract", path, "-o", link]).expect(0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&target).unwrap(), run(&args!["extract", path]).raw);

    let null = folder.path().join("null");
    symlink("/dev/null", &null).unwrap();
    run(&args!["extract", path, "-o", null]).expect(2);
    // The file is not only for its owner, unlike other files that began as temporary ones.
    let plain = file(&folder, "plain", "");
    run(&args!["extract", path, "-o", folder.path().join("new")]).expect(0);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&folder.path().join("new")), mode(&plain));
}

#[test]
fn a_policy_that_is_not_known_is_named() {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[(b"key", b"value")]);
    let filter = crafted.block(b"whatever");
    let contents = crafted.finish(&[(b"l", data)], &[(b"filter.example.\x07Odd", filter)]);
    let folder = folder();
    let run = run(&args!["extract", file(&folder, "odd.ldb", contents)]).expect(1);
    let message = r#"has filters of a policy that is not known here: "example.\x07Odd""#;
    assert!(run.err.contains(message), "{run:?}");
}

#[test]
fn what_is_no_table_is_status_2() {
    let folder = folder();
    for path in [file(&folder, "text", "hello"), folder.path().to_owned(), folder.path().join("missing")] {
        let run = run(&args!["extract", path]).expect(2);
        assert_eq!(run.out, "");
        assert!(run.err.starts_with(&format!("filterblock: {}: ", path.display())), "{run:?}");
    }
    let run = run(&args!["extract", folder.path()]).expect(2);
    assert!(run.err.ends_with(": expected a regular file, found a folder\n"), "{run:?}");
}
