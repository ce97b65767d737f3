//! Whole database folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use filterblock::Error;
use filterblock::database::{Database, DatabaseFiles, FileKind, LiveTable, Manifest};

use crate::databases::{BYTEWISE, internal_key, testdata};

/// A table: level, number, size, and its first and last entry, each as user key, sequence number and type.
type Row = (u8, u64, u64, (String, u64, u8), (String, u64, u8));

fn row(table: &LiveTable) -> Row {
    let split = |key: &[u8]| {
        let (user_key, tag) = key.split_last_chunk::<8>().unwrap();
        let tag = u64::from_le_bytes(*tag);
        (String::from_utf8(user_key.to_vec()).unwrap(), tag >> 8, tag as u8)
    };
    (table.level, table.number, table.size, split(&table.smallest), split(&table.largest))
}

/// Checks that every live table has its file, of the recorded size, and that there are no other tables.
fn check_files(manifest: &Manifest, dir: &Path) {
    let files = DatabaseFiles::list(dir).unwrap();
    for table in manifest.tables() {
        assert_eq!(files.table(table.number).unwrap().unwrap().len, table.size, "{table:?}");
    }
    assert_eq!(manifest.tables().len(), files.of_kind(FileKind::Table).count());
}

/// The ranges are those of the entries that LevelDB lists, in `NAME.entries`.
#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn leveldb_records_the_first_and_last_entry_of_each_table() {
    for (name, comparator, levels, log_number) in [
        ("levels", BYTEWISE, &[(2, 5), (1, 7), (0, 9)][..], 10),
        ("unfiltered", BYTEWISE, &[(2, 5), (0, 7)], 8),
        ("reversed", b"filterblock.testdata.Reversed", &[(2, 5), (0, 7)], 8),
    ] {
        let dir = testdata("databases").join(name);
        let manifest = Manifest::read(&dir).unwrap();
        assert_eq!(manifest.comparator(), Some(comparator), "{name}");
        assert_eq!(manifest.is_bytewise(), name != "reversed");
        assert_eq!(manifest.log_number(), log_number, "{name}");
        assert_eq!(manifest.prev_log_number(), 0);
        assert_eq!(manifest.incomplete_tail(), None);
        check_files(&manifest, &dir);

        let mut ranges: BTreeMap<u64, (Vec<u8>, Vec<u8>)> = BTreeMap::new();
        let mut last_sequence = 0;
        let entries = fs::read_to_string(testdata("databases").join(format!("{name}.entries"))).unwrap();
        for line in entries.lines().filter(|line| !line.starts_with('#')) {
            let [table, key, sequence, kind, _] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let key: Vec<u8> =
                (0..key.len()).step_by(2).map(|i| u8::from_str_radix(&key[i..i + 2], 16).unwrap()).collect();
            let sequence = sequence.parse().unwrap();
            last_sequence = last_sequence.max(sequence);
            let key = internal_key(&key, sequence, u8::from(kind == "value"));
            let number = table.strip_suffix(".ldb").unwrap().parse().unwrap();
            ranges.entry(number).or_insert_with(|| (key.clone(), Vec::new())).1.clone_from(&key);
        }
        assert_eq!(manifest.last_sequence(), last_sequence, "{name}");
        assert_eq!(manifest.tables().len(), levels.len(), "{name}");
        for &(level, number) in levels {
            let table = manifest.level(level).iter().find(|table| table.number == number).unwrap();
            let (smallest, largest) = &ranges[&number];
            assert_eq!((&table.smallest[..], &table.largest[..]), (&smallest[..], &largest[..]), "{name}");
        }
    }
}

