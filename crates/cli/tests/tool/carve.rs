//! `filterblock scan --carve`: what counts as damage, and the format of keys.

use std::fs;

use super::manifest::internal_key;
use super::tables::{Crafted, testdata};
use super::*;

/// The gaps that are reported: offset and length.
fn gaps(run: &Run) -> Vec<(u64, u64)> {
    let number = |text: &str| text.split(' ').next().unwrap().parse().unwrap();
    let lines = run.err.lines().filter_map(|line| {
        let (at, len) = line
            .split_once("offset ")?
            .1
            .split_once(": expected blocks with right checksums, found none in ")?;
        Some((number(at), number(len)))
    });
    lines.collect()
}

/// The only gap that is not damage is a footer: 48 bytes that end with LevelDB's magic number.
#[test]
fn only_a_footer_is_passed_over_without_a_word() {
    let mut crafted = Crafted::default();
    crafted.entries(&[("a", "first value")]);
    let first = crafted.file.clone();
    let mut crafted = Crafted::default();
    crafted.entries(&[("b", "second value")]);
    let second = crafted.file;
    let magic = 0xdb47_7524_8b80_fb57_u64.to_le_bytes();
    let gap = |len: usize, ends_in_magic: bool| {
        let mut gap = vec![0xff; len];
        if ends_in_magic {
            gap[len - 8..].copy_from_slice(&magic);
        }
        gap
    };
    let folder = folder();
    for (len, ends_in_magic, is_told) in [
        (48, true, false),
        (48, false, true),
        (47, true, true),
        (49, true, true),
        (300, true, true),
        (8, true, true),
    ] {
        let path = file(&folder, "file", [&first, &gap(len, ends_in_magic), &second[..]].concat());
        let run = run(&args!["scan", "--carve", path]).expect(i32::from(is_told));
        assert_eq!(run.out, "a\tfirst value\nb\tsecond value\n", "{len}");
        let told = if is_told { vec![(first.len() as u64, len as u64)] } else { Vec::new() };
        assert_eq!(gaps(&run), told, "{len} {ends_in_magic}: {run:?}");
    }
}

/// A table whose index is damaged ends in a gap that ends in a footer.
#[test]
fn a_damaged_index_in_front_of_the_footer_is_told() {
    let contents = fs::read(table("words-256-bloom10.ldb")).unwrap();
    let opened = filterblock::table::Table::open(&contents[..], &Default::default()).unwrap();
    let (index, blocks) = (opened.index_handle(), opened.data_blocks().count());
    let sound = run(&args!["scan", "--carve", table("words-256-bloom10.ldb")]).expect(0);
    assert!(sound.err.ends_with(&format!(": data blocks found by their checksums: {blocks}\n")), "{sound:?}");
    let folder = folder();
    let mut damaged = contents.clone();
    damaged[index.offset as usize + 3] ^= 1;
    let path = file(&folder, "damaged.ldb", &damaged);
    let carved = run(&args!["scan", "--carve", path]).expect(1);
    assert_eq!(gaps(&carved), [(index.offset, contents.len() as u64 - index.offset)]);
    assert_eq!(carved.out, run(&args!["scan", table("words-256-bloom10.ldb")]).expect(0).out);
}

/// The entries that `scan --all` shows of a file, without their places.
fn versions(path: &std::path::Path, more: &[&str]) -> Vec<Value> {
    let mut arguments = args!["scan", "--json", "--all"].to_vec();
    arguments.extend(more.iter().map(Into::into));
    arguments.push(path.into());
    let lines = run(&arguments).expect(0).json().into_iter().filter(|line| line["object"] == "entry");
    let part = |line: Value| {
        ["key_hex", "sequence", "type", "value_size"].map(|name| line[name].clone()).into_iter().collect()
    };
    lines.map(part).collect()
}

#[test]
fn riaks_keys_are_carved_as_they_are_read() {
    for name in ["versions-bloom.ldb", "numbers-bloom2.ldb"] {
        let path = testdata().join("basho").join(name);
        let whole = versions(&path, &[]);
        assert!(whole.len() > 100);
        assert_eq!(versions(&path, &["--carve"]), whole, "{name}");
    }
}

/// The first block whose keys hold a time decides on the format of keys, even if blocks before it leave the format
/// open.
#[test]
fn riaks_keys_are_told_by_any_block() {
    let key = |user_key: &str, sequence: u64, kind: u8| {
        let time = 1_700_000_000_000_000_u64.to_le_bytes();
        let time = if kind > 1 { &time[..] } else { &[] };
        internal_key(&[user_key.as_bytes(), time].concat(), sequence, kind)
    };
    let mut crafted = Crafted::default();
    crafted.entries(&[(key("a", 9, 1), "1"), (key("b", 8, 0), "")]);
    crafted.entries(&[(key("c", 7, 2), "2"), (key("d", 6, 3), "3"), (key("e", 5, 1), "4")]);
    crafted.entries(&[(key("f", 4, 1), "5")]);
    let folder = folder();
    let path = file(&folder, "carved", crafted.file);
    let expected = "a\t1\nc\t2\nd\t3\ne\t4\nf\t5\n";
    assert_eq!(run(&args!["scan", "--carve", path]).expect(0).out, expected);
    assert_eq!(run(&args!["scan", "--carve", "--key-format", "internal", path]).expect(0).out, expected);
    // RocksDB has types of these numbers, too, whose keys have no time in them.
    let mut crafted = Crafted::default();
    crafted.entries(&[(key("a", 9, 1), "1")]);
    crafted.entries(&[(internal_key(b"a key of RocksDB", 8, 2), "2")]);
    let rocksdb = file(&folder, "rocksdb", crafted.file);
    let keys = run(&args!["scan", "--carve", "--keys", rocksdb]).expect(0).out;
    assert_eq!(keys, "a\na key of RocksDB\n");
    // Keys that are said to be whole are not cut.
    let whole = run(&args!["scan", "--carve", "--key-format", "user", "--keys", path]).expect(0).out;
    assert!(whole.starts_with("a\\x01\\x09\\x00"), "{whole}");
    // Keys of which some are too short are not cut either.
    let mut crafted = Crafted::default();
    crafted.entries(&[(key("a", 9, 1), "1".as_bytes().to_vec()), (b"short".to_vec(), b"2".to_vec())]);
    crafted.entries(&[(key("z", 8, 1), "3")]);
    let path = file(&folder, "carved", crafted.file);
    let whole = run(&args!["scan", "--carve", "--keys", path]).expect(0).out;
    assert!(
        whole.contains("\nshort\n") && whole.ends_with("\nz\\x01\\x08\\x00\\x00\\x00\\x00\\x00\\x00\n"),
        "{whole}"
    );
    // Keys that are said to be internal are cut, whatever the types.
    let mut crafted = Crafted::default();
    crafted.entries(&[(key("a", 9, 1), "1"), (internal_key(b"b", 8, 7), "2")]);
    let path = file(&folder, "carved", crafted.file);
    let cut = run(&args!["scan", "--carve", "--key-format", "internal", path]).expect(0).out;
    assert_eq!(cut, "a\t1\nb\t2\n");
}
