//! Scans of databases whose files the caller opens, compared with scans of the same files in a folder.

use std::cell::RefCell;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::{fs, iter};

use bytes::Bytes;
use filterblock::Error;
use filterblock::database::{Database, EntryFile, FileOpener, Opener, Scan};
use filterblock::table::ReadOptions;

use crate::databases::{Edit, copy_of, internal_key, log, testdata, value_key};
use crate::memory::{Fetching, Memory, name};
use crate::scan::{manifest, options, table};
use crate::scan_bounds::many;

/// The result of a scan at one place: key with sequence number and type, value, file and offset; or an error.
type Shown = Result<(Vec<u8>, u64, u8, Vec<u8>, PathBuf, u64), String>;

fn all<O: Opener>(scan: &mut Scan<'_, O>) -> Vec<Shown> {
    iter::from_fn(|| match scan.next() {
        Ok(true) => {
            let entry = scan.entry().unwrap();
            let (key, path) = (entry.key, entry.file.path().unwrap().to_owned());
            let value = entry.value.to_vec();
            Some(Ok((key.user_key.to_vec(), key.sequence, key.kind, value, path, entry.offset)))
        }
        Ok(false) => None,
        Err(error) => Some(Err(error.to_string())),
    })
    .collect()
}

/// Returns the user key of each entry of a scan with the number of its file, and the errors.
fn shown<O: Opener>(scan: &mut Scan<'_, O>) -> (Vec<(String, u64)>, Vec<Error>) {
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    loop {
        match scan.next() {
            Ok(true) => {
                let entry = scan.entry().unwrap();
                let number = match entry.file {
                    EntryFile::Table(table) => table.number,
                    EntryFile::Log(log) => log.number,
                };
                entries.push((String::from_utf8(entry.key.user_key.to_vec()).unwrap(), number));
            }
            Ok(false) => return (entries, errors),
            Err(error) => errors.push(error),
        }
    }
}

/// Compares scans of the folder with those of its files in memory. Returns the numbers of entries and of errors in the
/// scan of all versions.
fn agree(dir: &Path, options: &ReadOptions) -> (usize, usize) {
    let from_folder = Database::open(dir).unwrap();
    let (memory, from_memory) = Memory::of(dir);
    let expected = all(&mut from_folder.scan(options).unwrap());
    let mut scan = from_memory.scan_with(options, &memory).unwrap();
    assert!(all(&mut scan) == expected, "{}", dir.display());
    let mut versions = from_memory.scan_versions_with(options, &memory).unwrap();
    let expected_versions = all(&mut from_folder.scan_versions(options).unwrap());
    assert!(all(&mut versions) == expected_versions, "{}", dir.display());

    let mut from_folder = from_folder.scan(options).unwrap();
    all(&mut from_folder);
    for (key, ..) in expected.iter().flatten().step_by(61) {
        for start in [key.clone(), [&key[..], b"\0"].concat()] {
            scan.seek(&start);
            from_folder.seek(&start);
            assert!(all(&mut scan) == all(&mut from_folder), "{} at {start:?}", dir.display());
        }
    }
    let errors = expected_versions.iter().filter(|shown| shown.is_err()).count();
    (expected_versions.len() - errors, errors)
}

#[test]
fn a_database_in_memory_holds_what_its_folder_holds() {
    for name in ["levels", "unfiltered", "reversed"] {
        let dir = testdata("databases").join(name);
        let (entries, errors) = agree(&dir, &options(name));
        assert!(entries > 200 && errors == 0, "{entries} {errors}");
        let logs = Database::open(&dir).unwrap().logs().filter(|log| log.is_live).count();
        assert_eq!(logs, 1, "the log is a part of what was compared");
    }
}

