//! The peak memory of inspecting and scanning, counted by an allocator: at most the sum of twice the file's size, 64
//! KiB and the limit on a block.

use std::ffi::OsString;

use bytes::Bytes;
use filterblock::table::Codec;

use crate::encode::encode;
use crate::tables::{Crafted, Place, entry_block, handle, samples};
use crate::{manifest, meter};

/// The part of the limit on a block that these tables need: the program's own buffers, since nothing is compressed.
const OWN: usize = 256 << 10;

/// Returns the peak of memory while `filterblock` runs this command with these options on a table of these bytes, and
/// the exit status.
fn run(command: &str, contents: &[u8], options: &[&str]) -> (usize, u8) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ldb");
    std::fs::write(&path, contents).unwrap();
    let options = options.iter().map(OsString::from);
    let taken = meter::run([OsString::from(command)].into_iter().chain(options).chain([path.into()]));
    (taken.peak, taken.status)
}

fn check(what: &str, contents: &[u8]) {
    let bound = 2 * contents.len() + (64 << 10) + OWN;
    for options in [&["--filters"][..], &["--json", "--filters"]] {
        let (peak, status) = run("inspect", contents, options);
        assert!(status < 2, "{status}");
        println!("{what} {options:?}: {} bytes, peak {peak}, bound {bound}", contents.len());
        assert!(peak <= bound, "{what} {options:?}: {peak} > {bound}");
    }
}

/// A table whose index holds these handles, after `data` bytes of zeros.
fn indexed(data: usize, handles: impl Iterator<Item = Place>) -> Bytes {
    Crafted { file: vec![0; data] }.with_index(handles)
}

#[test]
fn sound_tables() {
    let _alone = meter::alone();
    for sample in samples() {
        check(&sample.name, &sample.file);
    }
}

#[test]
fn many_handles() {
    let _alone = meter::alone();
    check("150,000 handles of one block", &indexed(100, (0..150_000).map(|_| (0, 50))));
    check("handles that lead nowhere", &indexed(0, (0..200_000).map(|at| (u64::MAX - at, 9))));
    check("as many blocks as bytes", &indexed(200_000, (0..200_000).map(|at| (at, 0))));
    check("blocks far apart", &indexed(3_200_000, (0..200_000).map(|at| (16 * at, 1))));
    check("blocks further apart", &indexed(3_200_000, (0..6_000).map(|at| (520 * at, 1))));
}

#[test]
fn many_filters() {
    let _alone = meter::alone();
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[(b"key", b"value")]);
    // Every second filter has all the bytes, and the others end before they start.
    let mut filter = vec![1; 200_000];
    for at in 0..200_000_u32 {
        filter.extend((if at % 2 == 0 { 0 } else { 200_000_u32 }).to_le_bytes());
    }
    filter.extend(200_000_u32.to_le_bytes());
    filter.push(0);
    let filter = crafted.block(&filter);
    let table = crafted.finish(&[(b"z", data)], &[(b"filter.leveldb.BuiltinBloomFilter2", filter)]);
    check("filters that overlap", &table);
}

