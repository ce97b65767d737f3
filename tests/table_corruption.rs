//! Damaged tables: an error or the right answer, never a panic, a hang or a stored key denied.
#![cfg(feature = "table")]

mod tables;

use bytes::Bytes;
use filterblock::table::{BlockHandle, Lookup, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, Error, FilterBlockBuilder, Result};
use tables::{Crafted, Place, Sample, entry_block, handle, sample, samples, varint};

const FILTER: &[u8] = b"filter.leveldb.BuiltinBloomFilter2";

fn open(file: impl Into<Bytes>) -> Result<Table<Bytes>> {
    Table::open(file.into(), &ReadOptions::default())
}

/// A filter block for these keys in the data block at offset 0.
fn filter_block(keys: &[&[u8]]) -> Vec<u8> {
    let mut filters = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
    keys.iter().for_each(|key| filters.add_key(key));
    filters.finish().unwrap().to_vec()
}

/// Everything that can be asked of a table, with an eye on how long it takes.
fn exercise(table: &Table<Bytes>, keys: &[&[u8]]) {
    for key in keys {
        let _ = (table.get(key), table.seek(key), table.may_contain(key), table.get_at(key, 9));
        let mut cursor = table.cursor();
        for _ in 0..3 {
            let _ = cursor.seek(key);
            let _ = cursor.next();
        }
    }
    let _ = table.iter().take(10_000).count();
    for block in table.data_blocks().take(10_000).flatten() {
        let _ = table.compression_of(block);
        if let Ok(mut block) = table.block_cursor(block) {
            while block.next().unwrap_or(false) {}
        }
    }
    if let Some(mut metaindex) = table.metaindex() {
        while metaindex.next().unwrap_or(false) {
            let _ = metaindex.handle();
        }
    }
    let _ = table.filter().map(|filter| filter.check());
}

/// Where the data blocks of a table are, with their trailers, and which keys are in them.
fn data_blocks(sample: &Sample) -> Vec<(std::ops::Range<usize>, Vec<usize>)> {
    let table = sample.open();
    let (mut cursor, mut number, mut blocks) = (table.cursor(), 0, Vec::new());
    while cursor.next().unwrap() {
        let BlockHandle { offset, size } = cursor.block_handle().unwrap();
        let range = offset as usize..(offset + size) as usize + 5;
        match blocks.last_mut() {
            Some((last, keys)) if *last == range => keys,
            _ => {
                blocks.push((range, Vec::new()));
                &mut blocks.last_mut().unwrap().1
            }
        }
        .push(number);
        number += 1;
    }
    blocks
}

/// Twelve entries in several blocks, with filters, small enough to be damaged in every bit many times over.
fn small_table() -> (Bytes, Vec<tables::Entry>) {
    let options = WriteOptions::default().block_size(48).filter_policy(BloomFilterPolicy::new(10));
    let mut table = TableBuilder::new(Vec::new(), options);
    let entries: Vec<_> =
        (0..12u8).map(|i| (vec![b'k', i / 4, i], [i; 40][..usize::from(i) * 3].to_vec())).collect();
    entries.iter().for_each(|(key, value)| table.add(key, value).unwrap());
    (table.finish().unwrap().0.into(), entries)
}

fn flipped(file: &[u8], bit: usize) -> Vec<u8> {
    let mut file = file.to_vec();
    file[bit / 8] ^= 1 << (bit % 8);
    file
}