/// The numbers that goleveldb itself gave for its tables; see testdata/README.md.
#[test]
fn goleveldb_databases_are_read() {
    for (name, sizes) in [
        ("base-lg-11", [2800, 5110, 3261, 5157, 5150, 5128, 5165]),
        ("base-lg-19", [2791, 5105, 3256, 5152, 5145, 5123, 5160]),
    ] {
        let dir = testdata("goleveldb").join(name);
        let manifest = Manifest::read(&dir).unwrap();
        check_files(&manifest, &dir);
        let key = |key: &str, sequence, kind| (format!("key{key}"), sequence, kind);
        let expected: [Row; 7] = [
            (0, 11, sizes[0], key("000030", 1101, 0), key("000897", 1100, 1)),
            (1, 8, sizes[1], key("002403", 802, 1), key("002997", 1000, 1)),
            (1, 17, sizes[2], key("002216", 1184, 1), key("002400", 801, 1)),
            (2, 4, sizes[3], key("000000", 1, 1), key("000600", 201, 1)),
            (2, 5, sizes[4], key("000603", 202, 1), key("001200", 401, 1)),
            (2, 6, sizes[5], key("001203", 402, 1), key("001800", 601, 1)),
            (2, 16, sizes[6], key("001803", 602, 1), key("002214", 739, 1)),
        ];
        assert_eq!(manifest.tables().iter().map(row).collect::<Vec<_>>(), expected);
        assert_eq!(manifest.comparator(), Some(BYTEWISE));
        assert_eq!(manifest.records(), 4);
        assert_eq!(manifest.log_number(), 14);
        assert!(manifest.next_file_number() > 17);
    }
}

#[test]
fn files_are_listed_by_kind_and_number() {
    let files = DatabaseFiles::list(testdata("goleveldb/base-lg-11")).unwrap();
    let listed: Vec<_> = files.iter().map(|file| (file.kind, file.number)).collect();
    let tables = [4, 5, 6, 8, 11, 16, 17].map(|number| (FileKind::Table, number));
    let others = [
        (FileKind::Log, 14),
        (FileKind::Manifest, 13),
        (FileKind::Current, 0),
        (FileKind::Temporary, 0), // CURRENT.bak
    ];
    assert_eq!(listed, [&tables[..], &others].concat());
    assert_eq!(files.iter().map(|file| file.len).sum::<u64>(), 37_123 - 4096);

    let database = Database::open(testdata("goleveldb/base-lg-11")).unwrap();
    let live = database.logs().filter(|log| log.is_live);
    assert_eq!(live.map(|log| log.number).collect::<Vec<_>>(), [14]);
}

#[test]
fn a_table_is_the_file_that_leveldb_would_open() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["5.ldb", "000005.sst", "0000005.ldb", "1234567.sst", "8.sst"] {
        fs::write(folder.path().join(name), name).unwrap();
    }
    let found = |number| {
        let files = DatabaseFiles::list(folder.path()).unwrap();
        let file = files.table(number).unwrap();
        file.map(|file| file.path.file_name().unwrap().to_str().unwrap().to_owned())
    };
    assert_eq!(found(5).as_deref(), Some("000005.sst"));
    assert_eq!(found(1_234_567).as_deref(), Some("1234567.sst"));
    assert_eq!(found(8), None);
    assert_eq!(found(6), None);
    fs::write(folder.path().join("000005.ldb"), "").unwrap();
    assert_eq!(found(5).as_deref(), Some("000005.ldb"));
}

#[test]
fn what_is_no_regular_file_is_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("000001.ldb")).unwrap();
    fs::write(folder.path().join("000002.ldb"), "").unwrap();
    fs::write(folder.path().join("notes.txt"), "").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("/dev/zero", folder.path().join("000003.ldb")).unwrap();
        symlink("000002.ldb", folder.path().join("000005.ldb")).unwrap();
    }
    let files = DatabaseFiles::list(folder.path()).unwrap();
    let listed: Vec<_> = files.iter().map(|file| file.number).collect();
    assert_eq!(listed, if cfg!(unix) { vec![2, 5] } else { vec![2] });
    assert_eq!(files.unreadable().count(), 0);
}

