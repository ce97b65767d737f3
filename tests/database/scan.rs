//! The entries of whole databases, compared with those that LevelDB found in them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use filterblock::Error;
use filterblock::database::{Database, EntryFile, LogWrites, Scan};
use filterblock::table::{Comparator, ReadOptions, TableBuilder, WriteOptions};

use crate::databases::{Edit, copy_of, internal_key, log, testdata, unhex, value_key};

/// The order of the database `reversed`, under the name that its MANIFEST has.
struct Reversed;

impl Comparator for Reversed {
    fn name(&self) -> &str {
        "filterblock.testdata.Reversed"
    }
    fn compare(&self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
        b.cmp(a)
    }
}

pub(crate) fn options(name: &str) -> ReadOptions {
    let options = ReadOptions::default();
    if name == "reversed" { options.comparator(Reversed) } else { options }
}

/// The lines of a list of the test data, cut at their spaces.
fn list(name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(testdata(name)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// An entry: user key, sequence number, type, and length of the value.
type Entry = (Vec<u8>, u64, u8, usize);

/// The rest of a scan: all entries and all errors.
fn rest(scan: &mut Scan<'_>) -> (Vec<Entry>, Vec<String>) {
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    loop {
        match scan.next() {
            Ok(true) => {
                let entry = scan.entry().unwrap();
                entries.push((
                    entry.key.user_key.to_vec(),
                    entry.key.sequence,
                    entry.key.kind,
                    entry.value.len(),
                ));
            }
            Ok(false) => {
                assert!(scan.entry().is_none() && !scan.next().unwrap());
                return (entries, errors);
            }
            Err(error) => errors.push(error.to_string()),
        }
    }
}

fn live(database: &Database) -> (Vec<Entry>, Vec<String>) {
    rest(&mut database.scan(&ReadOptions::default()).unwrap())
}

#[test]
fn a_database_holds_what_leveldb_finds_in_it() {
    for name in ["levels", "unfiltered", "reversed"] {
        let database = Database::open(testdata("databases").join(name)).unwrap();
        let (entries, errors) = rest(&mut database.scan(&options(name)).unwrap());
        assert!(errors.is_empty(), "{errors:?}");
        let found = entries.iter().map(|(key, _, _, len)| (key.clone(), *len));
        let expected = list(&format!("databases/{name}.live"));
        assert!(expected.len() > 150);
        let expected = expected.iter().map(|line| (unhex(&line[0]), line[1].parse().unwrap()));
        assert!(found.eq(expected), "{name}");
    }
}

#[test]
fn all_versions_are_those_of_all_tables_and_logs() {
    for name in ["levels", "unfiltered", "reversed"] {
        let folder = testdata("databases").join(name);
        let database = Database::open(&folder).unwrap();
        let mut scan = database.scan_versions(&options(name)).unwrap();
        let mut found = Vec::new();
        let mut last: Option<(Vec<u8>, u64)> = None;
        while scan.next().unwrap() {
            let entry = scan.entry().unwrap();
            let file = entry.file.path().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
            assert_eq!(matches!(entry.file, EntryFile::Log(_)), file.ends_with(".log"));
            assert!(entry.offset < fs::metadata(folder.join(&file)).unwrap().len());
            let key = entry.key.user_key.to_vec();
            let is_after = last.is_none_or(|(last, sequence)| match key.cmp(&last) {
                std::cmp::Ordering::Equal => sequence >= entry.key.sequence,
                order => order.is_gt() != (name == "reversed"),
            });
            assert!(is_after, "{name}: {key:?}");
            last = Some((key.clone(), entry.key.sequence));
            found.push((file, key, entry.key.sequence, entry.key.kind, entry.value.len()));
        }
        let mut expected = Vec::new();
        for line in list(&format!("databases/{name}.entries")) {
            let kind = u8::from(line[3] == "value");
            let (sequence, len) = (line[2].parse().unwrap(), line[4].parse().unwrap());
            expected.push((line[0].clone(), unhex(&line[1]), sequence, kind, len));
        }
        for file in database.logs() {
            let path = file.file.path().unwrap();
            let mut log = LogWrites::open_path(path).unwrap();
            while log.next().unwrap() {
                let write = log.write().unwrap();
                let (kind, len) = (u8::from(write.value.is_some()), write.value.map_or(0, <[u8]>::len));
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                expected.push((name, write.key.to_vec(), write.sequence, kind, len));
            }
        }
        found.sort();
        expected.sort();
        assert!(expected.len() > 200 && found == expected, "{name}");
    }
}

#[test]
fn a_scan_may_start_at_any_key() {
    for name in ["levels", "reversed"] {
        let database = Database::open(testdata("databases").join(name)).unwrap();
        let mut scan = database.scan(&options(name)).unwrap();
        let (all, _) = rest(&mut scan);
        for at in (0..all.len()).step_by(17) {
            scan.seek(&all[at].0);
            assert_eq!(rest(&mut scan).0, all[at..], "{name} {at}");
            let mut behind = all[at].0.clone();
            behind.push(0);
            scan.seek(&behind);
            let next = if name == "reversed" { at } else { at + 1 };
            // In descending order a longer key comes before its prefix.
            assert_eq!(rest(&mut scan).0, all[next..], "{name} {at}");
        }
        scan.seek(b"");
        let all_again = rest(&mut scan).0;
        assert_eq!(all_again.len(), if name == "reversed" { 0 } else { all.len() });
        scan.seek(b"\xff");
        assert_eq!(rest(&mut scan).0.is_empty(), name != "reversed");
    }
}

#[test]
fn another_comparator_than_that_of_the_manifest_is_refused() {
    let database = Database::open(testdata("databases/reversed")).unwrap();
    let error = database.scan(&ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("filterblock.testdata.Reversed") && error.contains("Bytewise"), "{error}");
    assert!(database.scan_versions(&ReadOptions::default()).is_err());
}

/// Damages each data block of each table, one at a time. Its entries are lost, and one error says so. Older entries
/// take their place, so all versions are compared.
#[test]
fn a_damaged_block_costs_its_entries_and_no_others() {
    let source = testdata("databases/levels");
    let all = |folder: &Path| {
        let database = Database::open(folder).unwrap();
        let mut scan = database.scan_versions(&ReadOptions::default()).unwrap();
        let (mut entries, mut errors) = (Vec::new(), Vec::new());
        loop {
            match scan.next() {
                Ok(true) => {
                    let entry = scan.entry().unwrap();
                    let EntryFile::Table(table) = entry.file else { continue };
                    entries.push((table.number, entry.offset, entry.key.user_key.to_vec()));
                }
                Ok(false) => return (entries, errors),
                Err(error) => errors.push(error),
            }
        }
    };
    let (sound, errors) = all(&source);
    assert!(errors.is_empty());
    let blocks: BTreeSet<(u64, u64)> = sound.iter().map(|entry| (entry.0, entry.1)).collect();
    assert!(blocks.len() > 20);
    for &(number, offset) in &blocks {
        let folder = copy_of(&source);
        let path = folder.path().join(format!("{number:06}.ldb"));
        let mut table = fs::read(&path).unwrap();
        table[offset as usize + 20] ^= 1;
        fs::write(&path, table).unwrap();
        let (found, errors) = all(folder.path());
        let expected: Vec<_> =
            sound.iter().filter(|entry| (entry.0, entry.1) != (number, offset)).cloned().collect();
        assert!(found == expected, "{number} {offset}");
        let [error] = &errors[..] else { panic!("{errors:?}") };
        assert_eq!(error.path(), Some(&*path));
        assert!(matches!(error.without_path(), Error::Corrupt { .. }), "{error}");
    }
}

#[test]
fn files_that_cannot_be_read_are_told_and_the_others_shown() {
    let sound = live(&Database::open(testdata("databases/levels")).unwrap()).0;
    let folder = copy_of(&testdata("databases/levels"));
    let path = |name: &str| folder.path().join(name);
    fs::remove_file(path("000007.ldb")).unwrap();
    fs::write(path("000009.ldb"), "damaged").unwrap();
    fs::remove_file(path("000010.log")).unwrap();
    fs::create_dir(path("000010.log")).unwrap();
    let (found, errors) = live(&Database::open(folder.path()).unwrap());
    assert!(errors.iter().any(|error| error.contains("000007.ldb")), "{errors:?}");
    assert!(errors.iter().any(|error| error.contains("000009.ldb")), "{errors:?}");
    assert_eq!(errors.len(), 2);
    // The entries of the table on level 2.
    assert!(found.len() == 450 && found.iter().all(|entry| entry.1 <= 450));
    assert_ne!(found, sound);
}

#[test]
fn without_a_manifest_all_files_count_by_sequence_number() {
    let folder = copy_of(&testdata("databases/levels"));
    let sound = live(&Database::open(folder.path()).unwrap());
    fs::remove_file(folder.path().join("CURRENT")).unwrap();
    let database = Database::open(folder.path()).unwrap();
    assert!(database.manifest().is_err());
    assert_eq!(live(&database), sound);
}

/// Writes a table of these internal keys, each with the value `v`. Returns its first key, its last key and its size.
pub(crate) fn table(folder: &Path, number: u64, keys: &[(&str, u64, u8)]) -> (Vec<u8>, Vec<u8>, u64) {
    let path = folder.join(format!("{number:06}.ldb"));
    let file = fs::File::create(path).unwrap();
    let mut builder = TableBuilder::new(file, WriteOptions::default().internal_keys(true).block_size(1));
    let keys: Vec<_> =
        keys.iter().map(|&(key, sequence, kind)| internal_key(key.as_bytes(), sequence, kind)).collect();
    for key in &keys {
        builder.add(key, b"v").unwrap();
    }
    let (_, summary) = builder.finish().unwrap();
    (keys[0].clone(), keys[keys.len() - 1].clone(), summary.file_size)
}

pub(crate) fn manifest(folder: &Path, edit: Edit) {
    fs::write(folder.join("MANIFEST-000002"), log(&[Edit::sound().number(2, 4).0, edit.0]).0).unwrap();
    fs::write(folder.join("CURRENT"), "MANIFEST-000002\n").unwrap();
}

fn keys(entries: &[Entry]) -> Vec<(String, u64)> {
    entries.iter().map(|entry| (String::from_utf8_lossy(&entry.0).into_owned(), entry.1)).collect()
}

/// The tables of level 1 are not in the order of their keys, neither in the MANIFEST nor by their numbers. Three of
/// them overlap, which LevelDB does not allow.
#[test]
fn tables_of_a_level_are_merged_however_they_lie() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let mut edit = Edit::default();
    for (number, tables) in [
        (5, &[("m", 5, 1), ("n", 6, 1)][..]),
        (6, &[("a", 7, 1), ("c", 8, 1)]),
        (7, &[("d", 9, 1), ("x", 10, 1)]),
        (8, &[("n", 3, 1), ("o", 2, 1), ("y", 1, 1)]),
    ] {
        let (smallest, largest, size) = table(dir, number, tables);
        edit = edit.add(1, number, size, &smallest, &largest);
    }
    let (smallest, largest, size) = table(dir, 9, &[("c", 20, 0), ("d", 4, 0), ("zz", 21, 1)]);
    manifest(dir, edit.add(0, 9, size, &smallest, &largest));
    let database = Database::open(dir).unwrap();
    let (found, errors) = live(&database);
    assert!(errors.is_empty(), "{errors:?}");
    let expected = [("a", 7), ("d", 9), ("m", 5), ("n", 6), ("o", 2), ("x", 10), ("y", 1), ("zz", 21)];
    assert_eq!(keys(&found), expected.map(|(key, sequence)| (key.to_owned(), sequence)));
    let mut scan = database.scan(&ReadOptions::default()).unwrap();
    for (at, (key, _)) in expected.iter().enumerate() {
        scan.seek(key.as_bytes());
        assert_eq!(keys(&rest(&mut scan).0).len(), expected.len() - at, "{key}");
    }
}

#[test]
fn obsolete_tables_show_only_among_all_versions() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let (smallest, largest, size) = table(dir, 5, &[("a", 5, 1)]);
    table(dir, 6, &[("a", 9, 1), ("b", 3, 1)]);
    manifest(dir, Edit::default().add(1, 5, size, &smallest, &largest));
    fs::write(
        dir.join("000003.log"),
        log(&[[&[7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1][..], b"a"].concat()]).0,
    )
    .unwrap();
    let database = Database::open(dir).unwrap();
    assert_eq!(keys(&live(&database).0), [("a".to_owned(), 5)]);
    let all = rest(&mut database.scan_versions(&ReadOptions::default()).unwrap()).0;
    let expected = [("a", 9, 1), ("a", 7, 0), ("a", 5, 1), ("b", 3, 1)];
    let found: Vec<_> = all.iter().map(|entry| (&entry.0[..], entry.1, entry.2)).collect();
    assert_eq!(found, expected.map(|(key, sequence, kind)| (key.as_bytes(), sequence, kind)));
}

