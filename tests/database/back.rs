//! Scans in both directions, and lookups of individual keys.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use filterblock::Error;
use filterblock::database::{Database, EntryFile, Opener, Scan};
use filterblock::table::{Comparator, Lookup, ReadOptions, TableBuilder, WriteOptions};

use crate::databases::{Edit, copy_of, internal_key, log, testdata};
use crate::memory::{Fetching, Memory, name};
use crate::scan::{manifest, options, table};

/// An entry as a scan shows it: user key, sequence number, type, value, and the number of its file.
type Shown = (Vec<u8>, u64, u8, Vec<u8>, u64);

fn shown<O: Opener>(scan: &Scan<'_, O>) -> Option<Shown> {
    let entry = scan.entry()?;
    let number = match entry.file {
        EntryFile::Table(table) => table.number,
        EntryFile::Log(log) => log.number,
    };
    let key = entry.key;
    Some((key.user_key.to_vec(), key.sequence, key.kind, entry.value.to_vec(), number))
}

/// Moves `scan` with `go` until there are no more entries. Returns all entries and all errors on the way.
fn all<O: Opener>(
    scan: &mut Scan<'_, O>,
    go: impl Fn(&mut Scan<'_, O>) -> filterblock::Result<bool>,
) -> (Vec<Shown>, Vec<String>) {
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    loop {
        match go(scan) {
            Ok(true) => entries.push(shown(scan).expect("an entry")),
            Ok(false) => {
                assert!(shown(scan).is_none());
                return (entries, errors);
            }
            Err(error) => errors.push(error.to_string()),
        }
    }
}

fn forwards<O: Opener>(scan: &mut Scan<'_, O>) -> (Vec<Shown>, Vec<String>) {
    all(scan, |scan| scan.next())
}

fn backwards<O: Opener>(scan: &mut Scan<'_, O>) -> (Vec<Shown>, Vec<String>) {
    let (mut entries, errors) = all(scan, |scan| scan.prev());
    entries.reverse();
    (entries, errors)
}

/// Calls `check` with two scans of each of LevelDB's databases in the test data: of the live entries, and of all
/// versions.
fn each(mut check: impl FnMut(&str, &Database, &mut Scan<'_>)) {
    for name in ["levels", "unfiltered", "reversed"] {
        let database = Database::open(testdata("databases").join(name)).unwrap();
        check(name, &database, &mut database.scan(&options(name)).unwrap());
        check(name, &database, &mut database.scan_versions(&options(name)).unwrap());
    }
}

#[test]
fn the_way_back_shows_the_same_entries() {
    each(|name, _, scan| {
        assert!(!scan.prev().unwrap(), "a new scan is before the first entry");
        let (expected, errors) = forwards(scan);
        assert!(expected.len() > 150 && errors.is_empty(), "{name}");
        // The scan is after the last entry. It goes back and forward twice, and then starts from the end again.
        for _ in 0..2 {
            assert!(backwards(scan) == (expected.clone(), vec![]), "{name}");
            assert!(!scan.prev().unwrap() && scan.entry().is_none());
            assert!(forwards(scan) == (expected.clone(), vec![]), "{name}");
            assert!(!scan.next().unwrap() && scan.entry().is_none());
        }
        scan.seek_to_last();
        assert!(!scan.next().unwrap());
        scan.seek_to_last();
        assert!(backwards(scan) == (expected, vec![]), "{name}");
    });
}

#[test]
fn turns_at_every_entry_lose_and_repeat_none() {
    each(|name, _, scan| {
        let (expected, _) = forwards(scan);
        scan.seek_to_last();
        for at in (0..expected.len()).rev() {
            assert!(scan.prev().unwrap());
            assert!(shown(scan).as_ref() == Some(&expected[at]), "{name} {at}");
            for turn in 0..3 {
                assert_eq!(scan.next().unwrap(), at + 1 < expected.len(), "{name} {at} {turn}");
                assert!(shown(scan).as_ref() == expected.get(at + 1), "{name} {at} {turn}");
                assert!(scan.prev().unwrap());
                assert!(shown(scan).as_ref() == Some(&expected[at]), "{name} {at} {turn}");
            }
        }
    });
}

#[test]
fn a_seek_leads_between_two_entries() {
    for name in ["levels", "reversed"] {
        let database = Database::open(testdata("databases").join(name)).unwrap();
        let mut scan = database.scan(&options(name)).unwrap();
        let (all, _) = forwards(&mut scan);
        for at in (0..all.len()).step_by(5) {
            scan.seek(&all[at].0);
            assert_eq!(scan.prev().unwrap(), at > 0);
            assert!(shown(&scan).as_ref() == at.checked_sub(1).map(|at| &all[at]), "{name} {at}");
            assert!(scan.next().unwrap() && shown(&scan).as_ref() == Some(&all[at]), "{name} {at}");
        }
        scan.seek(if name == "reversed" { b"" } else { b"\xff" });
        assert!(backwards(&mut scan).0 == all);
    }
}

#[test]
fn seeks_within_a_table_leave_it_open() {
    let (memory, database) = Memory::of(&testdata("databases/levels"));
    let mut scan = database.scan_versions_with(&options("levels"), &memory).unwrap();
    let (all, _) = forwards(&mut scan);
    memory.asked();
    for entry in all.iter().chain(all.iter().rev()) {
        scan.seek(&entry.0);
        assert!(scan.next().unwrap());
        assert_eq!(shown(&scan).unwrap().0, entry.0);
    }
    // Each of the three tables is left, and entered again, only at its ends.
    let asked = memory.asked();
    assert!(all.len() > 300 && asked.len() <= 6, "{} {asked:?}", all.len());
}

/// The tables of level 1 follow each other, a log and a table of level 0 lie across them, and one table is missing.
#[test]
fn tables_are_opened_from_their_ends_and_errors_are_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut edit = Edit::default();
    for (level, number, first, last) in
        [(1, 10, "a", "c"), (1, 11, "d", "f"), (1, 12, "g", "i"), (0, 13, "b", "h")]
    {
        let (smallest, largest, size) =
            table(folder.path(), number, &[(first, number, 1), (last, number, 1)]);
        edit = edit.add(level, number, size, &smallest, &largest);
    }
    manifest(folder.path(), edit.add(2, 14, 1, &internal_key(b"y", 7, 1), &internal_key(b"z", 7, 1)));
    let batch = [&internal_key(b"", 0, 0)[..], &[1, 0, 0, 0, 1, 1], b"e", &[0]].concat();
    fs::write(folder.path().join("000015.log"), log(&[batch]).0).unwrap();
    let database = Database::open(folder.path()).unwrap();
    let mut scan = database.scan(&ReadOptions::default()).unwrap();
    scan.seek_to_last();
    let (entries, errors) = backwards(&mut scan);
    let found: Vec<_> = entries.iter().map(|entry| (entry.0[0], entry.4)).collect();
    let expected = [
        (b'a', 10),
        (b'b', 13),
        (b'c', 10),
        (b'd', 11),
        (b'e', 15),
        (b'f', 11),
        (b'g', 12),
        (b'h', 13),
        (b'i', 12),
    ];
    assert_eq!(found, expected);
    assert!(errors.len() == 1 && errors[0].contains("000014.ldb"), "{errors:?}");
    // Seeks lead from one table of a level to another, and within one to any entry.
    for (key, found) in
        [("a", b'a'), ("d", b'd'), ("f", b'f'), ("a", b'a'), ("c", b'c'), ("i", b'i'), ("d", b'd')]
    {
        scan.seek(key.as_bytes());
        assert!(scan.next().unwrap(), "{key}");
        assert_eq!(shown(&scan).unwrap().0, [found], "{key}");
    }
    // In the middle of a level the way forward opens the tables that lie ahead, from their beginnings.
    scan.seek(b"e");
    assert!(scan.prev().unwrap() && scan.prev().unwrap() && scan.prev().unwrap());
    assert_eq!(shown(&scan).unwrap().0, b"b");
    let ahead: Vec<u8> = forwards(&mut scan).0.iter().map(|entry| entry.0[0]).collect();
    assert_eq!(ahead, b"cdefghi");
}

#[test]
fn a_table_that_cannot_be_opened_is_told_once_and_passed_on_the_way_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut edit = Edit::default();
    for (number, first, last) in [(10, "a", "c"), (11, "d", "f"), (12, "g", "i")] {
        let (smallest, largest, size) =
            table(folder.path(), number, &[(first, number, 1), (last, number, 1)]);
        edit = edit.add(1, number, size, &smallest, &largest);
    }
    manifest(folder.path(), edit);
    fs::write(folder.path().join("000011.ldb"), "no table").unwrap();
    let database = Database::open(folder.path()).unwrap();
    let mut scan = database.scan(&ReadOptions::default()).unwrap();
    scan.seek_to_last();
    let mut step = || match scan.prev() {
        Ok(true) => String::from_utf8(scan.entry().unwrap().key.user_key.to_vec()).unwrap(),
        Ok(false) => "end".to_owned(),
        Err(error) => error.path().unwrap().file_name().unwrap().to_str().unwrap().to_owned(),
    };
    let steps: [String; 6] = std::array::from_fn(|_| step());
    // On the way back, g is not shown before the scan has looked for a newer version behind it.
    assert_eq!(steps, ["i", "000011.ldb", "g", "c", "a", "end"]);
}

