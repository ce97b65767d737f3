//! The costs of reading: allocations and peak memory, counted by an allocator.

use std::io::{ErrorKind, Write as _};

use bytes::Bytes;
#[cfg(all(feature = "zstd", feature = "zlib"))]
use filterblock::table::Codec;
use filterblock::table::{ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, Error};

use crate::counting::{allocations, held, peak, with_at_most};
#[cfg(all(feature = "zstd", feature = "zlib"))]
use crate::encode::encode;
use crate::tables::{Crafted, entry_block, handle, sample, samples, varint};

#[test]
fn asking_whether_a_key_may_be_there_allocates_nothing() {
    for sample in samples() {
        let table = sample.open();
        let keys: Vec<Vec<u8>> = sample.entries.iter().map(|(key, _)| [key, &b"!"[..]].concat()).collect();
        let (count, denied) =
            allocations(|| keys.iter().filter(|key| !table.may_contain(key).unwrap()).count());
        assert_eq!(count, 0, "{}", sample.name);
        assert!(denied > 0 || !sample.filtered || keys.len() < 100, "{}", sample.name);
    }
}

#[test]
fn a_lookup_allocates_nothing_besides_its_block() {
    // Bytes give out views, so that there is nothing to allocate for uncompressed blocks but the key if it shares
    // something.
    let sample = sample("dense-256-bloom10.ldb");
    let table = sample.open();
    for (key, _) in &sample.entries {
        let (count, _) = allocations(|| table.get(key).unwrap().unwrap());
        assert!(count <= 1, "{count}");
    }
}

#[test]
fn going_from_entry_to_entry_allocates_nothing() {
    let options = WriteOptions::default().block_size(1 << 20);
    let mut table = TableBuilder::new(Vec::new(), options);
    for i in 0..10_000 {
        table.add(format!("key{i:05}").as_bytes(), b"value").unwrap();
    }
    let table = Table::open(Bytes::from(table.finish().unwrap().0), &ReadOptions::default()).unwrap();
    assert_eq!(table.data_blocks().count(), 1);
    let mut cursor = table.cursor();
    for _ in 0..20 {
        cursor.next().unwrap();
    }
    let (count, walked) = allocations(|| {
        let mut walked = 20;
        while cursor.next().unwrap() {
            assert!(!cursor.key().is_empty() && cursor.value() == b"value");
            walked += 1;
        }
        walked
    });
    assert_eq!((count, walked), (0, 10_000));
}

/// A cursor keeps its buffer for keys from block to block, and when it goes back to the start.
#[test]
fn going_from_block_to_block_allocates_nothing() {
    let sample = sample("dense-256-bloom10.ldb");
    let table = sample.open();
    assert!(table.data_blocks().count() > 20);
    let mut cursor = table.cursor();
    while cursor.next().unwrap() {}
    let (count, ()) = allocations(|| {
        cursor.seek(&sample.entries[0].0).unwrap();
        while cursor.next().unwrap() {}
    });
    assert_eq!(count, 0);
}

#[test]
fn memory_that_cannot_be_had_for_a_block_is_an_error() {
    let sample = sample("words-256-bloom10.ldb");
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&sample.file).unwrap();
    let table = Table::open(&file, &sample.options).unwrap();
    let (key, value) = &sample.entries[0];
    match with_at_most(100, || table.get(key)) {
        Err(Error::Io { source, .. }) => assert_eq!(source.kind(), ErrorKind::OutOfMemory),
        other => panic!("{other:?}"),
    }
    assert_eq!(table.get(key).unwrap().unwrap(), value);
}

#[test]
fn a_walk_holds_one_block_at_a_time() {
    let sample = sample("words-256-bloom10.ldb");
    // A slice is copied from, so that every block read is held.
    let file: &[u8] = &sample.file;
    let table = Table::open(file, &sample.options).unwrap();
    let largest = table.data_blocks().map(|block| block.unwrap().size + 5).max().unwrap();
    let (bytes, ()) = peak(|| {
        let mut cursor = table.cursor();
        while cursor.next().unwrap() {}
        for (key, _) in &sample.entries {
            cursor.seek(key).unwrap();
        }
    });
    assert!(bytes < largest as usize + 200, "{bytes} for blocks of at most {largest}");
}

