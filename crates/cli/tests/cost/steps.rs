//! The reads and the decoded bytes of `filterblock`: counted, not timed.

use std::ffi::OsString;
use std::path::Path;

use bytes::Bytes;
use filterblock::BloomFilterPolicy;
use filterblock::table::{Compression, TableBuilder, WriteOptions};
use filterblock_engine::{inspect_table, report::Depth};

use crate::meter::{self, Taken};
use crate::tables::{self, Crafted, Place, Recording, samples, varint};

/// The maximum number of reads that opening a table takes.
const OPENING: usize = 4;
/// The maximum number of data blocks whose type is read, and that are decoded to find out the format of keys.
const SAMPLED: usize = 17;

/// The maximum number of data blocks that are decoded to count keys: all of a small table, 33 of a larger one, then one
/// in 32 up to 1,025.
const fn counted(blocks: usize) -> usize {
    match blocks {
        0..=65 => blocks,
        66..=1024 => 33,
        1025..=32_768 => blocks / 32 + 1,
        _ => 1025,
    }
}

/// The maximum number of reads for a table of this many blocks. The type of each sampled block takes a read, and
/// another one if the type may stand for several codecs.
fn most(blocks: usize) -> usize {
    OPENING + 2 * SAMPLED.min(blocks) + counted(blocks)
}

/// The number of reads while a sample of a table is inspected.
fn reads(file: impl Into<Bytes>) -> usize {
    let source = Recording::new(file.into());
    inspect_table(&source, Depth::Sample);
    source.take().len()
}

/// What a run with these arguments and this path costs.
fn run(arguments: &[&str], path: &Path) -> Taken {
    meter::run(arguments.iter().map(OsString::from).chain([path.into()]))
}

/// A table of one data block, whose index holds these handles.
fn indexed(handles: impl Iterator<Item = Place>) -> Bytes {
    let mut crafted = Crafted::default();
    crafted.entries(&[(b"key", b"value")]);
    crafted.with_index(handles)
}

#[test]
fn a_sample_takes_few_reads() {
    let _alone = meter::alone();
    for count in [1_u32, 10, 16, 17, 1000, 20_000] {
        let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().block_size(1));
        (0..count).for_each(|number| builder.add(&number.to_be_bytes(), &[7; 50]).unwrap());
        let (most, all) = (most(count as usize), reads(builder.finish().unwrap().0));
        assert!(all <= most, "{all} reads for {count} blocks");
    }
    for sample in samples() {
        let blocks = sample.open().data_blocks().count();
        let (most, all) = (most(blocks), reads(sample.file));
        assert!(all <= most, "{}: {all} reads", sample.name);
    }
}

#[test]
fn blocks_that_are_alike_need_few_to_be_decoded() {
    let _alone = meter::alone();
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().block_size(1));
    (0..20_000_u32).for_each(|number| builder.add(&number.to_be_bytes(), &[7; 50]).unwrap());
    let all = reads(builder.finish().unwrap().0);
    assert!(all <= OPENING + 2 * SAMPLED + 65, "{all} reads");
}

/// The database is like one of LevelDB's: tables of 2 MiB with blocks of 4 KiB, filters of 10 bits a key and small
/// values.
#[test]
fn the_depth_says_how_much_is_read() {
    let _alone = meter::alone();
    let folder = tempfile::tempdir().unwrap();
    let mut len = 0;
    for number in 0..4_u32 {
        let options = WriteOptions::default().filter_policy(BloomFilterPolicy::new(10));
        let mut builder = TableBuilder::new(Vec::new(), options.compression(Compression::None));
        for key in 0..45_000_u32 {
            builder.add(format!("{number}/{key:010}").as_bytes(), &[7; 40]).unwrap();
        }
        let table = builder.finish().unwrap().0;
        assert!((2_000_000..2_500_000).contains(&table.len()), "{}", table.len());
        len += table.len();
        std::fs::write(folder.path().join(format!("{number:06}.ldb")), table).unwrap();
    }
    let read = |command: &str, more: &[&str]| {
        let taken = run(&[&[command], more].concat(), folder.path());
        (taken.read, taken.decoded)
    };
    let (tail, decoded) = read("inspect", &["--depth", "tail"]);
    assert!(15 * tail < len && decoded < tail, "{tail} of {len}, {decoded} decoded");
    let (sample, decoded) = read("inspect", &[]);
    assert!(10 * sample <= len && sample > tail && decoded > 0, "{sample} of {len}");
    assert_eq!((sample, decoded), read("inspect", &["--depth", "sample"]));
    let (_, decoded) = read("inspect", &["--depth", "all"]);
    assert!(decoded >= len * 9 / 10, "{decoded} of {len}");
    let page = ["--no-verify", "--no-tune", "-o", "-"];
    let of_page = |depth: &str| read("report", &[&page[..], &["--depth", depth]].concat()).0;
    // A page has pictures of up to eight tables' filters.
    assert!((tail..=2 * tail).contains(&of_page("tail")), "{} {tail}", of_page("tail"));
    assert!((sample..=sample + tail).contains(&of_page("sample")), "{} {sample}", of_page("sample"));
    assert_eq!(of_page("sample"), read("report", &page).0);
}

