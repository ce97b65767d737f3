//! Walking in both directions, and other functions of LevelDB's `Table` and `TableBuilder`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;

use bytes::Bytes;
use filterblock::table::{Compression, Cursor, ReadAt, ReadOptions, Table, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, Error};

use crate::tables::{Answering, Crafted, Entry, entry_block, handle, sample, samples};

/// Numbers that look random (`xorshift64`).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Moves at random, and compares each place with `entries`.
fn walk<R: ReadAt>(name: &str, cursor: &mut Cursor<'_, R>, entries: &[Entry], steps: usize) {
    let (mut random, mut at) = (Random(entries.len() as u64 + 1), None::<usize>);
    assert!(!cursor.prev().unwrap(), "a new cursor is before the first entry");
    for step in 0..steps {
        let (found, to) = match random.below(20) {
            0 => (cursor.seek_to_first(), Some(0)),
            1 => (cursor.seek_to_last(), entries.len().checked_sub(1)),
            2 if !entries.is_empty() => {
                let to = random.below(entries.len());
                (cursor.seek(&entries[to].0), Some(to))
            }
            way @ (3 | 4) => {
                // A run in one direction.
                for _ in 0..random.below(40) {
                    let found = if way == 3 { cursor.next() } else { cursor.prev() };
                    at = at.and_then(|at| if way == 3 { Some(at + 1) } else { at.checked_sub(1) });
                    at = at.filter(|at| *at < entries.len());
                    assert_eq!(found.unwrap(), at.is_some(), "{name}, step {step}");
                }
                continue;
            }
            5..12 if at.is_some() => (cursor.next(), at.map(|at| at + 1)),
            _ => (cursor.prev(), at.and_then(|at| at.checked_sub(1))),
        };
        at = to.filter(|at| *at < entries.len());
        assert_eq!(found.unwrap(), at.is_some(), "{name}, step {step}");
        let expected = at.map_or((&[][..], &[][..]), |at| (&entries[at].0, &entries[at].1));
        assert_eq!((cursor.key(), cursor.value()), expected, "{name}, step {step}");
        if at.is_none() && step % 2 == 0 {
            assert!(!cursor.next().unwrap() && !cursor.prev().unwrap(), "{name}, step {step}");
        }
    }
}

#[test]
fn a_walk_at_random_is_where_the_entries_are() {
    for sample in samples() {
        let table = sample.open();
        let steps = if cfg!(miri) { 30 } else { 2000 };
        walk(&sample.name, &mut table.cursor(), &sample.entries, steps);
        walk(&sample.name, &mut sample.open().into_cursor(), &sample.entries, steps);
    }
}

#[cfg(all(feature = "zstd", feature = "zlib", feature = "lz4"))]
#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn a_walk_at_random_in_tables_of_every_codec() {
    for name in [
        "bedrock/words-1024-bloom10-zlib.ldb",
        "bedrock/words-1024-bloom10-deflate.ldb",
        "constructed/leveldb-zstd.ldb",
        "constructed/rocksdb-block-filter.ldb",
    ] {
        let file = std::fs::read(crate::tables::testdata().join(name)).unwrap();
        let table = Table::open(file, &ReadOptions::default()).unwrap();
        let entries: Vec<Entry> =
            table.iter().map(|entry| entry.unwrap()).map(|(key, value)| (key.into(), value.into())).collect();
        assert_eq!(entries.len(), 300);
        walk(name, &mut table.cursor(), &entries, 2000);
    }
}

#[test]
fn a_block_is_walked_both_ways() {
    for sample in samples() {
        let table = sample.open();
        let mut cursor = table.index();
        let mut all = Vec::new();
        while cursor.next().unwrap() {
            all.push((cursor.key().to_vec(), cursor.value().to_vec()));
        }
        assert_eq!(cursor.seek_to_last().unwrap(), !all.is_empty());
        while let Some((key, value)) = all.pop() {
            assert_eq!((cursor.key(), cursor.value()), (&key[..], &value[..]), "{}", sample.name);
            if let Ok(handle) = cursor.handle() {
                let mut block = table.block_cursor(handle).unwrap();
                assert!(block.seek_to_last().unwrap() && block.key() <= &key[..], "{}", sample.name);
                block.enter(&table, handle).unwrap();
                assert!(!block.prev().unwrap() && block.seek_to_last().unwrap());
            }
            assert_eq!(cursor.prev().unwrap(), !all.is_empty(), "{}", sample.name);
        }
        assert!(cursor.key().is_empty() && !cursor.prev().unwrap());
    }
}

