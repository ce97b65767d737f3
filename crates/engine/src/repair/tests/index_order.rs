//! Tables whose index names the blocks in another order than that of the file, or of the keys.

use std::collections::BTreeMap;
use std::fs;

use filterblock::database::{LiveTable, LogWriter, Manifest};
use filterblock::table::BlockHandle;

use super::damage::{Case, MANIFEST};

const NEW: &str = "000050.ldb";
const BLOCKS: usize = 6;
const EACH: u64 = 4;

type Entry = (Vec<u8>, Vec<u8>);

fn entry(number: u64) -> Entry {
    let tag = (1000 + number) << 8 | 1;
    let key = [format!("new{number:02}").as_bytes(), &tag.to_le_bytes()].concat();
    (key, format!("value {number}").into_bytes())
}

fn block(number: usize) -> Vec<Entry> {
    let first = number as u64 * EACH;
    (first..first + EACH).map(entry).collect()
}

fn add_block(file: &mut Vec<u8>, entries: &[Entry]) -> BlockHandle {
    let mut block = Vec::new();
    for (key, value) in entries {
        block.extend([0, key.len() as u8, value.len() as u8]);
        block.extend([&**key, value].concat());
    }
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    let handle = BlockHandle { offset: file.len() as u64, size: block.len() as u64 };
    block.push(0);
    let crc = filterblock::table::mask(crc32c::crc32c(&block));
    file.extend(block);
    file.extend(crc.to_le_bytes());
    handle
}

/// A table with blocks in the order `places` of the file, and an index that names them in the order `names`. Of the
/// contents of each block, `contents` are there instead.
fn table(places: [usize; BLOCKS], names: &[usize], contents: fn(usize) -> usize) -> Vec<u8> {
    let (mut file, mut handles) = (Vec::new(), BTreeMap::new());
    for number in places {
        handles.insert(number, add_block(&mut file, &block(contents(number))));
    }
    let index: Vec<Entry> = names
        .iter()
        .map(|number| {
            let mut value = Vec::new();
            handles[number].encode(&mut value);
            (block(*number).pop().unwrap().0, value)
        })
        .collect();
    let metaindex = add_block(&mut file, &[]);
    let index = add_block(&mut file, &index);
    let mut footer = Vec::new();
    metaindex.encode(&mut footer);
    index.encode(&mut footer);
    footer.resize(40, 0);
    file.extend(footer);
    file.extend(0xdb47_7524_8b80_fb57_u64.to_le_bytes());
    file
}

/// The new keys that are saved of such a table, whether nothing is lost, and the remark on the table.
fn saved(file: Vec<u8>) -> (Vec<u64>, bool, Option<String>) {
    let case = Case::new();
    let mut edit = Manifest::read(case.path("")).unwrap().snapshot();
    let [first, last] = [0, BLOCKS as u64 * EACH - 1].map(|number| entry(number).0);
    edit.new_tables.push(LiveTable::new(3, 50, file.len() as u64, first, last));
    edit.next_file_number = Some(51);
    let (mut record, mut log) = (Vec::new(), LogWriter::new(Vec::new()));
    edit.encode(&mut record).unwrap();
    log.add_record(&record).unwrap();
    fs::write(case.path(MANIFEST), log.into_writer()).unwrap();
    fs::write(case.path(NEW), file).unwrap();
    let (report, keys) = case.repair();
    let is_there = |number: &u64| {
        let (key, value) = entry(*number);
        keys.get(&key[..key.len() - 8]) == Some(&value)
    };
    let note = report.files.into_iter().find(|file| file.name == NEW).and_then(|file| file.data.note);
    ((0..BLOCKS as u64 * EACH).filter(is_there).collect(), report.data.is_complete, note)
}

const IN_ORDER: [usize; BLOCKS] = [0, 1, 2, 3, 4, 5];

#[test]
fn an_index_in_any_order_names_all_blocks() {
    let all: Vec<u64> = (0..BLOCKS as u64 * EACH).collect();
    let unsorted = Some("keys are out of order, and were sorted".to_owned());
    let as_it_is = |number| number;
    assert_eq!(saved(table(IN_ORDER, &IN_ORDER, as_it_is)), (all.clone(), true, None));
    // The keys are in order, and the blocks lie elsewhere.
    assert_eq!(saved(table([3, 0, 5, 1, 4, 2], &IN_ORDER, as_it_is)), (all.clone(), true, None));
    for names in [[1, 0, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [0, 1, 2, 3, 5, 4]] {
        assert_eq!(
            saved(table(IN_ORDER, &names, as_it_is)),
            (all.clone(), true, unsorted.clone()),
            "{names:?}"
        );
        assert_eq!(saved(table(names, &names, as_it_is)), (all.clone(), true, unsorted.clone()), "{names:?}");
    }
    // A block that is named twice has no entries the second time.
    let (keys, is_complete, _) = saved(table(IN_ORDER, &[0, 1, 2, 2, 3, 4, 5], as_it_is));
    assert!(keys == all && !is_complete);
}

/// The entries of a block in the place of another are saved, and those that should be there are lost.
#[test]
fn a_block_in_the_place_of_another_is_not_the_one_that_the_index_means() {
    let twice = |number| if number == 4 { 1 } else { number };
    let (keys, is_complete, _) = saved(table(IN_ORDER, &IN_ORDER, twice));
    let lost = 4 * EACH..5 * EACH;
    assert_eq!(keys, (0..BLOCKS as u64 * EACH).filter(|number| !lost.contains(number)).collect::<Vec<_>>());
    assert!(!is_complete);
    let exchanged = |number| match number {
        2 => 3,
        3 => 2,
        other => other,
    };
    let (keys, is_complete, _) = saved(table(IN_ORDER, &IN_ORDER, exchanged));
    assert!(keys.len() as u64 == BLOCKS as u64 * EACH && !is_complete);
}