#[test]
fn a_block_named_150_000_times_is_looked_at_once() {
    let _alone = meter::alone();
    let block = (0, tables::entry_block(&[(b"key", b"value")]).len() as u64);
    let all = reads(indexed((0..150_000).map(|_| block)));
    assert!(all <= OPENING + 3, "{all} reads");
}

#[test]
fn handles_that_lead_nowhere_are_not_followed() {
    let _alone = meter::alone();
    let all = reads(indexed((0..200_000).map(|at| (u64::MAX - at, at))));
    assert!(all <= OPENING, "{all} reads");
}

#[test]
fn blocks_that_overlap_are_sampled_up_to_the_size_of_the_file() {
    let _alone = meter::alone();
    let mut crafted = Crafted { file: vec![0; 1 << 20] };
    crafted.entries(&[(b"key", b"value")]);
    let file = crafted.with_index((0..1000).map(|at| (at, 900_000)));
    let source = Recording::new(file.clone());
    inspect_table(&source, Depth::All);
    let read: usize = source.take().iter().map(|(_, len)| len).sum();
    assert!(read <= 2 * file.len(), "{read} bytes of {}", file.len());
}

/// Blocks without entries count, too. Without the limit, this file of a few kilobytes is decoded twice, to 64 MiB each
/// time.
#[test]
fn carving_keeps_to_what_may_be_decoded() {
    let _alone = meter::alone();
    const BLOCK: usize = 1 << 20;
    let mut crafted = Crafted::default();
    let stored = miniz_oxide::deflate::compress_to_vec_zlib(&vec![0; BLOCK], 6);
    for _ in 0..64 {
        crafted.block_of_type(&stored, 2);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ldb");
    std::fs::write(&path, &crafted.file).unwrap();
    let decoded = |more: &[&str]| run(&[&["scan", "--carve"], more].concat(), &path).decoded;
    let all = decoded(&[]);
    assert!(all >= 64 * BLOCK, "{all}");
    let limited = decoded(&["--max-output", "4M"]);
    assert!((4 * BLOCK..=18 * BLOCK).contains(&limited), "{limited}");
}

#[test]
fn scan_reads_a_damaged_block_that_is_named_3000_times_once() {
    let _alone = meter::alone();
    let mut crafted = Crafted::default();
    let place = crafted.block_of_type(&[0xff; 10_000], 0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ldb");
    let file = crafted.with_index(std::iter::repeat_n(place, 3000));
    std::fs::write(&path, &file).unwrap();
    for arguments in [&["scan"][..], &["scan", "--all"], &["scan", "--limit", "64"]] {
        let (read, len) = (run(arguments, &path).read, file.len());
        assert!(read <= 4 * len, "{read} bytes of {len}");
    }
}

/// A block of 192 KiB whose entries share a key of 96 KiB holds 1.8 GiB of keys. By default, 256 MiB are shown.
#[test]
fn what_scan_prints_is_limited_by_default() {
    let _alone = meter::alone();
    let shared = [&varint(96 << 10)[..], &[0, 0]].concat();
    let mut block = [&[0][..], &varint(96 << 10), &[0], &vec![b'k'; 96 << 10]].concat();
    (0..(96 << 10) / shared.len()).for_each(|_| block.extend(&shared));
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    let mut crafted = Crafted::default();
    let place = crafted.block(&block);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ldb");
    std::fs::write(&path, crafted.with_index([place].into_iter())).unwrap();
    for more in [&["--key-format", "user"][..], &["--carve", "--key-format", "user"]] {
        let Taken { printed, status, .. } = run(&[&["scan"], more].concat(), &path);
        assert!(status == 2 && printed > 255 << 20 && printed < 257 << 20, "{more:?}: {printed} bytes");
    }
}