#[test]
fn a_damaged_block_costs_its_entries_and_no_others_on_the_way_back() {
    let source = testdata("databases/levels");
    let sound = {
        let database = Database::open(&source).unwrap();
        forwards(&mut database.scan_versions(&ReadOptions::default()).unwrap()).0
    };
    let mut told = 0;
    for (number, offset) in [(5, 20), (5, 3000), (7, 20), (9, 20), (9, 2500)] {
        let folder = copy_of(&source);
        let path = folder.path().join(format!("{number:06}.ldb"));
        let mut file = fs::read(&path).unwrap();
        file[offset] ^= 1;
        fs::write(&path, file).unwrap();
        let database = Database::open(folder.path()).unwrap();
        let mut scan = database.scan_versions(&ReadOptions::default()).unwrap();
        let (forth, errors) = forwards(&mut scan);
        scan.seek_to_last();
        let (back, errors_back) = backwards(&mut scan);
        assert!(forth.len() < sound.len() && back == forth, "{number} {offset}");
        assert_eq!((errors.len(), &errors), (1, &errors_back), "{number} {offset}");
        let mut newest = database.scan(&ReadOptions::default()).unwrap();
        let (forth, _) = forwards(&mut newest);
        newest.seek_to_last();
        let (back, errors) = backwards(&mut newest);
        assert!(back == forth && errors == errors_back, "{number} {offset}");
        told += errors.len();
    }
    assert_eq!(told, 5);
}