#[test]
fn keys_out_of_order_or_too_short_are_told_and_the_others_shown() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let unordered = WriteOptions::default().comparator(Reversed);
    let mut builder = TableBuilder::new(fs::File::create(dir.join("000005.ldb")).unwrap(), unordered);
    for key in [value_key("z"), value_key("b"), value_key("a"), b"short".to_vec()] {
        // The keys are added as plain keys in descending order.
        let _ = builder.add(&key, b"");
    }
    let (_, summary) = builder.finish().unwrap();
    manifest(dir, Edit::default().add(1, 5, summary.file_size, &value_key("a"), &value_key("z")));
    let (found, errors) = live(&Database::open(dir).unwrap());
    assert_eq!(keys(&found).iter().map(|(key, _)| key.as_str()).collect::<String>(), "zba");
    assert_eq!(errors.len(), 1);
    assert!(
        errors[0].contains("000005.ldb") && errors[0].contains("expected keys after \"z\""),
        "{errors:?}"
    );
}

/// Some of Riak's keys have a time, which is no part of the user key. The entries of type 2 and 3 are values.
#[cfg(feature = "lz4")]
#[test]
fn a_database_of_riaks_is_merged_by_its_user_keys() {
    use filterblock::{InternalKey, KeyFormat, table::Table};

    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let path = testdata("basho/versions-bloom.ldb");
    fs::copy(&path, dir.join("000005.ldb")).unwrap();
    let file = fs::metadata(&path).unwrap().len();
    let mut cursor =
        Table::open_path(&path, &ReadOptions::default().internal_keys(true)).unwrap().into_cursor();
    let mut all: Vec<Entry> = Vec::new();
    while cursor.next().unwrap() {
        let key = InternalKey::parse(cursor.key(), KeyFormat::Basho).unwrap();
        all.push((key.user_key.to_vec(), key.sequence, key.kind, cursor.value().len()));
    }
    let mut newest = all.clone();
    newest.dedup_by(|later, first| later.0 == first.0);
    newest.retain(|entry| entry.2 != 0);
    for kind in [1, 2, 3] {
        assert!(newest.iter().filter(|entry| entry.2 == kind).count() > 20, "{kind}");
    }
    manifest(dir, Edit::default().add(0, 5, file, &value_key(""), &value_key("zzz")));
    let database = Database::open(dir).unwrap();
    assert_eq!(live(&database), (newest.clone(), Vec::new()));
    assert_eq!(rest(&mut database.scan_versions(&ReadOptions::default()).unwrap()).0, all);
    // A table of LevelDB's above it hides one of the keys.
    let (hidden, kept) = (String::from_utf8(newest[7].0.clone()).unwrap(), newest.len() - 1);
    let (smallest, largest, size) = table(dir, 9, &[(&hidden, 1 << 50, 0)]);
    let edit = Edit::default().add(1, 5, file, &value_key(""), &value_key("zzz"));
    manifest(dir, edit.add(0, 9, size, &smallest, &largest));
    assert_eq!(live(&Database::open(dir).unwrap()).0.len(), kept);
}