#[test]
fn damage_costs_in_memory_what_it_costs_in_a_folder() {
    let source = testdata("databases/levels");
    let mut errors = Vec::new();
    for (name, damage) in [
        ("000005.ldb", (|file| file[300] ^= 1) as fn(&mut Vec<u8>)),
        ("000007.ldb", |file| file.truncate(100)),
        ("000009.ldb", Vec::clear),
        ("000010.log", |file| file[10] ^= 1),
        ("000010.log", |file| file.truncate(40)),
        ("MANIFEST-000008", Vec::clear),
        ("CURRENT", Vec::clear),
    ] {
        let folder = copy_of(&source);
        let path = folder.path().join(name);
        let mut file = fs::read(&path).unwrap();
        damage(&mut file);
        fs::write(path, file).unwrap();
        errors.push(agree(folder.path(), &ReadOptions::default()).1);
    }
    assert_eq!(errors, [1, 1, 1, 1, 0, 0, 0]);
    for name in ["000005.ldb", "000007.ldb", "000010.log"] {
        let folder = copy_of(&source);
        fs::remove_file(folder.path().join(name)).unwrap();
        assert_eq!(agree(folder.path(), &ReadOptions::default()).1, usize::from(name.ends_with("ldb")));
    }
}

/// A folder with three tables on level 1 that follow each other, one on level 0, an obsolete one, and one that is
/// missing; and with a live log and an obsolete one.
fn laid_out() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let mut edit = Edit::default();
    for (level, number, first, last) in
        [(1, 10, "a", "c"), (1, 11, "d", "f"), (1, 12, "g", "i"), (0, 13, "b", "h")]
    {
        let (smallest, largest, size) = table(dir, number, &[(first, number, 1), (last, number, 1)]);
        edit = edit.add(level, number, size, &smallest, &largest);
    }
    table(dir, 5, &[("x", 1, 1)]);
    manifest(dir, edit.add(2, 14, 1, &value_key("y"), &value_key("z")));
    for (number, key) in [(2, b"m"), (15, b"e")] {
        let batch = [&internal_key(b"", 0, 0)[..], &[1, 0, 0, 0, 1, 1], key, &[0]].concat();
        fs::write(dir.join(format!("{number:06}.log")), log(&[batch]).0).unwrap();
    }
    folder
}

/// A scan asks the opener for the live log, for the missing table, and for each table when it is its turn: for nothing
/// else, and for nothing twice. A scan of all versions asks for obsolete files, too.
#[test]
fn an_opener_is_asked_for_each_file_when_it_is_needed() {
    let folder = laid_out();
    let (memory, database) = Memory::of(folder.path());
    let options = ReadOptions::default();
    let mut scan = database.scan_with(&options, &memory).unwrap();
    assert_eq!(memory.asked(), ["000015.log"]);
    let error = scan.next().unwrap_err();
    assert_eq!(
        (error.path().map(name).as_deref(), memory.asked()),
        (Some("000014.ldb"), vec!["000014.ldb".to_owned()])
    );
    let mut found = Vec::new();
    while scan.next().unwrap() {
        let key = String::from_utf8(scan.entry().unwrap().key.user_key.to_vec()).unwrap();
        found.push((key, memory.asked().join(" "), memory.open.borrow().now));
    }
    let expected = [
        ("a", "000013.ldb 000010.ldb", 2),
        ("b", "", 2),
        ("c", "", 2),
        ("d", "000011.ldb", 2),
        ("e", "", 2),
        ("f", "", 2),
        ("g", "000012.ldb", 2),
        ("h", "", 2),
        ("i", "", 1),
    ];
    assert_eq!(found, expected.map(|(key, asked, open)| (key.to_owned(), asked.to_owned(), open)));
    assert_eq!((memory.asked().len(), memory.open.borrow().now, memory.open.borrow().most), (0, 0, 2));

    // A table that ends before the key is not asked for, the logs not again, and what is missing is reported once.
    scan.seek(b"e");
    assert_eq!(shown(&mut scan).0.len(), 5);
    assert_eq!(memory.asked(), ["000013.ldb", "000011.ldb", "000012.ldb"]);
    scan.seek(b"e");
    assert!(scan.next().unwrap() && memory.open.borrow().now == 2);
    drop(scan);
    assert_eq!(memory.open.borrow().now, 0);
    memory.asked();

    let mut versions = database.scan_versions_with(&options, &memory).unwrap();
    assert_eq!(memory.asked(), ["000002.log", "000015.log"]);
    let (entries, errors) = shown(&mut versions);
    assert_eq!((entries.len(), errors.len()), (11, 1));
    let mut asked = memory.asked();
    asked.sort();
    assert_eq!(asked, [5, 10, 11, 12, 13, 14].map(|number| format!("{number:06}.ldb")));
}

