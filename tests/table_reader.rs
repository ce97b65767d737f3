//! Reading sound tables: those LevelDB wrote, entry by entry, and how many reads it takes.
#![cfg(feature = "table")]

mod tables;

use std::fs;

use bytes::Bytes;
use filterblock::table::{
    BlockHandle, Compression, Cursor, DataBlocks, Iter, Lookup, ReadAt, ReadOptions, Table, TableBuilder,
    Tail, WriteOptions,
};
use filterblock::{BloomFilterPolicy, Error, FilterPolicy, Keys, Result};
use tables::{Crafted, Recording, Reversed, Sample, listing, sample, samples, testdata, unhex, value_of};

/// Keys that are in no table: before, after and beside the stored ones.
fn absent(sample: &Sample) -> Vec<Vec<u8>> {
    let changed = sample.entries.iter().flat_map(|(key, _)| {
        // Internal keys end in eight bytes of their own, which stay.
        let end = if sample.name.starts_with("versions") { key.len() - 8 } else { key.len() };
        let longer = [&key[..end], b"\x02!", &key[end..]].concat();
        let mut other = key.clone();
        if let Some(byte) = other[..end].last_mut() {
            *byte ^= 0x55;
        }
        [longer, other]
    });
    let stored = |key: &Vec<u8>| sample.entries.iter().any(|(stored, _)| stored == key);
    changed.filter(|key| !stored(key)).collect()
}

#[test]
fn every_stored_key_is_found() {
    for sample in samples() {
        let table = sample.open();
        let name = &sample.name;
        assert_eq!(table.filter().is_some(), sample.filtered, "{name}");
        assert!(table.filter_error().is_none(), "{name}");
        for (key, value) in &sample.entries {
            assert!(table.may_contain(key).unwrap(), "{name} {key:x?}");
            assert_eq!(table.get(key).unwrap().as_deref(), Some(&value[..]), "{name} {key:x?}");
            let (found, its_value) = table.seek(key).unwrap().expect("a stored key");
            assert_eq!((&found[..], &its_value[..]), (&key[..], &value[..]), "{name}");
        }
    }
}

#[test]
fn walking_gives_the_entries_in_order() {
    for sample in samples() {
        let table = sample.open();
        let mut cursor = table.cursor();
        assert!(!cursor.valid() && cursor.key().is_empty() && cursor.block_handle().is_none());
        for (key, value) in &sample.entries {
            assert!(cursor.next().unwrap(), "{}", sample.name);
            assert!(cursor.valid());
            assert_eq!((cursor.key(), cursor.value()), (&key[..], &value[..]), "{}", sample.name);
            assert_eq!(cursor.value_bytes(), cursor.value());
        }
        for _ in 0..2 {
            assert!(!cursor.next().unwrap() && !cursor.valid());
            assert!(cursor.key().is_empty() && cursor.value().is_empty());
        }
        let all: Vec<(Bytes, Bytes)> = table.iter().collect::<Result<_>>().unwrap();
        assert!(
            all.iter()
                .map(|(k, v)| (&k[..], &v[..]))
                .eq(sample.entries.iter().map(|(k, v)| (&k[..], &v[..])))
        );
    }
}

#[test]
fn a_cursor_goes_to_the_first_entry_at_or_after_any_key() {
    for sample in samples() {
        let table = sample.open();
        // One cursor for all, so that each seek starts where the last one ended.
        let mut cursor = table.cursor();
        let mut targets = absent(&sample);
        targets.extend(sample.entries.iter().map(|(key, _)| key.clone()));
        if !sample.name.starts_with("versions") {
            targets.extend([vec![], vec![0], vec![0xff; 300]]);
            let at_or_after = |target: &[u8]| sample.entries.iter().position(|(key, _)| &key[..] >= target);
            for target in &targets {
                check_seek(&mut cursor, &sample, target, at_or_after(target));
            }
        } else {
            for (index, (key, _)) in sample.entries.iter().enumerate() {
                check_seek(&mut cursor, &sample, key, Some(index));
            }
        }
        assert_eq!(cursor.seek_to_first().unwrap(), !sample.entries.is_empty());
        assert_eq!(cursor.key(), sample.entries.first().map_or(&[][..], |(key, _)| key));
    }
}

fn check_seek(cursor: &mut Cursor<'_, Bytes>, sample: &Sample, target: &[u8], expected: Option<usize>) {
    assert_eq!(cursor.seek(target).unwrap(), expected.is_some(), "{} {target:x?}", sample.name);
    assert_eq!(cursor.valid(), expected.is_some());
    let Some(index) = expected else { return assert!(!cursor.next().unwrap()) };
    assert_eq!(cursor.key(), sample.entries[index].0, "{}", sample.name);
    let next = sample.entries.get(index + 1).map(|(key, _)| &key[..]);
    assert_eq!(cursor.next().unwrap().then(|| cursor.key()), next, "{}", sample.name);
}

