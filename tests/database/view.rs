//! Whole databases as a user sees them: what is live, missing, obsolete or unlisted, and which tables a lookup asks.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use filterblock::Error;
use filterblock::database::{
    Database, DatabaseListing, DatabaseTable, FileState, LogReader, Manifest, TableStatus, log_has_writes,
};
use filterblock::table::{BytewiseComparator, Comparator, Lookup, ReadOptions, Table};
use tempfile::TempDir;

use crate::databases::{Edit, copy_of, internal_key, log, testdata, unhex, value_key};

/// Describes each table, in the order of `tables`: file or number, part in the database, level, recorded size and real
/// size.
fn rows(database: &Database) -> Vec<String> {
    database.tables().map(|table| row(&table)).collect()
}

fn row(table: &DatabaseTable<'_>) -> String {
    let status = match table.status {
        TableStatus::Live(recorded) => {
            assert_eq!(recorded.number, table.number);
            format!("live {} {}", recorded.level, recorded.size)
        }
        TableStatus::Obsolete => "obsolete".to_owned(),
        TableStatus::Unlisted => "unlisted".to_owned(),
        TableStatus::Unknown => "unknown".to_owned(),
        _ => unreachable!(),
    };
    assert_eq!(table.recorded().is_some(), status.starts_with("live"));
    let name = table.file.path().map(|path| path.file_name().unwrap().to_str().unwrap());
    let file = match table.file {
        FileState::Present(file) => {
            assert_eq!(table.file.size(), Some(file.len));
            file.len.to_string()
        }
        FileState::Unreadable(_) => "unreadable".to_owned(),
        FileState::Missing => "missing".to_owned(),
        _ => unreachable!(),
    };
    assert_eq!(table.is_missing(), file == "missing");
    format!("{} {status}, {file}", name.map_or_else(|| table.number.to_string(), str::to_owned))
}

fn missing(database: &Database) -> Vec<u64> {
    database.missing().map(|table| table.number).collect()
}

fn asked(database: &Database, key: &str) -> Vec<u64> {
    database.tables_for(key.as_bytes()).map(|table| table.number).collect()
}

/// The number of each log, and whether it is live.
fn logs(database: &Database) -> Vec<(u64, bool)> {
    database.logs().map(|log| (log.number, log.is_live)).collect()
}

/// A folder with these files and a MANIFEST of these edits.
fn folder(edits: &[Edit], files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let records: Vec<_> = edits.iter().map(|edit| &edit.0).collect();
    fs::write(folder.path().join("CURRENT"), "MANIFEST-000002\n").unwrap();
    fs::write(folder.path().join("MANIFEST-000002"), log(&records).0).unwrap();
    files.iter().for_each(|name| fs::write(folder.path().join(name), name).unwrap());
    folder
}

fn table(edit: Edit, level: u64, number: u64) -> Edit {
    edit.add(level, number, 10, &value_key("a"), &value_key("m"))
}

