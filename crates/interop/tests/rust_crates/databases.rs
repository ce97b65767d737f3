//! Databases, with `rusty-leveldb`.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use filterblock::BloomFilterPolicy;
use filterblock_interop::counting::CountingPolicy;
use filterblock_interop::leveldb::{Database, DatabaseOptions, Filter, WriteBatch, tables_in};
use filterblock_interop::random::Random;
use rusty_leveldb::compressor::{NoneCompressor, SnappyCompressor};
use rusty_leveldb::{CompressorId, DB, Options};

use crate::assert_leveldbs;
use crate::rusty_leveldb_adapter::Policy;

const BITS_PER_KEY: u32 = 10;
const KEYS: u64 = 8_000;

type Counting = Arc<CountingPolicy<BloomFilterPolicy>>;
/// The final value of each key ever written. `None` if it was deleted.
type Model = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

fn counting() -> Counting {
    Arc::new(CountingPolicy::new(BloomFilterPolicy::new(BITS_PER_KEY)))
}

/// Returns options with little memory, so that most writes go to tables, on several levels.
fn options(policy: &Counting, compressor: u8) -> Options {
    Options {
        compressor,
        write_buffer_size: 64 << 10,
        max_file_size: 128 << 10,
        filter_policy: Rc::new(Box::new(Policy::new(Arc::clone(policy)))),
        ..Options::default()
    }
}

fn key(number: u64) -> Vec<u8> {
    format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).into_bytes()
}

fn value(number: u64, round: u64) -> Vec<u8> {
    format!("value of {number} in round {round}").repeat(2).into_bytes()
}

/// Writes all keys, then overwrites some and deletes others, and leaves the last writes in the log.
fn write(folder: &Path, options: Options) -> Model {
    let mut database = DB::open(folder, options).unwrap();
    let mut model = Model::new();
    let mut random = Random::new(1);
    for number in 0..KEYS {
        database.put(&key(number), &value(number, 0)).unwrap();
        model.insert(key(number), Some(value(number, 0)));
    }
    for round in 1..=KEYS / 2 {
        let number = random.below(KEYS);
        let written = (!random.one_in(3)).then(|| value(number, round));
        match &written {
            Some(value) => database.put(&key(number), value).unwrap(),
            None => database.delete(&key(number)).unwrap(),
        }
        model.insert(key(number), written);
    }
    database.close().unwrap();
    model
}

/// Lets LevelDB look up every key, and an absent neighbour of each.
fn check(folder: &Path, filter: Filter, model: &Model) {
    let options = DatabaseOptions { filter, paranoid_checks: true, ..DatabaseOptions::default() };
    let database = Database::open(folder, &options).unwrap();
    for (key, value) in model {
        assert_eq!(database.get(key).unwrap(), *value);
        assert_eq!(database.get(&[key.as_slice(), b"x"].concat()).unwrap(), None);
    }
}

#[test]
fn leveldb_reads_what_it_writes() {
    for compressor in [NoneCompressor::ID, SnappyCompressor::ID] {
        let folder = tempfile::tempdir().unwrap();
        let policy = counting();
        let model = write(folder.path(), options(&policy, compressor));
        let tables = tables_in(folder.path()).unwrap();
        assert!(tables.len() > 2, "{} tables", tables.len());
        for table in tables.values() {
            assert!(assert_leveldbs(table, BITS_PER_KEY, true) > 1);
        }

        let policy = counting();
        check(folder.path(), Filter::Policy(policy.clone()), &model);
        assert!(policy.asked() >= 2 * KEYS && policy.denied() > KEYS / 2, "{policy:?}");
        check(folder.path(), Filter::BuiltIn(BITS_PER_KEY), &model);
    }
}

/// Makes no deletions, because the crate itself can miss a key. If a newer table has no entry for the key, and its
/// filter does not deny the key, the crate finds the next entry. If that entry is a deletion, the search ends, though
/// the deletion is of another key.
#[test]
fn it_asks_our_filters() {
    let folder = tempfile::tempdir().unwrap();
    let policy = counting();
    let mut database = DB::open(folder.path(), options(&policy, SnappyCompressor::ID)).unwrap();
    for number in 0..KEYS {
        database.put(&key(number), &value(number, 0)).unwrap();
    }
    assert!(policy.created() > 100, "{policy:?}");
    for number in 0..KEYS {
        assert_eq!(database.get(&key(number)).as_deref(), Some(&*value(number, 0)));
        assert_eq!(database.get(&[&*key(number), b"x"].concat()), None);
    }
    assert!(policy.asked() > KEYS && policy.denied() > KEYS / 2, "{policy:?}");
}

#[test]
fn it_reads_what_leveldb_writes() {
    let folder = tempfile::tempdir().unwrap();
    let policy = counting();
    let filter = Filter::Policy(policy.clone());
    let mut database =
        Database::open(folder.path(), &DatabaseOptions { filter, ..DatabaseOptions::default() }).unwrap();
    let mut batch = WriteBatch::new();
    for number in 0..KEYS {
        batch.put(&key(number), &value(number, 0));
    }
    database.write(&batch).unwrap();
    database.compact(None);
    drop(database);
    assert!(policy.created() > 100 && policy.asked() == 0, "{policy:?}");

    let mut database = DB::open(folder.path(), options(&policy, SnappyCompressor::ID)).unwrap();
    for number in 0..KEYS {
        assert_eq!(database.get(&key(number)).as_deref(), Some(&*value(number, 0)));
        assert_eq!(database.get(&[&*key(number), b"x"].concat()), None);
    }
    assert!(policy.asked() > KEYS && policy.denied() > KEYS / 2, "{policy:?}");
}
