//! The wrapper of LevelDB itself: it works, and notices what it should.

use std::sync::Arc;

use filterblock::BloomFilterPolicy;
use filterblock_interop::counting::CountingPolicy;
use filterblock_interop::leveldb::{
    Bloom, Compression, Database, DatabaseOptions, Entries, Filter, QueryScript, Table, TableOptions,
    WriteBatch, build_table, hash, repair,
};

fn entries() -> Entries {
    (0..500).map(|i| (format!("key{i:04}"), format!("value {i}"))).collect()
}

#[test]
fn hashes_and_filters() {
    assert_eq!(hash(b"\xe1\x80\xb9\x32", 0xbc9f_1d34), 0xed21_633a);
    let bloom = Bloom::new(10);
    let filter = bloom.create_filter(&["hello", "world"]);
    assert_eq!(filter.len(), 9);
    assert!(bloom.key_may_match(b"hello", &filter));
    assert!(!bloom.key_may_match(b"x", &filter));
}

#[test]
fn queries_say_whether_the_policy_was_asked() {
    let mut script = QueryScript::new();
    script.block(b"\0\0\0\0\0\0\0\0\x0b");
    script.query(0, b"empty filter");
    script.query(2048, b"no filter");
    let [empty, none] = script.answers()[..] else { panic!("two answers") };
    assert!(empty.policy_asked && !empty.may_match);
    assert!(!none.policy_asked && none.may_match);
}

#[test]
fn tables_are_read_and_damage_is_noticed() {
    let options = TableOptions { bits_per_key: Some(10), ..TableOptions::default() };
    let mut file = build_table(&options, &entries()).unwrap();
    {
        let table = Table::open(&options, &file).unwrap();
        assert_eq!(table.entries().unwrap().len(), 500);
        assert_eq!(table.seek(b"key0007x").unwrap().unwrap().0, b"key0008");
        assert_eq!(table.filter_counts(), (0, 0));
        assert_eq!(table.internal_get(b"key0007").unwrap().unwrap().1, b"value 7");
        assert_eq!(table.internal_get(b"key0007x").unwrap(), None);
        assert_eq!(table.filter_counts(), (2, 1));
    }
    file[10] ^= 1;
    assert!(Table::open(&options, &file).unwrap().entries().is_err());
    file.truncate(40);
    assert!(Table::open(&options, &file).is_err());
}

#[test]
fn internal_keys_are_filtered_by_their_user_part() {
    let options = TableOptions { internal_keys: true, bits_per_key: Some(10), ..TableOptions::default() };
    let internal = |user: &str, sequence: u64| [user.as_bytes(), &(sequence << 8 | 1).to_le_bytes()].concat();
    let file =
        build_table(&options, &[(internal("k", 9), "new"), (internal("k", 8), "old")].into_iter().collect());
    let file = file.unwrap();
    let table = Table::open(&options, &file).unwrap();
    assert_eq!(table.internal_get(&internal("k", 100)).unwrap().unwrap().1, b"new");
    assert_eq!(table.internal_get(&internal("k", 8)).unwrap().unwrap().1, b"old");
    assert_eq!(table.internal_get(&internal("absent", 100)).unwrap(), None);
}

#[test]
fn databases_are_written_read_and_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let options = DatabaseOptions {
        filter: Filter::BuiltIn(10),
        compression: Compression::None,
        ..DatabaseOptions::default()
    };
    {
        let mut database = Database::open(folder.path(), &options).unwrap();
        let mut batch = WriteBatch::new();
        batch.put(b"a", b"1");
        batch.put(b"b", b"");
        batch.put(b"c", b"3");
        batch.delete(b"a");
        database.write(&batch).unwrap();
        database.compact(None);
        assert_eq!(database.property("leveldb.num-files-at-level2").as_deref(), Some("1"));
        assert_eq!(database.property("no such thing"), None);
    }
    std::fs::remove_file(folder.path().join("CURRENT")).unwrap();
    repair(folder.path(), &options).unwrap();
    let database = Database::open(folder.path(), &options).unwrap();
    assert_eq!(database.get(b"a").unwrap(), None);
    assert_eq!(database.get(b"b").unwrap().as_deref(), Some(&b""[..]));
    let mut keys = Vec::new();
    database
        .scan(|key, _| {
            keys.push(key.to_vec());
            true
        })
        .unwrap();
    assert_eq!(keys, [b"b", b"c"]);

    let missing = folder.path().join("no").join("such").join("folder");
    let error = Database::open(&missing, &options).unwrap_err();
    assert!(error.to_string().starts_with("LevelDB: "), "{error}");
}

#[test]
fn databases_ask_policies_of_ours() {
    let policy = Arc::new(CountingPolicy::new(BloomFilterPolicy::new(10)));
    let folder = tempfile::tempdir().unwrap();
    let options = DatabaseOptions { filter: Filter::Policy(policy.clone()), ..DatabaseOptions::default() };
    let mut database = Database::open(folder.path(), &options).unwrap();
    let mut batch = WriteBatch::new();
    batch.put(b"a", b"1");
    batch.put(b"c", b"3");
    database.write(&batch).unwrap();
    database.compact(None);
    assert_eq!((policy.created(), policy.asked()), (1, 0));
    assert!(database.get(b"a").unwrap().is_some());
    assert_eq!((policy.asked(), policy.denied()), (1, 0));
    assert!(database.get(b"b").unwrap().is_none());
    assert_eq!((policy.asked(), policy.denied()), (2, 1));
}
