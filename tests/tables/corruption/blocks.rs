//! Damage to footer, index and data blocks whose checksums are right.

use bytes::Bytes;
use filterblock::table::{Lookup, ReadOptions, Table};
use filterblock::{Error, Result};

use super::{impossible_handles, open};
use crate::tables::{Crafted, entry_block, handle, sample};

#[cfg_attr(miri, ignore = "reads large test data")]
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

#[cfg_attr(miri, ignore = "reads large test data")]
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

/// A table of three blocks. `middle` makes the second one and returns its entry in the index.
fn three_blocks(middle: impl FnOnce(&mut Crafted) -> Vec<u8>) -> Bytes {
    let mut crafted = Crafted::default();
    let first = crafted.entries(&[("a", "1"), ("b", "2")]);
    let middle = middle(&mut crafted);
    let last = crafted.entries(&[("e", "5"), ("f", "6")]);
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let index = crafted.entries(&[("b", handle(first)), ("d", middle), ("f", handle(last))]);
    crafted.footer(metaindex, index)
}

/// Checks that all reads of the middle block fail with this message, and that no other reads fail.
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
    found(table.get_entry(b"d").unwrap_err());

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

#[cfg_attr(miri, ignore = "reads large test data")]
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
    // A header that declares 4 GiB less one byte.
    check_middle(block(b"\xff\xff\xff\xff\x0f\0a", 1), "compressed block at offset");

    let key = entries.iter().position(|&byte| byte == b'c').unwrap();
    entries[key - 3] = 1; // shared
    check_middle(block(&entries, 0).clone(), "expected no bytes shared with the key before, found 1");
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn data_handles_that_lead_outside_or_are_none() {
    for place in impossible_handles(400) {
        let file = three_blocks(|_| handle(place));
        check_middle(file.clone(), "block handle at offset");
        // The filter is not asked about such a place either.
        assert!(open(file).unwrap().may_contain(b"c").is_err());
    }
    for value in [&b""[..], b"\x80", b"\x01"] {
        check_middle(three_blocks(|_| value.to_vec()), "block handle at offset");
    }
    // More bytes after the handle are fine.
    let file = three_blocks(|crafted| {
        let place = crafted.entries(&[("c", "3"), ("d", "4")]);
        [handle(place), b"more".to_vec()].concat()
    });
    assert_eq!(open(file).unwrap().get(b"d").unwrap().unwrap(), "4");
}

/// No writer writes such lengths, but LevelDB reads them.
#[test]
fn lengths_may_take_more_bytes_than_they_need() {
    for lengths in [&b"\x80\x80\x00\x03\x05"[..], b"\x00\x83\x80\x00\x05", b"\x80\x00\x83\x00\x85\x00"] {
        let mut crafted = Crafted::default();
        let data = crafted.block(&[lengths, b"keyvalue\0\0\0\0\x01\0\0\0"].concat());
        let table = open(crafted.finish(&[(b"key", data)], &[])).unwrap();
        assert_eq!(table.get(b"key").unwrap().unwrap(), "value", "{lengths:x?}");
        assert_eq!(table.iter().count(), 1);
    }
}

#[test]
fn without_checksums_damage_goes_unnoticed() {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("key", "value")]);
    crafted.file[7] = b'V';
    let file = crafted.finish(&[(b"key", data)], &[]);
    assert!(open(file.clone()).unwrap().get(b"key").is_err());
    let trusting = Table::open(file, &ReadOptions::default().verify_checksums(false)).unwrap();
    assert_eq!(trusting.get(b"key").unwrap().unwrap(), "vVlue");
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
        assert_eq!(table.get_entry(b"c").unwrap(), None, "a lookup looks into one block");
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
fn internal_keys_that_are_none() {
    let key = |user_key: &[u8], tag: u64| [user_key, &tag.to_le_bytes()].concat();
    let table = |entries: &[(Vec<u8>, &str)]| {
        let mut crafted = Crafted::default();
        crafted.block(b"seven..");
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
        "internal key at offset 12: expected type 0 (deletion) or 1 (value), found type 2, which is not supported"
    );
    assert!(sound.get(b"short").unwrap().is_none() && sound.may_contain(b"short").unwrap());

    let short = table(&[(b"\xff\xff\xff".to_vec(), "value")]);
    let _ = short.get_at(b"", u64::MAX);
    assert_eq!(short.get(b"\xff\xff\xff").unwrap().unwrap(), "value");
}