#[test]
fn every_bit_flip_gives_an_error_or_the_right_answer() {
    let sample = &sample("words-1024-bloom20-snappy.ldb");
    let blocks = data_blocks(sample);
    assert!(blocks.len() > 5);
    let (mut unopened, mut unfiltered, mut unreadable) = (0, 0, 0);
    for bit in 0..sample.file.len() * 8 {
        let Ok(table) = open(flipped(&sample.file, bit)) else {
            unopened += 1;
            continue;
        };
        // Damage to filters turns them off; damage in the metaindex or its handle, too.
        assert_eq!(table.filter().is_some(), table.filter_error().is_none());
        unfiltered += usize::from(table.filter().is_none());
        // Look into the damaged block, if it is one of data, and into another: one key of a block tells as much as all.
        let other = blocks.get(bit % blocks.len());
        let damaged = blocks.iter().find(|(range, _)| range.contains(&(bit / 8)));
        for (range, keys) in other.into_iter().chain(damaged) {
            let (key, value) = &sample.entries[keys[bit % keys.len()]];
            assert!(table.may_contain(key).unwrap(), "bit {bit}");
            match table.get(key) {
                Ok(found) => assert_eq!(found.as_deref(), Some(&value[..]), "bit {bit}"),
                Err(error) => {
                    assert!(range.contains(&(bit / 8)), "bit {bit}: {error}");
                    assert!(error.to_string().contains("block checksum at offset"), "{error}");
                }
            }
        }
        if let Some((_, keys)) = damaged {
            assert!(table.get(&sample.entries[keys[0]].0).is_err());
            unreadable += 1;
        }
    }
    // Each kind of damage did occur: footer and index, filter and metaindex, data.
    let table = sample.open();
    let len = |handle: BlockHandle| handle.size as usize + 5;
    assert_eq!(unreadable, blocks.iter().map(|(range, _)| range.len()).sum::<usize>() * 8);
    assert!(unfiltered >= (len(table.metaindex_handle()) + len(table.filter_handle().unwrap())) * 8);
    assert!(unopened >= (8 + len(table.index_handle())) * 8);
}

#[test]
fn every_pair_of_damaged_bits_gives_an_error_or_the_right_answer() {
    let (file, entries) = small_table();
    'flips: for bit in 0..file.len() * 8 {
        let file = flipped(&flipped(&file, bit), (bit * 31 + 7) % (file.len() * 8));
        let Ok(table) = open(file) else { continue };
        for (key, value) in &entries {
            assert!(table.may_contain(key).unwrap_or(true));
            if let Ok(found) = table.get(key) {
                assert_eq!(found.as_deref(), Some(&value[..]), "bit {bit}");
            }
        }
        let mut walked = 0;
        for entry in table.iter() {
            let Ok((key, value)) = entry else { continue 'flips };
            assert_eq!((&key[..], &value[..]), (&entries[walked].0[..], &entries[walked].1[..]));
            walked += 1;
        }
        assert_eq!(walked, entries.len(), "bit {bit}");
    }
}

#[test]
fn every_bit_flip_without_checksums_ends() {
    let (file, entries) = small_table();
    let options = ReadOptions::default().verify_checksums(false).max_output(1 << 20);
    let keys: Vec<&[u8]> = entries.iter().map(|(key, _)| &key[..]).collect();
    let mut opened = 0;
    for bit in 0..file.len() * 8 {
        if let Ok(table) = Table::open(Bytes::from(flipped(&file, bit)), &options) {
            opened += 1;
            exercise(&table, &keys);
        }
    }
    assert!(opened > file.len() * 4, "{opened}");
}

#[test]
fn every_truncation_is_an_error() {
    let sample = &sample("words-1024-bloom20-snappy.ldb");
    for len in 0..sample.file.len() {
        let error = open(sample.file.slice(..len)).unwrap_err().to_string();
        if len < 48 {
            let expected =
                format!("table at offset 0: expected a table of at least 48 bytes, found {len} bytes");
            assert_eq!(error, expected);
        } else {
            let expected =
                format!("footer at offset {}: expected magic 0xdb4775248b80fb57, found 0x", len - 8);
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}

#[test]
fn data_removed_or_added_before_the_footer() {
    let sample = &sample("words-1024-bloom20-snappy.ldb");
    let end = sample.file.len() - 48;
    for cut in [1, 5, 100, end] {
        let file = [&sample.file[..end - cut], &sample.file[end..]].concat();
        assert!(open(file).is_err(), "the index is not where the footer says");
        let added = [&sample.file[..end], &vec![0; cut][..], &sample.file[end..]].concat();
        assert_eq!(open(added).unwrap().iter().map(Result::unwrap).count(), sample.entries.len());
    }
}

#[test]
fn tables_of_relatives_are_named() {
    let mut file = sample("single-4096-bloom10.ldb").file.to_vec();
    let magic = file.len() - 8;
    file[magic..].copy_from_slice(&0x88e2_41b7_85f4_cff7_u64.to_le_bytes());
    let error = open(file.clone()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }));
    assert!(error.to_string().contains("RocksDB"), "{error}");
    file[magic..].copy_from_slice(b"\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3");
    let error = open(file).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }));
    assert!(error.to_string().contains("Pebble"), "{error}");
}