#[test]
fn absent_keys_are_not_found_and_mostly_denied() {
    for sample in samples() {
        let table = sample.open();
        let absent = absent(&sample);
        let mut passed = 0;
        for key in &absent {
            assert_eq!(table.get(key).unwrap(), None, "{}", sample.name);
            let may_contain = table.may_contain(key).unwrap();
            passed += usize::from(may_contain);
            // A lookup that the filter denies finds nothing, not even a later key.
            if !may_contain {
                assert_eq!(table.seek(key).unwrap(), None, "{}", sample.name);
            }
        }
        if absent.len() >= 100 && (sample.name.contains("bloom10") || sample.name.contains("bloom20")) {
            assert!(passed * 10 < absent.len(), "{}: {passed} of {}", sample.name, absent.len());
        }
    }
}

#[test]
fn keys_equal_to_an_index_separator_are_found() {
    let mut equal = 0;
    for sample in samples() {
        let table = sample.open();
        let mut index = table.index();
        while index.next().unwrap() {
            if sample.entries.iter().any(|(key, _)| key == index.key()) {
                equal += 1;
                assert!(table.get(index.key()).unwrap().is_some(), "{}", sample.name);
                assert!(table.cursor().seek(index.key()).unwrap());
            }
        }
    }
    assert!(equal > 50, "the test data no longer has such keys: {equal}");
}

#[test]
fn database_tables_are_read_by_user_key_and_sequence() {
    let order = |options: ReadOptions, database: &str| match database {
        "reversed" => options.comparator(Reversed),
        _ => options,
    };
    for database in ["levels", "unfiltered", "reversed"] {
        let options = order(ReadOptions::default().internal_keys(true), database);
        let entries = listing(format!("databases/{database}.entries"));
        let mut names: Vec<&str> = entries.iter().map(|fields| &fields[0][..]).collect();
        names.dedup();
        for name in names {
            let path = testdata().join("databases").join(database).join(name);
            let table = Table::open_path(path, &options).unwrap();
            assert_eq!(table.filter().is_some(), database != "unfiltered");
            let mut cursor = table.cursor();
            for fields in entries.iter().filter(|fields| fields[0] == name) {
                let user_key = unhex(&fields[1]);
                let sequence: u64 = fields[2].parse().unwrap();
                let deleted = fields[3] == "deletion";
                let value = value_of(&user_key, fields[4].parse().unwrap());

                assert!(cursor.next().unwrap());
                let tag = sequence << 8 | u64::from(!deleted);
                assert_eq!(cursor.key(), [&user_key[..], &tag.to_le_bytes()].concat());
                assert_eq!(cursor.value(), if deleted { &[][..] } else { &value });

                let found = if deleted { Lookup::Deleted } else { Lookup::Value(value.into()) };
                assert_eq!(table.get_at(&user_key, sequence).unwrap(), found);
                let newer = entries
                    .iter()
                    .any(|f| f[0] == name && f[1] == fields[1] && f[2].parse::<u64>().unwrap() > sequence);
                for newest in [sequence + 1, 1 << 40, (1 << 56) - 1, 1 << 56, u64::MAX] {
                    if !newer {
                        assert_eq!(table.get_at(&user_key, newest).unwrap(), found);
                    }
                }
                let older = entries
                    .iter()
                    .any(|f| f[0] == name && f[1] == fields[1] && f[2].parse::<u64>().unwrap() < sequence);
                if !older {
                    assert_eq!(table.get_at(&user_key, sequence - 1).unwrap(), Lookup::Absent);
                }
                let beside = [&user_key[..], b"!"].concat();
                assert_eq!(table.get_at(&beside, u64::MAX).unwrap(), Lookup::Absent);
            }
            assert!(!cursor.next().unwrap());
        }
    }
}

#[test]
fn the_newest_entry_that_is_old_enough_counts() {
    let sample = sample("versions-512-bloom10.ldb");
    let table = sample.open();
    let split = |key: &[u8]| {
        let (user_key, tag) = key.split_at(key.len() - 8);
        let tag = u64::from_le_bytes(tag.try_into().unwrap());
        (user_key.to_vec(), tag >> 8, tag & 0xff == 1)
    };
    let versions: Vec<_> = sample.entries.iter().map(|(key, value)| (split(key), value)).collect();
    let mut several = 0;
    for ((user_key, sequence, _), _) in &versions {
        let its_own = || versions.iter().filter(|((key, ..), _)| key == user_key);
        several += usize::from(its_own().count() > 1);
        for at in [sequence - 1, *sequence, sequence + 1] {
            let newest = its_own().find(|((_, sequence, _), _)| *sequence <= at);
            let expected = match newest {
                Some(((.., true), value)) => Lookup::Value(Bytes::copy_from_slice(value)),
                Some(((.., false), _)) => Lookup::Deleted,
                None => Lookup::Absent,
            };
            assert_eq!(table.get_at(user_key, at).unwrap(), expected);
        }
    }
    assert!(several > 100);
}

