//! Tests of folders: the files found in them, and whether the folders are databases.

use super::*;

fn local() -> Arc<dyn Storage> {
    Arc::new(LocalStorage)
}

fn open(dir: &tempfile::TempDir) -> Arc<Folder> {
    let Ok(PathKind::Folder(folder)) = resolve(dir.path(), &local()) else { panic!("a folder") };
    folder
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn files_are_in_the_order_of_their_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["10.ldb", "2.ldb", "000001.sst", "99999999999999999999.ldb", "x.ldb", "000002.ldb", "3.txt"];
    names.iter().for_each(|name| fs::write(dir.path().join(name), "").unwrap());
    let logs = ["9.log", "000010.log", "8.log", "x.log"];
    logs.iter().for_each(|name| fs::write(dir.path().join(name), [0; 3]).unwrap());
    fs::write(dir.path().join("7.log"), "").unwrap();
    let folder = open(&dir);
    let found: Vec<_> = folder.tables().map(name).collect();
    assert_eq!(found, ["000001.sst", "000002.ldb", "2.ldb", "10.ldb", "99999999999999999999.ldb", "x.ldb"]);
    assert_eq!(folder.filled_logs().map(name).collect::<Vec<_>>(), ["8.log", "9.log", "000010.log"]);
    assert_eq!(folder.skipped(), []);
}

#[test]
fn a_folder_is_nothing_without_tables_and_a_manifest() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["000007.log", "notes.txt", "LOG"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    fs::create_dir(dir.path().join("000001.tmp")).unwrap();
    assert!(open(&dir).is_nothing());
    for name in ["x.ldb", "000007.ldb"] {
        let path = dir.path().join(name);
        fs::write(&path, "").unwrap();
        assert!(!open(&dir).is_nothing(), "{name}");
        fs::remove_file(&path).unwrap();
        // There is no table here either, but the folder should be looked at.
        fs::create_dir(&path).unwrap();
        assert!(!open(&dir).is_nothing(), "{name}");
        fs::remove_dir(path).unwrap();
    }
    fs::write(dir.path().join("000007.log"), "x").unwrap();
    assert!(!open(&dir).is_nothing() && open(&dir).is_database());
    fs::remove_file(dir.path().join("000007.log")).unwrap();
    fs::write(dir.path().join("CURRENT"), "x").unwrap();
    assert!(!open(&dir).is_nothing() && open(&dir).is_database());
}

#[test]
fn databases_below_a_folder_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    // With the separators of the system.
    let path = |name: &str| dir.path().join(name.split('/').collect::<PathBuf>());
    let below = path("a/b/c");
    fs::create_dir_all(&below).unwrap();
    let hint = || nothing_at(open(&dir).path()).to_string();
    assert_eq!(hint(), "no database here: no CURRENT, table (.ldb, .sst) or log");
    fs::write(below.join("000005.ldb"), "").unwrap();
    // What a rebuild keeps for --undo is no database.
    fs::create_dir(path("a.filterblock-undo")).unwrap();
    fs::write(path("a.filterblock-undo/000005.ldb"), "").unwrap();
    assert_eq!(hint(), format!("no database here, but one below: {}", escape_path(&below)));
    for name in ["a/y", "a/x", "a/z"] {
        let folder = path(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(if name == "a/y" { "CURRENT" } else { "000005.sst" }), "").unwrap();
    }
    let first = path("a/x");
    assert_eq!(hint(), format!("no database here, but 4 below: {}, …", escape_path(&first)));
}

#[test]
fn a_folder_without_a_manifest_is_no_database() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("000005.ldb"), "").unwrap();
    let folder = open(&dir);
    assert!(!folder.is_database() && folder.manifest_error().is_none());
    for (name, is_database) in [("000004.log", true), ("LOG", true), ("LOCK", false)] {
        let path = dir.path().join(name);
        fs::write(&path, "").unwrap();
        let folder = open(&dir);
        assert_eq!(
            (folder.is_database(), folder.manifest_error().is_some()),
            (is_database, is_database),
            "{name}"
        );
        fs::remove_file(path).unwrap();
    }
    assert!(resolve(&dir.path().join("missing"), &local()).is_err());
    fs::write(dir.path().join("CURRENT"), "MANIFEST-000001\n").unwrap();
    let folder = open(&dir);
    assert!(folder.is_database() && !folder.has_records());
    let (path, _) = folder.manifest_error().unwrap();
    assert_eq!(path, dir.path().join("MANIFEST-000001"));
    assert_eq!((folder.missing().count(), folder.comparator()), (0, None));
    assert!(folder.record(&dir.path().join("000005.ldb")).is_none());
}

#[cfg(unix)]
#[test]
fn a_folder_whose_files_cannot_be_looked_at_is_a_database() {
    for name in ["CURRENT", "MANIFEST-000001"] {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(name, dir.path().join(name)).unwrap();
        assert!(open(&dir).manifest_error().is_some(), "{name}");
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("CURRENT"), "MANIFEST-000001\n").unwrap();
    std::os::unix::fs::symlink("000009.ldb", dir.path().join("000009.ldb")).unwrap();
    let folder = open(&dir);
    assert_eq!(folder.manifest_error().unwrap().0, dir.path().join("MANIFEST-000001"));
}

/// The folder holds folders, and links to a file, to a folder, to nothing and to themselves.
#[cfg(unix)]
#[test]
fn no_file_but_a_regular_one_is_looked_at() {
    use std::os::unix::fs::symlink;

    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("x"), "x").unwrap();
    symlink(path("x"), path("x.ldb")).unwrap();
    symlink(path("x"), path("2.ldb")).unwrap();
    symlink(path("x"), path("000003.log")).unwrap();
    symlink(dir.path(), path("000004.sst")).unwrap();
    symlink("nothing", path("000005.ldb")).unwrap();
    symlink("000006.log", path("000006.log")).unwrap();
    for name in ["000001.ldb", "10.log", "y.sst"] {
        fs::create_dir(path(name)).unwrap();
    }
    // These are neither tables nor logs.
    fs::create_dir(path("000007.tmp")).unwrap();
    fs::create_dir(path("x.log")).unwrap();
    symlink("LOCK", path("LOCK")).unwrap();
    symlink(path("x"), path("LOG")).unwrap();
    let folder = open(&dir);
    assert_eq!((folder.tables().count(), folder.filled_logs().count()), (0, 0));
    let skipped = folder.skipped();
    let skipped: Vec<_> = skipped.iter().map(|(path, error)| (name(path), error.to_string())).collect();
    let link = "skipped: expected a regular file, found a symbolic link (links are followed when named)";
    let is_folder = "skipped: expected a regular file, found a folder";
    let expected = [
        ("000001.ldb", is_folder),
        ("2.ldb", link),
        ("000003.log", link),
        ("000004.sst", link),
        ("000005.ldb", link),
        ("000006.log", link),
        ("10.log", is_folder),
        ("x.ldb", link),
        ("y.sst", is_folder),
    ];
    assert_eq!(skipped, expected.map(|(name, error)| (name, error.to_owned())));
}

#[test]
fn the_size_of_tables_is_that_of_all_that_are_read() {
    let dir = tempfile::tempdir().unwrap();
    for (name, contents) in [("000005.ldb", "abc"), ("backup.ldb", "abcd"), ("000007.log", "abcde")] {
        fs::write(dir.path().join(name), contents).unwrap();
    }
    assert_eq!(open(&dir).size_of_tables(), 7);
}
