//! What a caller, a policy or an option can do wrong.

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
            Err(Error::KeyOrder { index: 1, previous, key }) => {
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
    assert!(matches!(table.finish(), Err(Error::TableAbandoned { .. })));
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
