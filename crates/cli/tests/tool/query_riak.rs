//! `filterblock query` on keys of Riak's that have a time, which is between the user key and the tag that LevelDB's
//! keys have.

use std::path::Path;

use filterblock::table::{Table, TableBuilder, WriteOptions};
use filterblock::{FilterBlockBuilder, LegacyBloomPolicy, LegacyHash};
use serde_json::json;

use super::tables::{Crafted, Place, testdata};
use super::*;

const VALUE: u8 = 1;
const WRITE_TIME: u8 = 2;
const EXPIRY: u8 = 3;
const FILTER: &[u8] = b"filter.leveldb.BuiltinBloomFilter";
const RIAK: &[u8] = b"stats.sst1";
const ROCKSDB: &[u8] = b"rocksdb.properties";

/// An internal key, put together as by Basho's `AppendInternalKey`.
fn internal(user_key: &[u8], sequence: u64, kind: u8) -> Vec<u8> {
    let mut key = user_key.to_vec();
    if kind == WRITE_TIME || kind == EXPIRY {
        // As a part of the user key, this time comes after everything in ASCII.
        key.extend([0xff; 8]);
    }
    key.extend((sequence << 8 | u64::from(kind)).to_le_bytes());
    key
}

/// The user key in one of Basho's internal keys, found as by `KeySuffixSize`.
fn user_part(key: &[u8]) -> &[u8] {
    let suffix = if [WRITE_TIME, EXPIRY].contains(&key[key.len() - 8]) { 16 } else { 8 };
    &key[..key.len() - suffix]
}

/// Returns a table of these data blocks, and the blocks' places. The index has the last key of each block, as Basho's
/// index has if the key cannot be shortened. `marks`: further names in the metaindex. `filtered`: each block has a
/// filter of its own, over the user keys.
fn crafted(blocks: &[Vec<Vec<u8>>], marks: &[&[u8]], filtered: bool) -> (Vec<u8>, Vec<Place>) {
    let mut crafted = Crafted::default();
    let mut filters = FilterBlockBuilder::new(LegacyBloomPolicy::new(16).with_hash(LegacyHash::Signed));
    let places: Vec<Place> = blocks
        .iter()
        .map(|keys| {
            filters.start_block(crafted.file.len() as u64).unwrap();
            keys.iter().for_each(|key| filters.add_key(user_part(key)));
            crafted.entries(&keys.iter().map(|key| (key, [b'v'; 3000])).collect::<Vec<_>>())
        })
        .collect();
    let filter = crafted.block(&filters.finish().unwrap());
    let mut names: Vec<_> = marks.iter().map(|&mark| (mark, (0, 0))).collect();
    if filtered {
        names.push((FILTER, filter));
    }
    names.sort_unstable();
    let index: Vec<_> =
        blocks.iter().zip(&places).map(|(keys, &place)| (keys.last().unwrap().as_slice(), place)).collect();
    (crafted.finish(&index, &names).to_vec(), places)
}

fn hex(key: &[u8]) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Queries each of these user keys. Each answer has to name the data block that holds the key, and to have this
/// `by_index`.
#[track_caller]
fn ask(path: &Path, options: &[&str], by_index: bool, keys: &[(&[u8], u64)]) {
    let folder = folder();
    let list = file(&folder, "keys", keys.iter().map(|(key, _)| hex(key) + "\n").collect::<String>());
    let mut arguments = args!["query", "--json", "--hex", path, "--keys-from", list].to_vec();
    arguments.extend(options.iter().map(Into::into));
    let run = run(&arguments).expect(0);
    let answers = run.json();
    assert_eq!((answers.len(), run.err.is_empty()), (keys.len(), by_index), "{run:?}");
    for (answer, (key, block)) in answers.iter().zip(keys) {
        assert_eq!(answer["key_hex"], hex(key));
        assert_eq!((&answer["may_match"], &answer["by_index"]), (&json!(true), &json!(by_index)), "{answer}");
        assert!(answer["blocks"].as_array().unwrap().contains(&json!(block)), "{block}: {answer}");
    }
}