/// The scan meets damage after it has passed older versions of a key. On the way back, it passes these versions again.
#[test]
fn a_turn_at_damage_does_not_repeat_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let mut edit = Edit::default();
    for (level, number, keys) in [
        (0, 13, &[("b", 300, 1)][..]),
        (1, 10, &[("a", 200, 1), ("b", 200, 1), ("c", 200, 1), ("d", 200, 1)]),
    ] {
        let (smallest, largest, size) = table(folder.path(), number, keys);
        edit = edit.add(level, number, size, &smallest, &largest);
    }
    manifest(folder.path(), edit);
    let database = Database::open(folder.path()).unwrap();
    let mut scan = database.scan(&ReadOptions::default()).unwrap();
    scan.seek(b"c");
    assert!(scan.next().unwrap());
    let offset = scan.entry().unwrap().offset as usize;
    let path = folder.path().join("000010.ldb");
    let mut file = fs::read(&path).unwrap();
    file[offset] ^= 1;
    fs::write(&path, file).unwrap();

    let mut scan = database.scan(&ReadOptions::default()).unwrap();
    assert!(scan.next().unwrap() && scan.next().unwrap());
    let key = |scan: &Scan<'_>| shown(scan).map(|entry| (entry.0[0], entry.1));
    assert_eq!(key(&scan), Some((b'b', 300)));
    assert!(scan.next().unwrap_err().to_string().contains("000010.ldb"));
    assert!(scan.prev().unwrap());
    assert_eq!(key(&scan), Some((b'a', 200)));
    assert!(scan.next().unwrap());
    assert_eq!(key(&scan), Some((b'b', 300)));
}