/// The numbers are those of goleveldb and LevelDB; see testdata/README.md.
#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn sound_databases_are_seen_whole() {
    let database = Database::open(testdata("goleveldb/base-lg-11")).unwrap();
    assert_eq!(
        rows(&database),
        [
            "000011.ldb live 0 2800, 2800",
            "000008.ldb live 1 5110, 5110",
            "000017.ldb live 1 3261, 3261",
            "000004.ldb live 2 5157, 5157",
            "000005.ldb live 2 5150, 5150",
            "000006.ldb live 2 5128, 5128",
            "000016.ldb live 2 5165, 5165",
        ]
    );
    assert_eq!(asked(&database, "key002400"), [17]);
    assert_eq!(asked(&database, "key002214"), [16]);
    assert_eq!(asked(&database, "key000600"), [11, 4]);
    assert_eq!(asked(&database, "key000601"), [11]);
    assert_eq!((missing(&database), logs(&database)), (vec![], vec![(14, true)]));

    for (name, tables, log) in [
        ("levels", &[(0, 9), (1, 7), (2, 5)][..], (10, true)),
        ("unfiltered", &[(0, 7), (2, 5)], (8, false)),
        ("reversed", &[(0, 7), (2, 5)], (8, false)),
    ] {
        let dir = testdata("databases").join(name);
        let database = Database::open(&dir).unwrap();
        assert!(database.files().is_database());
        let found: Vec<_> =
            database.tables().map(|table| (table.recorded().unwrap().level, table.number)).collect();
        assert_eq!(found, tables, "{name}");
        for table in database.tables() {
            assert_eq!(table.file.size(), Some(table.recorded().unwrap().size), "{name}");
            assert_eq!(table.file.path(), Some(&*database.table_path(table.number)));
        }
        assert_eq!(database.manifest().unwrap(), &Manifest::read(&dir).unwrap());
        assert_eq!(database.comparator(), database.manifest().unwrap().comparator());
        assert_eq!(database.is_bytewise(), name != "reversed");
        assert_eq!(logs(&database), [(log.0, true)]);
        let has_writes = log_has_writes(database.logs().next().unwrap().file.path().unwrap());
        assert_eq!(has_writes.unwrap(), log.1, "{name}");
    }
}

/// LevelDB found these keys and no others. In these databases, it found all of them in tables.
#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn asking_the_tables_in_turn_finds_what_leveldb_finds() {
    struct Reversed;
    impl Comparator for Reversed {
        fn name(&self) -> &str {
            "filterblock.testdata.Reversed"
        }
        fn compare(&self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
            b.cmp(a)
        }
    }

    for name in ["unfiltered", "reversed"] {
        let database = Database::open(testdata("databases").join(name)).unwrap();
        let options = ReadOptions::default().internal_keys(true);
        let options = if database.is_bytewise() {
            options.comparator(BytewiseComparator)
        } else {
            options.comparator(Reversed)
        };
        let lines = |kind| {
            let text = fs::read_to_string(testdata("databases").join(format!("{name}.{kind}"))).unwrap();
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            lines.map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        let live: BTreeMap<Vec<u8>, usize> =
            lines("live").iter().map(|line| (unhex(&line[0]), line[1].parse().unwrap())).collect();
        let (mut deleted, mut one_of_two) = (0, 0);
        for line in lines("entries") {
            let key = unhex(&line[1]);
            let mut found = None;
            let mut tables = 0;
            for table in database.tables_for(&key) {
                tables += 1;
                let table = Table::open_path(table.file.path().unwrap(), &options).unwrap();
                match table.get_at(&key, (1 << 56) - 1).unwrap() {
                    Lookup::Value(value) => found = Some(value.len()),
                    Lookup::Deleted => deleted += 1,
                    _ => continue,
                }
                one_of_two += usize::from(tables == 1 && database.tables_for(&key).count() == 2);
                break;
            }
            assert_eq!(found, live.get(&key).copied(), "{name} {line:?}");
        }
        assert!(deleted > 0 && one_of_two > 0, "{name}: {deleted} {one_of_two}");
    }
}

#[test]
fn a_table_is_obsolete_only_if_its_number_was_given_away() {
    // The next file number is 9.
    let edits = [table(Edit::sound(), 1, 5), Edit::default().delete(1, 5), table(Edit::default(), 2, 6)];
    let folder =
        folder(&edits, &["000003.sst", "000005.ldb", "000006.ldb", "000008.ldb", "000009.ldb", "000010.ldb"]);
    let database = Database::open(folder.path()).unwrap();
    assert_eq!(
        rows(&database),
        [
            "000006.ldb live 2 10, 10",
            "000003.sst obsolete, 10",
            "000005.ldb obsolete, 10",
            "000008.ldb obsolete, 10",
            "000009.ldb unlisted, 10",
            "000010.ldb unlisted, 10",
        ]
    );
    assert_eq!(asked(&database, "b"), [6]);
}

