//! Many threads share one reader and one table. Answers are right, whatever the other threads do at the same time.
//!
//! Also run under ThreadSanitizer, which finds data races: `tests/README.md`.

use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use bytes::Bytes;
use filterblock::database::LiveTable;
use filterblock::table::{ReadAt, Table, TableBuilder, WriteOptions};
use filterblock::{
    BashoBloom2Policy, BloomFilterPolicy, FilterBlockReader, FilterPolicy, LegacyBloomPolicy, SharedPolicy,
};

use crate::interpreted::fewer;
use crate::tables::{Entry, sample, testdata};

fn threads() -> usize {
    16 / fewer(4)
}

/// Runs `work` on all threads at once, each with its number.
fn together(work: impl Fn(usize) + Sync) {
    let start = Barrier::new(threads());
    thread::scope(|scope| {
        for number in 0..threads() {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(number);
            });
        }
    });
}

#[test]
fn readers_and_tables_are_send_and_sync() {
    fn is<T: Send + Sync + 'static>() {}
    is::<FilterBlockReader<BloomFilterPolicy, Vec<u8>>>();
    is::<FilterBlockReader<SharedPolicy, Bytes>>();
    is::<Table<std::fs::File>>();
    is::<Table<Bytes>>();
    is::<Table<Box<dyn ReadAt + Send + Sync>>>();
    is::<TableBuilder<std::fs::File>>();
    is::<LiveTable>();
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn a_shared_reader_answers_every_thread_alike() {
    let table = sample("dense-256-bloom10.ldb");
    let opened = table.open();
    let contents = opened.filter().unwrap().contents();
    let reader: FilterBlockReader<SharedPolicy, Vec<u8>> =
        FilterBlockReader::new(Arc::new(BloomFilterPolicy::new(10)), contents.to_vec());
    let offsets: Vec<u64> = opened.data_blocks().map(|block| block.unwrap().offset).collect();
    let queries: Vec<(u64, &[u8])> = offsets
        .iter()
        .flat_map(|&offset| table.entries.iter().map(move |(key, _)| (offset, &key[..])))
        .step_by(7)
        .collect();
    let expected: Vec<bool> =
        queries.iter().map(|&(offset, key)| reader.key_may_match(offset, key)).collect();
    assert!(expected.contains(&true) && expected.contains(&false));

    together(|number| {
        let turn = number * queries.len() / threads();
        for index in (turn..queries.len()).chain(0..turn) {
            let (offset, key) = queries[index];
            assert_eq!(reader.key_may_match(offset, key), expected[index]);
            let hash = reader.policy().hash_key(key).unwrap();
            assert_eq!(reader.hash_may_match(offset, hash), expected[index]);
        }
        let mut answers = Vec::new();
        reader.keys_may_match(&queries, &mut answers);
        assert_eq!(answers, expected);
        reader.check().unwrap();
    });
}

#[cfg_attr(miri, ignore = "reads large test data")]
#[test]
fn a_shared_table_answers_every_thread_alike() {
    fn check<R: ReadAt + Sync>(table: &Table<R>, entries: &[Entry]) {
        together(|number| {
            let turn = number * entries.len() / threads();
            let (later, first) = entries.split_at(turn);
            for (key, value) in first.iter().chain(later) {
                assert_eq!(table.get(key).unwrap().unwrap(), value);
                assert!(table.may_contain(key).unwrap());
                assert_eq!(table.get(&[key, &b"!"[..]].concat()).unwrap(), None);
            }
            let mut cursor = table.cursor();
            for (key, value) in entries {
                assert!(cursor.next().unwrap());
                assert_eq!((cursor.key(), cursor.value()), (&key[..], &value[..]));
            }
            assert!(!cursor.next().unwrap());
        });
    }
    for name in ["words-256-bloom10.ldb", "dense-256-bloom10-snappy.ldb", "large-65536-unfiltered-snappy.ldb"]
    {
        let sample = sample(name);
        check(&sample.open(), &sample.entries);
        let path = testdata().join("tables").join(name);
        check(&Table::open_path(path, &sample.options).unwrap(), &sample.entries);
    }
}

/// Values that are made once for all, such as the primes of Basho's filters, are made while every thread asks for them.
#[cfg_attr(miri, ignore = "sieves Basho's primes")]
#[test]
fn policies_are_shared_while_filters_are_made() {
    let policies: [SharedPolicy; 3] = [
        Arc::new(BashoBloom2Policy::default()),
        Arc::new(BloomFilterPolicy::new(10)),
        Arc::new(LegacyBloomPolicy::new(10)),
    ];
    let keys: filterblock::KeyBuf = (0..500_u32).map(u32::to_be_bytes).collect();
    for policy in &policies {
        let made = Mutex::new(Vec::new());
        together(|_| {
            let mut filter = Vec::new();
            policy.create_filter(keys.as_keys(), &mut filter).unwrap();
            assert!(keys.as_keys().iter().all(|key| policy.key_may_match(key, &filter)));
            made.lock().unwrap().push(filter);
        });
        let made = made.into_inner().unwrap();
        assert!(made.len() == threads() && made.iter().all(|filter| *filter == made[0]));
    }
}

/// Builders share nothing but their policy.
#[test]
fn tables_written_side_by_side_are_the_same() {
    let policy: SharedPolicy = Arc::new(BloomFilterPolicy::new(10));
    let files = Mutex::new(Vec::new());
    together(|_| {
        let options = WriteOptions::default().block_size(512).filter_policy(Arc::clone(&policy));
        let mut builder = TableBuilder::new(Vec::new(), options);
        for number in 0..1000 / fewer(50) as u32 {
            builder.add(&number.to_be_bytes(), b"value").unwrap();
        }
        files.lock().unwrap().push(builder.finish().unwrap().0);
    });
    let files = files.into_inner().unwrap();
    assert!(files.len() == threads() && files.iter().all(|file| *file == files[0]));
}