/// An error of the opener costs only the file that it is about. It is reported once, unchanged and with the path.
#[test]
fn what_an_opener_cannot_open_is_told_and_the_others_shown() {
    let folder = laid_out();
    let (memory, database) = Memory::of(folder.path());
    let all = shown(&mut database.scan_with(&ReadOptions::default(), &memory).unwrap()).0;
    assert_eq!(all.len(), 9);
    for number in [10_u64, 11, 12, 13, 15] {
        let failing = if number == 15 { "000015.log".to_owned() } else { format!("{number:06}.ldb") };
        memory.asked();
        *memory.failing.borrow_mut() = Some((failing.clone(), 1));
        let mut scan = database.scan_with(&ReadOptions::default(), &memory).unwrap();
        let (entries, errors) = shown(&mut scan);
        let expected: Vec<_> = all.iter().filter(|entry| entry.1 != number).cloned().collect();
        assert_eq!(entries, expected);
        let errors: Vec<_> =
            errors.iter().filter(|error| !error.to_string().contains("000014.ldb")).collect();
        let [error] = &errors[..] else { panic!("{failing}: {errors:?}") };
        assert_eq!(error.path(), Some(&*folder.path().join(&failing)));
        let Error::Io { action, source, .. } = error.without_path() else { panic!("{error}") };
        assert_eq!((*action, source.kind()), (filterblock::IoAction::Open, io::ErrorKind::TimedOut));
        // A seek asks for a table again, which may be there by now.
        *memory.failing.borrow_mut() = None;
        scan.seek(b"");
        assert_eq!(shown(&mut scan).0.len(), if number == 15 { 8 } else { 9 });
    }
}

#[test]
fn what_an_opener_opens_is_closed_and_opened_again() {
    let (folder, paths) = many(0);
    let (memory, database) = Memory::of(folder.path());
    let mut scan = database.scan_with(&ReadOptions::default(), &memory).unwrap();
    let (entries, errors) = shown(&mut scan);
    assert!(entries.len() == 4 * paths.len() && errors.is_empty());
    assert_eq!((memory.open.borrow().now, memory.open.borrow().most), (0, Scan::MAX_OPEN_FILES));
    let asked = memory.asked();
    let times = |path: &PathBuf| asked.iter().filter(|asked| **asked == name(path)).count();
    assert!(paths.iter().all(|path| times(path) > 1), "{asked:?}");
}

/// Each table is opened again when its second entry is read.
#[test]
fn what_cannot_be_opened_again_or_is_another_is_one_error() {
    let (folder, paths) = many(0);
    let (mut memory, database) = Memory::of(folder.path());
    let lost = |errors: &[Error]| errors.iter().map(|error| name(error.path().unwrap())).collect::<Vec<_>>();

    *memory.failing.borrow_mut() = Some(("000013.ldb".to_owned(), 2));
    let mut scan = database.scan_with(&ReadOptions::default(), &memory).unwrap();
    let (entries, errors) = shown(&mut scan);
    assert_eq!(lost(&errors), ["000013.ldb"]);
    let Error::Io { source, .. } = errors[0].without_path() else { panic!("{errors:?}") };
    assert_eq!(source.kind(), io::ErrorKind::TimedOut);
    assert!(entries.len() < 4 * paths.len() && entries.len() >= 4 * paths.len() - 3);
    assert_eq!(memory.open.borrow().now, 0);
    drop(scan);
    memory.failing = RefCell::default();

    // Once the tables have another version, those that were closed are lost, each with one error.
    let mut scan = database.scan_with(&ReadOptions::default(), &memory).unwrap();
    assert!(scan.next().unwrap());
    *memory.version.borrow_mut() = b"another".to_vec();
    let (_, errors) = shown(&mut scan);
    let mut names = lost(&errors);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), errors.len());
    assert!(errors.len() >= paths.len() - Scan::MAX_OPEN_FILES, "{}", errors.len());
    for error in &errors {
        let Error::Io { source, .. } = error.without_path() else { panic!("{error}") };
        assert_eq!(source.kind(), io::ErrorKind::NotFound, "{error}");
    }
    // Opened anew, the tables are those of the other version.
    scan.seek(b"");
    assert_eq!(shown(&mut scan).0.len(), 4 * paths.len());
}