#[test]
fn missing_tables_are_live_and_asked() {
    let edits = [table(table(table(Edit::sound(), 0, 5), 1, 6), 2, 7)];
    let folder = folder(&edits, &["000006.ldb", "000005.txt"]);
    fs::create_dir(folder.path().join("000007.ldb")).unwrap();
    let database = Database::open(folder.path()).unwrap();
    assert_eq!(rows(&database), ["5 live 0 10, missing", "000006.ldb live 1 10, 10", "7 live 2 10, missing"]);
    assert_eq!(missing(&database), [5, 7]);
    assert_eq!(asked(&database, "b"), [5, 6, 7]);
    assert_eq!(database.table_path(5), folder.path().join("000005.ldb"));
    assert_eq!(database.table_named("000005.ldb"), None);
    assert_eq!(database.table_named("000007.ldb"), None);
}

/// LevelDB opens only one of files with the same number: see `TableCache::FindTable` in LevelDB's `db/table_cache.cc`.
#[test]
fn of_files_with_one_number_the_one_that_leveldb_opens_is_live() {
    let names = ["000005.ldb", "000005.sst", "0000005.ldb", "5.sst", "000006.sst", "7.ldb"];
    let edits = [table(table(table(Edit::sound(), 1, 5), 2, 6), 3, 7)];
    let folder = folder(&edits, &names);
    let database = Database::open(folder.path()).unwrap();
    assert_eq!(
        rows(&database),
        [
            "000005.ldb live 1 10, 10",
            "000006.sst live 2 10, 10",
            "7 live 3 10, missing",
            "0000005.ldb unlisted, 11",
            "000005.sst unlisted, 10",
            "5.sst unlisted, 5",
            "7.ldb unlisted, 5",
        ]
    );
    for name in names {
        let found = database.table_named(name).unwrap();
        assert_eq!(found.file.path(), Some(&*folder.path().join(name)));
        assert!(database.tables().any(|table| table == found), "{name}");
    }
    for name in ["000008.ldb", "CURRENT", "05.ldb", "notes", "", "x/000005.ldb", "000007.ldb"] {
        assert_eq!(database.table_named(name), None, "{name}");
    }
}

/// Two levels name the same number, as may happen in a damaged MANIFEST.
#[test]
fn a_table_on_two_levels_is_on_both_and_its_file_is_no_other_table() {
    let twice = table(table(Edit::sound(), 1, 5), 3, 5);
    let database = folder(&[twice], &["000005.ldb"]);
    let database = Database::open(database.path()).unwrap();
    assert_eq!(rows(&database), ["000005.ldb live 1 10, 10", "000005.ldb live 3 10, 10"]);
}

#[cfg(unix)]
#[test]
fn a_table_that_cannot_be_looked_at_is_not_missing_and_what_stands_in_for_it_not_unlisted() {
    use std::os::unix::fs::symlink;

    let edits = [table(table(Edit::sound(), 1, 5), 2, 6)];
    let folder = folder(&edits, &["000005.sst", "5.ldb", "000007.ldb", "000006.ldb", "000012.log"]);
    let link = |name: &str, to: &str| symlink(to, folder.path().join(name)).unwrap();
    link("000005.ldb", "nowhere");
    link("000006.sst", "000006.sst");
    link("000008.ldb", "000008.ldb");
    link("000009.log", "nowhere");
    let database = Database::open(folder.path()).unwrap();
    assert_eq!(
        rows(&database),
        [
            "000005.ldb live 1 10, unreadable",
            "000006.ldb live 2 10, 10",
            "000005.sst unknown, 10",
            "5.ldb unlisted, 5",
            "000007.ldb obsolete, 10",
            "000006.sst unlisted, unreadable",
            "000008.ldb obsolete, unreadable",
        ]
    );
    assert_eq!(missing(&database), []);
    assert_eq!(asked(&database, "b"), [5, 6]);
    let found = database.table_named("000005.ldb").unwrap();
    assert!(matches!(found.file, FileState::Unreadable(_)) && found.recorded().is_some());
    assert_eq!(logs(&database), [(9, true), (12, true)]);
    assert_eq!(database.logs().next().unwrap().file.size(), None);
}

