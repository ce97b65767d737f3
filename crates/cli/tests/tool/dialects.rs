//! Tables of LevelDB's relatives: the facts that `inspect` finds out about them, and those that it leaves open.

use std::path::Path;

use filterblock::table::{TableBuilder, WriteOptions};
use filterblock::{LegacyBloomPolicy, LegacyHash};
use serde_json::{Value, json};

use super::tables::{Crafted, entry_block, testdata};
use super::*;

fn report(path: &Path) -> Value {
    run(&args!["inspect", "--json", path]).expect(0).quiet().one()
}

fn relative(name: &str) -> Value {
    report(&testdata().join(name))
}

#[test]
fn codecs_are_named_by_what_the_blocks_hold() {
    for (name, codec) in [
        ("bedrock/words-1024-bloom10-zlib.ldb", "zlib"),
        ("bedrock/words-1024-bloom10-deflate.ldb", "deflate"),
        ("constructed/leveldb-zstd.ldb", "zstd"),
        ("constructed/bedrock-zstd.ldb", "zstd"),
        ("basho/versions-bloom.ldb", "lz4"),
        ("constructed/rocksdb-full-filter.ldb", "deflate"),
    ] {
        assert_eq!(relative(name)["compression"], json!([codec]), "{name}");
    }
}

#[test]
fn two_types_of_one_codec_are_named_once() {
    let folder = folder();
    let mut crafted = Crafted::default();
    let [first, second] = [(2, "a"), (4, "b")].map(|(id, key)| {
        let block = entry_block(&[(key, "value".repeat(20))]);
        crafted.block_of_type(&miniz_oxide::deflate::compress_to_vec(&block, 6), id)
    });
    let path = file(&folder, "1.ldb", crafted.finish(&[(b"a", first), (b"b", second)], &[]));
    assert_eq!(report(&path)["compression"], json!(["deflate"]));
}

#[test]
fn a_type_that_no_block_explains_is_shown_as_a_type() {
    for (id, status, shown) in [
        (2, 1, "type 2 (zstd, zlib, lz4 or deflate)"),
        (4, 1, "type 4 (deflate)"),
        (7, 0, "type 7 (Zstandard in RocksDB)"),
        (200, 0, "type 200"),
    ] {
        let mut crafted = Crafted::default();
        let data = crafted.block_of_type(&[0xff; 20], id);
        let folder = folder();
        let path = file(&folder, "table.ldb", crafted.finish(&[(b"key", data)], &[]));
        let report = run(&args!["inspect", "--json", path]).expect(status).one();
        assert_eq!(report["compression"], json!([shown]));
    }
}

/// The report on a table with filters under LevelDB's old policy name, by this hash.
fn legacy(hash: LegacyHash, key: impl Fn(u8) -> Vec<u8>) -> Value {
    let policy = LegacyBloomPolicy::new(10).with_hash(hash);
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().filter_policy(policy));
    (0..=255).for_each(|i| builder.add(&key(i), b"value").unwrap());
    let folder = folder();
    report(&file(&folder, "table.ldb", builder.finish().unwrap().0))
}

#[test]
fn the_hash_under_the_old_name_is_found_by_trying() {
    assert_eq!(relative("constructed/leveldb-1.17-signed.ldb")["hash"], "signed");
    let binary = |i: u8| vec![1, 2, 3, 4, i];
    assert_eq!(legacy(LegacyHash::Signed, binary)["hash"], "signed");
    assert_eq!(legacy(LegacyHash::Unsigned, binary)["hash"], "unsigned");
    // If no byte after the last whole word is 0x80 or more, the two hashes do not differ.
    assert_eq!(legacy(LegacyHash::Signed, |i| vec![i, 0, 0, 0])["hash"], "either");
    let goleveldb = relative("goleveldb/base-lg-19/000004.ldb");
    assert_eq!((&goleveldb["hash"], &goleveldb["filter"]["base_lg"]), (&"either".into(), &19.into()));
    assert_eq!(relative("tables/words-4096-bloom1.ldb")["hash"], Value::Null);
}

#[test]
fn bashos_tables_are_named_and_their_filters_left_alone() {
    let bloom2 = relative("basho/versions-bloom2.ldb");
    assert_eq!((&bloom2["format"], &bloom2["hash"]), (&"riak".into(), &Value::Null));
    assert!(bloom2["filter_error"].as_str().unwrap().contains("Basho's"), "{bloom2}");
    assert_eq!(
        (&bloom2["filter"]["base_lg"], &bloom2["filter"]["estimated_fpr"]),
        (&14.into(), &Value::Null)
    );
    let bloom = relative("basho/versions-bloom.ldb");
    assert_eq!((&bloom["format"], &bloom["hash"]), (&"riak".into(), &"either".into()));
    assert_eq!((&bloom["filter_error"], &bloom["key_format"]), (&Value::Null, &"internal".into()));
    let card = run(&args!["inspect", testdata().join("basho/versions-bloom2.ldb")]).expect(0).out;
    assert!(card.contains("729 entries in 23 data blocks (lz4)"), "{card}");
}

#[test]
fn rocksdbs_tables_are_named_whichever_magic_they_have() {
    let block = relative("constructed/rocksdb-block-filter.ldb");
    assert_eq!((&block["format"], &block["filter"]["estimated_fpr"]), (&"rocksdb".into(), &1.0.into()));
    let full = relative("constructed/rocksdb-full-filter.ldb");
    assert_eq!((&full["format"], &full["filter"]), (&"rocksdb".into(), &Value::Null));
    assert!(full["filter_error"].as_str().unwrap().contains("fullfilter.rocksdb"), "{full}");
    let keys = run(&args!["query", testdata().join("constructed/rocksdb-block-filter.ldb"), "absent"]);
    keys.expect(0);
    let mut crafted = vec![0; 48];
    for (magic, whose) in [
        (0x88e2_41b7_85f4_cff7_u64.to_le_bytes(), "RocksDB"),
        (*b"\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3", "Pebble"),
    ] {
        crafted[40..].copy_from_slice(&magic);
        let folder = folder();
        let path = file(&folder, "table.sst", &crafted);
        let report = run(&args!["inspect", "--json", path]).expect(2).one();
        assert!(report["error"].as_str().unwrap().contains(whose), "{report}");
    }
}
