//! False-positive rates: the formula, the sizes it leads to, and what filters really let pass. `FilterPolicy::describe` is
//! compared with counts and answers made in another way.

use std::sync::Arc;

use filterblock::{
    AtomicBloomFilter, BashoBloom2Policy, BashoInternalFilterPolicy, BloomFilterPolicy, CassandraBloomPolicy,
    Error, FilterPolicy, InternalFilterPolicy, KeyBuf, LegacyBloomPolicy, LegacyHash, Murmur3BloomPolicy,
    OpaquePolicy, PrefixPolicy, SharedPolicy, expected_false_positive_rate,
};

use crate::filters::{filter, random_key};

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{what}: expected {expected}, found {found}");
}

/// The share of absent keys that `may_match` lets pass.
fn measured(may_match: impl Fn(&[u8]) -> bool) -> f64 {
    const PROBES: u64 = 400_000;
    let absent = 1 << 40;
    (absent..absent + PROBES).filter(|&i| may_match(&random_key(i))).count() as f64 / PROBES as f64
}

/// Keys for a filter of 2^17 bits or just under. Rounding up to a power of two leaves its bits a key as they are, and
/// rare false positives can be counted: some 300 of them at 15 bits a key.
fn keys(bits_per_key: u32) -> KeyBuf {
    (0..(1 << 17) / u64::from(bits_per_key)).map(random_key).collect()
}

#[test]
fn measured_rates_are_those_of_the_bits_allocated() {
    for bits_per_key in [8, 10, 15] {
        let keys = keys(bits_per_key);
        let policies: [&dyn FilterPolicy; 5] = [
            &BloomFilterPolicy::new(bits_per_key),
            &LegacyBloomPolicy::new(bits_per_key).with_hash(LegacyHash::Unsigned),
            &BashoBloom2Policy::new(bits_per_key),
            &CassandraBloomPolicy::new(bits_per_key),
            &Murmur3BloomPolicy::new(bits_per_key),
        ];
        for policy in policies {
            let filter = filter(policy, &keys);
            let (&k, array) = filter.split_last().unwrap();
            let expected = expected_false_positive_rate(array.len() as u64 * 8, k.into(), keys.len() as u64);
            let found = measured(|key| policy.key_may_match(key, &filter));
            let ratio = found / expected;
            println!("{} at {bits_per_key}: {found:.6}, {ratio:.3} of {expected:.6}", policy.name());
            assert!(
                (0.85..=1.15).contains(&ratio),
                "{} at {bits_per_key}: {found}, {expected}",
                policy.name()
            );
        }
    }
}

#[test]
fn measured_rates_with_rounding_up_are_predicted_from_the_bits_there() {
    let policy = Murmur3BloomPolicy::new(6);
    let keys: KeyBuf = (0..12_000).map(random_key).collect();
    let filter = filter(&policy, &keys);
    assert_eq!(filter.len(), (1 << 17) / 8 + 1);
    let expected = expected_false_positive_rate(1 << 17, policy.probes().into(), 12_000);
    let ratio = measured(|key| policy.key_may_match(key, &filter)) / expected;
    assert!((0.85..=1.15).contains(&ratio), "{ratio}");
}

#[test]
fn an_empty_filter_is_not_estimated_to_hold_minus_zero_keys() {
    for (bits, probes) in [(64, 1), (1 << 20, 7)] {
        let count = AtomicBloomFilter::new(bits, probes).unwrap().estimated_count();
        assert_eq!(format!("{count}"), "0");
    }
}

#[test]
fn a_atomic_filter_estimates_its_rate_and_count() {
    let shared = AtomicBloomFilter::with_capacity(13_000, 10).unwrap();
    assert_eq!((shared.estimated_count(), shared.estimated_false_positive_rate()), (0.0, 0.0));
    for count in [1, 100, 13_000, 40_000] {
        shared.add_all((0..count).map(random_key));
        let ratio = shared.estimated_count() / count as f64;
        assert!((0.98..=1.02).contains(&ratio), "{count} keys: {ratio}");
    }
    let ratio = measured(|key| shared.may_contain(key)) / shared.estimated_false_positive_rate();
    assert!((0.95..=1.05).contains(&ratio), "{ratio}");

    let full = AtomicBloomFilter::new(64, 1).unwrap();
    full.add_all((0..10_000).map(random_key));
    assert_eq!((full.estimated_count(), full.estimated_false_positive_rate()), (f64::INFINITY, 1.0));
}

/// Calculated with 50 digits from (1 - (1 - 1/m)^(kn))^k.
#[test]
fn expected_rates() {
    for (bits, k, n, expected) in [
        (64, 6, 1, 5.372527884564e-07),
        (10_000, 6, 1_000, 8.438056610551e-03),
        (131_072, 10, 8_738, 7.439320901433e-04),
        (15_020, 10, 1_000, 7.372222318595e-04),
        (17_179_869_184, 7, 1_000_000_000, 4.701167317774e-04),
        (8_589_934_592, 30, 100_000_000, 1.216062619723e-16),
        (100, 1, 100_000, 1.000000000000e+00),
    ] {
        assert_near(
            expected_false_positive_rate(bits, k, n),
            expected,
            &format!("{bits} bits, {k}, {n} keys"),
        );
    }
    for (bits, k, n, expected) in
        [(0, 0, 0, 1.0), (100, 0, 0, 1.0), (0, 3, 0, 0.0), (100, 3, 0, 0.0), (0, 3, 1, 1.0), (1, 3, 1, 1.0)]
    {
        assert_eq!(expected_false_positive_rate(bits, k, n), expected, "{bits} bits, {k}, {n} keys");
    }
    let huge = expected_false_positive_rate(u64::MAX, u32::MAX, u64::MAX);
    assert!((0.0..=1.0).contains(&huge));
}

#[test]
fn leveldb_by_rate() {
    for (p, bits_per_key, probes) in [
        (0.99, 1, 1),
        (0.7, 1, 1),
        (0.5, 2, 1),
        (0.1, 5, 3),
        (0.05, 7, 4),
        (0.02, 9, 6),
        (0.01, 10, 6),
        (0.0084, 11, 7),
        (0.001, 15, 10),
        (0.0001, 20, 13),
        (1e-6, 29, 20),
        (1e-9, 44, 30),
        (2.4e-10, 47, 30),
    ] {
        let policy = BloomFilterPolicy::with_false_positive_rate(p).unwrap();
        assert_eq!((policy.bits_per_key(), policy.probes()), (bits_per_key, probes), "{p}");
        assert_eq!(policy, BloomFilterPolicy::new(bits_per_key));
    }
    for p in [f64::NAN, f64::NEG_INFINITY, -0.1, 0.0, 1.0, f64::INFINITY, 1e-10] {
        assert!(
            matches!(BloomFilterPolicy::with_false_positive_rate(p), Err(Error::InvalidOption { .. })),
            "{p}"
        );
    }
}

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