/// Checks a folder without a sound MANIFEST: nothing is known to be missing, obsolete or of no use.
fn check_unknown(dir: &Path, in_error: &str) -> Error {
    let names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let database = Database::open(dir).unwrap();
    let tables: Vec<_> = database.tables().collect();
    let table_files = names.iter().filter(|name| name.to_str().unwrap().ends_with(".ldb")).count();
    assert_eq!(tables.len(), table_files);
    assert!(tables.iter().all(|table| table.status == TableStatus::Unknown && !table.is_missing()));
    assert_eq!(missing(&database), []);
    assert_eq!((database.comparator(), database.is_bytewise()), (None, false));
    assert!(database.logs().count() > 0 && database.logs().all(|log| log.is_live));
    for key in ["", "a", "zzz"] {
        let asked = asked(&database, key);
        assert_eq!(asked.len(), tables.len());
        assert!(asked.is_sorted_by(|a, b| a >= b), "{asked:?}");
    }
    let error = database.manifest().unwrap_err();
    assert_eq!(error.path().unwrap().parent(), Some(dir));
    assert!(error.to_string().contains(in_error), "{error}");
    assert_eq!(error.to_string(), Manifest::read(dir).unwrap_err().to_string());
    Manifest::read(dir).unwrap_err()
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn without_a_sound_manifest_nothing_is_missing_or_obsolete() {
    let source = testdata("databases/levels");
    let manifest = fs::read(source.join("MANIFEST-000008")).unwrap();
    let with = |change: &dyn Fn(&Path)| {
        let folder = copy_of(&source);
        fs::write(folder.path().join("000004.ldb"), "").unwrap();
        fs::write(folder.path().join("000003.log"), "").unwrap();
        change(folder.path());
        folder
    };
    let write = |name: &'static str, contents: Vec<u8>| {
        with(&move |dir: &Path| fs::write(dir.join(name), &contents).unwrap())
    };

    let sound = with(&|_| {});
    let database = Database::open(sound.path()).unwrap();
    assert_eq!(row(&database.table_named("000004.ldb").unwrap()), "000004.ldb obsolete, 0");
    assert_eq!(logs(&database), [(3, false), (10, true)]);

    for contents in [&b""[..], b"MANIFEST-000008", b"000005.ldb\n", &[b'0'; 200]] {
        check_unknown(write("CURRENT", contents.to_vec()).path(), "expected MANIFEST-, a number");
    }
    check_unknown(write("CURRENT", b"MANIFEST-000009\n".to_vec()).path(), "MANIFEST-000009: does not exist");
    for name in ["CURRENT", "MANIFEST-000008"] {
        let gone = with(&|dir| fs::remove_file(dir.join(name)).unwrap());
        let error = check_unknown(gone.path(), name);
        assert!(matches!(error.without_path(), Error::Io { .. }));
        assert!(Database::open(gone.path()).unwrap().files().is_database());
    }
    for len in [0, 10, 40] {
        check_unknown(
            write("MANIFEST-000008", manifest[..len].to_vec()).path(),
            "expected a next file number",
        );
    }
    for at in [0, 6, 20] {
        let mut damaged = manifest.clone();
        damaged[at] ^= 1;
        check_unknown(write("MANIFEST-000008", damaged).path(), "log record at offset 0");
    }
}

