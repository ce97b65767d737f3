//! The reads that it takes to open a table and to ask it.

use bytes::Bytes;
use filterblock::table::{
    BlockHandle, Compression, FetchedRanges, ReadAt, ReadOptions, Table, TableBuilder, WriteOptions,
};
use filterblock::{BloomFilterPolicy, Error, Result};

use super::absent;
use crate::tables::{Answering, Crafted, Recording, Sample, handle, sample, samples};

#[test]
fn a_small_table_is_opened_in_one_read() {
    for sample in samples() {
        let source = Recording::new(sample.file.clone());
        let table = Table::open(&source, &sample.options).unwrap();
        let len = sample.file.len();
        let reads = source.take();
        let tail = len.min(64 << 10);
        assert_eq!(reads[0], ((len - tail) as u64, tail), "{}", sample.name);
        assert!(reads.len() == 1, "{}: {reads:?}", sample.name);

        // A lookup reads one data block, or nothing if it is denied.
        let blocks: Vec<BlockHandle> = table.data_blocks().collect::<Result<_>>().unwrap();
        for (key, _) in sample.entries.iter().step_by(7) {
            table.may_contain(key).unwrap();
            assert_eq!(source.take(), []);
            table.get(key).unwrap();
            let reads = source.take();
            assert_eq!(reads.len(), 1);
            assert!(blocks.iter().any(|block| (block.offset, block.size as usize + 5) == reads[0]));
        }
        for key in absent(&sample) {
            let denied = !table.may_contain(&key).unwrap();
            table.get(&key).unwrap();
            assert_eq!(source.take().len(), usize::from(!denied));
        }

        // A walk reads each data block once.
        let mut cursor = table.cursor();
        while cursor.next().unwrap() {}
        let reads: Vec<(u64, usize)> = blocks.iter().map(|b| (b.offset, b.size as usize + 5)).collect();
        assert_eq!(source.take(), reads, "{}", sample.name);

        for block in &blocks {
            let id = table.compression_of(*block).unwrap();
            assert_eq!(source.take(), [(block.offset + block.size, 5)]);
            let compression = Compression::from_id(id).unwrap();
            assert!(compression == Compression::None || sample.name.contains("snappy"));
        }
    }
}

/// The types of all data blocks: read one by one, and with the trailers of several blocks read together.
fn types(table: &Table<impl ReadAt>) -> [Vec<(BlockHandle, u8)>; 2] {
    let one = |handle: Result<BlockHandle>| {
        let handle = handle.unwrap();
        (handle, table.compression_of(handle).unwrap())
    };
    [table.data_blocks().map(one).collect(), table.data_block_types().map(Result::unwrap).collect()]
}

#[test]
fn trailers_that_lie_close_together_take_one_read() {
    for sample in samples() {
        let source = Recording::new(sample.file.clone());
        let table = Table::open(&source, &sample.options).unwrap();
        let [single, together] = types(&table);
        assert_eq!(single, together, "{}", sample.name);
        source.take();
        table.data_block_types().for_each(drop);
        let reads = source.take();
        // Blocks are at most 16 KiB apart here, and a read has the trailers of at most 256 blocks, or at most
        // 64 KiB.
        let most = single.len() / 256 + sample.file.len() / (48 << 10) + 1;
        assert!(reads.len() <= most, "{}: {reads:?}", sample.name);
        let apart = reads.windows(2).all(|pair| pair[0].0 + pair[0].1 as u64 <= pair[1].0);
        assert!(apart && reads.iter().all(|read| read.1 <= 64 << 10), "{}: {reads:?}", sample.name);
    }
}

/// A table of three blocks, and their places. `gaps`: the numbers of other bytes before the second and the
/// third block.
fn three_blocks(gaps: [usize; 2]) -> (Bytes, [(u64, u64); 3]) {
    let mut crafted = Crafted::default();
    let mut block = |gap: usize, id: u8| {
        crafted.file.resize(crafted.file.len() + gap, 0xff);
        crafted.block_of_type(&[0; 8], id)
    };
    let places = [block(0, 0), block(gaps[0], 1), block(gaps[1], 7)];
    (crafted.with_index(places.into_iter()), places)
}

