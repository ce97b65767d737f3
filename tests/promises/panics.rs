//! Nothing panics, and no stack grows with the input.

use std::thread;

use bytes::Bytes;
use filterblock::database::{LogReader, Manifest, batch_has_writes};
use filterblock::table::{ReadOptions, Table};
use filterblock::{FilterBlockReader, KeyHash};

use crate::filters::random_key;
use crate::tables::{Crafted, entry_block, handle, samples, testdata};
use crate::{policies, tables};

/// Passes the bytes to the readers of filters, filter blocks, tables, MANIFESTs, batches and logs.
fn read_all_ways(bytes: &[u8]) {
    for policy in policies() {
        let _ = policy.key_may_match(b"key", bytes);
        let _ = policy.hash_may_match(KeyHash::new(7), bytes);
        let filters = FilterBlockReader::new(policy, bytes);
        for offset in [0, 5000, u64::MAX] {
            let _ = (filters.key_may_match(offset, b"key"), filters.hash_may_match(offset, KeyHash::new(7)));
        }
        let _ = (filters.check(), filters.iter().take(1000).count());
    }
    for (verify, internal) in [(true, false), (false, false), (false, true)] {
        let options = ReadOptions::default().verify_checksums(verify).internal_keys(internal);
        let options = options.max_output(1 << 20);
        let Ok(table) = Table::open(Bytes::copy_from_slice(bytes), &options) else { continue };
        for key in [&b""[..], b"key", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff"] {
            let _ = (table.get(key), table.get_entry(key), table.may_contain(key), table.get_at(key, 1));
            let _ = table.cursor().seek(key);
        }
        let _ = (table.iter().count(), table.metaindex().map(|mut metaindex| metaindex.next()));
        let mut entered = table.index();
        for block in table.data_blocks().take(50).flatten() {
            let _ = (table.compression_of(block), table.block_cursor(block).map(|mut block| block.next()));
            let _ = entered.enter(&table, block).and_then(|()| entered.next());
        }
    }
    let _ = (Manifest::scan(bytes, 1 << 20), batch_has_writes(bytes));
    let mut log = LogReader::new(bytes);
    while !matches!(log.read_record(), Ok(None)) {}
}

/// The file with up to four bytes changed, and sometimes cut.
fn damaged(file: &[u8], seed: u64) -> Vec<u8> {
    let mut damaged = file.to_vec();
    let random = random_key(seed);
    for change in random[..12].chunks(3).take(usize::from(random[12] % 4) + 1) {
        let at = usize::from(change[0]) << 8 | usize::from(change[1]);
        // About half of the changes are near the end, where lengths and offsets stand.
        let at = if change[1] & 1 == 0 { at % file.len() } else { file.len() - 1 - at % file.len().min(200) };
        damaged[at] = change[2];
    }
    if random[13].is_multiple_of(16) {
        damaged.truncate(usize::from(random[14]) * file.len() / 256);
    }
    damaged
}

/// Promise: A1.
#[test]
fn no_bytes_panic() {
    let mut files: Vec<Vec<u8>> = samples().into_iter().map(|sample| sample.file.to_vec()).collect();
    files.retain(|file| file.len() < 12_000);
    assert!(files.len() > 5);
    for name in ["databases/levels/MANIFEST-000008", "databases/levels/000010.log"] {
        files.push(std::fs::read(testdata().join(name)).unwrap());
    }
    let filters = tables::sample("words-256-bloom10.ldb");
    files.push(filters.open().filter().unwrap().contents().to_vec());
    for (number, file) in files.iter().enumerate() {
        (0..60).for_each(|seed| read_all_ways(&damaged(file, number as u64 * 1000 + seed)));
    }
    for seed in 0..2000 {
        let bytes: Vec<u8> = (0..seed % 20).flat_map(|part| random_key(seed << 8 | part)).collect();
        read_all_ways(&bytes);
    }
}

/// A recursion could be over entries, blocks, fragments or filters. Here are a hundred thousand of each.
#[test]
fn the_stack_does_not_grow_with_the_input() {
    const MANY: u32 = 100_000;
    let mut crafted = Crafted::default();
    let keys: Vec<_> = (0..MANY).map(|i| (i.to_be_bytes(), [])).collect();
    let data = crafted.block(&entry_block(&keys));
    let empty = crafted.block(&entry_block::<&[u8], &[u8]>(&[]));
    let metaindex = crafted.entries(&keys);
    let mut index: Vec<_> = (0..MANY).map(|i| ((i / 2).to_be_bytes().to_vec(), handle(empty))).collect();
    index.push((vec![0xff], handle(data)));
    let index = crafted.entries(&index);
    let table = crafted.footer(metaindex, index);
    let filters = [vec![0; 4 * MANY as usize + 4], vec![0]].concat();
    // Empty fragments from the middle of a record, with wrong checksums.
    let log = [[0; 4].as_slice(), &[0, 0, 3]].concat().repeat(MANY as usize);

    let run = move || {
        let table = Table::open(table, &ReadOptions::default()).unwrap();
        assert_eq!(table.iter().filter(Result::is_ok).count(), MANY as usize);
        assert!(table.get(&MANY.to_be_bytes()).unwrap().is_none());
        for policy in policies() {
            let reader = FilterBlockReader::new(policy, &filters[..]);
            assert_eq!((reader.iter().count(), reader.check().is_ok()), (MANY as usize, true));
        }
        let mut log = LogReader::new(&log[..]);
        let mut damage = 0;
        while let Err(_) | Ok(Some(_)) = log.read_record() {
            damage += 1;
        }
        assert!(damage > 0);
    };
    // Far less than the 8 MiB of a main thread.
    thread::Builder::new().stack_size(128 << 10).spawn(run).unwrap().join().unwrap();
}