#[test]
fn a_range_that_is_missing_costs_nothing_on_the_way_back() {
    let dir = testdata("databases/levels");
    let (memory, database) = Memory::of(&dir);
    let fetching = Fetching(&memory, RefCell::default());
    let expected = forwards(&mut database.scan_with(&ReadOptions::default(), &memory).unwrap()).0;
    let mut scan = database.scan_with(&ReadOptions::default().tail_size(48), &fetching).unwrap();
    let mut fetched = 0;
    let mut fetch = |error: Error| {
        let Error::NeedRange { offset, len } = *error.without_path() else { panic!("{error}") };
        let path = error.path().unwrap();
        let ranges = &fetching.1.borrow()[path];
        let file = &memory.files[&name(path)];
        ranges.insert(offset, file.slice(offset as usize..offset as usize + len));
        fetched += 1;
    };
    scan.seek_to_last();
    let mut found = Vec::new();
    loop {
        match scan.prev() {
            Ok(true) => found.push(shown(&scan).unwrap()),
            Ok(false) => break,
            Err(error) => {
                assert!(scan.entry().is_none());
                fetch(error);
            }
        }
    }
    found.reverse();
    assert!(found == expected);
    assert!(fetched > 20, "{fetched}");
}

/// An order that takes `b` for `c` and the other way round.
struct Swapped;

impl Comparator for Swapped {
    fn name(&self) -> &str {
        "leveldb.BytewiseComparator"
    }
    fn compare(&self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
        let swap = |key: &[u8]| match key {
            b"b" => b"c".to_vec(),
            b"c" => b"b".to_vec(),
            other => other.to_vec(),
        };
        swap(a).cmp(&swap(b))
    }
}

/// On the way back, too, keys out of order are reported once for each table.
#[test]
fn keys_out_of_order_are_told_on_the_way_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = fs::File::create(folder.path().join("000010.ldb")).unwrap();
    let options = WriteOptions::default().internal_keys(true).block_size(1).comparator(Swapped);
    let mut builder = TableBuilder::new(file, options);
    let keys: Vec<_> = [b"a", b"c", b"b", b"d"].into_iter().map(|key| internal_key(key, 5, 1)).collect();
    keys.iter().for_each(|key| builder.add(key, b"v").unwrap());
    let size = builder.finish().unwrap().1.file_size;
    let (smallest, largest) = (keys[0].clone(), keys[3].clone());
    manifest(folder.path(), Edit::default().add(1, 10, size, &smallest, &largest));
    let database = Database::open(folder.path()).unwrap();
    for newest in [true, false] {
        let options = ReadOptions::default();
        let mut scan =
            if newest { database.scan(&options).unwrap() } else { database.scan_versions(&options).unwrap() };
        scan.seek_to_last();
        let (entries, errors) = backwards(&mut scan);
        assert_eq!(entries.len(), 4);
        assert!(errors.len() == 1 && errors[0].contains("keys before \"b\", found \"c\""), "{errors:?}");
    }
}

