//! Mistakes in calls, policies and options.

use std::sync::Arc;

use filterblock::table::TableBuilder;
use filterblock::{BloomFilterPolicy, Error, FilterPolicy, Keys, Result, SharedPolicy};

use super::{CountingPolicy, entries, uncompressed, write};

#[test]
fn keys_out_of_order_are_refused_and_the_table_goes_on() {
    let mut table = TableBuilder::new(Vec::new(), uncompressed());
    table.add(b"b", b"1").unwrap();
    for late in [&b"b"[..], b"a\xff", b""] {
        match table.add(late, b"2") {
            Err(Error::KeyOrder { index: 1, previous, key, .. }) => {
                assert_eq!((&previous[..], &key[..]), (&b"b"[..], late))
            }
            other => panic!("{other:?}"),
        }
    }
    table.add(b"b\0", b"3").unwrap();
    assert_eq!(table.num_entries(), 2);
    let (table, _) = table.finish().unwrap();
    assert_eq!(table, write(uncompressed(), [("b", "1"), ("b\0", "3")]).unwrap().0);
}

#[test]
fn an_internal_key_may_be_a_tag_alone() {
    let mut table = TableBuilder::new(Vec::new(), uncompressed().internal_keys(true));
    assert!(matches!(table.add(&[1; 7], b""), Err(Error::ShortInternalKey { found: 7, .. })));
    table.add(&[1; 8], b"").unwrap();
}

#[test]
fn order_holds_across_blocks() {
    let mut table = TableBuilder::new(Vec::new(), uncompressed().block_size(1));
    assert_eq!(table.file_size(), 0);
    table.add(b"b", b"").unwrap();
    // One entry of 4 bytes, one restart, and the trailer.
    assert_eq!(table.file_size(), 4 + 8 + 5);
    assert!(matches!(table.add(b"b", b""), Err(Error::KeyOrder { .. })));
    assert!(matches!(table.add(b"a", b""), Err(Error::KeyOrder { .. })));
}

#[cfg(target_pointer_width = "64")]
#[test]
fn entries_that_no_block_can_hold_are_refused_and_the_table_goes_on() {
    let mut table = TableBuilder::new(Vec::new(), uncompressed());
    // Zeros that are never touched take no memory.
    let value = vec![0; u32::MAX as usize];
    let error = table.add(b"a", &value).unwrap_err().to_string();
    assert_eq!(error, "data block at offset 0: expected at most 4294967295 bytes, found 4294967323");
    table.add(b"a", b"").unwrap();
    assert_eq!(table.finish().unwrap().1.num_entries, 1);
}