/// The buffer for a block's contents serves for the next block, unless that would waste more than half of it.
#[test]
fn a_value_of_a_small_block_does_not_keep_the_memory_of_a_large_one() {
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default());
    builder.add(b"large", &[b'v'; 1 << 20]).unwrap();
    builder.add(b"small", &[b'v'; 5000]).unwrap();
    let (file, _) = builder.finish().unwrap();
    let before = held();
    let value = {
        let table = Table::open(&file[..], &ReadOptions::default()).unwrap();
        let mut cursor = table.cursor();
        assert!(cursor.next().unwrap() && cursor.next().unwrap());
        assert_eq!(cursor.key(), b"small");
        cursor.value_bytes()
    };
    let held = held() - before;
    assert!(value.len() == 5000 && (5000..12_000).contains(&held), "{held} bytes");
}

#[test]
fn an_open_table_keeps_what_it_says() {
    for sample in samples() {
        let file: &[u8] = &sample.file;
        let before = held();
        let table = Table::open(file, &sample.options).unwrap();
        let held = usize::try_from(held() - before).unwrap();
        let said = table.memory_usage() - size_of_val(&table);
        assert!(held >= said && held < said + 600, "{}: {held} held, {said} said", sample.name);
    }
}

/// The promised bound on memory: twice the file, 64 KiB, and the limit for a block.
fn bound(file: &[u8], limit: usize) -> usize {
    2 * file.len() + (64 << 10) + limit
}

/// Promise: A4.
#[test]
fn opening_and_reading_keep_to_the_bound_on_memory() {
    let limit = 1 << 20;
    let options = ReadOptions::default().max_block_size(limit).max_output(16 << 20);
    let mut files: Vec<(String, Bytes)> =
        samples().into_iter().map(|sample| (sample.name, sample.file)).collect();
    files.extend(hostile().into_iter().map(|(name, file)| (name.to_owned(), file)));
    for (name, file) in &files {
        let (bytes, _) = peak(|| {
            // A slice is copied from, as a file would be.
            let Ok(table) = Table::open(&file[..], &options) else { return };
            let _ = (table.get(b"a"), table.get(b"z"), table.may_contain(b"a"));
            let _ = (table.get_at(b"a", 1).is_err(), table.cursor().seek(b"a"));
            for block in table.data_blocks().take(1000).flatten() {
                let _ = (table.block_cursor(block), table.compression_of(block));
            }
            let mut cursor = table.cursor();
            while let Ok(true) = cursor.next() {}
        });
        assert!(bytes <= bound(file, limit), "{name}: {bytes} bytes for a file of {}", file.len());
    }
}