/// Handles that no block of a file of this length can have.
fn impossible_handles(file_len: u64) -> Vec<Place> {
    vec![
        (file_len, 0),
        (file_len - 4, 0),
        (0, file_len),
        (0, file_len - 4),
        (100, file_len - 104),
        (1 << 40, 1),
        (0, 1 << 40),
        (0, u64::MAX),
        (u64::MAX, 0),
        (u64::MAX, u64::MAX),
        (u64::MAX - 4, 0),
        (u64::MAX - 10, 5),
        (10, u64::MAX - 9),
        (1 << 63, 1 << 63),
    ]
}

#[test]
fn an_index_handle_that_leads_outside() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    let len = sample.file.len();
    for index in impossible_handles(len as u64) {
        let crafted = Crafted { file: sample.file[..len - 48].to_vec() };
        let error = open(crafted.footer((0, 0), index)).unwrap_err().to_string();
        let found = format!("found offset {} and size {}", index.0, index.1);
        assert!(error.starts_with(&format!("block handle at offset {}: ", len - 48)), "{error}");
        assert!(error.ends_with(&found), "{error}");
    }
}

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

/// A table of one block with these keys, whose metaindex is given these entries, made after the data block.
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
        (&b"\0\0\0\0\x0b"[..], 3, "compression type at offset"),
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
fn a_filter_block_that_lies_in_index_or_metaindex_is_not_used() {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("apple", "value")]);
    let index = crafted.entries(&[("apple", handle(data))]);
    let metaindex = crafted.entries(&[(FILTER, handle(index))]);
    let table = open(crafted.footer(metaindex, index)).unwrap();
    assert!(table.filter_error().unwrap().to_string().contains("apart from index and metaindex"));
    assert_eq!(table.get(b"apple").unwrap().unwrap(), "value");
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
        assert_eq!(table.filter().is_none(), foreign);
        assert_eq!(table.may_contain(b"apple").unwrap(), foreign);
        assert_eq!(table.filter_name(), Some("leveldb.BuiltinBloomFilter2"));
        if foreign {
            assert!(matches!(table.filter_error(), Some(Error::Unsupported { .. })));
            assert!(table.filter_error().unwrap().to_string().contains("stats.sst1"));
        }
    }
}

/// A table of three blocks, of which the one in the middle is given.
fn three_blocks(middle: impl FnOnce(&mut Crafted) -> Vec<u8>) -> Bytes {
    let mut crafted = Crafted::default();
    let first = crafted.entries(&[("a", "1"), ("b", "2")]);
    let middle = middle(&mut crafted);
    let last = crafted.entries(&[("e", "5"), ("f", "6")]);
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let index = crafted.entries(&[("b", handle(first)), ("d", middle), ("f", handle(last))]);
    crafted.footer(metaindex, index)
}

