//! Trouble with the metaindex or the filter block: the table is read without filters, and says why.

use std::sync::Arc;

use bytes::Bytes;
use filterblock::table::{BlockHandle, Origin, ReadOptions, Rewriter, Table, WriteOptions};
use filterblock::{
    BloomFilterPolicy, Error, FilterPolicy as _, LegacyBloomPolicy, OpaquePolicy, SharedPolicy, Structure,
};

use super::{FILTER, filter_block, impossible_handles, open};
use crate::tables::{Crafted, entry_block, handle, sample, varint};

/// LevelDB writes data, filters, metaindex and index in this order, but a reader goes by the handles.
#[test]
fn filters_may_lie_right_behind_the_index() {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("key", "value")]);
    let index = crafted.entries(&[("key", handle(data))]);
    let filter = crafted.block(&filter_block(&[b"key"]));
    let metaindex = crafted.entries(&[(FILTER, handle(filter))]);
    let table = open(crafted.footer(metaindex, index)).unwrap();
    assert!(table.filter_error().is_none() && table.filter().is_some());
    assert_eq!(table.get(b"key").unwrap().unwrap(), "value");
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn trouble_with_the_metaindex_turns_filters_off() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    let table = sample.open();
    let index = (table.index_handle().offset, table.index_handle().size);
    let len = sample.file.len();
    let start = || Crafted { file: sample.file[..len - 48].to_vec() };
    let check = |file: Bytes, expected: &str| {
        let table = open(file).unwrap();
        assert!(table.filter().is_none() && table.metaindex().is_none());
        assert!(table.filter_name().is_none() && table.filter_handle().is_none());
        let error = table.filter_error().expect("the reason").to_string();
        assert!(error.contains(expected), "{error}");
        for (key, value) in &sample.entries {
            assert_eq!(table.get(key).unwrap().unwrap(), value);
        }
    };
    for metaindex in impossible_handles(len as u64) {
        check(start().footer(metaindex, index), "block handle at offset");
    }
    check(start().footer((3, 10), index), "block checksum at offset");
    for (contents, compression, expected) in [
        (&b""[..], 0, "restart array"),
        (b"abc", 0, "expected a block of at least 4 bytes, found 3"),
        (b"\0\0\0\x7f", 0, "expected at most 0 restarts"),
        (b"\0\0\0\0", 9, "compression type"),
        (b"\xff\xff\xff\xff\x0f", 1, "compressed block"),
    ] {
        let mut crafted = start();
        let metaindex = crafted.block_of_type(contents, compression);
        check(crafted.footer(metaindex, index), expected);
    }
}

/// A table of one data block with these keys. `meta` returns the entries of the metaindex.
fn one_block(keys: &[&[u8]], meta: impl FnOnce(&mut Crafted) -> Vec<(Vec<u8>, Vec<u8>)>) -> Bytes {
    let mut crafted = Crafted::default();
    let entries: Vec<_> = keys.iter().map(|key| (key, b"value")).collect();
    let data = crafted.entries(&entries);
    let meta = meta(&mut crafted);
    let metaindex = crafted.entries(&meta);
    let index = crafted.entries(&[(keys[keys.len() - 1], handle(data))]);
    crafted.footer(metaindex, index)
}

#[test]
fn trouble_with_the_filter_block_turns_filters_off() {
    let keys: [&[u8]; 2] = [b"apple", b"pear"];
    let check = |file: Bytes, expected: &str| {
        let table = open(file).unwrap();
        assert!(table.filter().is_none() && table.metaindex().is_some());
        let error = table.filter_error().expect("the reason").to_string();
        assert!(error.contains(expected), "{error}");
        for key in keys {
            assert_eq!(table.get(key).unwrap().unwrap(), "value");
        }
        assert!(table.may_contain(b"banana").unwrap());
    };
    for place in impossible_handles(300) {
        check(one_block(&keys, |_| vec![(FILTER.to_vec(), handle(place))]), "block handle at offset");
    }
    for value in [&b""[..], b"\x80", b"\x05", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x05"] {
        check(one_block(&keys, |_| vec![(FILTER.to_vec(), value.to_vec())]), "block handle at offset");
    }
    // The data block is no filter block, but it has a right checksum; a byte further on there is none.
    check(one_block(&keys, |_| vec![(FILTER.to_vec(), handle((1, 30)))]), "block checksum at offset");
    for (contents, compression, expected) in [
        (&b"\0\0\0\0\x0b"[..], 9, "compression type at offset"),
        (b"\xff\xff\xff\xff\x0f", 1, "compressed block at offset"),
        (b"", 1, "compressed block at offset"),
    ] {
        let file = one_block(&keys, |crafted| {
            let place = crafted.block_of_type(contents, compression);
            vec![(FILTER.to_vec(), handle(place))]
        });
        check(file, expected);
    }
}