#[test]
fn trailers_far_apart_take_a_read_each() {
    // Between two trailers lie the gap and 8 bytes of a block.
    let near = (16 << 10) - 8;
    for (gaps, expected) in [
        ([0, 0], vec![31]),
        ([near, 0], vec![16394 + 13]),
        ([near + 1, 0], vec![5, 18]),
        ([0, near + 1], vec![18, 5]),
    ] {
        let (file, _) = three_blocks(gaps);
        let source = Recording::new(file);
        let table = Table::open(&source, &ReadOptions::default().tail_size(48)).unwrap();
        source.take();
        let ids: Vec<u8> = table.data_block_types().map(|block| block.unwrap().1).collect();
        assert_eq!(ids, [0, 1, 7]);
        let reads: Vec<usize> = source.take().iter().map(|read| read.1).collect();
        assert_eq!(reads, expected, "{gaps:?}");
    }
}

#[test]
fn a_trailer_between_two_others_does_not_end_the_read() {
    let (_, places) = three_blocks([0, 0]);
    let mut crafted = Crafted::default();
    for _ in 0..3 {
        crafted.block(&[0; 8]);
    }
    let source = Recording::new(crafted.with_index([places[0], places[2], places[1]].into_iter()));
    let table = Table::open(&source, &ReadOptions::default()).unwrap();
    source.take();
    assert_eq!(table.data_block_types().count(), 3);
    assert_eq!(source.take(), [(8, 31)]);
}

/// The handles are in the order of the file, backwards, back and forth in several ways, or lead beyond the end.
#[test]
fn no_order_of_blocks_makes_their_trailers_take_more_than_the_file() {
    let step = |at: u64| (at * 1000, 995);
    let orders: [Vec<(u64, u64)>; 6] = [
        (0..1000).map(step).collect(),
        (0..1000).map(|at| step(999 - at)).collect(),
        (0..1000).map(|at| step(if at % 2 == 0 { at } else { 1000 - at })).collect(),
        (0..2000).map(|at| step(at % 2 * 15)).collect(),
        // Each second block lies after the one before, and each pair before the last one.
        (0..1800).map(|at| step(900 - at / 2 + at % 2 * 15)).collect(),
        (0..1000).map(|at| (at * 1000, if at % 3 == 0 { u64::MAX } else { 995 })).collect(),
    ];
    for (number, order) in orders.into_iter().enumerate() {
        let len = order.len();
        let mut file = vec![0; 1_000_000];
        (0..1000).for_each(|at| file[at * 1000 + 995] = at as u8);
        let file = Crafted { file }.with_index(order.into_iter());
        let source = Recording::new(file.clone());
        let table = Table::open(&source, &ReadOptions::default()).unwrap();
        source.take();
        let found: Vec<_> = table.data_block_types().collect();
        let reads = source.take();
        let read: usize = reads.iter().map(|read| read.1).sum();
        assert!(read <= file.len() + 5 * len, "{number}: {read} bytes");
        assert!(reads.iter().all(|read| read.1 <= 64 << 10), "{number}: {reads:?}");
        assert_eq!(found.len(), len);
        for (handle, found) in table.data_blocks().zip(found) {
            let handle = handle.unwrap();
            match found {
                Ok((found, id)) => assert!(found == handle && id == (handle.offset / 1000) as u8, "{number}"),
                Err(error) => assert!(handle.size == u64::MAX, "{number}: {error}"),
            }
        }
    }
}

#[test]
fn a_trailer_that_cannot_be_read_does_not_hide_the_others() {
    let (file, places) = three_blocks([0, 0]);
    let bad = places[1].0 + 8;
    let source = Answering::new(file.len() as u64, |_, offset, len| {
        let end = offset + len as u64;
        if offset <= bad && bad < end && end < 50 {
            return Err(std::io::Error::other("a bad sector"));
        }
        file.read_at(offset, len)
    });
    let table = Table::open(&source, &ReadOptions::default()).unwrap();
    let ids: Vec<_> = table.data_block_types().map(|block| block.ok().map(|(_, id)| id)).collect();
    assert_eq!(ids, [Some(0), None, Some(7)]);
}

#[test]
fn missing_trailers_are_asked_for_together() {
    let (file, places) = three_blocks([100, 100]);
    let mut tail = 48;
    let table = loop {
        let start = file.len() - tail;
        let source = FetchedRanges::new(file.len() as u64, start as u64, file.slice(start..));
        match Table::open(source, &ReadOptions::default().tail_size(48)) {
            Ok(table) => break table,
            Err(_) => tail += 1,
        }
    };
    let error = table.data_block_types().next().unwrap().unwrap_err();
    let (offset, end) = (places[0].0 + 8, places[2].0 + 13);
    assert!(
        matches!(error, Error::NeedRange { offset: from, len } if from == offset && len as u64 == end - offset),
        "{error:?}"
    );
}