#[test]
fn every_key_is_found_as_a_scan_has_it() {
    for name in ["levels", "unfiltered", "reversed"] {
        let database = Database::open(testdata("databases").join(name)).unwrap();
        let options = options(name);
        let (live, _) = forwards(&mut database.scan(&options).unwrap());
        let (versions, _) = forwards(&mut database.scan_versions(&options).unwrap());
        let (mut deleted, mut values) = (0, 0);
        for (key, ..) in &versions {
            let expected = live.iter().find(|entry| entry.0 == *key);
            match (database.get(key, &options).unwrap(), expected) {
                (Lookup::Value(value), Some(entry)) => {
                    assert_eq!(value, entry.3, "{name} {key:x?}");
                    values += 1;
                }
                (Lookup::Deleted | Lookup::Absent, None) => deleted += 1,
                other => panic!("{name} {key:x?}: {other:?}"),
            }
            let absent = [&key[..], b"\0absent"].concat();
            assert_eq!(database.get(&absent, &options).unwrap(), Lookup::Absent);
        }
        let absent: Vec<_> = versions.iter().map(|(key, ..)| [&key[..], b"\0absent"].concat()).collect();
        let keys: Vec<&[u8]> =
            versions.iter().zip(&absent).flat_map(|((key, ..), absent)| [&key[..], &absent[..]]).collect();
        let mut lookups = vec![Ok(Lookup::Deleted)];
        for keys in [&keys[..], &keys[..1], &keys[3..40], &[]] {
            database.get_many(keys, &options, &mut lookups).unwrap();
            let one_by_one = keys.iter().map(|key| database.get(key, &options).unwrap());
            assert!(one_by_one.eq(lookups.drain(..).map(|lookup| lookup.unwrap())), "{name}");
        }
        assert!(values > 100 && deleted > 5, "{name}: {values} {deleted}");
    }
}

/// Looks up a key. Returns the result, and the names of the files that were opened.
fn asked(dir: &Path, key: &str, options: &ReadOptions) -> (filterblock::Result<Lookup>, Vec<String>) {
    let (memory, database) = Memory::of(dir);
    let found = database.get_with(key.as_bytes(), options, &memory);
    let asked = memory.asked();
    // The same key twenty times in one call.
    let mut all = Vec::new();
    match (&found, database.get_many_with(&[key.as_bytes(); 20], options, &memory, &mut all)) {
        (Err(error), Err(of_all)) => assert_eq!(error.to_string(), of_all.to_string()),
        (_, of_all) => of_all.unwrap(),
    }
    for one in &all {
        match (&found, one) {
            (Ok(found), Ok(one)) => assert!(found == one),
            (Err(error), Err(one)) => assert_eq!(error.to_string(), one.to_string()),
            other => panic!("{other:?}"),
        }
    }
    let of_all = memory.asked();
    assert!(found.is_err() || database.manifest().is_err() || of_all == asked, "{asked:?}: {of_all:?}");
    (found, asked)
}