#[test]
fn invalid_options_are_reported_by_the_first_call() {
    let same_name = || -> Vec<SharedPolicy> {
        vec![Arc::new(CountingPolicy("a")), Arc::new(CountingPolicy("b")), Arc::new(CountingPolicy("a"))]
    };
    let policy = BloomFilterPolicy::new(10);
    let cases = [
        (uncompressed().restart_interval(0), "restart_interval: expected at least 1, found 0"),
        (uncompressed().base_lg(64).filter_policy(policy), "base_lg: expected 0 to 63, found 64"),
        (
            uncompressed().filter_policies(same_name()),
            "filter_policies: expected policies of different names, found \"a\" twice",
        ),
    ];
    for (options, expected) in cases {
        let mut table = TableBuilder::new(Vec::new(), options.clone());
        assert_eq!(table.add(b"a", b"").unwrap_err().to_string(), expected);
        let abandoned = format!("table given up after an earlier error: {expected}");
        assert_eq!(table.add(b"b", b"").unwrap_err().to_string(), abandoned);
        assert_eq!(table.finish().unwrap_err().to_string(), abandoned);
        assert_eq!(TableBuilder::new(Vec::new(), options).finish().unwrap_err().to_string(), expected);
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn a_filter_block_over_its_limit_ends_the_table() {
    let options =
        uncompressed().block_size(1).filter_policy(BloomFilterPolicy::new(10)).max_filter_block_size(100);
    let error = write(options.clone(), entries(1000)).unwrap_err();
    assert!(matches!(error, Error::Limit { what: "filter block", limit: 100, .. }), "{error}");
    let mut table = TableBuilder::new(Vec::new(), options);
    let failed = entries(1000).find_map(|(key, _)| table.add(key.as_bytes(), b"").err());
    assert!(matches!(failed, Some(Error::Limit { .. })), "{failed:?}");
    assert!(matches!(table.add(b"z", b""), Err(Error::TableAbandoned { .. })));
    assert!(matches!(table.finish().unwrap_err().into_error(), Error::TableAbandoned { .. }));
}

#[test]
fn a_policy_that_fails_is_heard() {
    struct Failing;
    impl FilterPolicy for Failing {
        fn name(&self) -> &str {
            "test.Failing"
        }
        fn create_filter(&self, _: Keys<'_>, _: &mut Vec<u8>) -> Result<()> {
            Err(Error::policy("no room on the shelf"))
        }
        fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
            true
        }
    }
    let error = write(uncompressed().filter_policy(Failing), [("a", "")]).unwrap_err();
    assert_eq!(error.to_string(), "filter policy: no room on the shelf");
}

#[test]
fn builders_are_send_and_shown_by_their_sizes() {
    fn send<T: Send + Sync>(_: &T) {}
    let options = uncompressed().filter_policy(BloomFilterPolicy::new(10));
    send(&options);
    assert_eq!(
        format!("{options:?}"),
        "WriteOptions { block_size: 4096, restart_interval: 16, compression: None, \
         filter_policies: [\"leveldb.BuiltinBloomFilter2\"], base_lg: 11, max_filter_block_size: None, \
         comparator: \"leveldb.BytewiseComparator\", internal_keys: false }"
    );
    let mut table = TableBuilder::new(Vec::new(), options);
    send(&table);
    table.add(b"secret", b"").unwrap();
    let shown = format!("{table:?}");
    assert!(shown.contains("num_entries: 1") && !shown.contains("secret"), "{shown}");
}

#[test]
fn messages_cut_long_keys_and_names() {
    let mut table = TableBuilder::new(Vec::new(), uncompressed());
    table.add(&[0xff; 3 << 20], b"").unwrap();
    let error = table.add(&[b'a'; 1 << 20], b"").unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "key 1: expected a key after \"{}\"... (3145728 bytes), found \"{}\"... (1048576 bytes)",
            "\\xff".repeat(48),
            "a".repeat(48)
        )
    );
    let name: &'static str = "n".repeat(5000).leak();
    let twice: Vec<SharedPolicy> = vec![Arc::new(CountingPolicy(name)), Arc::new(CountingPolicy(name))];
    let error = write(uncompressed().filter_policies(twice), [("a", "")]).unwrap_err();
    let expected = format!("found \"{}\"... (5000 bytes) twice", "n".repeat(48));
    assert!(error.to_string().ends_with(&expected), "{error}");
}

/// A comparator that contradicts itself leads to disorder, but not to a panic.
#[test]
fn an_order_that_changes_its_mind_ends_in_a_table_or_an_error() {
    use std::cmp::Ordering;
    use std::sync::atomic::{AtomicU64, Ordering as Atomic};

    use filterblock::table::{Comparator, ReadOptions, Table};

    struct Fickle(AtomicU64);
    impl Fickle {
        fn next(&self) -> u64 {
            self.0.fetch_add(1, Atomic::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
        }
    }
    impl Comparator for Fickle {
        fn name(&self) -> &str {
            if self.next().is_multiple_of(2) { "fickle" } else { "" }
        }
        fn compare(&self, _: &[u8], _: &[u8]) -> Ordering {
            [Ordering::Less, Ordering::Equal, Ordering::Greater][self.next() as usize % 3]
        }
        fn find_shortest_separator(&self, start: &mut Vec<u8>, _: &[u8]) {
            start.resize(self.next() as usize % 40, 7);
        }
        fn find_short_successor(&self, key: &mut Vec<u8>) {
            key.resize(self.next() as usize % 40, 7);
        }
    }
    for (seed, internal) in (0..200).flat_map(|seed| [(seed, false), (seed, true)]) {
        let options =
            uncompressed().block_size(30).internal_keys(internal).filter_policy(BloomFilterPolicy::new(10));
        let mut table = TableBuilder::new(Vec::new(), options.comparator(Fickle(AtomicU64::new(seed))));
        let mut added = 0;
        for (key, value) in entries(60) {
            match table.add(key.as_bytes(), value.as_bytes()) {
                Ok(()) => added += 1,
                Err(error) => assert!(matches!(error, Error::KeyOrder { .. }), "{error}"),
            }
        }
        let (file, summary) = table.finish().unwrap();
        assert_eq!(summary.num_entries, added);
        // In the order of the file nothing has to be compared.
        let table = Table::open(&file[..], &ReadOptions::default().internal_keys(internal)).unwrap();
        assert_eq!(table.iter().map(Result::unwrap).count() as u64, added);

        let options = ReadOptions::default().internal_keys(internal).comparator(Fickle(AtomicU64::new(seed)));
        let table = Table::open(&file[..], &options).unwrap();
        for (key, _) in entries(60) {
            let key = key.as_bytes();
            let _ = (table.get(key), table.get_entry(key), table.may_contain(key), table.get_at(key, 1));
            let mut cursor = table.cursor();
            let _ = (cursor.seek(key), cursor.next());
        }
    }
}
