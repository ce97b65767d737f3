//! `filterblock scan --correct`, and what `verify` reports about one wrong bit. From a file with a wrong bit, the scan
//! shows the entries of the sound file that LevelDB wrote.

use std::fs;
use std::path::{Path, PathBuf};

use filterblock::table::{Compression, ReadOptions, Table, TableBuilder, WriteOptions};

use super::manifest::copy_of;
use super::*;

const TABLES: [&str; 3] = ["000005.ldb", "000007.ldb", "000009.ldb"];
const LOG: &str = "000010.log";

fn flip(path: &Path, places: &[(usize, u8)]) {
    let mut bytes = fs::read(path).unwrap();
    places.iter().for_each(|&(at, mask)| bytes[at] ^= mask);
    fs::write(path, bytes).unwrap();
}

/// The place of one byte in each data block, in the index and in the footer. In the blocks, this is by turns the first
/// byte and the last byte of the trailer.
fn places(path: &Path) -> Vec<usize> {
    let table = Table::open_path(path, &ReadOptions::default()).unwrap();
    let blocks: Vec<_> = table.data_blocks().map(Result::unwrap).chain([table.index_handle()]).collect();
    let places = blocks.iter().enumerate().map(|(at, block)| match at % 2 {
        0 => block.offset,
        _ => block.offset + block.size + 4,
    });
    let places: Vec<_> = places.map(|at| at as usize).collect();
    let footer = fs::metadata(path).unwrap().len() as usize - 45;
    assert!(places.len() > 5);
    [places, vec![footer]].concat()
}

/// Returns the output of `scan --correct` for a path, and the offsets of the corrections that are reported. The run has
/// to end with `status`.
fn scan(options: &[&str], path: &Path, status: i32) -> (String, Vec<String>) {
    let mut arguments = args!["scan", "--correct"].to_vec();
    arguments.extend(options.iter().map(Into::into));
    arguments.push(path.into());
    let run = run(&arguments).expect(status);
    let told = run.err.lines().filter_map(|line| Some(line.split_once(": one bit corrected at offset ")?.1));
    let told = told.map(str::to_owned).collect();
    (run.out, told)
}

#[test]
fn one_bit_of_a_table_costs_no_entry() {
    for name in TABLES {
        let sound = database("levels").join(name);
        let whole = run(&args!["scan", &sound]).expect(0).out;
        assert_eq!(scan(&[], &sound, 0), (whole.clone(), vec![]));
        for at in places(&sound) {
            let folder = folder();
            let path = folder.path().join(name);
            fs::copy(&sound, &path).unwrap();
            flip(&path, &[(at, 1)]);
            assert_ne!(run(&args!["scan", &path]).out, whole);
            assert_eq!(scan(&[], &path, 0), (whole.clone(), vec![at.to_string()]), "{name}: {at}");
            let verified = run(&args!["verify", &path]).expect(1);
            let hint = format!("one bit is wrong, at offset {at}; repair corrects it");
            assert!(verified.out.contains(&hint), "{name}: {at}: {verified:?}");
            // Two wrong bits are never corrected.
            flip(&path, &[(at, 2)]);
            let (_, told) = scan(&["--keep-going"], &path, 0);
            assert!(told.is_empty(), "{name}: {at}: {told:?}");
            assert!(!run(&args!["verify", &path]).out.contains("which `repair` corrects"));
        }
    }
}

#[test]
fn a_database_is_merged_with_all_its_wrong_bits_corrected() {
    let whole = run(&args!["scan", database("levels")]).expect(0).out;
    let copy = copy_of(&database("levels"));
    TABLES.iter().for_each(|name| flip(&copy.path().join(name), &[(40, 4)]));
    let log = copy.path().join(LOG);
    let last = fs::metadata(&log).unwrap().len() as usize - 3;
    flip(&log, &[(last, 4)]);
    assert_ne!(run(&args!["scan", copy.path()]).out, whole);
    let (out, mut told) = scan(&[], copy.path(), 0);
    told.sort();
    assert_eq!((out, told), (whole, vec![last.to_string(), "40".into(), "40".into(), "40".into()]));
    // With a limit, a part is not read, and not corrected.
    let (out, told) = scan(&["--keys", "--limit", "1"], copy.path(), 0);
    assert!(out.lines().count() == 1 && !told.is_empty());
}