#[test]
fn a_lookup_asks_as_leveldb_does_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let mut edit = Edit::default();
    for (level, number, keys) in [
        (0, 20, &[("b", 200, 0), ("m", 200, 1)][..]),
        (0, 21, &[("a", 210, 1), ("c", 210, 1)]),
        (1, 10, &[("a", 100, 1), ("f", 100, 1)]),
        (1, 11, &[("g", 110, 1), ("m", 110, 1)]),
        (2, 5, &[("b", 50, 1), ("z", 50, 1)]),
    ] {
        let (smallest, largest, size) = table(dir, number, keys);
        edit = edit.add(level, number, size, &smallest, &largest);
    }
    manifest(dir, edit);
    let batch = |key: &[u8]| [&internal_key(b"", 300, 0)[..8], &[1, 0, 0, 0, 1, 1], key, &[0]].concat();
    let mut sequence = 300_u64.to_le_bytes().to_vec();
    sequence.extend(&batch(b"l")[8..]);
    fs::write(dir.join("000030.log"), log(&[sequence]).0).unwrap();
    let options = ReadOptions::default();
    for (key, expected, tables) in [
        ("l", "Value(0 bytes)", &[][..]),
        ("a", "Value", &["000021.ldb"]),
        ("b", "Deleted", &["000021.ldb", "000020.ldb"]),
        ("f", "Value", &["000020.ldb", "000010.ldb"]),
        ("m", "Value", &["000020.ldb"]),
        ("g", "Value", &["000020.ldb", "000011.ldb"]),
        ("z", "Value", &["000005.ldb"]),
        ("d", "Absent", &["000020.ldb", "000010.ldb", "000005.ldb"]),
        ("zz", "Absent", &[]),
    ] {
        let (found, asked) = asked(dir, key, &options);
        let found = format!("{:?}", found.unwrap());
        assert!(found.starts_with(expected), "{key}: {found}");
        assert_eq!(asked[0], "000030.log", "{key}");
        assert_eq!(asked[1..], *tables, "{key}");
    }
    // Each table is opened once for all keys: "m" asks table 20 alone, "b" asks another before it, and "f" one after
    // it.
    let (memory, database) = Memory::of(dir);
    let keys: Vec<&[u8]> = ["l", "zz", "z", "m", "g", "f", "d", "c", "b", "a"].map(str::as_bytes).to_vec();
    let mut lookups = Vec::new();
    database.get_many_with(&keys, &options, &memory, &mut lookups).unwrap();
    let one_by_one = keys.iter().map(|key| database.get_with(key, &options, &memory).unwrap());
    let opened = memory.asked();
    let tables = ["000021.ldb", "000020.ldb", "000010.ldb", "000011.ldb", "000005.ldb"];
    assert_eq!((&opened[0][..], &opened[1..]), ("000030.log", &tables.map(str::to_owned)[..]));
    assert!(one_by_one.eq(lookups.into_iter().map(|lookup| lookup.unwrap())));
    // LevelDB finds no footer in a table of another size than the MANIFEST has.
    let path = dir.join("000010.ldb");
    let whole = fs::read(&path).unwrap();
    for other in [[&whole[..], &[0]].concat(), [&[0], &whole[..]].concat(), whole[1..].to_vec(), Vec::new()] {
        fs::write(&path, &other).unwrap();
        assert!(matches!(asked(dir, "m", &options).0, Ok(Lookup::Value(_))));
        let error = asked(dir, "f", &options).0.unwrap_err().to_string();
        let (expected, found) = (whole.len(), other.len());
        let sizes = format!("expected {expected} bytes, as the MANIFEST has it, found {found} bytes");
        assert!(error.contains("000010.ldb") && error.ends_with(&sizes), "{error}");
    }
    fs::write(&path, &whole).unwrap();
    // A table that is gone is an error where it is asked, and nowhere else.
    fs::remove_file(dir.join("000010.ldb")).unwrap();
    assert!(matches!(asked(dir, "m", &options).0, Ok(Lookup::Value(_))));
    let error = asked(dir, "f", &options).0.unwrap_err();
    assert!(error.path().is_some_and(|path| path.ends_with("000010.ldb")), "{error}");
    // Damage in a log may hide the newest entry.
    let mut bytes = fs::read(dir.join("000030.log")).unwrap();
    bytes[10] ^= 1;
    fs::write(dir.join("000030.log"), bytes).unwrap();
    let error = asked(dir, "m", &options).0.unwrap_err();
    assert!(error.path().is_some_and(|path| path.ends_with("000030.log")), "{error}");
    // Without a MANIFEST the highest sequence number decides, whichever file has it.
    fs::remove_file(dir.join("000030.log")).unwrap();
    fs::remove_file(dir.join("CURRENT")).unwrap();
    assert!(matches!(asked(dir, "m", &options).0, Ok(Lookup::Value(_))));
    assert_eq!(asked(dir, "b", &options).0.unwrap(), Lookup::Absent);
    assert_eq!(asked(dir, "bb", &options).0.unwrap(), Lookup::Absent);
}

#[test]
fn a_lookup_by_another_comparator_is_refused() {
    let database = Database::open(testdata("databases/reversed")).unwrap();
    let error = database.get(b"a", &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, Error::InvalidOption { option: "comparator", .. }), "{error}");
}