#[test]
fn a_cursor_does_not_read_the_block_it_is_in_again() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    let source = Recording::new(sample.file.clone());
    let table = Table::open(&source, &sample.options).unwrap();
    let blocks = table.data_blocks().count();
    let mut cursor = table.cursor();
    source.take();
    for (key, value) in &sample.entries {
        for _ in 0..2 {
            assert!(cursor.seek(key).unwrap());
            assert_eq!(cursor.value(), value);
        }
    }
    assert_eq!(source.take().len(), blocks);
    assert!(!cursor.seek(&[0xff; 9]).unwrap(), "beyond the last block nothing is read");
    assert_eq!(source.take(), []);
}

#[test]
fn without_a_tail_opening_takes_three_reads() {
    for sample in samples() {
        let source = Recording::new(sample.file.clone());
        let table = Table::open(&source, &sample.options.clone().tail_size(0)).unwrap();
        let reads = source.take();
        let (metaindex, index) = (table.metaindex_handle(), table.index_handle());
        let mut expected = vec![(sample.file.len() as u64 - 48, 48)];
        // LevelDB writes the index after the metaindex.
        assert_eq!(metaindex.end(), Some(index.offset));
        expected.push((metaindex.offset, (metaindex.size + index.size) as usize + 10));
        expected.extend(table.filter_handle().map(|filter| (filter.offset, filter.size as usize + 5)));
        assert_eq!(reads, expected, "{}", sample.name);
        assert_eq!(table.filter().is_some(), sample.filtered);
        assert_eq!(table.iter().count(), sample.entries.len());
    }
}

#[test]
fn index_and_metaindex_far_apart_take_four_reads() {
    let mut crafted = Crafted::default();
    let metaindex_first = |gap: usize| {
        let mut crafted = Crafted::default();
        let mut filters = filterblock::FilterBlockBuilder::new(BloomFilterPolicy::new(10));
        filters.add_key(b"key");
        let filter = crafted.block(&filters.finish().unwrap());
        let metaindex = crafted.entries(&[("filter.leveldb.BuiltinBloomFilter2", handle(filter))]);
        crafted.file.resize(crafted.file.len() + gap, 0);
        let data = crafted.entries(&[("key", "value")]);
        let index = crafted.entries(&[("key", handle(data))]);
        crafted.footer(metaindex, index)
    };
    // The data block between metaindex and index takes 24 bytes, and up to 4 KiB are read along.
    for (gap, expected) in [(0, 3), (4096 - 24, 3), (4096 - 23, 4)] {
        let source = Recording::new(metaindex_first(gap));
        let table = Table::open(&source, &ReadOptions::default().tail_size(48)).unwrap();
        assert_eq!(source.take().len(), expected, "{gap}");
        assert!(table.filter().is_some());
        assert_eq!(table.get(b"key").unwrap().unwrap(), "value");
    }

    // Nor does it matter which of metaindex and index comes first.
    let data = crafted.entries(&[("key", "value")]);
    let index = crafted.entries(&[("key", handle(data))]);
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let source = Recording::new(crafted.footer(metaindex, index));
    let table = Table::open(&source, &ReadOptions::default().tail_size(48)).unwrap();
    assert_eq!(source.take().len(), 2);
    assert_eq!(table.get(b"key").unwrap().unwrap(), "value");
}

/// A table whose index alone is larger than the tail that is read first.
fn long_table() -> (Vec<u8>, Vec<(String, String)>) {
    let entries: Vec<_> = (0..20_000).map(|i| (format!("key{i:08}"), format!("value {i}"))).collect();
    let options = WriteOptions::default().block_size(64).compression(Compression::None);
    let mut table = TableBuilder::new(Vec::new(), options.filter_policy(BloomFilterPolicy::new(10)));
    entries.iter().for_each(|(key, value)| table.add(key.as_bytes(), value.as_bytes()).unwrap());
    (table.finish().unwrap().0, entries)
}

#[test]
fn an_index_longer_than_the_tail() {
    let (file, entries) = long_table();
    let source = Recording::new(Bytes::from(file));
    let table = Table::open(&source, &ReadOptions::default()).unwrap();
    assert!(table.index_handle().size > 64 << 10);
    let reads = source.take();
    assert!(table.filter().is_some());
    assert_eq!(reads.len(), 3, "{reads:?}");
    let mut cursor = table.cursor();
    for (key, value) in &entries {
        assert!(cursor.next().unwrap());
        assert_eq!((cursor.key(), cursor.value()), (key.as_bytes(), value.as_bytes()));
    }
    for (key, value) in entries.iter().step_by(101) {
        assert_eq!(table.get(key.as_bytes()).unwrap().unwrap(), value);
    }
}