/// Tables whose data blocks, filter block, index or metaindex are as large as the limit on a block allows: one kind at
/// a time, and all together.
#[test]
fn compressed_tables() {
    let _alone = meter::alone();
    const LIMIT: usize = 8 << 20;
    for (codec, id, large) in [
        (Codec::Snappy, 1, LIMIT - 100),
        (Codec::Snappy, 1, LIMIT - (1 << 18)),
        (Codec::Zlib, 2, LIMIT - 100),
        (Codec::Deflate, 4, LIMIT - 100),
        (Codec::Lz4, 2, LIMIT - 100),
        (Codec::Lz4, 2, LIMIT - (1 << 18)),
        (Codec::Zstd, 2, LIMIT - 100),
        (Codec::Zstd, 2, 2 << 20),
    ] {
        // Compressing takes most of this test's time: blocks that hold no places of others are
        // compressed once.
        let [data, filter] = [false, true].map(|is_filter| {
            let contents = |size: usize| match is_filter {
                // One filter for all data blocks.
                true => {
                    let end = (size - 9) as u32;
                    [&vec![0; size - 9], &[0; 4][..], &end.to_le_bytes(), &[63]].concat()
                }
                false => entry_block(&[(b"k", vec![b'v'; size - 20])]),
            };
            [100, large].map(|size| encode(codec, &contents(size)))
        });
        for parts in [
            ["data"].as_slice(),
            &["filter"],
            &["index"],
            &["metaindex"],
            &["data", "filter", "index", "metaindex"],
        ] {
            let mut crafted = Crafted::default();
            let is_large = |part| usize::from(parts.contains(&part));
            let size = |part| [100, large][is_large(part)];
            let data: Vec<Place> =
                (0..20).map(|_| crafted.block_of_type(&data[is_large("data")], id)).collect();
            let filter = crafted.block_of_type(&filter[is_large("filter")], id);
            let mut block = |contents: &[u8]| crafted.block_of_type(&encode(codec, contents), id);
            let mut meta: Vec<_> =
                (0..size("metaindex") / 1010).map(|i| (name(i), handle(data[0]))).collect();
            meta.push((b"filter.leveldb.BuiltinBloomFilter2".to_vec(), handle(filter)));
            let metaindex = block(&entry_block(&meta));
            let index: Vec<_> =
                (0..(size("index") / 1020).max(20)).map(|i| (name(i), handle(data[i % 20]))).collect();
            let index = block(&entry_block(&index));
            let table = crafted.footer(metaindex, index);
            let bound = 2 * table.len() + (64 << 10) + OWN + LIMIT;
            let limit = ["--max-output", &LIMIT.to_string()].map(str::to_owned);
            for options in [&[][..], &["--json"]] {
                let options: Vec<&str> =
                    limit.iter().map(String::as_str).chain(options.iter().copied()).collect();
                let (peak, status) = run("verify", &table, &options);
                let what = format!("{codec:?}, {large} bytes of {parts:?}, {options:?}");
                println!("{what}: {} bytes, peak {peak}, bound {bound}, status {status}", table.len());
                assert!(peak <= bound, "{what}: {peak} > {bound}");
            }
        }
    }
}

/// A name of 1,000 bytes.
fn name(number: usize) -> Vec<u8> {
    format!("a{number:0999}").into_bytes()
}

#[test]
fn errors_of_a_scan_are_told_and_not_held() {
    let _alone = meter::alone();
    let contents = indexed(0, (0..200_000).map(|at| (u64::MAX - at, 9)));
    let (peak, status) = run("scan", &contents, &["--key-format", "user"]);
    assert_eq!(status, 1);
    assert!(peak <= 2 * contents.len() + (64 << 10) + OWN, "{peak} for {} bytes", contents.len());
}

/// After damage, each byte may be the start of a block. The starts of two MiB at most are remembered.
#[test]
fn carving_behind_damage() {
    let _alone = meter::alone();
    let mut state = 7_u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    });
    let contents: Vec<u8> = noise.take(5 << 19).collect();
    let (peak, status) = run("scan", &contents, &["--carve"]);
    assert!(status == 1 && peak <= 96 << 20, "{peak} bytes, status {status}");
}

/// Each missing table is an error. Searching all tables for each error would take more than a million allocations.
#[test]
fn missing_tables_are_found_out_once() {
    let _alone = meter::alone();
    const COUNT: u64 = 1000;
    let folder = tempfile::tempdir().unwrap();
    let mut edit = manifest::Edit::default();
    for number in 10..10 + COUNT {
        edit = edit.add(2, number, 1000, &manifest::value_key("a"), &manifest::value_key("b"));
    }
    let edits = [manifest::Edit::sound().0, edit.0];
    std::fs::write(folder.path().join("MANIFEST-000002"), manifest::log(&edits).0).unwrap();
    std::fs::write(folder.path().join("CURRENT"), "MANIFEST-000002\n").unwrap();
    let taken = meter::run(["scan".into(), folder.path().into()]);
    assert!(taken.status == 2 && taken.allocations < 200 * COUNT as usize, "{taken:?}");
}