/// The tables are too large to be fetched whole when they are opened. Each key is in a block of its own.
#[test]
fn ranges_that_are_not_there_yet_cost_no_entry() {
    let folder = tempfile::tempdir().unwrap();
    let (mut edit, mut state) = (Edit::default(), 1_u32);
    for (level, number) in [(1, 10), (1, 11), (0, 12)] {
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'!' + (state >> 24) as u8 % 90)
        };
        let first = if number == 11 { 200 } else { 0 };
        let keys = (first..first + 200)
            .map(|at| format!("{at:04}{}", iter::repeat_with(&mut random).take(600).collect::<String>()));
        let keys: Vec<_> = keys.collect();
        let keys: Vec<_> = keys.iter().map(|key| (&**key, number, 1)).collect();
        let (smallest, largest, size) = table(folder.path(), number, &keys);
        assert!(size > 100_000);
        edit = edit.add(level, number, size, &smallest, &largest);
    }
    manifest(folder.path(), edit);
    let (memory, database) = Memory::of(folder.path());
    for (start, entries) in [("", 600), ("0017", 566), ("0200", 200), ("0399", 1), ("9", 0)] {
        let fetching = Fetching(&memory, RefCell::default());
        let mut expected = database.scan_with(&ReadOptions::default(), &memory).unwrap();
        let mut found = database.scan_with(&ReadOptions::default(), &fetching).unwrap();
        expected.seek(start.as_bytes());
        found.seek(start.as_bytes());
        let (mut fetched, mut count) = (0, 0);
        loop {
            let step = found.next();
            if let Err(error) = &step
                && let Error::NeedRange { offset, len } = *error.without_path()
            {
                assert!(found.entry().is_none());
                let path = error.path().unwrap();
                let bytes = memory.files[&name(path)].slice(offset as usize..offset as usize + len);
                fetching.1.borrow()[path].insert(offset, bytes);
                fetched += 1;
                continue;
            }
            assert_eq!(step.unwrap(), expected.next().unwrap());
            let (Some(found), Some(expected)) = (found.entry(), expected.entry()) else { break };
            assert_eq!(found, expected);
            count += 1;
        }
        assert!(expected.entry().is_none() && count == entries, "{start}: {count}");
        assert!(fetched >= count / 2, "{start}: {fetched} ranges");
    }
}

/// A reader that fails before the end of its log.
struct Failing(Cursor<Bytes>, usize);

impl io::Read for Failing {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.1 == 0 {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        self.1 -= 1;
        self.0.read(buf)
    }
}

/// An opener of the files in a folder. Reading a log fails before its end.
struct FailingLogs(FileOpener);

impl Opener for FailingLogs {
    type Table = fs::File;
    type Log = Failing;

    fn open_table(&mut self, path: &Path) -> io::Result<fs::File> {
        self.0.open_table(path)
    }
    fn open_log(&mut self, path: &Path) -> io::Result<Failing> {
        Ok(Failing(Cursor::new(fs::read(path)?.into()), 1))
    }
    fn version(&mut self, table: &fs::File) -> io::Result<Vec<u8>> {
        self.0.version(table)
    }
}

#[test]
fn a_log_whose_reading_fails_is_told() {
    let database = Database::open(testdata("databases/levels")).unwrap();
    let mut opener = FailingLogs(FileOpener);
    let found = all(&mut database.scan_versions_with(&ReadOptions::default(), &mut opener).unwrap());
    let (entries, errors): (Vec<_>, Vec<_>) = found.into_iter().partition(Result::is_ok);
    let [Err(error)] = &errors[..] else { panic!("{errors:?}") };
    assert!(error.contains("000010.log") && error.contains("connection reset"), "{error}");
    let sound = all(&mut database.scan_versions(&ReadOptions::default()).unwrap());
    let in_tables = |shown: &&Shown| shown.as_ref().is_ok_and(|entry| !entry.4.ends_with("000010.log"));
    assert!(entries.iter().eq(sound.iter().filter(in_tables)));
}