/// Links in a circle, links to nowhere, and links through a file as if it were a folder.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_looked_at_is_neither_sound_nor_missing_and_the_others_are_listed() {
    use std::io::ErrorKind;
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["000001.ldb", "000003.sst", "000004.ldb", "000004.sst", "000007.log", "MANIFEST-000002"] {
        fs::write(path(name), name).unwrap();
    }
    symlink("000002.ldb", path("000002.ldb")).unwrap();
    symlink("000003.ldb", path("000003.ldb")).unwrap();
    symlink("000005.sst", path("000005.sst")).unwrap();
    symlink("nowhere", path("000006.ldb")).unwrap();
    symlink("000001.ldb/within", path("000008.log")).unwrap();
    symlink("CURRENT", path("CURRENT")).unwrap();
    symlink("notes.txt", path("notes.txt")).unwrap();
    // A name that LevelDB would not open by its number, whatever is there.
    symlink("1.ldb", path("1.ldb")).unwrap();

    let files = DatabaseFiles::list(folder.path()).unwrap();
    let listed: Vec<_> = files.iter().map(|file| (file.kind, file.number)).collect();
    let tables = [1, 3, 4, 4].map(|number| (FileKind::Table, number));
    assert_eq!(listed, [&tables[..], &[(FileKind::Log, 7), (FileKind::Manifest, 2)]].concat());

    let unreadable: Vec<_> = files.unreadable().map(|file| (file.kind, file.number)).collect();
    let tables = [1, 2, 3, 5, 6].map(|number| (FileKind::Table, number));
    assert_eq!(unreadable, [&tables[..], &[(FileKind::Log, 8), (FileKind::Current, 0)]].concat());
    for file in files.unreadable() {
        assert_eq!(file.error.path(), Some(&*file.path));
        let Error::Io { action, offset: 0, source, .. } = file.error.without_path() else {
            panic!("{file:?}")
        };
        assert_eq!(action.to_string(), "looking up the size");
        let expected = fs::metadata(&file.path).unwrap_err();
        assert_eq!((source.kind(), source.raw_os_error()), (expected.kind(), expected.raw_os_error()));
        assert_eq!(source.kind() == ErrorKind::NotFound, file.number == 6);
    }

    let found = |number| files.table(number).map(|file| file.map(|file| &*file.path));
    assert_eq!(found(1), Ok(Some(&*path("000001.ldb"))));
    // The .ldb would be tried before the .sst.
    for (number, name) in [(2, "000002.ldb"), (3, "000003.ldb"), (5, "000005.sst"), (6, "000006.ldb")] {
        assert_eq!(found(number).unwrap_err().path, path(name));
    }
    assert_eq!(found(4), Ok(Some(&*path("000004.ldb"))));
    assert_eq!(found(7), Ok(None));

    let again = DatabaseFiles::list(folder.path()).unwrap();
    assert_eq!(again, files);
    assert_eq!(again.clone(), files);
    fs::remove_file(path("000002.ldb")).unwrap();
    let without = DatabaseFiles::list(folder.path()).unwrap();
    assert_ne!(without, files);
    assert_eq!(without.table(2), Ok(None));
    // The same name, and another reason.
    symlink("nowhere", path("000002.ldb")).unwrap();
    assert_ne!(DatabaseFiles::list(folder.path()).unwrap(), files);
}

/// LevelDB opens the readable `.ldb`, and does not try the unreadable `.sst`.
#[cfg(unix)]
#[test]
fn a_file_that_leveldb_would_not_try_does_not_hide_a_table() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("000003.ldb"), "table").unwrap();
    std::os::unix::fs::symlink("000003.sst", folder.path().join("000003.sst")).unwrap();
    let files = DatabaseFiles::list(folder.path()).unwrap();
    assert_eq!(files.table(3).unwrap().unwrap().path, folder.path().join("000003.ldb"));
    assert_eq!(files.unreadable().count(), 1);
}

/// In this folder, only names may be read. That does not hold for root, who may do everything.
#[cfg(unix)]
#[test]
fn files_in_a_folder_without_permission_are_unreadable() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    for name in ["000001.ldb", "CURRENT"] {
        fs::write(folder.path().join(name), name).unwrap();
    }
    let allow = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
    allow(0o444);
    if fs::metadata(folder.path().join("CURRENT")).is_err() {
        let files = DatabaseFiles::list(folder.path()).unwrap();
        assert_eq!((files.iter().count(), files.unreadable().count()), (0, 2));
        assert!(files.table(1).is_err());
        allow(0o111);
        let error = DatabaseFiles::list(folder.path()).unwrap_err();
        assert_eq!(error.path(), Some(folder.path()));
    }
    allow(0o755);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap().path().join("gone");
    assert_eq!(DatabaseFiles::list(&folder).unwrap_err().path(), Some(&*folder));
    assert_eq!(Manifest::read(&folder).unwrap_err().path(), Some(&*folder.join("CURRENT")));
}

