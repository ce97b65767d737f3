//! Without damage, what is taken apart and put together is what LevelDB wrote.

use std::fs;
use std::path::{Path, PathBuf};

use filterblock::database::Manifest;
use filterblock::table::{ReadOptions, Table};
use filterblock::{BloomFilterPolicy, table};
use filterblock_fuzz::filter_block::FilterBlock;
use filterblock_fuzz::log;
use filterblock_fuzz::manifest::{self, Added, Field};
use filterblock_fuzz::table::{Damage, Parts};
use filterblock_fuzz::{Damager, batch, damage};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

fn read(name: &str) -> Vec<u8> {
    fs::read(testdata(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..][..2], 16).unwrap()).collect()
}

/// Returns the keys in the listing of a set of tables, in the order of the tables.
fn keys(set: &str) -> Vec<Vec<u8>> {
    let listing = String::from_utf8(read(&format!("tables/{set}.keys"))).unwrap();
    let keys = listing.lines().filter(|line| !line.starts_with('#'));
    keys.map(|line| unhex(line.split(' ').next().unwrap().trim_matches('-'))).collect()
}

fn open(file: &[u8], internal: bool) -> Table<&[u8]> {
    let options = ReadOptions::default().internal_keys(internal).filter_policy(BloomFilterPolicy::new(10));
    Table::open(file, &options).unwrap()
}

/// Tables keep LevelDB's data blocks and get LevelDB's filter block. The index may have other varints.
#[test]
fn tables_keep_their_blocks_and_get_the_filters_that_leveldb_wrote() {
    for (name, set, internal) in [
        ("words-256-bloom10", "words", false),
        ("words-4096-bloom10-snappy", "words", false),
        ("binary-256-bloom10", "binary", false),
        ("dense-256-bloom10-snappy", "dense", false),
        ("large-65536-bloom10", "large", false),
        ("noise-2048-bloom10-snappy", "noise", false),
        ("versions-512-bloom10", "versions", true),
        ("versions-4096-bloom10-snappy", "versions", true),
        ("empty-4096-bloom10", "empty", false),
    ] {
        let file = read(&format!("tables/{name}.ldb"));
        let parts = Parts::of(&file, internal).unwrap();
        let found: Vec<_> =
            parts.data.iter().flat_map(|block| &block.entries).map(|(key, _)| key.clone()).collect();
        assert_eq!(found, keys(set), "{name}");
        let made = parts.assemble(Some(11), Damage::Nothing);
        let (theirs, ours) = (open(&file, internal), open(&made, internal));
        let (theirs, ours) = (theirs.filter().unwrap().contents(), ours.filter().unwrap().contents());
        assert_eq!(ours, theirs, "{name}");
        let end = data_len(&file);
        assert!(end > 0 || set == "empty");
        assert_eq!(made[..end], file[..end], "{name}");
        let again = Parts::of(&made, internal).unwrap();
        assert_eq!(again.data.len(), parts.data.len());
    }
}

/// Returns the offset at which the data blocks of a table end.
fn data_len(file: &[u8]) -> usize {
    let table = open(file, false);
    let handles: Vec<table::BlockHandle> = table.data_blocks().map(Result::unwrap).collect();
    handles.last().map_or(0, |handle| handle.end().unwrap() as usize)
}