#[test]
fn a_damaged_entry_anywhere_in_the_metaindex_turns_filters_off() {
    for name in ["filter.a", "filter.z"] {
        let mut crafted = Crafted::default();
        let data = crafted.entries(&[("apple", "value")]);
        let filter = crafted.block(&filter_block(&[b"apple"]));
        let mut meta = [(FILTER, handle(filter)), (name.as_bytes(), Vec::new())];
        meta.sort();
        let mut contents = entry_block(&meta);
        let key = contents.windows(name.len()).position(|window| window == name.as_bytes()).unwrap();
        contents[key - 2] = 0x7f; // the length of the key, which now reaches beyond the block
        let metaindex = crafted.block(&contents);
        let index = crafted.entries(&[("apple", handle(data))]);
        let table = open(crafted.footer(metaindex, index)).unwrap();
        assert!(table.may_contain(b"apple").unwrap() && table.may_contain(b"aaa").unwrap());
        assert!(table.filter().is_none());
        assert!(table.filter_error().unwrap().to_string().starts_with("block entry at offset"));
    }
}

#[test]
fn a_filter_block_that_overlaps_index_or_metaindex_is_not_used() {
    let table = |filter: &dyn Fn(u64, u64) -> (u64, u64)| {
        let mut crafted = Crafted::default();
        let data = crafted.entries(&[("apple", "value")]);
        crafted.file.resize(100, 0);
        let index = crafted.entries(&[("apple", handle(data))]);
        let end = index.0 + index.1 + 5;
        let metaindex = crafted.entries(&[(FILTER, handle(filter(index.0, end)))]);
        open(crafted.footer(metaindex, index)).unwrap()
    };
    // The metaindex lies after the index.
    let overlapping: [&dyn Fn(u64, u64) -> (u64, u64); 6] = [
        &|index, end| (index, end - index - 5),
        &|index, _| (index + 1, 1),
        &|index, _| (index - 6, 2),
        &|index, end| (index - 20, end - index),
        &|_, end| (end, 10),
        &|_, end| (end + 3, 10),
    ];
    for filter in overlapping {
        let table = table(filter);
        let error = table.filter_error().unwrap().to_string();
        assert!(error.contains("apart from index and metaindex"), "{error}");
        assert_eq!(table.get(b"apple").unwrap().unwrap(), "value");
    }
    // A handle right before the index overlaps nothing, but leads to no block.
    let error = table(&|index, _| (index - 9, 4)).filter_error().unwrap().to_string();
    assert!(error.contains("block checksum"), "{error}");
}

#[test]
fn a_compressed_filter_block_is_used_up_to_the_limit() {
    let keys: [&[u8]; 2] = [b"apple", b"pear"];
    let filters = filter_block(&keys);
    let file = one_block(&keys, |crafted| {
        let compressed = snap::raw::Encoder::new().compress_vec(&filters).unwrap();
        vec![(FILTER.to_vec(), handle(crafted.block_of_type(&compressed, 1)))]
    });
    let open = |limit| Table::open(file.clone(), &ReadOptions::default().max_block_size(limit)).unwrap();
    let table = open(filters.len());
    assert_eq!(table.filter().unwrap().contents(), filters);
    assert!(table.may_contain(b"apple").unwrap() && !table.may_contain(b"banana").unwrap());
    let table = open(filters.len() - 1);
    assert!(matches!(table.filter_error(), Some(Error::Limit { .. })));
    assert!(table.may_contain(b"apple").unwrap() && table.may_contain(b"banana").unwrap());
}

#[test]
fn malformed_filters_let_keys_match() {
    let keys: [&[u8]; 2] = [b"apple", b"pear"];
    for contents in [&b""[..], b"\x0b", b"\xff\xff\xff\xff\x0b", b"\0\0\0\0\x80"] {
        let file = one_block(&keys, |crafted| vec![(FILTER.to_vec(), handle(crafted.block(contents)))]);
        let table = open(file).unwrap();
        assert!(table.filter_error().is_none());
        assert!(table.filter().unwrap().check().is_err());
        assert!(table.may_contain(b"apple").unwrap() && table.may_contain(b"banana").unwrap());
        assert_eq!(table.get(b"pear").unwrap().unwrap(), "value");
    }
}