#[test]
fn every_key_of_a_table_of_riaks_may_be_there_by_its_index() {
    let path = testdata().join("basho/versions-bloom.ldb");
    let table = Table::open_path(&path, &Default::default()).unwrap();
    let mut stored: Vec<(Vec<u8>, u64)> = Vec::new();
    let mut timed_separators = 0;
    let mut index = table.index();
    while index.next().unwrap() {
        timed_separators += usize::from(index.key().len() - user_part(index.key()).len() == 16);
        let handle = index.handle().unwrap();
        let mut entries = table.block_cursor(handle).unwrap();
        while entries.next().unwrap() {
            let key = user_part(entries.key()).to_vec();
            // The newest version of a key is in the first of its blocks.
            if stored.last().is_none_or(|(last, _)| *last != key) {
                stored.push((key, handle.offset));
            }
        }
    }
    assert_eq!((stored.len(), timed_separators), (300, 10));
    let keys: Vec<_> = stored.iter().map(|(key, block)| (key.as_slice(), *block)).collect();
    ask(&path, &["--comparator", "bytewise"], true, &keys);
}

/// The user key "user1" with a time after it looks like a key that comes after "user10".
#[test]
fn a_time_is_no_part_of_the_user_key() {
    for kind in [WRITE_TIME, EXPIRY] {
        let blocks = [
            vec![internal(b"user0", 1, VALUE), internal(b"user1", 2, kind)],
            vec![internal(b"user10", 3, kind), internal(b"user11", 4, VALUE)],
            vec![internal(b"user2", 5, kind)],
        ];
        // Without the mark or without filters, no reading is certain, and one of the possible readings
        // contradicts the order.
        for (marks, filtered) in [(&[RIAK][..], true), (&[RIAK], false), (&[], true), (&[], false)] {
            let (contents, places) = crafted(&blocks, marks, filtered);
            let folder = folder();
            let path = file(&folder, "riak.sst", contents);
            let keys: Vec<_> = blocks
                .iter()
                .zip(&places)
                .flat_map(|(keys, place)| keys.iter().map(|key| (user_part(key), place.0)))
                .collect();
            let is_certain = filtered && !marks.is_empty();
            ask(&path, &["--comparator", "bytewise"], is_certain, &keys);
        }
    }
}

/// Keys with times again, but the index is in order by every reading. If no reading is certain, all are followed.
#[test]
fn every_reading_that_is_possible_is_followed() {
    let blocks = [
        vec![internal(b"user0", 1, VALUE), internal(b"user1", 2, EXPIRY)],
        vec![internal(b"user10", 3, EXPIRY), internal(b"user2", 4, EXPIRY)],
    ];
    for (marks, filtered) in [(&[RIAK][..], true), (&[RIAK], false), (&[], true), (&[], false)] {
        let (contents, places) = crafted(&blocks, marks, filtered);
        let folder = folder();
        let path = file(&folder, "riak.sst", contents);
        let keys: Vec<_> = blocks
            .iter()
            .zip(&places)
            .flat_map(|(keys, place)| keys.iter().map(|key| (user_part(key), place.0)))
            .collect();
        ask(&path, &["--comparator", "bytewise"], true, &keys);
    }
}

#[test]
fn an_absent_key_is_sought_in_one_block_of_riaks_table() {
    let path = testdata().join("basho/versions-bloom.ldb");
    let keys: Vec<String> = (0..200).map(|key| format!("absent {key}")).collect();
    let mut arguments = args!["query", "--json", "--comparator", "bytewise", path].to_vec();
    arguments.extend(keys.iter().map(Into::into));
    let answers = run(&arguments).json();
    // The filters have 16 bits a key, so that few absent keys pass.
    assert!(answers.iter().all(|answer| answer["by_index"] == true));
    assert!(answers.iter().filter(|answer| answer["may_match"] == true).count() <= 3, "{answers:?}");
}