/// All that reads the middle block fails as it says, and only that.
fn check_middle(file: Bytes, expected: &str) {
    let table = open(file).unwrap();
    for (key, value) in [("a", "1"), ("b", "2"), ("e", "5"), ("f", "6")] {
        assert_eq!(table.get(key.as_bytes()).unwrap().unwrap(), value);
        assert!(table.cursor().seek(key.as_bytes()).unwrap());
    }
    let found = |error: Error| {
        let error = error.to_string();
        assert!(error.contains(expected), "{error}");
    };
    found(table.get(b"c").unwrap_err());
    found(table.seek(b"d").unwrap_err());

    let mut cursor = table.cursor();
    assert!(cursor.next().unwrap() && cursor.next().unwrap());
    found(cursor.next().unwrap_err());
    for _ in 0..3 {
        assert!(!cursor.valid() && cursor.key().is_empty() && cursor.value().is_empty());
        assert!(!cursor.next().unwrap());
    }
    found(cursor.seek(b"c").unwrap_err());
    assert!(!cursor.valid() && !cursor.next().unwrap());
    assert!(cursor.seek(b"e").unwrap());
    assert_eq!((cursor.key(), cursor.value()), (&b"e"[..], &b"5"[..]));
    assert!(cursor.next().unwrap() && !cursor.next().unwrap());
    assert!(cursor.seek_to_first().unwrap());
    assert_eq!(cursor.key(), b"a");

    let entries: Vec<_> = table.iter().collect();
    assert_eq!(entries.len(), 3, "two entries, then one error and no more");
    assert!(entries[..2].iter().all(Result::is_ok) && entries[2].is_err());
}

#[test]
fn damaged_data_blocks_are_errors_and_the_others_are_read() {
    let mut entries = entry_block(&[("c", "3"), ("d", "4")]);
    let checksum = three_blocks(|crafted| {
        let place = crafted.block(&entries);
        *crafted.file.last_mut().unwrap() ^= 1;
        handle(place)
    });
    check_middle(checksum, "block checksum at offset");
    let block = |contents: &[u8], compression| {
        three_blocks(|crafted| handle(crafted.block_of_type(contents, compression)))
    };
    check_middle(block(&entries, 77), "compression type at offset");
    check_middle(block(&entries, 77), "found 77");
    check_middle(block(&entries, 1), "compressed block at offset");
    check_middle(block(b"abc", 0), "expected a block of at least 4 bytes, found 3 bytes");
    // A header that declares 4 GiB less one byte, and one that declares what the bytes could make.
    check_middle(block(b"\xff\xff\xff\xff\x0f\0a", 1), "compressed block at offset");
    let zeros = snap::raw::Encoder::new().compress_vec(&vec![0; 9 << 20]).unwrap();
    check_middle(block(&zeros, 1), "expected at most 8388608 bytes, found 9437184");

    let key = entries.iter().position(|&byte| byte == b'c').unwrap();
    entries[key - 3] = 1; // shared
    check_middle(block(&entries, 0).clone(), "expected no bytes shared with the key before, found 1");
}

#[test]
fn data_handles_that_lead_outside_or_are_none() {
    for place in impossible_handles(400) {
        check_middle(three_blocks(|_| handle(place)), "block handle at offset");
    }
    for value in [&b""[..], b"\x80", b"\x01"] {
        check_middle(three_blocks(|_| value.to_vec()), "block handle at offset");
    }
    // More bytes behind the handle are fine.
    let file = three_blocks(|crafted| {
        let place = crafted.entries(&[("c", "3"), ("d", "4")]);
        [handle(place), b"more".to_vec()].concat()
    });
    assert_eq!(open(file).unwrap().get(b"d").unwrap().unwrap(), "4");
}

#[test]
fn empty_data_blocks_are_passed_over() {
    for contents in [&b"\0\0\0\0"[..], b"\0\0\0\0\x01\0\0\0", b"rest\0\0\0\0"] {
        let table = open(three_blocks(|crafted| handle(crafted.block(contents)))).unwrap();
        let keys: Vec<Bytes> = table.iter().map(|entry| entry.unwrap().0).collect();
        assert_eq!(keys, ["a", "b", "e", "f"]);
        let mut cursor = table.cursor();
        assert!(cursor.seek(b"c").unwrap());
        assert_eq!(cursor.key(), b"e");
        assert_eq!(table.seek(b"c").unwrap(), None, "a lookup looks into one block");
    }
}