/// Files that ask for far more memory than their size is worth.
fn hostile() -> Vec<(&'static str, Bytes)> {
    let zeros = |len| snap::raw::Encoder::new().compress_vec(&vec![0; len]).unwrap();
    let filter_name = b"filter.leveldb.BuiltinBloomFilter2";
    let mut files = Vec::new();

    // Three compressed blocks that are each within the limit, but not together.
    let mut crafted = Crafted::default();
    let filter = crafted.block_of_type(&zeros(1 << 20), 1);
    let mut meta = vec![(filter_name.to_vec(), handle(filter))];
    meta.push((vec![b'x'; 1000 << 10], Vec::new()));
    let meta = snap::raw::Encoder::new().compress_vec(&entry_block(&meta)).unwrap();
    let metaindex = crafted.block_of_type(&meta, 1);
    let index = vec![(b"z".to_vec(), handle(filter)), (vec![b'z'; 1000 << 10], handle(filter))];
    let index = snap::raw::Encoder::new().compress_vec(&entry_block(&index)).unwrap();
    let index = crafted.block_of_type(&index, 1);
    files.push(("three large blocks", crafted.footer(metaindex, index)));

    // A compressed index and metaindex; all of the file is both filter block and data block, and uncompressed.
    let mut crafted = Crafted::default();
    let whole = crafted.block(&vec![0; 400_000]);
    let mut meta = vec![(filter_name.to_vec(), handle(whole)), (vec![b'x'; 300_000], Vec::new())];
    let compressed = |contents: &[u8]| snap::raw::Encoder::new().compress_vec(contents).unwrap();
    let metaindex = crafted.block_of_type(&compressed(&entry_block(&meta)), 1);
    meta = vec![(b"z".to_vec(), handle(whole)), (vec![b'z'; 1000 << 10], handle(whole))];
    let index = crafted.block_of_type(&compressed(&entry_block(&meta)), 1);
    files.push(("the whole file several times", crafted.footer(metaindex, index)));

    // One block that is index, metaindex, filter block and data block.
    let mut crafted = Crafted::default();
    let whole = (0, 300_041);
    let contents = entry_block(&[(&filter_name[..], [handle(whole), vec![0; 299_990]].concat())]);
    assert_eq!(crafted.block(&contents), whole);
    files.push(("one block for all", crafted.footer(whole, whole)));

    // Lengths that nothing backs.
    for (name, header) in [("snappy 4 GiB", varint(u64::from(u32::MAX))), ("snappy 2^64", varint(u64::MAX))] {
        let mut crafted = Crafted::default();
        let block = crafted.block_of_type(&[&header[..], b"\0a"].concat(), 1);
        files.push((name, crafted.footer(block, block)));
    }
    for place in [(0, u64::MAX), (u64::MAX, 0), (0, 1 << 40), (1 << 62, 1 << 62)] {
        files.push(("handles far outside", Crafted::default().footer(place, place)));
        let mut crafted = Crafted::default();
        let metaindex = crafted.entries(&[(&filter_name[..], handle(place))]);
        let index = crafted.entries(&[("a", handle(place)), ("z", handle(place))]);
        files.push(("entries far outside", crafted.footer(metaindex, index)));
    }
    for counts in [[0xff; 4], [0, 0, 0, 0x40], [1, 0, 0, 0x40]] {
        let mut crafted = Crafted::default();
        let block = crafted.block(&[&[0; 8][..], &counts].concat());
        files.push(("restart counts that wrap", crafted.footer(block, block)));
    }

    // One data block, named by many index entries.
    let mut crafted = Crafted::default();
    let data = crafted.entries(&[("a", [7; 4000])]);
    let index: Vec<_> =
        (0..150_000u32).map(|i| ([&b"a"[..], &i.to_be_bytes()].concat(), handle(data))).collect();
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let index = crafted.entries(&index);
    files.push(("one block 150,000 times", crafted.footer(metaindex, index)));
    files
}

#[test]
fn a_block_over_the_limit_is_refused_before_it_is_allocated() {
    let mut crafted = Crafted::default();
    let zeros = snap::raw::Encoder::new().compress_vec(&vec![0; 64 << 20]).unwrap();
    let data = crafted.block_of_type(&zeros, 1);
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let index = crafted.entries(&[("z", handle(data))]);
    let file = crafted.footer(metaindex, index);
    let options = ReadOptions::default().filter_policy(BloomFilterPolicy::new(10)).max_block_size(8 << 20);
    let table = Table::open(file, &options).unwrap();
    let (bytes, result) = peak(|| table.get(b"a"));
    assert!(matches!(result, Err(Error::Limit { limit: 0x80_0000, found: 0x400_0000, .. })));
    assert!(bytes < 1000, "{bytes}");
}

/// Decoders that do not know the length of the contents beforehand keep to the bound, too, in buffers that grow.
#[cfg(all(feature = "zstd", feature = "zlib"))]
#[test]
fn decoders_keep_to_the_bound_on_memory() {
    for (codec, id, most) in
        [(Codec::Zstd, 2, 5 << 20), (Codec::Zlib, 2, 8 << 20), (Codec::Deflate, 4, 8 << 20)]
    {
        for len in [1 << 20, 2 << 20, 9 << 19, 5 << 20, 8 << 20, 9 << 20] {
            let mut crafted = Crafted::default();
            let data = crafted.block_of_type(&encode(codec, &entry_block(&[("a", vec![0; len - 20])])), id);
            let file = crafted.finish(&[(b"a", data)], &[]);
            let options = ReadOptions::default().max_block_size(8 << 20);
            let table = Table::open(file.clone(), &options).unwrap();
            let (bytes, value) = peak(|| table.get(b"a"));
            assert!(bytes <= bound(&file, 8 << 20), "{bytes} for {len} of {codec:?}");
            assert_eq!(value.is_ok(), len <= most, "{len} of {codec:?}");
            let before = held();
            drop((table, file, value));
            let kept = before - held();
            assert!(kept < len as isize + 20_000, "{kept} kept for {len} of {codec:?}");
        }
    }
}

