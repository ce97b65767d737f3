//! Databases that are not in a folder.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use filterblock::Error;
use filterblock::database::{
    Database, DatabaseFiles, DatabaseListing, DatabaseTable, FileKind, FileState, LogWriter, TableStatus,
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::databases::{copy_of, testdata};

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// Everything that a database shows, except its folder.
fn all_of(database: &Database) -> String {
    let mut all = format!("{} {}\n", database.files().is_database(), database.is_bytewise());
    match database.manifest() {
        Ok(manifest) => writeln!(all, "{manifest:?}").unwrap(),
        Err(error) => {
            let path = name(error.path().unwrap());
            // Systems, and readers, have different words for the same error.
            match error.without_path() {
                Error::Io { source, .. } => writeln!(all, "{path}: {:?}", source.kind()).unwrap(),
                error => writeln!(all, "{path}: {error}").unwrap(),
            }
        }
    }
    let table = |what: &str, table: DatabaseTable<'_>| {
        let file = match table.file {
            FileState::Present(file) => format!("{} {}", name(&file.path), file.len),
            FileState::Unreadable(_) => panic!("{table:?}"),
            FileState::Missing => name(&database.table_path(table.number)).to_owned() + " missing",
            _ => unreachable!(),
        };
        let keys = match table.status {
            TableStatus::Live(recorded) => format!("{:?} {:?}", recorded.smallest, recorded.largest),
            _ => String::new(),
        };
        format!("{what}: {} {:?} {file} {keys}\n", table.number, table.status)
    };
    all.extend(database.tables().map(|each| table("table", each)));
    for key in ["", "item/0001/919", "item/0100/900", "key000600", "key002400", "zzz"] {
        all.extend(database.tables_for(key.as_bytes()).map(|each| table(key, each)));
    }
    for file in database.files().iter() {
        all.extend(database.table_named(name(&file.path)).map(|found| table("named", found)));
        writeln!(all, "file: {:?} {} {} {}", file.kind, file.number, name(&file.path), file.len).unwrap();
    }
    for stray in database.files().strays() {
        writeln!(all, "stray: {}", name(&stray.path)).unwrap();
    }
    writeln!(all, "missing: {:?}", database.missing().collect::<Vec<_>>()).unwrap();
    for log in database.logs() {
        writeln!(all, "log: {} {} {:?}", log.number, log.is_live, log.file.size()).unwrap();
    }
    all
}

fn listing(dir: &Path) -> Vec<(String, u64)> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len())).collect()
}

fn agree(dir: &Path) {
    let from_folder = Database::open(dir).unwrap();
    let mut read = Vec::new();
    let from_listing = Database::from_listing(listing(dir), |name| {
        read.push(name.to_owned());
        fs::read(dir.join(name))
    });
    assert_eq!(all_of(&from_folder), all_of(&from_listing));
    assert!(read.len() <= 2 && read[0] == "CURRENT", "{read:?}");
}

const FIXTURES: [&str; 5] = [
    "databases/levels",
    "databases/unfiltered",
    "databases/reversed",
    "goleveldb/base-lg-11",
    "goleveldb/base-lg-19",
];