fn read_with(current: &[u8], manifest: &[u8]) -> Error {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("CURRENT"), current).unwrap();
    fs::write(folder.path().join("MANIFEST-000001"), manifest).unwrap();
    Manifest::read(folder.path()).unwrap_err()
}

/// Promise: A6.
#[test]
fn current_has_to_name_a_manifest_beside_it() {
    for (current, found) in [
        (&b""[..], "no contents, as a file whose contents did not reach the disk"),
        (b"MANIFEST-000001", "no line feed at its end, as a text editor or a shell may write it"),
        (b"../../etc/passwd\n", "\"../../etc/passwd\\x0a\""),
        (b"/dev/zero\n", "\"/dev/zero\\x0a\""),
        (b"\x1b[2J\n", "\"\\x1b[2J\\x0a\""),
        (&[b'M'; 100_000], "more than 64 bytes"),
    ] {
        let error = read_with(current, b"");
        assert_eq!(error.path().unwrap().file_name().unwrap(), "CURRENT");
        assert_eq!(
            error.without_path().to_string(),
            format!("CURRENT has {found}; expected MANIFEST-, a number and a line feed")
        );
    }
}

#[test]
fn errors_name_the_manifest() {
    let missing = read_with(b"MANIFEST-000002\n", b"");
    assert_eq!(missing.path().unwrap().file_name().unwrap(), "MANIFEST-000002");
    assert!(matches!(missing.without_path(), Error::Io { .. }));

    let mut manifest = fs::read(testdata("databases/levels/MANIFEST-000008")).unwrap();
    manifest[20] ^= 1;
    let damaged = read_with(b"MANIFEST-000001\n", &manifest);
    assert_eq!(damaged.path().unwrap().file_name().unwrap(), "MANIFEST-000001");
    assert!(matches!(damaged.without_path(), Error::Corrupt { offset: 0, .. }));
}

#[test]
fn a_folder_in_the_place_of_a_file_is_refused() {
    for name in ["CURRENT", "MANIFEST-000001"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("CURRENT"), "MANIFEST-000001\n").unwrap();
        let _ = fs::remove_file(folder.path().join(name));
        fs::create_dir(folder.path().join(name)).unwrap();
        refused(folder.path(), name);
    }
}

/// Reading a pipe waits for its writer, and `/dev/zero` has no end.
#[cfg(unix)]
#[cfg_attr(miri, ignore = "starts a process")]
#[test]
fn pipes_and_devices_are_refused() {
    for name in ["CURRENT", "MANIFEST-000001"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(folder.path().join("CURRENT"), "MANIFEST-000001\n").unwrap();
        let _ = fs::remove_file(&path);
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        refused(folder.path(), name);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        refused(folder.path(), name);
    }
}

fn refused(folder: &Path, name: &str) {
    let error = Manifest::read(folder).unwrap_err();
    assert_eq!(error.path(), Some(&*folder.join(name)));
    assert_eq!(error.without_path().to_string(), "opening: not a regular file");
}

/// Listing and reading leave a folder as it was.
#[test]
fn nothing_is_written_or_locked() {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(testdata("databases/levels")).unwrap() {
        let entry = entry.unwrap();
        fs::write(folder.path().join(entry.file_name()), fs::read(entry.path()).unwrap()).unwrap();
    }
    let state = || {
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| {
            let entry = entry.unwrap();
            (
                entry.file_name(),
                (entry.metadata().unwrap().modified().unwrap(), fs::read(entry.path()).unwrap()),
            )
        });
        entries.collect::<BTreeMap<_, _>>()
    };
    let before = state();
    for log in Database::open(folder.path()).unwrap().logs() {
        assert!(log.is_live && filterblock::database::log_has_writes(log.file.path().unwrap()).unwrap());
    }
    assert_eq!(state(), before);
}
