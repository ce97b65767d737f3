//! `FilterPolicy::describe`, compared with counts and answers made in another way.

use filterblock::{
    BashoBloom2Policy, BashoInternalFilterPolicy, BloomFilterPolicy, CassandraBloomPolicy, FilterPolicy,
    InternalFilterPolicy, KeyBuf, LegacyBloomPolicy, Murmur3BloomPolicy, OpaquePolicy, PrefixPolicy,
    SharedPolicy,
};
use std::sync::Arc;

fn policies() -> Vec<(SharedPolicy, u32)> {
    vec![
        (Arc::new(BloomFilterPolicy::new(10)), 6),
        (Arc::new(BloomFilterPolicy::new(16)), 11),
        (Arc::new(LegacyBloomPolicy::new(10)), 6),
        (Arc::new(BashoBloom2Policy::new(16)), 11),
        (Arc::new(CassandraBloomPolicy::new(10)), 7),
        (Arc::new(Murmur3BloomPolicy::new(10)), 7),
    ]
}

#[test]
fn bits_are_counted_and_the_rate_is_about_what_absent_keys_pass() {
    for (policy, probes) in policies() {
        let keys: KeyBuf = (0..2000).map(|i| format!("key {i}")).collect();
        let mut filter = Vec::new();
        policy.create_filter(keys.as_keys(), &mut filter).unwrap();
        let shape = policy.describe(&filter).unwrap();
        let array = &filter[..filter.len() - 1];
        let set = array.iter().map(|byte| (0..8).filter(|bit| byte >> bit & 1 == 1).count()).sum::<usize>();
        assert_eq!((shape.bits, shape.bits_set, shape.probes), (array.len() as u64 * 8, set as u64, probes));
        let passed =
            (0..100_000).filter(|i| policy.key_may_match(format!("absent {i}").as_bytes(), &filter)).count();
        let ratio = passed as f64 / 100_000.0 / shape.expected_rate;
        assert!((0.8..1.25).contains(&ratio), "{} {probes}: {ratio}", policy.name());
    }
}

/// In arrays of equal bits, sound or not, either all keys pass or none. The false-positive rate says which.
#[test]
fn the_rate_of_odd_filters_is_that_of_their_answers() {
    let mut seen = [0; 2];
    for (policy, _) in policies() {
        for len in [0, 1, 4, 8, 16, 24, 32] {
            for probes in 0..=255 {
                for fill in [0, 0xff] {
                    let filter = [vec![fill; len], vec![probes]].concat();
                    let passes = policy.key_may_match(b"key", &filter);
                    let rate = policy.describe(&filter).unwrap().expected_rate;
                    assert_eq!(rate, f64::from(passes), "{} {len} {probes} {fill}", policy.name());
                    seen[usize::from(passes)] += 1;
                }
            }
        }
        assert_eq!(policy.describe(b""), None, "no bytes are no filter");
    }
    assert!(seen.iter().all(|&count| count > 1000), "{seen:?}");
}

#[test]
fn wrappers_describe_as_what_they_wrap() {
    let bloom = BloomFilterPolicy::new(10);
    let filter = [0x0f, 0xff, 0, 0, 0, 0, 0, 0, 6];
    let shape = bloom.describe(&filter);
    assert_eq!(shape.map(|shape| shape.bits_set), Some(12));
    let wrapped: [Box<dyn FilterPolicy>; 6] = [
        Box::new(InternalFilterPolicy::new(bloom)),
        Box::new(BashoInternalFilterPolicy::new(bloom)),
        Box::new(PrefixPolicy::new("test.Prefix", bloom, |_: &[u8]| None)),
        Box::new(Arc::new(bloom)),
        Box::new(Box::new(bloom)),
        Box::new(&bloom),
    ];
    for policy in &wrapped {
        assert_eq!(policy.describe(&filter), shape, "{}", policy.name());
    }
    assert_eq!(OpaquePolicy::new("test.Opaque").describe(&filter), None);
}