#[test]
fn filter_blocks_are_those_that_leveldb_builds() {
    let golden = String::from_utf8(read("golden/filter_block_build.txt")).unwrap();
    let mut compared = 0;
    let mut block = FilterBlock { base_lg: 11, bits_per_key: 10, blocks: vec![] };
    let texts: Vec<(&str, Vec<u8>)> = golden
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(' ').unwrap())
        .map(|(what, text)| (text, if what == "key" { unhex(text.trim_matches('-')) } else { vec![] }))
        .collect();
    let lines = golden.lines().filter(|line| !line.starts_with('#'));
    for (line, (text, key)) in lines.zip(&texts) {
        match line.split(' ').next().unwrap() {
            "bits" => {
                block =
                    FilterBlock { bits_per_key: text.parse().unwrap(), blocks: vec![(0, vec![])], ..block }
            }
            "start" => block.blocks.push((text.parse().unwrap(), vec![])),
            "key" => block.blocks.last_mut().unwrap().1.push(key),
            _ => {
                assert_eq!(block.to_bytes(), unhex(text), "{block:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared} filter blocks");
}

#[test]
fn logs_are_framed_as_leveldb_frames_them() {
    let (mut files, mut several) = (0, false);
    for database in ["levels", "unfiltered", "reversed"] {
        for entry in fs::read_dir(testdata("databases").join(database)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if !(name.starts_with("MANIFEST") || name.ends_with(".log")) {
                continue;
            }
            let file = fs::read(&path).unwrap();
            if file.is_empty() {
                continue;
            }
            let fragments = log::fragments(&file).unwrap();
            let records: Vec<_> =
                fragments.iter().filter(|part| part.kind == 1).map(|part| &part.data).collect();
            assert_eq!(records.len(), fragments.len(), "{name}: records in one piece");
            several |= records.len() > 1;
            assert_eq!(log::frame(&records), file, "{name}");
            let kind = if name.starts_with("MANIFEST") { "manifest" } else { "log" };
            assert_eq!(Damager::new(&file).kind(), kind, "{name}");
            files += 1;
        }
    }
    assert!(files >= 3 && several, "{files} files");
}

/// Records longer than a block, and headers that just fit, are framed as by the library's writer, which is compared
/// with LevelDB's.
#[test]
fn long_records_are_cut_where_leveldb_cuts_them() {
    for len in [0, 1, 32_754, 32_755, 32_760, 32_761, 32_762, 40_000, 100_000] {
        let records = [vec![1; len], vec![2; 5], vec![3; 70_000], vec![]];
        let mut writer = filterblock::database::LogWriter::new(Vec::new());
        records.iter().for_each(|record| writer.add_record(record).unwrap());
        let expected = writer.into_writer();
        assert!(log::frame(&records) == expected, "{len}");
        let fragments = log::fragments(&expected).unwrap();
        let joined: Vec<u8> = fragments.into_iter().flat_map(|fragment| fragment.data).collect();
        assert!(joined == records.concat(), "{len}");
    }
}

#[test]
fn manifests_say_what_their_fields_say() {
    let added = |level, number, smallest: &'static [u8], largest| {
        Field::Added(Added { level, number, size: 70_000, smallest, largest })
    };
    let made = manifest::Manifest {
        edits: vec![
            vec![
                Field::Bytewise,
                Field::LogNumber(300),
                Field::PrevLogNumber(0),
                Field::NextFileNumber(1 << 40),
                Field::LastSequence(77),
                Field::CompactPointer(1, b"c"),
            ],
            vec![added(0, 5, b"a", b"m"), added(2, 6, b"n", b"z"), added(2, 7, b"za", b"zz")],
            vec![Field::Deleted(2, 6)],
        ],
    };
    let read = Manifest::parse(&made.to_bytes()).unwrap();
    assert!(read.is_bytewise());
    assert_eq!((read.log_number(), read.prev_log_number()), (300, 0));
    assert_eq!((read.next_file_number(), read.last_sequence()), (1 << 40, 77));
    let tables: Vec<_> = read.tables().iter().map(|table| (table.level, table.number)).collect();
    assert_eq!(tables, [(0, 5), (2, 7)]);
    assert_eq!(read.tables()[0].user_keys(), Some((&b"a"[..], &b"m"[..])));
    let numbers = [Field::LogNumber(1), Field::NextFileNumber(2), Field::LastSequence(3)];
    let foreign = manifest::Manifest { edits: vec![vec![Field::Comparator(b"other")], numbers.to_vec()] };
    assert_eq!(Manifest::parse(&foreign.to_bytes()).unwrap().comparator(), Some(&b"other"[..]));
}

#[test]
fn what_a_file_is_taken_for() {
    assert_eq!(Damager::new(&read("tables/words-256-bloom10.ldb")).kind(), "table");
    assert_eq!(Damager::new(b"").kind(), "bytes");
    assert_eq!(Damager::new(b"neither of both").kind(), "bytes");
    assert_eq!(Damager::new(&log::frame(&["a record that says nothing"])).kind(), "log");
    assert_eq!(Damager::new(&log::frame(&[b""])).kind(), "log");
    // The batch of no writes with sequence number 2561 is an edit, too: a comparator's name of ten bytes.
    let either = batch::encode(0x0a01, &[]);
    assert_eq!(Damager::new(&log::frame(&[&either])).kind(), "log");
    let edit = manifest::Manifest { edits: vec![vec![Field::LastSequence(1)]] }.records().remove(0);
    assert_eq!(Damager::new(&log::frame(&[&either, &edit])).kind(), "manifest");
    // The edit followed by a field of an unknown number, and by fields cut off.
    for field in [&[8, 1][..], &[7, 0, 5, 200], &[6, 1], &[5, 1, 9, b'k'], &[1, 4, b'n'], &[4]] {
        assert_eq!(Damager::new(&log::frame(&[&edit[..], field])).kind(), "log", "{field:?}");
    }
    let mut unsound = read("tables/words-256-bloom10.ldb");
    unsound[3] ^= 1;
    assert_eq!(Damager::new(&unsound).kind(), "bytes");
    assert_ne!(damage(b"", 0), b"");
}

/// Filters are made with the table's `base_lg`. A table without filters gets none.
#[test]
fn filters_are_made_as_in_the_table() {
    let sound = |name: &str| Damager::new(&read(name)).sound().to_vec();
    assert!(open(&sound("tables/words-4096-unfiltered.ldb"), false).filter().is_none());
    let mut other = Parts::of(&read("tables/words-256-bloom10.ldb"), false).unwrap();
    other.data.truncate(4);
    let other = other.assemble(Some(7), Damage::Nothing);
    let again = Damager::new(&other).sound().to_vec();
    assert_eq!(open(&again, false).filter().unwrap().base_lg(), 7);
    // Keys of a database: the filters hold user keys.
    let file = read("tables/versions-512-bloom10.ldb");
    let made = sound("tables/versions-512-bloom10.ldb");
    let (theirs, ours) = (open(&file, true), open(&made, true));
    assert_eq!(ours.filter().unwrap().contents(), theirs.filter().unwrap().contents());
}
