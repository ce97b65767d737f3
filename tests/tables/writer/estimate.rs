//! The size of a table, estimated before its end.

use std::sync::Arc;

use filterblock::table::{Compression, TableBuilder, WriteOptions};
use filterblock::{BloomFilterPolicy, FilterPolicy, Keys, LegacyBloomPolicy, Result};

type Options = fn() -> WriteOptions;

const OPTIONS: [Options; 7] = [
    || WriteOptions::default().compression(Compression::None),
    || WriteOptions::default().compression(Compression::None).filter_policy(BloomFilterPolicy::new(10)),
    || WriteOptions::default().compression(Compression::None).block_size(100).restart_interval(1),
    || {
        let policies = vec![
            Arc::new(LegacyBloomPolicy::new(10)) as Arc<dyn FilterPolicy>,
            Arc::new(BloomFilterPolicy::new(20)),
        ];
        WriteOptions::default().compression(Compression::None).filter_policies(policies).base_lg(8)
    },
    || {
        let options = WriteOptions::default().filter_policy(BloomFilterPolicy::new(10)).base_lg(63);
        options.compression(Compression::None).internal_keys(true).block_size(300)
    },
    || WriteOptions::default().filter_policy(BloomFilterPolicy::new(10)).compression(Compression::Snappy),
    || WriteOptions::default().block_size(1).filter_policy(BloomFilterPolicy::new(10)).base_lg(5),
];

/// Writes this many entries. Returns the estimated size of the file, and its real size.
fn sizes(options: WriteOptions, entries: usize, value: &[u8], flush: bool) -> (u64, u64) {
    let mut builder = TableBuilder::new(Vec::new(), options);
    for number in 0..entries {
        let key = format!("key/{:09}{:.*}", number * 7, number % 23, "with more behind it that differs");
        builder.add(&[key.as_bytes(), &[1, 0, 0, 0, 0, 0, 0, 0]].concat(), value).unwrap();
    }
    if flush {
        builder.flush().unwrap();
    }
    let estimated = builder.estimated_file_size().unwrap();
    (estimated, builder.finish().unwrap().0.len() as u64)
}

#[test]
fn an_estimate_is_never_below_what_comes() {
    let noise: Vec<u8> = (0..3000_u32).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    for (number, options) in OPTIONS.into_iter().enumerate() {
        for value in [&b""[..], b"value", &[b'v'; 300], &noise] {
            for entries in (0..30).chain([100, 300]).step_by(if cfg!(miri) { 20 } else { 1 }) {
                for flush in [false, true] {
                    let (estimated, came) = sizes(options(), entries, value, flush);
                    assert!(estimated >= came, "{number}: {entries} entries: {estimated}, {came} came");
                }
            }
        }
    }
}

/// Without compression, an estimate is at most 3 % too large: the metaindex and the last entry of the index are
/// bounded, and all else is known.
#[test]
fn an_estimate_is_close() {
    for (number, options) in OPTIONS[..5].iter().enumerate() {
        for entries in [20, 100, 1000] {
            let (estimated, came) = sizes(options(), entries, &[b'v'; 100], true);
            assert!(
                estimated <= came + came * 3 / 100,
                "{number}: {entries} entries: {estimated}, {came} came"
            );
        }
    }
}

#[test]
fn a_policy_that_does_not_tell_leaves_the_size_unknown() {
    struct Silent;
    impl FilterPolicy for Silent {
        fn name(&self) -> &str {
            "example.Silent"
        }
        fn create_filter(&self, _: Keys<'_>, _: &mut Vec<u8>) -> Result<()> {
            Ok(())
        }
        fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
            true
        }
    }
    let mut builder = TableBuilder::new(Vec::new(), WriteOptions::default().filter_policy(Silent));
    assert!(builder.estimated_file_size().is_some());
    builder.add(b"a", b"1").unwrap();
    assert_eq!(builder.estimated_file_size(), None);
    let came = builder.finish().unwrap().0.len();
    assert!(came > 48);
}