/// A table of three blocks. `damage` alters the block of `c` and `d`.
fn three_blocks(damage: impl FnOnce(&mut Vec<u8>)) -> Table<Bytes> {
    let mut crafted = Crafted::default();
    let first = crafted.entries(&[("a", "1"), ("b", "2")]);
    let mut middle = entry_block(&[("c", "3"), ("d", "4")]);
    damage(&mut middle);
    let middle = crafted.block(&middle);
    let last = crafted.entries(&[("e", "5"), ("f", "6")]);
    let file = crafted.finish(&[(b"b", first), (b"d", middle), (b"f", last)], &[]);
    Table::open(file, &ReadOptions::default()).unwrap()
}

/// Moves until the first error, which comes after two more entries at most, and returns it.
fn fail<R>(
    cursor: &mut Cursor<'_, R>,
    go: impl Fn(&mut Cursor<'_, R>) -> filterblock::Result<bool>,
) -> Error {
    (0..3).find_map(|_| go(cursor).err()).expect("an error")
}

/// LevelDB goes on with the block before, and reports the damage only in the iterator's status.
#[test]
fn damage_is_an_error_in_both_directions_and_can_be_passed() {
    // Shared bytes at a restart; a restart within an entry; the second restart before the first.
    for damage in [(5, 1_u8), (14, 3), (14, 0)] {
        let table = three_blocks(|block| block[damage.0] = damage.1);
        let mut cursor = table.cursor();
        assert!(cursor.seek_to_last().unwrap() && cursor.prev().unwrap());
        assert_eq!(cursor.key(), b"e");
        let error = fail(&mut cursor, |cursor| cursor.prev());
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        for _ in 0..2 {
            assert!(!cursor.valid() && !cursor.prev().unwrap() && !cursor.next().unwrap());
        }
        assert!(cursor.seek_to_last().unwrap() && cursor.prev().unwrap());
        fail(&mut cursor, |cursor| cursor.prev());
        cursor.skip_block();
        assert!(cursor.prev().unwrap());
        assert_eq!(cursor.key(), b"b");
        // Then past the damage in the other direction.
        fail(&mut cursor, |cursor| cursor.next());
        cursor.skip_block();
        assert!(cursor.next().unwrap());
        assert_eq!(cursor.key(), b"e");
        fail(&mut cursor, |cursor| cursor.prev());
    }
}

/// Repeats the move until no range is missing.
fn again<R>(
    cursor: &mut Cursor<'_, R>,
    go: impl Fn(&mut Cursor<'_, R>) -> filterblock::Result<bool>,
) -> bool {
    loop {
        match go(cursor) {
            Err(Error::NeedRange { .. }) => {}
            found => break found.unwrap(),
        }
    }
}

#[test]
fn a_range_that_is_missing_costs_nothing_on_the_way_back() {
    let sample = sample("words-256-bloom10.ldb");
    let allowed = Cell::new(usize::MAX);
    let file = sample.file.clone();
    let source = Answering::new(file.len() as u64, |_, offset, len| match allowed.get() {
        0 => {
            allowed.set(1);
            Err(io::Error::other(Error::NeedRange { offset, len }))
        }
        left => {
            allowed.set(left - 1);
            Ok(file.slice(offset as usize..offset as usize + len))
        }
    });
    let table = Table::open(source, &sample.options).unwrap();
    allowed.set(0);
    let mut cursor = table.cursor();
    let mut found = again(&mut cursor, |cursor| cursor.seek_to_last());
    for (key, _) in sample.entries.iter().rev() {
        assert!(found);
        assert_eq!(cursor.key(), key);
        found = again(&mut cursor, |cursor| cursor.prev());
    }
    assert!(!found);
    // A turn where the block in the other direction is missing.
    for (at, pair) in sample.entries.windows(2).enumerate().skip(1) {
        allowed.set(usize::MAX);
        assert!(cursor.seek(&pair[0].0).unwrap());
        allowed.set(0);
        if cursor.next().is_err() {
            assert!(again(&mut cursor, |cursor| cursor.prev()), "{at}");
            assert_eq!(cursor.key(), pair[0].0, "{at}");
        }
        allowed.set(usize::MAX);
        assert!(cursor.seek(&pair[1].0).unwrap());
        allowed.set(0);
        if cursor.prev().is_err() {
            assert!(again(&mut cursor, |cursor| cursor.next()), "{at}");
            assert_eq!(cursor.key(), pair[1].0, "{at}");
        }
    }
}

/// In a walk that owns its table, each block has to lie after the one before, in both directions.
#[test]
fn handles_out_of_order_are_damage_on_the_way_back() {
    let mut crafted = Crafted::default();
    let first = crafted.entries(&[("a", "1")]);
    let second = crafted.entries(&[("b", "2")]);
    let file = crafted.finish(&[(b"a", second), (b"b", first)], &[]);
    let open = || Table::open(file.clone(), &ReadOptions::default()).unwrap();
    let (table, mut cursor) = (open(), open().into_cursor());
    assert!(cursor.seek_to_last().unwrap());
    let error = cursor.prev().unwrap_err().to_string();
    assert!(error.contains("a data block that ends by offset 0, before the one behind"), "{error}");
    let mut cursor = table.cursor();
    assert!(cursor.seek_to_last().unwrap() && cursor.prev().unwrap() && !cursor.prev().unwrap());
}

#[test]
fn what_a_walk_decodes_counts_in_both_directions() {
    let sample = sample("words-256-bloom10.ldb");
    let entries = sample.entries.len();
    let table = Table::open(sample.file.clone(), &sample.options.clone().max_output(2000)).unwrap();
    let mut cursor = table.cursor();
    assert!(cursor.seek_to_last().unwrap());
    let steps = (0..entries).map_while(|_| cursor.prev().ok()).count();
    assert!((10..entries - 1).contains(&steps), "{steps}");
    cursor.skip_block();
    assert!(!cursor.prev().unwrap() && !cursor.next().unwrap());
    // If no keys are put together, blocks alone count.
    let sample = crate::tables::sample("words-2048-bloom10-restart1.ldb");
    let options = sample.options.clone().max_output(sample.file.len() as u64 / 2);
    let table = Table::open(sample.file.clone(), &options).unwrap();
    let mut cursor = table.cursor();
    assert!(cursor.seek_to_last().unwrap());
    let steps = (0..sample.entries.len()).map_while(|_| cursor.prev().ok()).count();
    assert!((10..sample.entries.len() - 1).contains(&steps), "{steps}");
}

#[test]
fn flush_ends_a_block_and_nothing_else() {
    let options = || {
        let options = WriteOptions::default().compression(Compression::None);
        options.filter_policy(BloomFilterPolicy::new(10))
    };
    let mut plain = TableBuilder::new(Vec::new(), options());
    let mut flushed = TableBuilder::new(Vec::new(), options());
    flushed.flush().unwrap();
    assert_eq!(flushed.file_size(), 0, "there was nothing to write");
    for key in ["a/1", "a/2", "b/1", "b/2", "c/1"] {
        if key.ends_with("/1") {
            flushed.flush().unwrap();
            let size = flushed.file_size();
            flushed.flush().unwrap();
            assert_eq!(flushed.file_size(), size, "the second time there is nothing");
        }
        plain.add(key.as_bytes(), b"value").unwrap();
        flushed.add(key.as_bytes(), b"value").unwrap();
    }
    let (plain, flushed) = (plain.finish().unwrap(), flushed.finish().unwrap());
    assert_eq!((plain.1.data_blocks, flushed.1.data_blocks), (1, 3));
    let table = Table::open(flushed.0, &ReadOptions::default()).unwrap();
    let all = Table::open(plain.0, &ReadOptions::default()).unwrap();
    assert!(table.iter().map(Result::unwrap).eq(all.iter().map(Result::unwrap)));
    for (key, _) in table.iter().map(Result::unwrap) {
        assert!(table.may_contain(&key).unwrap());
    }
    // Each block has the keys of one prefix.
    let first = table.approximate_offset_of(b"a/1");
    let offsets: BTreeMap<u64, usize> =
        table.iter().map(Result::unwrap).fold(BTreeMap::new(), |mut found, (key, _)| {
            *found.entry(table.approximate_offset_of(&key)).or_default() += 1;
            found
        });
    assert_eq!((first, offsets.values().copied().collect::<Vec<_>>()), (0, vec![2, 2, 1]));
    assert_eq!(table.approximate_offset_of(b"z"), table.metaindex_handle().offset);
}

#[test]
fn a_failed_flush_leaves_the_table_lost() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(io::Error::other("no room"))
        }
    }
    let mut builder = TableBuilder::new(Full, WriteOptions::default());
    builder.flush().unwrap();
    builder.add(b"a", b"1").unwrap();
    assert!(matches!(builder.flush(), Err(Error::Io { .. })));
    assert!(matches!(builder.flush(), Err(Error::TableAbandoned { .. })));
    assert!(matches!(builder.add(b"b", b"2"), Err(Error::TableAbandoned { .. })));
}

/// If the index has no answer, the offset is that of the metaindex, as in LevelDB.
#[test]
fn an_offset_from_a_damaged_index() {
    let mut crafted = Crafted::default();
    let first = crafted.entries(&[("a", "1")]);
    let metaindex = crafted.entries(&[] as &[(&str, &str)]);
    let index = crafted.entries(&[("a", handle(first)), ("b", vec![0x80])]);
    let table = Table::open(crafted.footer(metaindex, index), &ReadOptions::default()).unwrap();
    assert_eq!(table.approximate_offset_of(b""), first.0);
    assert_eq!(table.approximate_offset_of(b"b"), metaindex.0);
    assert_eq!(table.approximate_offset_of(b"c"), metaindex.0);
}