/// In RocksDB, type 2 is a merge operand, whose key has no time.
#[test]
fn types_without_a_time_in_rocksdb_are_not_cut() {
    let key = |user_key: &[u8]| [user_key, &(7u64 << 8 | 2).to_le_bytes()].concat();
    // Read as a whole key, the last key of the first block comes after the user key of the second
    // block's first key. Without the last 16 bytes, both keys come before that user key.
    let user_keys = [vec![&b"aaaaaaaaaaaa"[..]], vec![b"aaaaaaaaaaaa\x02", b"aaaaaaaaaaaa\x02z"]];
    let blocks = user_keys.clone().map(|keys| keys.into_iter().map(key).collect());
    for marks in [&[ROCKSDB][..], &[]] {
        let (contents, places) = crafted(&blocks, marks, false);
        let folder = folder();
        let path = file(&folder, "rocks.sst", contents);
        let keys: Vec<_> = user_keys
            .iter()
            .zip(&places)
            .flat_map(|(keys, place)| keys.iter().map(|key| (*key, place.0)))
            .collect();
        ask(&path, &["--comparator", "bytewise"], true, &keys);
    }
}

/// The MANIFEST's first and last key of a table may have a time, too.
#[test]
fn the_range_of_a_table_of_riaks_ends_with_its_user_keys() {
    let blocks = [
        vec![internal(b"user1", 2, WRITE_TIME)],
        vec![internal(b"user10", 3, VALUE), internal(b"user2", 5, EXPIRY)],
    ];
    let (contents, places) = crafted(&blocks, &[RIAK], true);
    let folder = folder();
    let path = file(&folder, "000005.sst", &contents);
    let size = contents.len() as u64;
    write_manifest(folder.path(), &[manifest::Edit::default().add(1, 5, size, &blocks[0][0], &blocks[1][1])]);
    let keys = [(&b"user1"[..], places[0].0), (b"user10", places[1].0), (b"user2", places[1].0)];
    ask(&path, &[], true, &keys);
    let answers = run(&args!["query", "--json", folder.path(), "user1", "user10", "user2"]).expect(0).json();
    assert!(
        answers.iter().all(|answer| answer["may_match"] == true && answer["lookup_blocks"] == 1),
        "{answers:?}"
    );
}

/// If no format explains the keys, the index is of no use, and no key is ruled out.
#[test]
fn an_index_of_short_keys_denies_nothing() {
    let mut builder = TableBuilder::new(
        Vec::new(),
        WriteOptions::default().internal_keys(true).block_size(1).filter_policy(LegacyBloomPolicy::new(10)),
    );
    let keys = [b"alpha", b"gamma"].map(|key| internal(key, 1, VALUE));
    keys.iter().for_each(|key| builder.add(key, b"value").unwrap());
    let sound = Table::open(builder.finish().unwrap().0, &Default::default()).unwrap();
    let filter = sound.filter().unwrap().contents().to_vec();
    for marks in [&[RIAK][..], &[]] {
        let mut crafted = Crafted::default();
        let places: Vec<_> = keys.iter().map(|key| crafted.entries(&[(key, b"value")])).collect();
        let filter = crafted.block(&filter);
        let mut names: Vec<_> = marks.iter().map(|&mark| (mark, (0, 0))).collect();
        names.push((FILTER, filter));
        names.sort_unstable();
        // An index key of five bytes has no tag.
        let contents = crafted.finish(&[(b"alpha", places[0]), (&keys[1], places[1])], &names);
        let folder = folder();
        let path = file(&folder, "short.sst", contents);
        let run =
            run(&args!["query", "--json", "--comparator", "bytewise", path, "alpha", "gamma"]).expect(0);
        assert!(run.err.contains("the filters of all data blocks are checked"), "{run:?}");
        assert!(run.json().iter().all(|answer| answer["may_match"] == true), "{run:?}");
    }
}
