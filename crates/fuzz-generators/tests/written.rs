//! Databases without damage: the samples, and what was written to databases of LevelDB's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use filterblock::database::Manifest;
use filterblock_fuzz::database::{Files, Written, read_folder, samples};
use filterblock_fuzz::{batch, log};
use rusty_leveldb::env::Env;
use rusty_leveldb::{DB, LdbIterator as _, MemEnv, Options};

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

/// Returns the entries that the crate `rusty-leveldb` finds.
fn found_by_another(files: &Files) -> Entries {
    let memory = MemEnv::new();
    for (name, contents) in files {
        let mut file = memory.open_writable_file(&Path::new("database").join(name)).unwrap();
        file.write_all(contents).unwrap();
    }
    let env: Box<dyn Env> = Box::new(memory);
    let options = Options { env: Rc::new(env), create_if_missing: false, ..Options::default() };
    let mut database = DB::open("database", options).unwrap();
    let (mut found, mut entries) = (Entries::new(), database.new_iter().unwrap());
    while let Some((key, value)) = entries.next() {
        found.insert(key, value);
    }
    assert!(found.iter().all(|(key, value)| database.get(key).as_deref() == Some(value)));
    found
}

/// The samples are sound for a reader that is not ours, and hold what their documentation says.
#[test]
fn samples_are_databases() {
    let key = |number: u32| format!("key{number:03}").into_bytes();
    let mut expected: Entries =
        (0..40).map(|number| (key(number), format!("first {number}").into_bytes())).collect();
    assert_eq!(found_by_another(&samples()[1].older), expected);
    for number in 0..20 {
        expected.insert(key(2 * number), format!("second {number}").into_bytes());
        if number % 5 == 0 {
            expected.remove(&key(2 * number));
        }
    }
    assert_eq!(found_by_another(&samples()[1].files), expected);
    assert_eq!(samples()[0].older, samples()[1].files);
    expected.insert(key(1), b"third 1".to_vec());
    expected.remove(&key(2));
    expected.insert(key(3), vec![b'x'; log::BLOCK_LEN]);
    expected.insert(key(100), b"third 100".to_vec());
    assert_eq!(found_by_another(&samples()[0].files), expected);
    // The tables are on their levels, and the long value crosses the end of a block.
    let files = &samples()[0].files;
    let manifest = Manifest::parse(&files["MANIFEST-000004"]).unwrap();
    let tables: Vec<_> = manifest.tables().iter().map(|table| (table.level, table.number)).collect();
    assert_eq!(tables, [(0, 7), (1, 5)]);
    let kinds: Vec<u8> = log::fragments(&files["000008.log"]).unwrap().iter().map(|part| part.kind).collect();
    assert_eq!(kinds, [2, 4, 1]);
}

/// The values found are those that the listing of LevelDB's own database names, and those of the log.
#[test]
fn what_leveldb_wrote_is_written() {
    let files = read_folder(testdata("databases/levels")).unwrap();
    let listing = fs::read_to_string(testdata("databases/levels.entries")).unwrap();
    let unhex = |text: &str| -> Vec<u8> {
        (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..][..2], 16).unwrap()).collect()
    };
    let (mut written, mut keys) = (Written::of(&files), BTreeSet::new());
    for line in listing.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let (key, len) = (unhex(words[1]), words[4].parse().unwrap());
        let value: Vec<u8> = format!("{};", words[1]).bytes().cycle().take(len).collect();
        if words[3] == "value" {
            assert!(written.holds(&key, &value), "{line}");
            assert!(!written.holds(&key, &[&value[..], b"?"].concat()), "{line}");
            keys.insert(key);
        }
    }
    assert!(keys.len() > 400, "{} keys", keys.len());
    let in_log: BTreeSet<Vec<u8>> = {
        let fragments = log::fragments(&files["000010.log"]).unwrap();
        let records = log::records(&fragments);
        let writes = records.iter().flat_map(|record| batch::writes(record).expect("a batch"));
        writes.filter(|(_, value)| value.is_some()).map(|(key, _)| key.to_vec()).collect()
    };
    assert!(in_log.len() > 5, "{} keys", in_log.len());
    let all: BTreeSet<Vec<u8>> = keys.union(&in_log).cloned().collect();
    assert_eq!(written.keys().map(<[u8]>::to_vec).collect::<BTreeSet<_>>(), all);
    assert!(!written.holds(b"another", b""));
    // A deletion gives no value, and a second state adds its own.
    let deleted = Files::from([("1.log".to_owned(), log::frame(&[batch::encode(1, &[(b"gone", None)])]))]);
    assert_eq!(Written::of(&deleted), Written::default());
    let other = Files::from([("1.log".to_owned(), log::frame(&[batch::encode(1, &[(b"k", Some(b"v"))])]))]);
    written.extend(Written::of(&other));
    assert!(written.holds(b"k", b"v") && !written.holds(b"k", b""));
}

/// LevelDB's batches are taken apart and put together byte for byte.
#[test]
fn batches_are_leveldbs() {
    let file = fs::read(testdata("databases/levels/000010.log")).unwrap();
    let records = log::records(&log::fragments(&file).unwrap());
    let mut writes = 0;
    for record in &records {
        let found = batch::writes(record).unwrap();
        writes += found.len();
        let sequence = u64::from_le_bytes(*record.first_chunk().unwrap());
        assert_eq!(batch::encode(sequence, &found), *record);
        for end in 0..record.len() {
            assert_eq!(batch::writes(&record[..end]), None, "cut at {end}");
        }
    }
    assert!(writes == 10, "{writes} writes");
    assert_eq!(log::frame(&records), file);
    let mut of_another_type = batch::encode(1, &[(b"key", Some(b"value"))]);
    of_another_type[12] = 2;
    assert_eq!(batch::writes(&of_another_type), None);
    // A length of eleven bytes, and one of more bytes than there are.
    for len in [&[0xff; 11][..], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]] {
        assert_eq!(batch::writes(&[&of_another_type[..12], &[0], len, b"key"].concat()), None);
    }
}