#[test]
fn a_scan_outlives_its_database() {
    let open = || Database::open(testdata("databases/levels")).unwrap();
    let (database, options) = (open(), ReadOptions::default());
    let mut scan = open().scan(&options).unwrap();
    let (mut expected, mut count) = (database.scan(&options).unwrap(), 0);
    while expected.next().unwrap() {
        assert!(scan.next().unwrap());
        assert_eq!(scan.entry(), expected.entry());
        count += 1;
    }
    assert!(!scan.next().unwrap() && count > 100);
    fn is_static(_: impl Send + 'static) {}
    is_static(scan);
}

#[test]
fn an_entry_names_its_file_and_the_role_of_that() {
    let folder = copy_of(&testdata("databases/levels"));
    for name in ["000004.ldb", "000099.ldb"] {
        std::fs::copy(folder.path().join("000005.ldb"), folder.path().join(name)).unwrap();
    }
    let database = Database::open(folder.path()).unwrap();
    let mut files: Vec<_> = database.tables().map(|table| (EntryFile::Table(table), 0)).collect();
    files.extend(database.logs().map(|log| (EntryFile::Log(log), 0)));
    let mut scan = database.scan_versions(&ReadOptions::default()).unwrap();
    while scan.next().unwrap() {
        let of = scan.entry().unwrap().file;
        files.iter_mut().find(|(file, _)| *file == of).unwrap().1 += 1;
    }
    assert!(files.len() == 6 && files.iter().all(|(_, count)| *count > 0), "{files:?}");
}
