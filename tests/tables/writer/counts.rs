//! Counts and lengths around the ends of 7, 8, 14, 15 and 16 bits. The bytes are compared with those of a plain
//! encoder.

use std::sync::Arc;

use filterblock::SharedPolicy;
use filterblock::table::{ReadOptions, Table};

use super::{CountingPolicy, uncompressed, write};

type Entry = (Vec<u8>, Vec<u8>);

/// A varint as in `util/coding.cc`, by division.
fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value / 128 > 0 {
        bytes.push((value % 128 + 128) as u8);
        value /= 128;
    }
    bytes.push(value as u8);
    bytes
}

/// The block of these entries, as described in LevelDB's `doc/table_format.md` and `table/block_builder.cc`.
fn plain_block(restart_interval: usize, entries: &[Entry]) -> Vec<u8> {
    let (mut block, mut restarts) = (Vec::new(), vec![0]);
    for (number, (key, value)) in entries.iter().enumerate() {
        let mut shared = 0;
        if number % restart_interval != 0 {
            let before = &entries[number - 1].0;
            while shared < before.len() && shared < key.len() && before[shared] == key[shared] {
                shared += 1;
            }
        } else if number > 0 {
            restarts.push(block.len() as u32);
        }
        block.extend(varint(shared));
        block.extend(varint(key.len() - shared));
        block.extend(varint(value.len()));
        block.extend(&key[shared..]);
        block.extend(value);
    }
    restarts.iter().for_each(|restart| block.extend(restart.to_le_bytes()));
    block.extend((restarts.len() as u32).to_le_bytes());
    block
}

/// Writes one data block and reads it again. Its bytes have to be those of the plain encoder.
fn check(restart_interval: u32, entries: &[Entry]) {
    let options = uncompressed().restart_interval(restart_interval).block_size(usize::MAX);
    let (file, summary) = write(options, entries.iter().map(|(key, value)| (key, value))).unwrap();
    let expected = plain_block(restart_interval as usize, entries);
    assert_eq!((summary.num_entries, summary.data_blocks), (entries.len() as u64, 1));
    assert_eq!(summary.data_size, expected.len() as u64 + 5);
    let what = format!("{} entries, a restart every {restart_interval}", entries.len());
    assert!(file[..expected.len()] == expected && file[expected.len()] == 0, "{what}");

    let table = Table::open(&file[..], &ReadOptions::default()).unwrap();
    let mut cursor = table.cursor();
    for (key, value) in entries {
        assert!(cursor.next().unwrap());
        assert!(cursor.key() == key && cursor.value() == value, "{what}");
    }
    assert!(!cursor.next().unwrap());
    for (key, value) in entries.iter().step_by((entries.len() / 20).max(1)).chain(entries.last()) {
        assert!(table.get(key).unwrap().unwrap() == value, "{what}");
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn restarts_come_at_every_interval_however_long_it_is() {
    for interval in [1_u32, 2, 16, 127, 128, 255, 256, 257, 1000, 65_535, 65_536] {
        // One entry before, at and after the first, the second and, with short intervals, the 65,536th restart.
        let ends = [interval, 2 * interval, interval.saturating_mul(65_536)];
        let counts =
            ends.into_iter().filter(|end| (2..140_000).contains(end)).flat_map(|end| [end - 1, end, end + 1]);
        for count in counts.chain([255, 256, 257]) {
            let entries: Vec<Entry> =
                (0..count).map(|i| ([b"key", &i.to_be_bytes()[..]].concat(), vec![i as u8])).collect();
            check(interval, &entries);
        }
    }
    let entries: Vec<Entry> = (0..1000).map(|i| (format!("{i:04}").into_bytes(), vec![])).collect();
    check(u32::MAX, &entries);
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn keys_share_all_they_have_in_common_however_long_it_is() {
    const LENGTHS: [usize; 16] =
        [0, 1, 7, 8, 9, 127, 128, 129, 255, 256, 257, 16_383, 16_384, 65_535, 65_536, 70_000];
    for common in LENGTHS {
        // Keys that are prefixes of the next, and keys that differ after what they have in common.
        let key = |rest: &[u8]| [&vec![b'k'; common], rest].concat();
        let rests = [&b""[..], b"\0", b"a", b"ab", b"abc\xff", b"b", b"\xff"];
        let entries: Vec<Entry> = rests.iter().map(|rest| (key(rest), rest.to_vec())).collect();
        for interval in [1, 2, 3, 16] {
            check(interval, &entries);
        }
        // The rest of the key and the value have such lengths, too.
        for len in LENGTHS {
            let entries = [(key(b"a"), vec![b'v'; len]), (key(&vec![b'b'; len + 1]), vec![b'w'; len])];
            check(16, &entries);
        }
    }
}

/// The restart interval of the metaindex is the table's, and that of the index is 1.
#[test]
fn metaindex_and_index_have_restarts_as_leveldb_sets_them() {
    let common: &'static str = "n".repeat(300).leak();
    let names =
        [common, format!("{common}a").leak(), format!("{common}b").leak(), format!("{common}c").leak()];
    for interval in [1, 2, 3, 16] {
        let policies: Vec<SharedPolicy> = names.map(|name| Arc::new(CountingPolicy(name)) as _).to_vec();
        let options = uncompressed().restart_interval(interval).block_size(1).filter_policies(policies);
        let keys = ["ka", "kb", "kc"];
        let (file, summary) = write(options, keys.map(|key| (key, "v"))).unwrap();
        let table = Table::open(&file[..], &ReadOptions::default()).unwrap();

        let mut at = summary.data_size as usize;
        let handle = |at: &mut usize, size: usize| {
            let handle = [varint(*at), varint(size)].concat();
            *at += size + 5;
            handle
        };
        let meta: Vec<Entry> = names
            .iter()
            .zip(&summary.filters)
            .map(|(name, filter)| {
                (format!("filter.{name}").into_bytes(), handle(&mut at, filter.size as usize))
            })
            .collect();
        let metaindex = plain_block(interval as usize, &meta);
        assert_eq!(table.metaindex_handle().offset, at as u64);
        assert_eq!(file[at..at + metaindex.len()], metaindex, "{interval}");
        at += metaindex.len() + 5;

        let (mut data, size) = (0, summary.data_size as usize / 3 - 5);
        let index: Vec<Entry> = ["ka", "kb", "l"]
            .iter()
            .map(|name| (name.as_bytes().to_vec(), handle(&mut data, size)))
            .collect();
        let index = plain_block(1, &index);
        assert_eq!(table.index_handle().offset, at as u64);
        assert_eq!(file[at..at + index.len()], index);
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn data_blocks_are_counted_beyond_16_bits() {
    let entries = (0..70_000_u32).map(|i| (i.to_be_bytes(), []));
    let (file, summary) = write(uncompressed().block_size(1), entries.clone()).unwrap();
    assert_eq!((summary.num_entries, summary.data_blocks), (70_000, 70_000));
    let table = Table::open(&file[..], &ReadOptions::default()).unwrap();
    assert_eq!(table.data_blocks().filter(Result::is_ok).count(), 70_000);
    for (key, _) in entries.step_by(997) {
        assert!(table.get(&key).unwrap().is_some());
    }
}