#[test]
fn sequence_numbers_need_internal_keys() {
    let table = sample("words-4096-bloom10-snappy.ldb").open();
    assert_eq!(
        table.get_at(b"a", 1).unwrap_err().to_string(),
        "internal_keys: expected true, for keys to be sought by sequence number, found false"
    );
}

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

#[test]
fn without_a_tail_opening_takes_three_reads() {
    for sample in samples() {
        let source = Recording::new(sample.file.clone());
        let table = Table::open(&source, &sample.options.clone().tail_size(0)).unwrap();
        let reads = source.take();
        let (metaindex, index) = (table.metaindex_handle(), table.index_handle());
        let mut expected = vec![(sample.file.len() as u64 - 48, 48)];
        // LevelDB writes the index behind the metaindex.
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
        let metaindex = crafted.entries(&[("filter.leveldb.BuiltinBloomFilter2", tables::handle(filter))]);
        crafted.file.resize(crafted.file.len() + gap, 0);
        let data = crafted.entries(&[("key", "value")]);
        let index = crafted.entries(&[("key", tables::handle(data))]);
        crafted.footer(metaindex, index)
    };
    for (gap, expected) in [(0, 3), (4000, 3), (5000, 4)] {
        let source = Recording::new(metaindex_first(gap));
        let table = Table::open(&source, &ReadOptions::default().tail_size(48)).unwrap();
        assert_eq!(source.take().len(), expected, "{gap}");
        assert!(table.filter().is_some());
        assert_eq!(table.get(b"key").unwrap().unwrap(), "value");
    }

    // Nor does it matter which of them comes first.
    let data = crafted.entries(&[("key", "value")]);
    let index = crafted.entries(&[("key", tables::handle(data))]);
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

/// Opens and reads a whole table from bytes that are fetched as they are asked for. Returns what was fetched.
fn fetch_all(file: &Bytes, mut tail: Tail, sample: &Sample) -> Vec<(u64, usize)> {
    let mut fetched = Vec::new();
    let fetch = |fetched: &mut Vec<(u64, usize)>, error: Error| {
        let Error::NeedRange { offset, len } = error else { panic!("{error}") };
        fetched.push((offset, len));
        (offset, file.slice(offset as usize..offset as usize + len))
    };
    let mut table = loop {
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
                    table.source_mut().insert(offset, bytes);
                }
            }
        }
    }
    fetched
}

#[test]
fn a_tail_asks_for_what_it_lacks_and_for_nothing_twice() {
    for sample in samples() {
        let file = &sample.file;
        let len = file.len();
        for known in [0, 20, 48, 200, 3000, len] {
            let known = known.min(len);
            let tail = Tail::new(len as u64, (len - known) as u64, file.slice(len - known..));
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
                assert!(fetched[0].1 < len.min(64 << 10), "the footer is enough to go on: {fetched:?}");
            }
        }
    }
}

#[test]
fn every_kind_of_source_serves() {
    let sample = sample("words-1024-bloom20-snappy.ldb");
    fn count<R: ReadAt>(source: R) -> usize {
        Table::open(source, &ReadOptions::default()).unwrap().iter().filter(Result::is_ok).count()
    }
    let path = testdata().join("tables").join(&sample.name);
    let vec = sample.file.to_vec();
    let boxed: Box<dyn ReadAt> = Box::new(vec.clone());
    for entries in [
        count(fs::File::open(path).unwrap()),
        count(&vec[..]),
        count(vec.clone()),
        count(sample.file.clone()),
        count(boxed),
        count(std::sync::Arc::new(vec)),
    ] {
        assert_eq!(entries, sample.entries.len());
    }
}

#[test]
fn uncompressed_blocks_are_views_of_bytes() {
    let sample = sample("words-4096-unfiltered.ldb");
    let table = sample.open();
    let within = |part: &[u8]| sample.file.as_ptr_range().contains(&part.as_ptr());
    for (key, value) in &sample.entries {
        let found = table.get(key).unwrap().unwrap();
        assert!(value.is_empty() || within(&found));
    }
}

