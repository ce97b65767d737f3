//! Tables whose metaindex cannot be read. Only the metaindex shows whether a database's keys are Riak's.

use std::fs;
use std::path::{Path, PathBuf};

use filterblock::database::{Database, Scan};
use filterblock::table::{Lookup, ReadOptions, Table};
use filterblock::{Error, InternalKey, KeyFormat};

use crate::databases::{Edit, copy_of, testdata, value_key};
use crate::scan::manifest;

const DOUBT: &str = "; whether the keys are Riak's is not certain";

/// A key, its type and its value.
type Entry = (Vec<u8>, u8, Vec<u8>);

/// All entries in one direction, and all errors.
fn all<'d>(
    mut scan: Scan<'d>,
    step: impl Fn(&mut Scan<'d>) -> Result<bool, Error>,
) -> (Vec<Entry>, Vec<String>) {
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    loop {
        match step(&mut scan) {
            Ok(true) => {
                let entry = scan.entry().unwrap();
                entries.push((entry.key.user_key.to_vec(), entry.key.kind, entry.value.to_vec()));
            }
            Ok(false) => return (entries, errors),
            Err(error) => errors.push(error.to_string()),
        }
    }
}

/// A database with one of Riak's tables, and the table's entries, newest versions first.
fn riaks() -> (tempfile::TempDir, PathBuf, Vec<Entry>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("000005.ldb");
    let bytes = fs::read(testdata("basho/versions-bloom.ldb")).unwrap();
    fs::write(&path, &bytes).unwrap();
    let edit = Edit::default().add(1, 5, bytes.len() as u64, &value_key(""), &value_key("zzz"));
    manifest(folder.path(), edit);
    let mut cursor =
        Table::open_path(&path, &ReadOptions::default().internal_keys(true)).unwrap().into_cursor();
    let mut entries = Vec::new();
    while cursor.next().unwrap() {
        let key = InternalKey::parse(cursor.key(), KeyFormat::Basho).unwrap();
        entries.push((key.user_key.to_vec(), key.kind, cursor.value().to_vec()));
    }
    (folder, path, entries)
}

/// Changes the handle of the metaindex in the footer.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.len() - 48;
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

fn get_all(database: &Database, keys: &[&[u8]]) -> Vec<Result<Lookup, String>> {
    let options = ReadOptions::default();
    let mut lookups = Vec::new();
    database.get_many(keys, &options, &mut lookups).unwrap();
    let many: Vec<_> = lookups.into_iter().map(|found| found.map_err(|error| error.to_string())).collect();
    let one = |key: &&[u8]| database.get(key, &options).map_err(|error| error.to_string());
    assert_eq!(keys.iter().map(one).collect::<Vec<_>>(), many);
    many
}

#[test]
fn keys_that_may_have_a_time_are_split_as_riaks_and_reported() {
    let (folder, path, versions) = riaks();
    let mut newest = versions.clone();
    newest.dedup_by(|later, first| later.0 == first.0);
    let keys: Vec<&[u8]> = newest.iter().map(|entry| &*entry.0).collect();
    let sound = get_all(&Database::open(folder.path()).unwrap(), &keys);
    assert!(sound.iter().all(Result::is_ok));

    damage(&path);
    let options = ReadOptions::default();
    let database = Database::open(folder.path()).unwrap();
    let mut live = newest.clone();
    live.retain(|entry| entry.1 != 0);
    for way in ["forward", "back", "versions"] {
        let step = |scan: &mut Scan<'_>| if way == "back" { scan.prev() } else { scan.next() };
        let scan = match way {
            "versions" => database.scan_versions(&options),
            _ => database.scan(&options),
        };
        let mut scan = scan.unwrap();
        if way == "back" {
            scan.seek_to_last();
        }
        let (mut found, errors) = all(scan, step);
        if way == "back" {
            found.reverse();
        }
        assert!(found == if way == "versions" { versions.clone() } else { live.clone() }, "{way}");
        let start = path.to_str().unwrap();
        assert!(
            matches!(&errors[..], [error] if error.starts_with(start) && error.ends_with(DOUBT)),
            "{errors:?}"
        );
    }
    // The keys of LevelDB's deletions and values are split alike in both formats, so lookups of them are answered.
    // Lookups of the other keys are refused.
    let mut refused = 0;
    for ((answer, sound), (key, kind, _)) in get_all(&database, &keys).into_iter().zip(sound).zip(&newest) {
        match answer {
            Err(error) => {
                assert!(*kind > 1 && error.ends_with(DOUBT), "{key:?} of type {kind}: {error}");
                refused += 1;
            }
            answer => assert!(*kind <= 1 && answer == sound, "{key:?} of type {kind}"),
        }
    }
    assert!(refused > 40, "{refused}");
}

/// LevelDB's keys are the same in both formats.
#[test]
fn a_table_of_leveldbs_gives_all_its_keys() {
    let sound = Database::open(testdata("databases/levels")).unwrap();
    let whole = all(sound.scan_versions(&ReadOptions::default()).unwrap(), Scan::next);
    let mut keys: Vec<&[u8]> = whole.0.iter().map(|entry| &*entry.0).collect();
    keys.dedup();
    for name in ["000005.ldb", "000007.ldb", "000009.ldb"] {
        let copy = copy_of(&testdata("databases/levels"));
        damage(&copy.path().join(name));
        let table = Table::open_path(copy.path().join(name), &ReadOptions::default()).unwrap();
        assert!(table.filter_error().is_some() && table.key_format() == KeyFormat::Basho);
        let database = Database::open(copy.path()).unwrap();
        assert!(all(database.scan_versions(&ReadOptions::default()).unwrap(), Scan::next) == whole, "{name}");
        assert!(get_all(&database, &keys) == get_all(&sound, &keys), "{name}");
    }
}
