//! Whole tables of LevelDB's relatives: no stored key is denied, whoever wrote them. testdata/README.md says who did.

use std::fs;
use std::sync::Arc;

use bytes::Bytes;
use filterblock::table::{Origin, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{
    BloomFilterPolicy, CassandraBloomPolicy, Error, FilterPolicy, LegacyBloomPolicy, LegacyHash,
    Murmur3BloomPolicy, OpaquePolicy, SharedPolicy,
};

use crate::tables::{Crafted, entry_block, testdata};

const NEW_NAME: &str = "leveldb.BuiltinBloomFilter2";
const OLD_NAME: &str = "leveldb.BuiltinBloomFilter";

fn open(name: &str, options: &ReadOptions) -> Table<Bytes> {
    let file: Bytes = fs::read(testdata().join(name)).unwrap().into();
    Table::open(file, options).unwrap().with_path(name)
}

/// The number of entries, and the number of those that a lookup of their key does not return.
fn denied(table: &Table<Bytes>) -> (usize, usize) {
    let entries: Vec<_> = table.iter().collect::<Result<_, _>>().unwrap();
    let denied = entries.iter().filter(|(key, value)| match table.get(key).unwrap() {
        Some(found) => found != value,
        None => true,
    });
    (entries.len(), denied.count())
}

/// Of a thousand keys within the table's range, none of which is stored, the number that the filter denies.
fn absent_denied(table: &Table<Bytes>, suffix: &[u8]) -> usize {
    let mut cursor = table.cursor();
    assert!(cursor.next().unwrap());
    let first = cursor.key()[..cursor.key().len() - suffix.len()].to_vec();
    let absent = (0..1000u32).map(|i| [&first, &b"\0absent"[..], &i.to_be_bytes(), suffix].concat());
    absent.filter(|key| !table.may_contain(key).unwrap()).count()
}

#[cfg(all(feature = "zstd", feature = "zlib", feature = "lz4"))]
#[cfg_attr(miri, ignore = "compresses, which takes large tables")]
#[test]
fn every_codec_of_a_real_or_constructed_writer_is_read() {
    use filterblock::table::Codec;
    for (name, id, codec, policy) in [
        ("bedrock/words-1024-bloom10-zlib.ldb", 2, Codec::Zlib, NEW_NAME),
        ("bedrock/words-1024-bloom10-deflate.ldb", 4, Codec::Deflate, NEW_NAME),
        ("constructed/leveldb-zstd.ldb", 2, Codec::Zstd, NEW_NAME),
        ("constructed/bedrock-zstd.ldb", 3, Codec::Zstd, NEW_NAME),
        ("constructed/rocksdb-block-filter.ldb", 2, Codec::Deflate, "rocksdb.BuiltinBloomFilter"),
    ] {
        let table = open(name, &ReadOptions::default());
        assert_eq!(table.filter_name(), Some(policy), "{name}");
        assert!(table.filter_error().is_none(), "{name}");
        assert_eq!(denied(&table), (300, 0), "{name}");
        for handle in table.data_blocks() {
            let handle = handle.unwrap();
            assert_eq!(table.compression_of(handle).unwrap(), id, "{name}");
            assert_eq!(table.block_cursor(handle).unwrap().codec(), codec, "{name}");
        }
        assert_eq!(absent_denied(&table, b"") > 950, policy == NEW_NAME, "{name}");
        // The same entries as LevelDB wrote.
        let original = open("tables/words-4096-unfiltered.ldb", &ReadOptions::default());
        assert!(table.iter().map(Result::unwrap).eq(original.iter().map(Result::unwrap)), "{name}");
    }
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn a_signed_hash_under_the_old_name_denies_nothing_by_default() {
    let name = "constructed/leveldb-1.17-signed.ldb";
    let table = open(name, &ReadOptions::default());
    assert_eq!(table.filter_name(), Some(OLD_NAME));
    let (keys, none) = denied(&table);
    assert!(keys > 100 && none == 0, "{none} of {keys}");
    assert!(absent_denied(&table, b"") > 900);
    for (hash, expected) in [(LegacyHash::Signed, false), (LegacyHash::Unsigned, true)] {
        let policy = LegacyBloomPolicy::new(10).with_hash(hash);
        let (_, some) = denied(&open(name, &ReadOptions::default().filter_policy(policy)));
        assert_eq!(some > 0, expected, "{hash:?}: {some}");
    }
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn goleveldbs_tables_are_filtered_by_default() {
    for folder in ["goleveldb/base-lg-11", "goleveldb/base-lg-19"] {
        let options = ReadOptions::default().internal_keys(true);
        let table = open(&format!("{folder}/000004.ldb"), &options);
        let (keys, none) = denied(&table);
        assert!(keys > 100 && none == 0, "{folder}: {none} of {keys}");
        assert!(absent_denied(&table, &[1, 0, 0, 0, 0, 0, 0, 0]) > 900, "{folder}");
    }
}

#[cfg(feature = "lz4")]
mod basho {
    use filterblock::policy::default_read_policies;
    use filterblock::table::Lookup;
    use filterblock::{BashoBloom2Policy, BashoInternalFilterPolicy};

    use super::*;

    const TAG: [u8; 8] = [1, 0, 0, 0, 0, 0, 0, 0];

    fn options() -> ReadOptions {
        ReadOptions::default().internal_keys(true)
    }

    #[cfg_attr(miri, ignore = "reads large test data")]
    #[test]
    fn the_new_name_is_not_trusted_unasked() {
        let leveldbs = options().filter_policy(BloomFilterPolicy::new(10));
        for options in [options(), leveldbs] {
            let table = open("basho/versions-bloom2.ldb", &options);
            assert_eq!(table.origin(), Some(Origin::Basho));
            let (keys, none) = denied(&table);
            assert!(keys > 150 && none == 0, "{none} of {keys}");
            assert_eq!(absent_denied(&table, &TAG), 0);
            let Some(Error::Unsupported { found, .. }) = table.filter_error().map(Error::without_path) else {
                panic!("{:?}", table.filter_error());
            };
            assert!(found.contains("Basho"), "{found}");
            // The block can be looked at, and denies nothing to those who ask it directly.
            let filter = table.filter().unwrap();
            assert_eq!((filter.base_lg(), filter.policy().name()), (14, NEW_NAME));
            assert!(filter.check().is_ok() && filter.num_filters() > 0);
            assert!(filter.key_may_match(0, b"absent and more"));
        }
    }

    /// Basho's LevelDB itself wrote these tables, with their filter blocks.
    #[cfg_attr(miri, ignore = "reads large test data")]
    #[test]
    fn our_filter_blocks_are_bashos_and_deny_none_of_its_keys() {
        let bloom2: SharedPolicy = Arc::new(BashoBloom2Policy::default());
        let signed: SharedPolicy = Arc::new(LegacyBloomPolicy::new(16).with_hash(LegacyHash::Signed));
        for (name, policy, keys, filters) in [
            ("basho/versions-bloom.ldb", &signed, 729, 1),
            ("basho/versions-bloom2.ldb", &bloom2, 729, 1),
            ("basho/numbers-bloom2.ldb", &bloom2, 4000, 2),
        ] {
            let table = open(name, &options().filter_policy(Arc::clone(policy)));
            let theirs = table.filter().unwrap();
            assert_eq!((denied(&table), theirs.num_filters()), ((keys, 0), filters), "{name}");
            let policy = BashoInternalFilterPolicy::new(Arc::clone(policy));
            let mut builder =
                filterblock::FilterBlockBuilder::with_base_lg(policy, theirs.base_lg()).unwrap();
            for handle in table.data_blocks() {
                let handle = handle.unwrap();
                builder.start_block(handle.offset).unwrap();
                let mut cursor = table.block_cursor(handle).unwrap();
                while cursor.next().unwrap() {
                    builder.add_key(cursor.key());
                }
            }
            assert_eq!(builder.finish().unwrap(), theirs.contents(), "{name}");
        }
    }

    /// The tables have the values of all entries that their writer was given, of every type.
    #[cfg_attr(miri, ignore = "reads large test data")]
    #[test]
    fn bashos_tables_hold_what_was_put_in() {
        let given = crate::tables::sample("versions-512-bloom10.ldb").entries;
        for name in ["basho/versions-bloom.ldb", "basho/versions-bloom2.ldb"] {
            let table = open(name, &options());
            let entries = table.iter().map(Result::unwrap);
            assert!(
                entries.map(|entry| entry.1).eq(given.iter().map(|(_, value)| value.as_slice())),
                "{name}"
            );
        }
    }

    #[cfg_attr(miri, ignore = "reads large test data")]
    #[test]
    fn what_leveldbs_policy_would_have_done() {
        let table = open("basho/versions-bloom2.ldb", &options());
        let block = table.filter().unwrap().contents();
        let policy = BashoInternalFilterPolicy::new(BloomFilterPolicy::new(10));
        let as_leveldb = filterblock::FilterBlockReader::new(policy, block);
        let keys = table.iter().map(|entry| entry.unwrap().0);
        let (denied, kept): (Vec<_>, Vec<_>) = keys.partition(|key| !as_leveldb.key_may_match(0, key));
        assert!(denied.len() > 9 * kept.len(), "{} and {}", denied.len(), kept.len());
    }

    #[cfg_attr(miri, ignore = "reads large test data")]
    #[test]
    fn the_policy_that_is_asked_for_reads_it() {
        let bloom2: SharedPolicy = Arc::new(BashoBloom2Policy::default());
        let behind: Vec<SharedPolicy> = vec![Arc::new(BloomFilterPolicy::new(10)), Arc::clone(&bloom2)];
        for policies in [vec![bloom2], behind] {
            let table = open("basho/versions-bloom2.ldb", &options().filter_policies(policies));
            assert!(table.filter_error().is_none());
            assert_eq!(denied(&table).1, 0);
            assert!(absent_denied(&table, &TAG) > 990);
        }
    }

    #[cfg_attr(miri, ignore = "reads large test data")]
    #[test]
    fn the_old_name_is_read_by_either_hash() {
        let table = open("basho/versions-bloom.ldb", &options());
        assert_eq!((table.origin(), table.filter_name()), (Some(Origin::Basho), Some(OLD_NAME)));
        assert!(table.filter_error().is_none());
        let (keys, none) = denied(&table);
        assert!(keys > 150 && none == 0, "{none} of {keys}");
        assert!(absent_denied(&table, &TAG) > 950);
    }

    #[cfg_attr(miri, ignore = "reads large test data")]
    #[test]
    fn keys_that_expire_are_found_by_their_user_key() {
        for name in ["basho/versions-bloom.ldb", "basho/versions-bloom2.ldb"] {
            let table = open(
                name,
                &options().filter_policies(
                    [default_read_policies(), vec![Arc::new(BashoBloom2Policy::default())]].concat(),
                ),
            );
            let mut kinds = [0; 4];
            for entry in table.iter() {
                let (key, value) = entry.unwrap();
                let (rest, tag) = key.split_last_chunk().unwrap();
                let tag = u64::from_le_bytes(*tag);
                let kind = (tag & 0xff) as usize;
                kinds[kind] += 1;
                let user_key = &rest[..rest.len() - if kind > 1 { 8 } else { 0 }];
                let expected = if kind == 0 { Lookup::Deleted } else { Lookup::Value(value) };
                assert_eq!(table.get_at(user_key, tag >> 8).unwrap(), expected, "type {kind}");
            }
            assert!(kinds.iter().all(|&count| count > 5), "{kinds:?}");
            assert_eq!(table.get_at(b"absent", u64::MAX).unwrap(), Lookup::Absent);
        }
    }
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn rocksdbs_filter_for_a_whole_table_is_named_and_not_used() {
    for prefix in ["fullfilter", "partitionedfilter"] {
        let mut crafted = Crafted::default();
        let data = crafted.block(&entry_block(&[("key", "value")]));
        let filter = crafted.block(&[0; 69]);
        let name = format!("{prefix}.rocksdb.BuiltinBloomFilter");
        let file = crafted.finish(&[(b"key", data)], &[(name.as_bytes(), filter)]);
        let table = Table::open(file.clone(), &ReadOptions::default()).unwrap();
        assert_eq!(table.origin(), Some(Origin::RocksDb));
        assert!(table.filter().is_none() && table.may_contain(b"key").unwrap());
        let error = table.filter_error().unwrap();
        assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains(&name), "{error}");
        // A reader that did not ask for filters gets no error about them.
        let unasked = Table::open(file, &ReadOptions::default().filter_policies(vec![])).unwrap();
        assert!(unasked.filter_error().is_none());
    }
}

#[test]
fn whose_mark_it_is() {
    for (name, origin) in [
        ("stats.sst1", Some(Origin::Basho)),
        ("stats.sst2", None),
        ("rocksdb.properties", Some(Origin::RocksDb)),
        ("rocksdb", None),
        ("filter.rocksdb.BuiltinBloomFilter", Some(Origin::RocksDb)),
        ("filter.example.rocksdb.", None),
        ("filter.leveldb.BuiltinBloomFilter2", None),
    ] {
        let mut crafted = Crafted::default();
        let data = crafted.block(&entry_block(&[("key", "value")]));
        let file = crafted.finish(&[(b"key", data)], &[(name.as_bytes(), data)]);
        assert_eq!(Table::open(file, &ReadOptions::default()).unwrap().origin(), origin, "{name}");
    }
}

fn written(policies: Vec<SharedPolicy>) -> Bytes {
    let options = WriteOptions::default().filter_policies(policies);
    let mut builder = TableBuilder::new(Vec::new(), options);
    for i in 0..2000u32 {
        builder.add(&i.to_be_bytes(), b"value").unwrap();
    }
    builder.finish().unwrap().0.into()
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn every_known_policy_is_read_unasked() {
    let policies: [SharedPolicy; 4] = [
        Arc::new(BloomFilterPolicy::new(10)),
        Arc::new(LegacyBloomPolicy::new(10)),
        Arc::new(CassandraBloomPolicy::new(10)),
        Arc::new(Murmur3BloomPolicy::new(10)),
    ];
    for policy in policies {
        let table = Table::open(written(vec![Arc::clone(&policy)]), &ReadOptions::default()).unwrap();
        assert_eq!(table.filter_name(), Some(policy.name()));
        assert_eq!(denied(&table), (2000, 0));
        assert!(absent_denied(&table, b"") > 950, "{}", policy.name());
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn the_first_policy_given_wins_wherever_it_stands() {
    let new: SharedPolicy = Arc::new(BloomFilterPolicy::new(10));
    let old: SharedPolicy = Arc::new(LegacyBloomPolicy::new(10));
    assert_eq!((new.name(), old.name()), (NEW_NAME, OLD_NAME));
    let file = written(vec![Arc::clone(&new), Arc::clone(&old)]);
    for policies in [[&new, &old], [&old, &new]] {
        let first = policies[0].name();
        let options = ReadOptions::default().filter_policies(policies.map(Arc::clone).to_vec());
        let table = Table::open(file.clone(), &options).unwrap();
        assert_eq!(table.filter_name(), Some(first));
    }
}

#[test]
fn an_opaque_policy_only_reads() {
    let policy = OpaquePolicy::new("example.Other");
    assert_eq!(policy.name(), "example.Other");
    for filter in [&b""[..], b"\0", b"\0\0\0\0\x06"] {
        assert!(policy.key_may_match(b"key", filter));
    }
    let options = WriteOptions::default().filter_policy(policy);
    let mut builder = TableBuilder::new(Vec::new(), options);
    builder.add(b"key", b"value").unwrap();
    let error = builder.finish().unwrap_err().into_error();
    assert!(matches!(error, Error::InvalidOption { .. }), "{error}");
}
