//! What inspecting takes at its peak, counted by an allocator: at most twice the file, 64 KiB and the limit on a block.

#[path = "../../tests/counting/mod.rs"]
mod counting;
#[path = "../../tests/tables/mod.rs"]
mod tables;

use std::ffi::OsString;
use std::io;

use bytes::Bytes;
use tables::{Crafted, Place, samples};

/// Of the limit of 8 MiB on a block, these tables, which are not compressed, need only this, for the program's own buffers.
const OWN: usize = 256 << 10;

/// The peak while `filterblock inspect` looks at these bytes with these options.
fn inspect(contents: &[u8], options: &[&str]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ldb");
    std::fs::write(&path, contents).unwrap();
    let options = options.iter().map(OsString::from);
    let arguments =
        ["filterblock", "inspect"].map(OsString::from).into_iter().chain(options).chain([path.into()]);
    let (peak, status) = counting::peak(|| filterblock_cli::run(arguments, io::sink(), io::sink()));
    assert!(status < 2, "{status}");
    peak
}

fn check(what: &str, contents: &[u8]) {
    let bound = 2 * contents.len() + (64 << 10) + OWN;
    for options in [&["--filters"][..], &["--json", "--filters"]] {
        let peak = inspect(contents, options);
        println!("{what} {options:?}: {} bytes, peak {peak}, bound {bound}", contents.len());
        assert!(peak <= bound, "{what} {options:?}: {peak} > {bound}");
    }
}

/// A table whose index holds these handles, after `data` bytes of whatever.
fn indexed(data: usize, handles: impl Iterator<Item = Place>) -> Bytes {
    Crafted { file: vec![0; data] }.with_index(handles)
}

#[test]
fn sound_tables() {
    for sample in samples() {
        check(&sample.name, &sample.file);
    }
}

#[test]
fn many_handles() {
    check("150,000 handles of one block", &indexed(100, (0..150_000).map(|_| (0, 50))));
    check("handles that lead nowhere", &indexed(0, (0..200_000).map(|at| (u64::MAX - at, 9))));
    check("as many blocks as bytes", &indexed(200_000, (0..200_000).map(|at| (at, 0))));
    check("blocks far apart", &indexed(3_200_000, (0..200_000).map(|at| (16 * at, 1))));
    check("blocks further apart", &indexed(3_200_000, (0..6_000).map(|at| (520 * at, 1))));
}

#[test]
fn many_filters() {
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[(b"key", b"value")]);
    // Every second filter is all bytes there are, the others end before they start.
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