/// The memory that a table reports is the sum of its parts.
#[test]
fn memory_usage_is_the_sum_of_the_parts() {
    for sample in samples() {
        let table = sample.open();
        let parts = [
            size_of_val(&table),
            table.index().size(),
            table.metaindex().map_or(0, |metaindex| metaindex.size()),
            table.filter().map_or(0, |filter| filter.contents().len()),
        ];
        assert!(parts[1] > 0 && parts[2] > 0 && (parts[3] > 0) == sample.filtered);
        let (index, filter) =
            (table.index_part().memory_usage(), table.filter_part().unwrap().memory_usage());
        assert_eq!(table.memory_usage(), parts.iter().sum::<usize>(), "{}", sample.name);
        // Besides the blocks, there are parts that each table has once.
        let (of_index, of_filter) = (index - parts[1] - parts[2], filter - parts[3]);
        assert!((1..500).contains(&of_index) && (1..300).contains(&of_filter), "{of_index} {of_filter}");
        let path = "some/where/000005.ldb";
        let usage = table.memory_usage();
        assert_eq!(table.with_path(path).memory_usage(), usage + path.len());
    }
}

/// Each part that is kept leaves less memory for a data block, byte by byte.
#[test]
fn each_part_counts_against_the_limit() {
    const LIMIT: usize = 1 << 20;
    let name = b"filter.leveldb.BuiltinBloomFilter2".to_vec();
    for part in ["index", "metaindex", "filter"] {
        // The table, the length of the data block's contents, and the room that the limit and twice the file leave for
        // them.
        let table = |value_len: usize| {
            let mut crafted = Crafted::default();
            let block = |crafted: &mut Crafted, contents: &[u8]| {
                crafted.block_of_type(&snap::raw::Encoder::new().compress_vec(contents).unwrap(), 1)
            };
            let contents = entry_block(&[("key", vec![0; value_len])]);
            let data = block(&mut crafted, &contents);
            let large = |is_it: bool| if is_it { 600 << 10 } else { 10 };
            // The filter block is malformed, so that every key may match.
            let filter = block(&mut crafted, &vec![0xff; large(part == "filter")]);
            let meta = [(name.clone(), handle(filter)), (b"x".to_vec(), vec![0; large(part == "metaindex")])];
            let metaindex = block(&mut crafted, &entry_block(&meta));
            let index = [(b"key".to_vec(), handle(data)), (b"z".to_vec(), vec![0; large(part == "index")])];
            let index = block(&mut crafted, &entry_block(&index));
            let file = crafted.footer(metaindex, index);
            let table = Table::open(file.clone(), &ReadOptions::default().max_block_size(LIMIT)).unwrap();
            let parts = [
                table.index().size(),
                table.metaindex().unwrap().size(),
                table.filter().unwrap_or_else(|| panic!("{:?}", table.filter_error())).contents().len(),
            ];
            let room = 2 * file.len() + LIMIT - parts.iter().sum::<usize>() - (data.1 as usize + 5);
            (table, contents.len(), room)
        };
        let mut fits = [false; 2];
        // Around the border.
        let border = LIMIT - (600 << 10);
        for value_len in (border - 2000..border + 200_000).step_by(9000) {
            let (table, len, room) = table(value_len);
            let read = table.get(b"key");
            assert_eq!(read.is_ok(), len <= room, "{part}: {len} within {room}: {read:?}");
            fits[usize::from(len <= room)] = true;
            match read {
                Ok(value) => assert_eq!(value.unwrap().len(), value_len),
                Err(Error::Limit { limit, found, .. }) => {
                    assert_eq!((limit, found), (room as u64, len as u64), "{part}")
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(fits, [true; 2], "{part}: the border was reached");
    }
}

/// Two keys of a data block, or of the index, share nearly all of the block's contents.
#[test]
fn keys_that_are_put_together_keep_to_the_bound() {
    const LIMIT: usize = 8 << 20;
    for len in [LIMIT / 4, LIMIT / 2 - 100, LIMIT - 100] {
        // A key, and others that share all of it and have one more byte.
        let entry = |shared: u64, rest: &[u8], value: &[u8]| {
            [&varint(shared)[..], &varint(rest.len() as u64), &varint(value.len() as u64), rest, value]
                .concat()
        };
        let compressed = |value: &[u8]| {
            let mut contents = entry(0, &vec![b'k'; len], value);
            contents.extend(entry(len as u64, b"l", value));
            contents.extend([0, 0, 0, 0, 1, 0, 0, 0]);
            snap::raw::Encoder::new().compress_vec(&contents).unwrap()
        };
        for is_index in [false, true] {
            let mut crafted = Crafted::default();
            let (data, index);
            if is_index {
                data = crafted.entries(&[("key", "value")]);
                index = crafted.block_of_type(&compressed(&handle(data)), 1);
            } else {
                data = crafted.block_of_type(&compressed(b"v"), 1);
                index = crafted.entries(&[("m", handle(data))]);
            }
            let metaindex = crafted.entries::<&[u8], &[u8]>(&[]);
            let file = crafted.footer(metaindex, index);
            let (bytes, failed) = peak(|| {
                let options = ReadOptions::default().max_block_size(LIMIT);
                let table = Table::open(&file[..], &options).unwrap();
                let mut cursor = table.cursor();
                let mut result = cursor.next();
                while let Ok(true) = result {
                    result = cursor.next();
                }
                result.err().map(|error| error.to_string())
            });
            assert!(bytes <= bound(&file, LIMIT), "{len} {is_index}: {bytes} for {}: {failed:?}", file.len());
            // If there is room, all is read.
            assert_eq!(failed.is_some(), is_index || len > LIMIT / 2, "{len} {is_index}: {failed:?}");
        }
    }
}

/// Names of 8 MiB are recognized, quoted and passed over without a copy of them.
#[test]
fn long_names_in_the_metaindex_keep_to_the_bound() {
    const LIMIT: usize = 8 << 20;
    const LEN: usize = LIMIT - 100;
    // An entry that shares these bytes with the key before, and has other bytes after them.
    let entry = |shared: u64, rest: &[u8]| {
        [&varint(shared)[..], &varint(rest.len() as u64), &[2], rest, &[0, 0]].concat()
    };
    let long = |start: &[u8]| [start, &vec![0xff; LEN - start.len()]].concat();
    let shared = |start: &[u8]| [entry(0, &start[..1]), entry(1, &long(&start[1..]))].concat();
    let halves = |start: &[u8]| {
        let half = [start, &vec![0xff; LEN / 2]].concat();
        [entry(0, &half), entry(half.len() as u64, &vec![0xfe; LEN / 2 - 100])].concat()
    };
    let mut cases = Vec::new();
    for start in
        ["fullfilter.", "partitionedfilter.", "filter.rocksdb.", "rocksdb.", "filter.", "stats.sst1", "x"]
    {
        let start = start.as_bytes();
        cases.push((start, "whole", entry(0, &long(start))));
        cases.push((start, "shared", shared(start)));
        cases.push((start, "halves", halves(start)));
    }
    for (start, how, mut contents) in cases {
        contents.extend([0, 0, 0, 0, 1, 0, 0, 0]);
        assert!(contents.len() <= LIMIT);
        let mut crafted = Crafted::default();
        let compressed = snap::raw::Encoder::new().compress_vec(&contents).unwrap();
        drop(contents);
        let data = crafted.entries(&[("key", "value")]);
        let metaindex = crafted.block_of_type(&compressed, 1);
        let index = crafted.entries(&[("key", handle(data))]);
        let file = crafted.footer(metaindex, index);
        let what = format!("{} {how}", String::from_utf8_lossy(start));
        let (bytes, shown) = peak(|| {
            let table = Table::open(&file[..], &ReadOptions::default().max_block_size(LIMIT)).unwrap();
            assert_eq!(table.get(b"key").unwrap().unwrap(), "value");
            assert!(table.filter().is_none() && table.may_contain(b"a").unwrap());
            table.filter_error().map(ToString::to_string).unwrap_or_default()
        });
        assert!(bytes <= bound(&file, LIMIT), "{what}: {bytes} for {}", file.len());
        assert!(shown.len() < 500, "{what}: a message of {} bytes", shown.len());
        // Whole names are compared where they lie; those of filters are quoted.
        if how == "whole" {
            let quoted = match start {
                b"fullfilter." | b"partitionedfilter." => {
                    format!("... ({LEN} bytes), RocksDB's filter of another kind")
                }
                b"filter." | b"filter.rocksdb." => {
                    format!("... ({} bytes), which is not supported", LEN - b"filter.".len())
                }
                _ => String::new(),
            };
            assert!(shown.contains(&quoted) && shown.is_empty() == quoted.is_empty(), "{what}: {shown}");
        }
    }
}