#[test]
fn an_index_without_blocks_or_without_sense() {
    for contents in [&b"\0\0\0\0"[..], b"\0\0\0\0\x01\0\0\0"] {
        let mut crafted = Crafted::default();
        let metaindex = crafted.block(contents);
        let index = crafted.block(contents);
        let table = open(crafted.footer(metaindex, index)).unwrap();
        assert_eq!((table.iter().count(), table.data_blocks().count()), (0, 0));
        assert_eq!((table.get(b"a").unwrap(), table.may_contain(b"").unwrap()), (None, false));
    }
    for contents in [&b""[..], b"\0\0\0\x01", b"ab\0\0\0\0\x02\0\0\0"] {
        let mut crafted = Crafted::default();
        let index = crafted.block(contents);
        let error = open(crafted.footer(index, index)).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    }
}

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

#[test]
fn copies_of_long_shared_keys_count_against_the_limit() {
    // A thousand entries, each of which shares a key of a thousand bytes: a block of 4 KB, a megabyte of keys.
    let mut contents = [&[0][..], &varint(1000), &[0], &[b'k'; 1000]].concat();
    (0..1000).for_each(|_| contents.extend([&varint(1000)[..], &[0, 0]].concat()));
    contents.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    let mut crafted = Crafted::default();
    let data = crafted.block(&contents);
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let index = crafted.entries(&[("l", handle(data))]);
    let table =
        Table::open(crafted.footer(metaindex, index), &ReadOptions::default().max_output(100_000)).unwrap();
    let entries: Vec<_> = table.iter().collect();
    assert!(matches!(entries.last(), Some(Err(Error::Limit { .. }))));
    assert_eq!(entries.len(), 1 + (100_000 - contents.len()) / 1000 + 1);
    let mut cursor = table.cursor();
    let mut walked = 0;
    while cursor.next().unwrap() {
        walked += 1;
    }
    assert_eq!(walked, 1001, "a cursor copies none of them");
}

#[test]
fn internal_keys_that_are_none() {
    let key = |user_key: &[u8], tag: u64| [user_key, &tag.to_le_bytes()].concat();
    let table = |entries: &[(Vec<u8>, &str)]| {
        let mut crafted = Crafted::default();
        let data = crafted.entries(entries);
        let metaindex = crafted.entries(&[] as &[(&str, &str)]);
        let index = crafted.entries(&[(key(b"z", 0), handle(data))]);
        Table::open(crafted.footer(metaindex, index), &ReadOptions::default().internal_keys(true)).unwrap()
    };
    let sound =
        table(&[(key(b"a", 9 << 8 | 1), "value"), (key(b"b", 8 << 8), ""), (key(b"c", 7 << 8 | 2), "")]);
    assert_eq!(sound.get_at(b"a", 9).unwrap(), Lookup::Value("value".into()));
    assert_eq!(sound.get_at(b"a", 8).unwrap(), Lookup::Absent);
    assert_eq!(sound.get_at(b"b", 9).unwrap(), Lookup::Deleted);
    let error = sound.get_at(b"c", 9).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }));
    assert_eq!(
        error.to_string(),
        "internal key at offset 0: expected type 0 (deletion) or 1 (value), found type 2, which is not supported"
    );
    assert!(sound.get(b"short").unwrap().is_none() && sound.may_contain(b"short").unwrap());

    let short = table(&[(b"\xff\xff\xff".to_vec(), "value")]);
    let _ = short.get_at(b"", u64::MAX);
    assert_eq!(short.get(b"\xff\xff\xff").unwrap().unwrap(), "value");
}

#[test]
fn every_sample_survives_being_cut_and_overwritten() {
    // Every structure of every table, hit by runs of damage rather than single bits.
    for sample in samples() {
        let keys: Vec<&[u8]> = sample.entries.iter().step_by(151).map(|(key, _)| &key[..]).collect();
        let len = sample.file.len();
        for (step, fill) in [(61, 0xff), (67, 0), (71, 0x80)] {
            for at in (0..len).rev().step_by(len / step + 1) {
                let mut file = sample.file.to_vec();
                let end = len.min(at + 1 + at % 9);
                file[at..end].fill(fill);
                for verify in [true, false] {
                    let options = sample.options.clone().verify_checksums(verify).max_output(1 << 20);
                    if let Ok(table) = Table::open(Bytes::from(file.clone()), &options) {
                        exercise(&table, &keys);
                    }
                }
            }
        }
    }
}