/// LevelDB opens the database without the record that is cut. The last record moves table 16 to level 2, and the one
/// before adds tables 16 and 17.
#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn a_manifest_that_is_cut_within_a_record_counts_up_to_it() {
    let folder = copy_of(&testdata("goleveldb/base-lg-11"));
    let path = folder.path().join("MANIFEST-000013");
    let manifest = fs::read(&path).unwrap();
    let mut reader = LogReader::new(&manifest[..]);
    let mut starts = Vec::new();
    while let Some(record) = reader.read_record().unwrap() {
        starts.push(record.offset);
    }
    for (record, rows_of_16_and_17) in [
        (3, ["000016.ldb live 1 5165, 5165", "000017.ldb live 1 3261, 3261"]),
        (2, ["000016.ldb unlisted, 5165", "000017.ldb unlisted, 3261"]),
    ] {
        fs::write(&path, &manifest[..starts[record] as usize + 9]).unwrap();
        let database = Database::open(folder.path()).unwrap();
        assert_eq!(database.manifest().unwrap().incomplete_tail(), Some(starts[record]));
        let rows = rows(&database);
        for row in rows_of_16_and_17 {
            assert!(rows.iter().any(|found| found == row), "{row} {rows:?}");
        }
    }
}

#[test]
fn a_folder_without_a_database_opens_and_one_that_is_not_there_does_not() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("000005.ldb"), "").unwrap();
    let database = Database::open(folder.path()).unwrap();
    assert!(!database.files().is_database());
    assert_eq!(rows(&database), ["000005.ldb unknown, 0"]);
    assert_eq!(database.manifest().unwrap_err().path(), Some(&*folder.path().join("CURRENT")));
    let gone = folder.path().join("gone");
    assert_eq!(Database::open(&gone).unwrap_err().path(), Some(&*gone));
    for name in ["CURRENT", "MANIFEST-000001"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), "").unwrap();
        assert!(Database::open(folder.path()).unwrap().files().is_database(), "{name}");
        #[cfg(unix)]
        {
            fs::remove_file(folder.path().join(name)).unwrap();
            std::os::unix::fs::symlink(name, folder.path().join(name)).unwrap();
            assert!(Database::open(folder.path()).unwrap().files().is_database(), "{name}");
        }
    }
}

#[test]
fn logs_are_live_from_the_log_number_on_and_the_previous_one() {
    let folder = folder(
        &[Edit::sound().number(2, 4).number(9, 2)],
        &["000001.log", "000002.log", "000003.log", "000004.log", "000012.log", "5.log", "LOG"],
    );
    let database = Database::open(folder.path()).unwrap();
    assert_eq!(logs(&database), [(1, false), (2, true), (3, false), (4, true), (5, true), (12, true)]);
    for log in database.logs() {
        assert!(log.file.size().is_some_and(|size| size > 0));
    }
}

/// LevelDB makes a log before the MANIFEST names it. 0 stands for no log, and one log is missing once.
#[test]
fn logs_that_the_manifest_names_are_missing_without_their_files() {
    for (log, before, files, expected) in [
        (4, 2, &[][..], &[2, 4][..]),
        (2, 4, &[], &[2, 4]),
        (4, 2, &["000002.log", "000003.log"], &[4]),
        (4, 2, &["4.log"], &[2]),
        (4, 0, &[], &[4]),
        (4, 4, &[], &[4]),
        (0, 0, &[], &[]),
    ] {
        let folder = folder(&[Edit::sound().number(2, log).number(9, before)], files);
        let missing: Vec<u64> = Database::open(folder.path()).unwrap().missing_logs().collect();
        assert_eq!(missing, expected, "{log} and {before}, with {files:?}");
    }
}