/// Opens and reads a whole table from ranges that are fetched when they are missing. Returns these ranges.
fn fetch_all(file: &Bytes, tail: FetchedRanges, sample: &Sample) -> Vec<(u64, usize)> {
    let mut fetched = Vec::new();
    let fetch = |fetched: &mut Vec<(u64, usize)>, error: Error| {
        let Error::NeedRange { offset, len } = error else { panic!("{error}") };
        fetched.push((offset, len));
        (offset, file.slice(offset as usize..offset as usize + len))
    };
    let table = loop {
        match Table::open(tail.clone(), &sample.options) {
            Ok(table) => break table,
            Err(error) => {
                let (offset, bytes) = fetch(&mut fetched, error);
                tail.insert(offset, bytes);
            }
        }
    };
    assert_eq!(table.filter().is_some(), sample.filtered, "{}", sample.name);
    for (key, value) in &sample.entries {
        loop {
            match table.get(key) {
                Ok(found) => break assert_eq!(found.unwrap(), value),
                Err(error) => {
                    let (offset, bytes) = fetch(&mut fetched, error);
                    table.source().insert(offset, bytes);
                }
            }
        }
    }
    fetched
}

/// Cursors stay usable while the range that they need is fetched, and lose nothing by it.
#[test]
fn a_cursor_goes_on_where_a_range_was_missing() {
    for sample in samples() {
        let len = sample.file.len();
        let ranges = FetchedRanges::new(len as u64, 0, Bytes::new());
        let mut fetches = 0;
        let mut fetch = |error: Error| {
            let Error::NeedRange { offset, len } = error else { panic!("{error}") };
            fetches += 1;
            // All that was there is forgotten: each block has to be fetched when it is needed.
            ranges.clear();
            ranges.insert(offset, sample.file.slice(offset as usize..offset as usize + len));
        };
        ranges.insert(0, sample.file.clone());
        let table = Table::open(&ranges, &sample.options).unwrap();
        ranges.clear();
        let mut cursor = table.cursor();
        let mut found = Vec::new();
        loop {
            match cursor.next() {
                Ok(true) => found.push((cursor.key().to_vec(), cursor.value().to_vec())),
                Ok(false) => break,
                Err(error) => {
                    assert!(!cursor.valid());
                    fetch(error);
                }
            }
        }
        assert!(found == sample.entries, "{}", sample.name);
        for (key, value) in sample.entries.iter().step_by(7) {
            let is_found = loop {
                match cursor.seek(key) {
                    Ok(found) => break found,
                    Err(error) => {
                        assert!(!cursor.next().unwrap(), "a cursor that was not there has no next entry");
                        fetch(error);
                    }
                }
            };
            assert!(is_found && cursor.key() == key && cursor.value() == value, "{}", sample.name);
        }
        assert!(fetches >= table.data_blocks().count(), "{}", sample.name);
    }
}

#[test]
fn a_tail_asks_for_what_it_lacks_and_for_nothing_twice() {
    for sample in samples() {
        let (file, table) = (&sample.file, sample.open());
        let len = file.len();
        for known in [0, 20, 48, 200, 3000, len] {
            let known = known.min(len);
            let tail = FetchedRanges::new(len as u64, (len - known) as u64, file.slice(len - known..));
            let fetched = fetch_all(file, tail, &sample);
            let mut bytes = vec![false; len];
            bytes[len - known..].fill(true);
            for (offset, size) in fetched.iter().map(|&(offset, size)| (offset as usize, size)) {
                assert!(size > 0);
                for byte in &mut bytes[offset..offset + size] {
                    assert!(!std::mem::replace(byte, true), "{}: {offset} again", sample.name);
                }
            }
            if known == 0 {
                assert_eq!(fetched[0], ((len - len.min(64 << 10)) as u64, len.min(64 << 10)));
            }
            if known == 48 {
                // The footer is enough to go on: first with index and metaindex together.
                let (metaindex, index) = (table.metaindex_handle(), table.index_handle());
                assert_eq!(fetched[0], (metaindex.offset, (metaindex.size + index.size) as usize + 10));
            }
        }
    }
}