/// A policy under another name that lets everything pass.
struct Named(&'static str);

impl FilterPolicy for Named {
    fn name(&self) -> &str {
        self.0
    }
    fn create_filter(&self, _: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
        dst.push(1);
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

#[test]
fn the_first_given_policy_that_the_table_names_is_used() {
    let mut table = TableBuilder::new(
        Vec::new(),
        WriteOptions::default().filter_policies(vec![
            std::sync::Arc::new(Named("a")),
            std::sync::Arc::new(Named("b")),
            std::sync::Arc::new(Named("bb")),
        ]),
    );
    table.add(b"key", b"value").unwrap();
    let file = Bytes::from(table.finish().unwrap().0);
    for (names, expected) in [
        (&["b"][..], Some("b")),
        (&["b", "a"], Some("b")),
        (&["c", "bb", "a"], Some("bb")),
        (&["bbb", "", "filter.a", "A"], None),
        (&[], None),
    ] {
        let policies = names.iter().map(|&name| std::sync::Arc::new(Named(name)) as _).collect();
        let table = Table::open(file.clone(), &ReadOptions::default().filter_policies(policies)).unwrap();
        assert_eq!(table.filter_name(), expected);
        assert_eq!(table.filter().map(|filter| filter.policy().name()), expected);
        assert_eq!(table.filter_handle().is_some(), expected.is_some());
        assert!(table.filter_error().is_none());
        assert!(table.may_contain(b"absent").unwrap(), "these filters deny nothing");

        let mut metaindex = table.metaindex().unwrap();
        let mut names = Vec::new();
        while metaindex.next().unwrap() {
            names.push(metaindex.key().to_vec());
            assert!(metaindex.handle().unwrap().size > 0);
        }
        assert_eq!(names, [b"filter.a".to_vec(), b"filter.b".to_vec(), b"filter.bb".to_vec()]);
    }
    let table = Table::open(file, &ReadOptions::default().filter_policy(Named("b"))).unwrap();
    assert_eq!(table.filter_name(), Some("b"));
}

#[test]
fn what_tools_ask_for() {
    let sample = sample("large-65536-bloom10-snappy.ldb");
    let table = sample.open();
    assert_eq!(table.file_size(), sample.file.len() as u64);
    assert_eq!(table.filter_name(), Some("leveldb.BuiltinBloomFilter2"));
    assert_eq!(table.filter().unwrap().contents().len() as u64, table.filter_handle().unwrap().size);
    assert!(table.memory_usage() > table.filter().unwrap().contents().len());
    assert!(table.memory_usage() < 64 << 10);

    let mut keys = Vec::new();
    let mut index = table.index();
    for handle in table.data_blocks() {
        let handle = handle.unwrap();
        assert!(index.next().unwrap());
        assert_eq!(index.handle().unwrap(), handle);
        let mut block = table.block_cursor(handle).unwrap();
        let mut size = 0;
        while block.next().unwrap() {
            keys.push(block.key().to_vec());
            size += block.value().len();
        }
        assert!(block.size() > size && block.size() < size + (16 << 10));
        assert!(keys.last().unwrap().as_slice() <= index.key());
    }
    assert!(!index.next().unwrap());
    assert!(keys.iter().eq(sample.entries.iter().map(|(key, _)| key)));

    let beyond = BlockHandle { offset: sample.file.len() as u64, size: 1 };
    assert!(matches!(table.block_cursor(beyond), Err(Error::Corrupt { .. })));
    assert!(matches!(table.compression_of(beyond), Err(Error::Corrupt { .. })));
}

#[test]
fn views_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Table<fs::File>>();
    shared::<Cursor<'_, fs::File>>();
    shared::<Iter<'_, Bytes>>();
    shared::<DataBlocks<'_>>();
    shared::<ReadOptions>();
    shared::<Tail>();
    shared::<Lookup>();

    let sample = sample("dense-256-bloom10.ldb");
    let table = Table::open_path(testdata().join("tables").join(&sample.name), &sample.options).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (table, entries) = (&table, &sample.entries);
            scope.spawn(move || {
                for (key, value) in entries.iter().skip(thread) {
                    assert_eq!(table.get(key).unwrap().unwrap(), value);
                }
                assert_eq!(table.iter().count(), entries.len());
            });
        }
    });
}

#[test]
fn debug_shows_sizes_not_contents() {
    let sample = sample("words-4096-bloom10-snappy.ldb");
    let table = sample.open();
    let mut cursor = table.cursor();
    cursor.next().unwrap();
    let value = table.get_at(b"", 0).map_or(Lookup::Value("secret".into()), |found| found);
    let mut block = table.block_cursor(cursor.block_handle().unwrap()).unwrap();
    block.next().unwrap();
    let shown = [
        format!("{table:?}"),
        format!("{cursor:?}"),
        format!("{block:?}"),
        format!("{:?}", table.iter()),
        format!("{:?}", table.data_blocks()),
        format!("{:?}", sample.options),
        format!("{value:?}"),
    ];
    assert_eq!(shown[6], "Value(6 bytes)");
    let key = String::from_utf8(sample.entries[0].0.clone()).unwrap();
    for text in shown {
        assert!(!text.contains(&key) && text.len() < 700, "{text}");
    }
}