/// A table is written before the edit that names it. In a database in use, at most the last table has no edit yet.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn tables_that_are_written_meanwhile_are_not_missing() {
    const TABLES: u64 = 300;

    let folder = &folder(&[], &[]);
    let edits = (10..10 + TABLES).map(|number| table(Edit::default(), 1, number).0);
    let (manifest, starts) = log(&std::iter::once(Edit::sound().0).chain(edits).collect::<Vec<_>>());
    let mut ends = starts[1..].iter().map(|&start| start as usize).chain([manifest.len()]);
    let mut end = ends.next().unwrap();
    let (path, manifest) = (&folder.path().join("MANIFEST-000002"), &manifest);
    fs::write(path, &manifest[..end]).unwrap();
    let (opened, opens) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || {
            let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
            for (number, next) in (10..).zip(ends) {
                // Neither thread gets far ahead of the other, whatever the machine does.
                if number % 20 == 0 {
                    let _ = opens.recv();
                }
                fs::write(folder.path().join(format!("{number:06}.ldb")), "table").unwrap();
                file.write_all(&manifest[end..next]).unwrap();
                end = next;
            }
        });
        let opened = opened;
        while !writer.is_finished() {
            let database = Database::open(folder.path()).unwrap();
            let live = database.manifest().unwrap().tables().len();
            assert_eq!(missing(&database), [], "of {live}");
            assert!(database.tables().count() <= live + 1, "{:?}", rows(&database));
            let _ = opened.send(());
        }
    });
    assert_eq!(Database::open(folder.path()).unwrap().tables().count() as u64, TABLES);
}

#[test]
fn what_only_looks_like_a_databases_file_is_a_stray() {
    let folder =
        folder(&[Edit::sound()], &["backup.ldb", "99999999999999999999.sst", "notes.txt", "x.log", "1.ldb"]);
    for name in ["000002.ldb", "000003.log", "000004.other", "MANIFEST-000005"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("000002.ldb", folder.path().join("000006.ldb")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("1.ldb", folder.path().join("2.ldb")).unwrap();
    let database = Database::open(folder.path()).unwrap();
    let strays: Vec<_> = database
        .files()
        .strays()
        .map(|stray| (stray.path.file_name().unwrap().to_str().unwrap(), stray.file_type.unwrap().is_file()))
        .collect();
    let mut expected = vec![
        ("000002.ldb", false),
        ("000003.log", false),
        ("99999999999999999999.sst", true),
        ("MANIFEST-000005", false),
        ("backup.ldb", true),
    ];
    if cfg!(unix) {
        expected.insert(2, ("000006.ldb", false));
    }
    assert_eq!(strays, expected);
    let links: Vec<_> = database
        .tables()
        .map(|table| match table.file {
            FileState::Present(file) => (table.number, file.is_link),
            _ => panic!("{table:?}"),
        })
        .collect();
    assert_eq!(links, if cfg!(unix) { vec![(1, false), (2, true)] } else { vec![(1, false)] });
}

#[test]
fn databases_go_from_thread_to_thread() {
    fn is<T: Send + Sync + 'static>() {}
    is::<Database>();
    is::<DatabaseListing>();
}

#[test]
fn debug_shows_sizes_not_keys() {
    let key = internal_key(b"secret", 1, 1);
    let folder = folder(&[Edit::sound().add(0, 5, 1, &key, &key)], &[]);
    let database = Database::open(folder.path()).unwrap();
    let shown = format!("{database:?} {:?}", database.tables().collect::<Vec<_>>());
    assert!(!shown.contains("secret") && shown.contains("MANIFEST") | shown.contains("Manifest"), "{shown}");

    let database = Database::open(testdata("databases/levels")).unwrap();
    let mut scan = database.scan(&ReadOptions::default()).unwrap();
    assert!(scan.next().unwrap());
    assert_eq!(format!("{scan:?}"), "Scan { newest: true, sources: 4, at_entry: true, .. }");
    let entry = scan.entry().unwrap();
    let (key, sequence, value) = (entry.key.user_key.len(), entry.key.sequence, entry.value.len());
    let shown = format!("{entry:?}");
    let expected =
        format!("DatabaseEntry {{ user_key_len: {key}, sequence: {sequence}, kind: 1, value_len: {value},");
    assert!(shown.starts_with(&expected), "{shown}");
}