/// LevelDB's MANIFEST with one wrong bit: in its first record's checksum, length, type or data, or at its last record's
/// end.
#[test]
fn a_wrong_bit_of_the_manifest_costs_no_order() {
    const MANIFEST: &str = "MANIFEST-000008";
    let whole = run(&args!["scan", database("levels")]).expect(0).out;
    let len = fs::metadata(database("levels").join(MANIFEST)).unwrap().len() as usize;
    for at in [0, 4, 6, 12, len - 1] {
        let copy = copy_of(&database("levels"));
        let path = copy.path().join(MANIFEST);
        flip(&path, &[(at, 2)]);
        let without = run(&args!["scan", copy.path()]);
        assert!(without.status != 0 || without.out != whole, "{at}");
        assert_eq!(scan(&[], copy.path(), 0), (whole.clone(), vec![at.to_string()]), "{at}");
        let verified = run(&args!["verify", copy.path()]).expect(1);
        let hint = format!("one bit is wrong, at offset {at}; repair corrects it");
        assert!(verified.out.contains(&hint), "{at}: {}", verified.out);
        // With a second wrong bit in the record, nothing is corrected.
        flip(&path, &[(if at + 1 < len { at + 1 } else { at - 1 }, 1)]);
        let (out, told) = scan(&[], copy.path(), 2);
        assert!(out != whole && told.is_empty(), "{at}: {told:?}");
        assert!(!run(&args!["verify", copy.path()]).out.contains("which `repair` corrects"));
    }
    // One wrong bit each in the first record and in the last one.
    let copy = copy_of(&database("levels"));
    flip(&copy.path().join(MANIFEST), &[(12, 2), (len - 1, 2)]);
    assert_eq!(scan(&[], copy.path(), 0), (whole, vec!["12".into(), (len - 1).to_string()]));
    assert!(!run(&args!["verify", copy.path()]).expect(1).out.contains("one bit at offset"));
}

#[test]
fn entries_of_corrected_blocks_and_records_are_marked() {
    for name in [TABLES[0], LOG] {
        let copy = copy_of(&database("levels"));
        let path = copy.path().join(name);
        flip(&path, &[(40, 4)]);
        let lines = run(&args!["scan", "--correct", "--json", &path]).expect(0).all_json();
        let (end, entries) = lines.split_last().unwrap();
        assert_eq!(end["notes"][0], "one bit corrected at offset 40");
        for entry in entries {
            assert_eq!(entry["corrected"].as_u64(), (entry["offset"] == 0).then_some(40), "{entry}");
        }
        assert!(entries.iter().any(|entry| entry["offset"] == 0));
        // LevelDB wrote the log as one record.
        assert_eq!(entries.iter().any(|entry| entry["offset"] != 0), name != LOG);
    }
}

/// A table of keys that are not internal keys.
fn plain_table(folder: &Path, keys: impl Iterator<Item = Vec<u8>>) -> PathBuf {
    let options = WriteOptions::default().block_size(300).compression(Compression::None);
    let mut builder = TableBuilder::new(Vec::new(), options);
    keys.for_each(|key| builder.add(&key, b"value").unwrap());
    let path = folder.join("plain.ldb");
    fs::write(&path, builder.finish().unwrap().0).unwrap();
    path
}

#[test]
fn keys_of_any_kind_have_to_ascend() {
    let folder = folder();
    let path = plain_table(folder.path(), (0..100).map(|number| format!("k{number:03}").into_bytes()));
    let whole = run(&args!["scan", &path]).expect(0).out;
    flip(&path, &[(700, 1)]);
    assert_eq!(scan(&[], &path, 0), (whole, vec!["700".into()]));
    // If the order of keys is not known, nothing shows whether the result is right.
    let path = folder.path().join("reversed.ldb");
    let reversed = fs::read_dir(database("reversed")).unwrap().map(|entry| entry.unwrap().path());
    let table =
        reversed.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "ldb"));
    fs::copy(table.unwrap(), &path).unwrap();
    flip(&path, &[(40, 1)]);
    assert_eq!(scan(&[], &path, 1).1, [""; 0]);
}

/// The checksum of a block points to one wrong bit. Once that is corrected, a key is out of order: it was changed on
/// purpose, and the checksum was made to fit.
#[test]
fn what_does_not_lie_between_its_separators_is_not_corrected() {
    let folder = folder();
    let path = plain_table(folder.path(), (0..100).map(|number| format!("k{number:03}").into_bytes()));
    let mut bytes = fs::read(&path).unwrap();
    let table = Table::open_path(&path, &ReadOptions::default()).unwrap();
    let block = table.data_blocks().nth(2).unwrap().unwrap();
    let (start, end) = (block.offset as usize, (block.offset + block.size) as usize);
    // The first key of the block becomes one before those of the block before it.
    bytes[start + 3] = b'a';
    let crc = crc32c::crc32c(&bytes[start..=end]).rotate_right(15).wrapping_add(0xa282_ead8);
    bytes[end + 1..end + 5].copy_from_slice(&crc.to_le_bytes());
    bytes[start + 12] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(scan(&[], &path, 1).1, [""; 0]);
    assert!(!run(&args!["verify", &path]).out.contains("which `repair` corrects"));
}