#[test]
fn filters_of_bashos_tables_are_not_trusted() {
    let keys: [&[u8]; 2] = [b"apple", b"pear"];
    for mark in ["stats.sst1", "stats.sst2"] {
        let file = one_block(&keys, |crafted| {
            // Filters that deny every key, as these do when read by LevelDB's encoding.
            let filter = crafted.block(&filter_block(&[b"something else"]));
            let stats = crafted.block(b"");
            vec![(FILTER.to_vec(), handle(filter)), (mark.as_bytes().to_vec(), handle(stats))]
        });
        let table = open(file).unwrap();
        let foreign = mark == "stats.sst1";
        assert_eq!(table.may_contain(b"apple").unwrap(), foreign);
        assert_eq!(table.filter().unwrap().key_may_match(0, b"apple"), foreign);
        assert_eq!(table.filter_name(), Some("leveldb.BuiltinBloomFilter2"));
        if foreign {
            assert!(matches!(table.filter_error(), Some(Error::Unsupported { .. })));
            assert!(table.filter_error().unwrap().to_string().contains("stats.sst1"));
        }
    }
}

/// These names differ a little from LevelDB's: they are shorter, longer or in another case, or something is before
/// them.
#[test]
fn filters_are_told_by_their_whole_name() {
    let name = BloomFilterPolicy::new(10).name().to_owned();
    let keys: [&[u8]; 2] = [b"apple", b"pear"];
    let table = |meta_name: &str, policy: SharedPolicy| {
        let file = one_block(&keys, |crafted| {
            let filter = crafted.block(&filter_block(&[b"something else"]));
            vec![(meta_name.as_bytes().to_vec(), handle(filter))]
        });
        Table::open(file, &ReadOptions::default().filter_policies(vec![policy])).unwrap()
    };
    let cut = &name[..name.len() - 1];
    for near in [
        format!("filter.{cut}"),
        format!("filter.{name}2"),
        format!("filter.{name}\0"),
        format!("filter. {name}"),
        format!("filter.{}", name.to_lowercase()),
        format!("filter{name}"),
        format!("Filter.{name}"),
        format!("xfilter.{name}"),
        format!("filter.filter.{name}"),
        format!("filter.{}", &name[1..]),
        "filter.".to_owned(),
        "filter".to_owned(),
        name.clone(),
        String::new(),
    ] {
        let table = table(&near, Arc::new(BloomFilterPolicy::new(10)));
        // An entry that looks like filters of another policy is named.
        let other = near.strip_prefix("filter.").map(|name| filterblock::escape(name.as_bytes()).to_string());
        assert_eq!(table.filter_name(), other.as_deref(), "{near}");
        assert!(table.filter().is_none(), "{near}");
        match table.filter_error() {
            Some(Error::Unsupported { what: Structure::FilterBlock, found, .. }) => {
                assert_eq!(*found, format!("those of \"{}\"", other.unwrap()));
            }
            error => assert!(error.is_none() && other.is_none(), "{near}: {error:?}"),
        }
        assert!(table.may_contain(b"apple").unwrap(), "{near}");
    }
    let sound = table(&format!("filter.{name}"), Arc::new(BloomFilterPolicy::new(10)));
    assert_eq!(sound.filter_name(), Some(&*name));
    assert!(!sound.may_contain(b"apple").unwrap(), "the filter is asked");
    // The old name is the new one without its last letter.
    assert_eq!(LegacyBloomPolicy::new(10).name(), cut);
    assert!(table(&format!("filter.{name}"), Arc::new(LegacyBloomPolicy::new(10))).filter().is_none());
    let old = table(&format!("filter.{cut}"), Arc::new(LegacyBloomPolicy::new(10)));
    assert_eq!(old.filter_name(), Some(cut));
}

#[test]
fn marks_of_relatives_are_told_by_their_whole_name() {
    let keys: [&[u8]; 1] = [b"apple"];
    for (mark, origin) in [
        ("stats.sst1", Some(Origin::Basho)),
        ("stats.sst", None),
        ("stats.sst10", None),
        ("xstats.sst1", None),
        ("filter.stats.sst1", None),
        ("rocksdb.", Some(Origin::RocksDb)),
        ("rocksdb.properties", Some(Origin::RocksDb)),
        ("rocksdb", None),
        ("xrocksdb.properties", None),
        ("filter.rocksdb.BuiltinBloomFilter", Some(Origin::RocksDb)),
        ("filter.rocksdb", None),
        ("fullfilter.", Some(Origin::RocksDb)),
        ("fullfilter", None),
        ("xfullfilter.", None),
        ("partitionedfilter.x", Some(Origin::RocksDb)),
        ("partitionedfilter", None),
    ] {
        let file = one_block(&keys, |_| vec![(mark.as_bytes().to_vec(), handle((0, 0)))]);
        assert_eq!(open(file).unwrap().origin(), origin, "{mark}");
    }
}