/// A change to the files of a folder.
#[derive(Clone, Debug)]
enum Mutation {
    Remove(usize),
    Empty(usize),
    Cut(usize, usize),
    Flip(usize, usize),
    Rename(usize, &'static str),
    Add(&'static str, &'static str),
}

const NAMES: [&str; 14] = [
    "000001.ldb",
    "000004.ldb",
    "000005.sst",
    "5.ldb",
    "000009.sst",
    "000099.ldb",
    "000001.log",
    "000099.log",
    "CURRENT",
    "CURRENT.99",
    "MANIFEST-000099",
    "backup.ldb",
    "000007.dbtmp",
    "notes.txt",
];

const CONTENTS: [&str; 4] = ["", "MANIFEST-000099\n", "MANIFEST-000008\n", "junk"];

fn mutation() -> impl Strategy<Value = Mutation> {
    let (at, name, contents) =
        (0..100_usize, prop::sample::select(&NAMES[..]), prop::sample::select(&CONTENTS[..]));
    prop_oneof![
        at.clone().prop_map(Mutation::Remove),
        at.clone().prop_map(Mutation::Empty),
        (at.clone(), any::<usize>()).prop_map(|(at, len)| Mutation::Cut(at, len)),
        (at.clone(), any::<usize>()).prop_map(|(at, bit)| Mutation::Flip(at, bit)),
        (at, name.clone()).prop_map(|(at, to)| Mutation::Rename(at, to)),
        (name, contents).prop_map(|(name, contents)| Mutation::Add(name, contents)),
    ]
}

/// Changes the folder's files. `at` counts them by name, and begins again after the last.
fn mutate(folder: &TempDir, mutation: &Mutation) {
    let mut names: Vec<_> = listing(folder.path()).into_iter().map(|(name, _)| name).collect();
    names.sort();
    let path = |at: &usize| folder.path().join(&names[at % names.len()]);
    let change = |at: &usize, change: &dyn Fn(&mut Vec<u8>)| {
        let mut contents = fs::read(path(at)).unwrap();
        change(&mut contents);
        fs::write(path(at), contents).unwrap();
    };
    match mutation {
        Mutation::Add(name, contents) => fs::write(folder.path().join(name), contents).unwrap(),
        _ if names.is_empty() => {}
        Mutation::Remove(at) => fs::remove_file(path(at)).unwrap(),
        Mutation::Empty(at) => fs::write(path(at), "").unwrap(),
        Mutation::Cut(at, len) => change(at, &|contents| contents.truncate(len % (contents.len() + 1))),
        Mutation::Flip(at, bit) => change(at, &|contents| {
            let bit = bit % (contents.len() * 8).max(1);
            contents.get_mut(bit / 8).into_iter().for_each(|byte| *byte ^= 1 << (bit % 8));
        }),
        Mutation::Rename(at, to) => fs::rename(path(at), folder.path().join(to)).unwrap(),
    }
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn a_listing_shows_what_the_folder_shows_with_any_one_file_gone_empty_or_damaged() {
    for fixture in FIXTURES {
        let source = testdata(fixture);
        agree(&source);
        for at in 0..listing(&source).len() {
            for mutation in [
                Mutation::Remove(at),
                Mutation::Empty(at),
                Mutation::Cut(at, 20),
                Mutation::Flip(at, 200),
                Mutation::Rename(at, "000005.sst"),
                Mutation::Rename(at, "CURRENT.99"),
            ] {
                let folder = copy_of(&source);
                mutate(&folder, &mutation);
                agree(folder.path());
            }
        }
        for name in NAMES {
            for contents in CONTENTS {
                let folder = copy_of(&source);
                mutate(&folder, &Mutation::Add(name, contents));
                agree(folder.path());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[cfg_attr(miri, ignore = "reads large test data")]
    #[test]
    fn a_listing_shows_what_the_folder_shows_whatever_befalls_it(
        fixture in prop::sample::select(&FIXTURES[..]),
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        let folder = copy_of(&testdata(fixture));
        mutations.iter().for_each(|mutation| mutate(&folder, mutation));
        agree(folder.path());
    }

    #[cfg_attr(miri, ignore = "takes minutes")]
    #[test]
    fn any_names_and_sizes_are_listed_without_a_panic(
        names in prop::collection::vec((".{0,12}|[0-9]{1,22}\\.(ldb|sst|log)|(CURRENT|MANIFEST-[0-9]{0,3})", any::<u64>()), 0..20),
        current in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let database = Database::from_listing(&names_of(&names), |_| Ok(current.clone()));
        prop_assert!(database.manifest().is_err());
        prop_assert!(database.tables().all(|table| table.status == TableStatus::Unknown));
        prop_assert!(database.files().iter().count() <= names.len());
        prop_assert_eq!(database.tables_for(b"k").count(), database.tables().count());
    }
}

fn names_of(names: &[(String, u64)]) -> Listed {
    Listed(names.to_vec())
}

/// A listing whose names are borrowed, as from an archive's directory.
struct Listed(Vec<(String, u64)>);

impl<'a> IntoIterator for &'a Listed {
    type Item = (&'a str, u64);
    type IntoIter = Box<dyn Iterator<Item = Self::Item> + 'a>;
    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.0.iter().map(|(name, len)| (&**name, *len)))
    }
}

fn manifest_of(name: &str) -> io::Result<Vec<u8>> {
    fs::read(testdata("databases/levels").join(name))
}

#[test]
fn the_files_are_wanted_one_after_the_other() {
    let mut listing = DatabaseListing::new([("000005.ldb", 7)]);
    assert_eq!(listing.wanted(), Some("CURRENT"));
    assert_eq!(listing.wanted(), Some("CURRENT"), "until it is supplied");
    listing.supply(manifest_of("CURRENT"));
    assert_eq!(listing.wanted(), Some("MANIFEST-000008"), "though it is not listed");
    listing.supply(manifest_of("MANIFEST-000008"));
    assert_eq!(listing.wanted(), None);
    listing.supply(Ok("more than was wanted"));
    let database = listing.into_database();
    assert_eq!(database.manifest().unwrap().tables().len(), 3);
    assert_eq!(database.missing().map(|table| table.number).collect::<Vec<_>>(), [9, 7]);
}

#[test]
fn a_reader_that_fails_leaves_the_manifest_unknown_and_says_why() {
    for (failing, good) in [("CURRENT", 0), ("MANIFEST-000008", 1)] {
        let mut reads = 0;
        let database = Database::from_listing([("000005.ldb", 7)], |name| {
            reads += 1;
            if name == failing { Err(io::Error::from(io::ErrorKind::TimedOut)) } else { manifest_of(name) }
        });
        assert_eq!(reads, good + 1);
        let error = database.manifest().unwrap_err();
        assert_eq!(error.path(), Some(Path::new(failing)));
        let Error::Io { action, offset: 0, source, .. } = error.without_path() else { panic!("{error}") };
        assert_eq!((*action, source.kind()), (filterblock::IoAction::ReadAll, io::ErrorKind::TimedOut));
        assert_eq!(database.tables().map(|table| table.status).collect::<Vec<_>>(), [TableStatus::Unknown]);
    }
}

/// A reader is read only as far as its contents can be sound.
#[test]
fn contents_may_come_from_readers() {
    let dir = &testdata("databases/levels");
    let mut listed = DatabaseListing::new(listing(dir));
    while let Some(name) = listed.wanted() {
        let file = fs::File::open(dir.join(name));
        listed.supply_from(file);
    }
    let database = listed.into_database();
    assert_eq!(database.manifest().unwrap(), Database::open(dir).unwrap().manifest().unwrap());

    let mut listed = DatabaseListing::new([("CURRENT", 1 << 40)]);
    listed.supply_from(Ok(io::repeat(b'x')));
    let error = listed.into_database().manifest().unwrap_err().to_string();
    assert!(error.contains("has more than 64 bytes"), "{error}");
    let mut listed = DatabaseListing::new([("CURRENT", 16)]).memory_limit(1000);
    listed.supply_from(Ok(&b"MANIFEST-000001\n"[..]));
    assert_eq!(listed.wanted(), Some("MANIFEST-000001"));
    let mut log = LogWriter::new(Vec::new());
    log.add_record(&[0; 5000]).unwrap();
    listed.supply_from(Ok(&log.into_writer()[..]));
    assert!(listed.into_database().manifest().is_err());
}

#[test]
fn a_listing_that_nothing_is_supplied_for_has_no_manifest() {
    let mut listing = DatabaseListing::new([("CURRENT", 16)]);
    for wanted in ["CURRENT", "MANIFEST-000008"] {
        let unread = DatabaseListing::new([("CURRENT", 16)]).into_database();
        assert!(unread.files().is_database() && unread.manifest().is_err());
        assert_eq!(listing.wanted(), Some(wanted));
        if wanted == "CURRENT" {
            listing.supply(manifest_of("CURRENT"));
        }
    }
    let error = listing.into_database().manifest().unwrap_err().to_string();
    assert_eq!(error, "MANIFEST-000008: reading: its contents were not supplied");
}

#[test]
fn errors_in_the_contents_name_the_file() {
    let mut listing = DatabaseListing::new(Vec::<(String, u64)>::new());
    listing.supply(Ok([b'x'; 1000]));
    assert_eq!(listing.wanted(), None);
    let error = listing.into_database().manifest().unwrap_err().to_string();
    assert_eq!(
        error,
        "CURRENT: CURRENT has more than 64 bytes; expected MANIFEST-, a number and a line feed"
    );

    let mut listing = DatabaseListing::new(Vec::<(String, u64)>::new()).memory_limit(50);
    listing.supply(manifest_of("CURRENT"));
    listing.supply(manifest_of("MANIFEST-000008"));
    let database = listing.into_database();
    let error = database.manifest().unwrap_err();
    assert_eq!(error.path(), Some(Path::new("MANIFEST-000008")));
    assert!(matches!(error.without_path(), Error::Limit { limit: 50, .. }), "{error}");
}

#[test]
fn names_are_sorted_and_told_apart() {
    let files = DatabaseFiles::from_listing([
        ("000010.ldb", 1),
        ("000005.ldb", 2),
        ("5.ldb", 3),
        ("CURRENT", 4),
        ("000005.ldb", 6),
        ("db/000006.ldb", 7),
        ("backup.ldb", 8),
        ("backup.ldb", 9),
        ("db/backup.ldb", 9),
        ("notes.txt", 9),
        ("000003.log", u64::MAX),
    ]);
    let listed: Vec<_> =
        files.iter().map(|file| (file.kind, file.path.to_str().unwrap(), file.len)).collect();
    assert_eq!(
        listed,
        [
            (FileKind::Table, "000005.ldb", 6),
            (FileKind::Table, "5.ldb", 3),
            (FileKind::Table, "000010.ldb", 1),
            (FileKind::Log, "000003.log", u64::MAX),
            (FileKind::Current, "CURRENT", 4),
        ]
    );
    let strays: Vec<_> =
        files.strays().map(|stray| (stray.path.to_str().unwrap(), stray.file_type)).collect();
    assert_eq!(strays, [("backup.ldb", None)]);
    assert_eq!(files.unreadable().count(), 0);
    assert!(files.iter().all(|file| !file.is_link));
}

#[test]
fn a_listing_of_a_place_names_its_files_there() {
    let mut listing =
        DatabaseListing::new([("CURRENT", 16), ("000005.ldb", 1), ("backup.ldb", 2)]).in_dir("s3://b/db");
    assert_eq!(listing.wanted(), Some("CURRENT"));
    listing.supply(Err::<Vec<u8>, _>(io::ErrorKind::PermissionDenied.into()));
    let database = listing.into_database();
    assert_eq!(database.dir(), Path::new("s3://b/db"));
    assert_eq!(database.manifest().unwrap_err().path(), Some(Path::new("s3://b/db/CURRENT")));
    let mut paths: Vec<_> =
        database.files().iter().map(|file| file.path.to_str().unwrap().to_owned()).collect();
    paths.extend(database.files().strays().map(|stray| stray.path.to_str().unwrap().to_owned()));
    paths.sort();
    assert_eq!(paths, ["s3://b/db/000005.ldb", "s3://b/db/CURRENT", "s3://b/db/backup.ldb"]);
    assert!(database.table_named("000005.ldb").is_some());
    assert_eq!(database.table_path(7).to_str(), Some("s3://b/db/000007.ldb"));
    let root = DatabaseListing::new([("000005.ldb", 1)]).in_dir("s3://b/").into_database();
    assert_eq!(root.table_path(5).to_str(), Some("s3://b/000005.ldb"));
}

/// A missing file and an unreadable one are told apart, as for a database in a folder.
#[test]
fn a_file_that_is_not_there_is_missing_rather_than_unreadable() {
    let told = |kind: io::ErrorKind| {
        let mut listed = DatabaseListing::new([("MANIFEST-000008", 226)]).in_dir("db");
        assert_eq!(listed.wanted(), Some("CURRENT"));
        listed.supply_from(Err::<fs::File, _>(kind.into()));
        listed.into_database().manifest().unwrap_err().to_string()
    };
    assert!(
        told(io::ErrorKind::NotFound).ends_with("CURRENT: does not exist"),
        "{}",
        told(io::ErrorKind::NotFound)
    );
    assert!(!told(io::ErrorKind::PermissionDenied).contains("does not exist"));
}
