//! Small files that ask for much work or memory.

use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{Error, Result};

use super::{FILTER, filter_block, open};
use crate::tables::{Crafted, entry_block, handle, varint};

#[test]
fn each_compressed_block_is_limited() {
    let compressed = |contents: &[u8]| snap::raw::Encoder::new().compress_vec(contents).unwrap();
    // The metaindex is longer than the index, the filter block longer than both, and the data block the longest.
    let contents = entry_block(&[("apple", [7; 300])]);
    let mut crafted = Crafted::default();
    let data = crafted.block_of_type(&compressed(&contents), 1);
    let filters = [filter_block(&[b"apple"]), vec![0x0b; 100]].concat();
    let filter = crafted.block_of_type(&compressed(&filters), 1);
    let meta = entry_block(&[(FILTER, handle(filter))]);
    let metaindex = crafted.block_of_type(&compressed(&meta), 1);
    let index_contents = entry_block(&[("apple", handle(data))]);
    let index = crafted.block_of_type(&compressed(&index_contents), 1);
    let file = crafted.footer(metaindex, index);
    let open = |limit| Table::open(file.clone(), &ReadOptions::default().max_block_size(limit));

    let limits = [index_contents.len(), meta.len(), filters.len(), contents.len()];
    assert!(limits.is_sorted());
    for limit in limits.into_iter().flat_map(|limit| [limit - 1, limit]) {
        let table = match open(limit) {
            Ok(table) => table,
            Err(error) => {
                assert!(limit < limits[0] && matches!(error, Error::Limit { .. }), "{error}");
                continue;
            }
        };
        let within = limits.map(|needed| limit >= needed);
        let data = table.get(b"apple");
        assert_eq!([true, table.metaindex().is_some(), table.filter().is_some(), data.is_ok()], within);
        assert_eq!(matches!(table.filter_error(), Some(Error::Limit { .. })), !within[2]);
        assert!(matches!(data, Ok(Some(_)) | Err(Error::Limit { .. })));
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn a_million_bad_handles_are_a_million_errors() {
    let mut crafted = Crafted::default();
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let entries: Vec<_> =
        (0..1_000_000u32).map(|i| (i.to_be_bytes(), varint(u64::MAX - u64::from(i)))).collect();
    let index = crafted.entries(&entries);
    let table = open(crafted.footer(metaindex, index)).unwrap();
    assert_eq!(table.data_blocks().filter(Result::is_err).count(), 1_000_000);
    assert!(table.get(&[0, 1, 2, 3]).is_err());
    let mut cursor = table.cursor();
    assert!(cursor.next().is_err() && !cursor.next().unwrap());
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn one_block_named_again_and_again_stops_at_the_limit() {
    let mut crafted = Crafted::default();
    let contents = entry_block(&[("key", [7; 1000])]);
    let data = crafted.block(&contents);
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let entries: Vec<_> =
        (0..150_000u32).map(|i| ([&b"key"[..], &i.to_be_bytes()].concat(), handle(data))).collect();
    let index = crafted.entries(&entries);
    let file = crafted.footer(metaindex, index);
    let limit = 100 * contents.len() as u64;
    let table = Table::open(file, &ReadOptions::default().max_output(limit)).unwrap();
    for _ in 0..2 {
        let mut cursor = table.cursor();
        for _ in 0..100 {
            assert!(cursor.next().unwrap());
        }
        let error = cursor.next().unwrap_err();
        assert!(
            matches!(error, Error::Limit { found, .. } if found == limit + contents.len() as u64),
            "{error}"
        );
        assert!(!cursor.next().unwrap());
        assert!(
            matches!(cursor.seek_to_first(), Err(Error::Limit { .. })),
            "the limit is for the cursor's whole life"
        );
    }
    assert_eq!(table.iter().filter(Result::is_ok).count(), 100);
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn copies_of_long_shared_keys_count_against_the_limit() {
    // A thousand entries, each of which shares a key of a thousand bytes: a block of 5 KB, a megabyte of keys.
    let mut contents = [&[0][..], &varint(1000), &[0], &[b'k'; 1000]].concat();
    (0..1000).for_each(|_| contents.extend([&varint(1000)[..], &[0, 0]].concat()));
    contents.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    let mut crafted = Crafted::default();
    let data = crafted.block(&contents);
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let index = crafted.entries(&[("l", handle(data)), ("m", handle(data))]);
    let table =
        Table::open(crafted.footer(metaindex, index), &ReadOptions::default().max_output(100_000)).unwrap();
    let entries: Vec<_> = table.iter().collect();
    assert!(matches!(entries.last(), Some(Err(Error::Limit { .. }))));
    assert_eq!(entries.len(), 1 + (100_000 - contents.len()) / 1000 + 1);
    // A cursor puts together the same keys, and does not go beyond the limit.
    let (mut cursor, mut walked) = (table.cursor(), 0);
    let error = loop {
        match cursor.next() {
            Ok(found) => walked += usize::from(found),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Limit { limit: 100_000, .. }), "{error}");
    assert_eq!(walked, entries.len() - 1);
    cursor.skip_block();
    assert!(!cursor.next().unwrap() && !cursor.valid());
}

/// The first key is whole in the block. The second is put together from parts, which counts each time.
#[test]
fn keys_that_are_sought_count_against_the_limit() {
    let keys = [b'a', b'b'].map(|last| [&[b'k'; 1000][..], &[last]].concat());
    let options = WriteOptions::default().compression(Compression::None);
    let mut builder = TableBuilder::new(Vec::new(), options);
    keys.iter().for_each(|key| builder.add(key, b"").unwrap());
    let file = builder.finish().unwrap().0;
    let block = Table::open(file.clone(), &ReadOptions::default()).unwrap();
    let block = block.data_blocks().next().unwrap().unwrap().size;
    let table = Table::open(file, &ReadOptions::default().max_output(block + 5 * 1001)).unwrap();
    for (key, expected) in keys.iter().zip([100, 5]) {
        let mut cursor = table.cursor();
        let sought = (0..100).take_while(|_| matches!(cursor.seek(key), Ok(true))).count();
        assert_eq!(sought, expected);
    }
}

/// One limit is fixed, and one is in proportion to the size of the same table. The greater limit holds.
#[test]
fn the_limit_may_be_in_proportion_to_the_file() {
    let mut crafted = Crafted::default();
    let mut contents = [&[0][..], &varint(1000), &[0], &[b'k'; 1000]].concat();
    (0..1000).for_each(|_| contents.extend([&varint(1000)[..], &[0, 0]].concat()));
    contents.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    let data = crafted.block(&contents);
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let index = crafted.entries(&[("l", handle(data))]);
    let file = crafted.footer(metaindex, index);
    let len = file.len() as u64;
    for (at_least, factor, limit) in [
        (0, 20, 20 * len),
        (30 * len, 20, 30 * len),
        (7000, 0, 7000),
        (u64::MAX, 20, u64::MAX),
        (0, u64::MAX, u64::MAX),
    ] {
        let options = ReadOptions::default().max_output(at_least).max_output_factor(factor);
        let table = Table::open(file.clone(), &options).unwrap();
        assert_eq!(table.max_output(), limit);
        let found = table.iter().filter(Result::is_ok).count() as u64;
        assert_eq!(found, 1001.min(1 + (limit - contents.len() as u64) / 1000));
        let again = Table::from_parts(file.clone(), table.index_part(), None).unwrap();
        assert_eq!(again.max_output(), limit);
    }
}