#[test]
fn policies_with_long_names_that_share_their_beginning_are_found() {
    let common = "n".repeat(70_000);
    let names = ["a", "b", "c"].map(|end| format!("{common}{end}"));
    let policy = |name: &String| -> SharedPolicy { Arc::new(OpaquePolicy::new(name.clone())) };
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("apple", "value")]);
    let filter = crafted.block(&filter_block(&[b"apple"]));
    // Three entries, of which the second and the third share all but a byte with the one before.
    let value = handle(filter);
    let mut contents = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let name = format!("filter.{name}");
        let shared = if number == 0 { 0 } else { name.len() - 1 };
        contents.extend(varint(shared as u64));
        contents.extend(varint((name.len() - shared) as u64));
        contents.extend(varint(value.len() as u64));
        contents.extend([&name.as_bytes()[shared..], &value].concat());
    }
    contents.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    let metaindex = crafted.block(&contents);
    let index = crafted.entries(&[("apple", handle(data))]);
    let file = crafted.footer(metaindex, index);
    for name in &names {
        let table =
            Table::open(file.clone(), &ReadOptions::default().filter_policies(vec![policy(name)])).unwrap();
        assert_eq!(table.filter_name(), Some(&**name));
        assert!(table.filter().is_some());
    }
}

/// A block may end where the file does, but not later.
#[test]
fn a_block_ends_within_the_file() {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("apple", "value")]);
    let place = |file_len: u64, more: u64| {
        [(file_len - 5, more), (0, file_len - 5 + more), (9, file_len - 14 + more)]
    };
    let metaindex = crafted.entries::<&str, &str>(&[]);
    let index = crafted.entries(&[("apple", handle(data))]);
    let file = crafted.footer(metaindex, index);
    let options = ReadOptions::default().verify_checksums(false);
    let table = Table::open(file.clone(), &options).unwrap();
    for (more, (offset, size)) in
        [0, 1].into_iter().flat_map(|more| place(file.len() as u64, more).map(|at| (more, at)))
    {
        let at = BlockHandle { offset, size };
        let error = table.block_cursor(at).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error.starts_with("block handle at offset"), more == 1, "{error}");
        assert_eq!(table.compression_of(at).is_ok(), more == 0);
    }
}

/// Footers like this are in every table of bedrock-leveldb 0.3.1. LevelDB finds no filters there, and nothing wrong.
#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn a_footer_without_a_metaindex_is_no_damage() {
    for name in ["words-256-bloom10.ldb", "words-4096-bloom10-snappy.ldb", "empty-4096-bloom10.ldb"] {
        let sample = sample(name);
        let (index, len) = (sample.open().index_handle(), sample.file.len());
        let mut crafted = Crafted { file: sample.file[..len - 48].to_vec() };
        // An empty block at offset 0 would have its trailer in the first five bytes, which the larger tail includes.
        for tail_size in [48, 64 << 10] {
            let file = Crafted { file: std::mem::take(&mut crafted.file) }
                .footer((0, 0), (index.offset, index.size));
            crafted.file = file[..len - 48].to_vec();
            let table = Table::open(file, &ReadOptions::default().tail_size(tail_size)).unwrap();
            assert!(table.filter().is_none() && table.filter_error().is_none(), "{name}: {table:?}");
            assert!(table.metaindex().is_none() && table.filter_name().is_none());
            assert_eq!(table.metaindex_handle(), Default::default());
            let found = table.iter().map(Result::unwrap);
            assert!(found.eq(sample.entries.iter().map(|(k, v)| (k.clone().into(), v.clone().into()))));
            // Filters can be added, as to a table that never had any.
            let options = WriteOptions::default().filter_policy(BloomFilterPolicy::new(10));
            let (file, _) = Rewriter::new(&table, Vec::new(), &options).unwrap().finish().unwrap();
            let table = Table::open(file, &ReadOptions::default()).unwrap();
            assert!(table.filter().is_some() && table.metaindex().is_some());
            assert_eq!(table.iter().count(), sample.entries.len());
        }
    }
    // A handle of which only one half is 0 is no such mark.
    let sample = sample("words-256-bloom10.ldb");
    let (index, len) = (sample.open().index_handle(), sample.file.len());
    for metaindex in [(0, 1), (1, 0)] {
        let file =
            Crafted { file: sample.file[..len - 48].to_vec() }.footer(metaindex, (index.offset, index.size));
        assert!(open(file).unwrap().filter_error().is_some());
    }
}
