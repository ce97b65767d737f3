//! The lengths of filters and filter blocks before they are made.

use filterblock::{
    BashoBloom2Policy, BashoInternalFilterPolicy, BloomFilterPolicy, CassandraBloomPolicy,
    FilterBlockBuilder, FilterPolicy, InternalFilterPolicy, KeyBuf, Keys, LegacyBloomPolicy,
    Murmur3BloomPolicy, OpaquePolicy, PrefixPolicy, Result, SharedPolicy,
};

use crate::filters::{filter, numbered_key, numbered_keys};

fn policies() -> Vec<SharedPolicy> {
    use std::sync::Arc;
    vec![
        Arc::new(BloomFilterPolicy::new(10)),
        Arc::new(BloomFilterPolicy::new(0)),
        Arc::new(BloomFilterPolicy::new(13)),
        Arc::new(LegacyBloomPolicy::new(17)),
        Arc::new(BashoBloom2Policy::default()),
        Arc::new(CassandraBloomPolicy::new(9)),
        Arc::new(CassandraBloomPolicy::with_false_positive_rate(0.01).unwrap()),
        Arc::new(Murmur3BloomPolicy::new(10)),
        Arc::new(Box::new(BloomFilterPolicy::new(10))),
    ]
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn every_policy_tells_the_length_that_its_filter_has() {
    for policy in policies() {
        for count in [0, 1, 2, 5, 6, 7, 63, 64, 65, 100, 1000, 7777] {
            let made = filter(&policy, &numbered_keys(count)).len();
            assert_eq!(policy.filter_len(count as usize), Some(made), "{}: {count} keys", policy.name());
        }
    }
    let internal: KeyBuf = (0..500_u32).map(|key| [&numbered_key(key)[..], &[1; 8]].concat()).collect();
    for policy in [
        &InternalFilterPolicy::new(BloomFilterPolicy::new(10)) as &dyn FilterPolicy,
        &BashoInternalFilterPolicy::new(BloomFilterPolicy::new(10)),
    ] {
        assert_eq!(policy.filter_len(500), Some(filter(policy, &internal).len()));
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn a_length_that_cannot_be_told_is_none() {
    assert_eq!(OpaquePolicy::new("some").filter_len(1), None);
    assert_eq!(BloomFilterPolicy::new(1 << 10).filter_len((1 << 22) + 1), None);
    assert_eq!(BloomFilterPolicy::new(10).filter_len(usize::MAX), None);
    assert_eq!(Murmur3BloomPolicy::new(10).filter_len(usize::MAX), None);
    assert_eq!(CassandraBloomPolicy::new(15).filter_len(usize::MAX), None);
}

/// Equal prefixes count once in the filter, so the length that `filter_len` returns is the greatest possible.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn a_filter_of_prefixes_is_never_longer_than_told() {
    let policy = PrefixPolicy::new("example.Two", BloomFilterPolicy::new(10), |key| Some(key.len().min(2)));
    for keys in [numbered_keys(300), ["aa1", "aa2", "bb3"].into_iter().collect(), KeyBuf::new()] {
        let most = policy.filter_len(keys.as_keys().len()).unwrap();
        assert!(filter(&policy, &keys).len() <= most);
    }
}

/// Whether there are no keys yet or hundreds, the estimated length is that of the block that is then made.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn the_length_of_a_block_is_known_before_its_end() {
    for policy in policies() {
        for base_lg in [0, 4, 11, 63] {
            for count in [0, 1, 3, 50, 400] {
                let mut builder = FilterBlockBuilder::with_base_lg(&policy, base_lg).unwrap();
                for key in 0..count {
                    builder.start_block(u64::from(key / 3) * 7).unwrap();
                    builder.add_key(&numbered_key(key));
                }
                let estimated = builder.estimated_len();
                let block = builder.finish().unwrap();
                assert_eq!(estimated, Some(block.len() as u64), "{} {base_lg} {count}", policy.name());
                assert_eq!(builder.estimated_len(), Some(5), "the builder starts anew");
            }
        }
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn hashes_and_ranges_without_keys_are_counted() {
    let policy = BloomFilterPolicy::new(10);
    let mut builder = FilterBlockBuilder::new(policy);
    builder.start_block(1 << 20).unwrap();
    (0..100).for_each(|key| builder.add_hash(policy.hash(&numbered_key(key))).unwrap());
    builder.add_keys(numbered_keys(77).as_keys());
    builder.start_block(3 << 20).unwrap();
    let estimated = builder.estimated_len();
    assert_eq!(estimated, Some(builder.finish().unwrap().len() as u64));
}

/// A policy without known lengths. Only while a range has keys is the block's length unknown.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn without_a_length_the_block_has_none_while_a_range_is_open() {
    struct Silent;
    impl FilterPolicy for Silent {
        fn name(&self) -> &str {
            "example.Silent"
        }
        fn create_filter(&self, keys: Keys<'_>, dst: &mut Vec<u8>) -> Result<()> {
            dst.extend(keys.iter().flatten());
            Ok(())
        }
        fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
            true
        }
    }
    let mut builder = FilterBlockBuilder::new(Silent);
    assert_eq!(builder.estimated_len(), Some(5));
    builder.add_key(b"apple");
    assert_eq!(builder.estimated_len(), None);
    builder.start_block(4096).unwrap();
    assert_eq!(builder.estimated_len(), Some(5 + 5 + 8));
    assert_eq!(builder.finish().unwrap().len(), 18);
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn policies_are_constants_and_hash_every_key() {
    const BLOOM: BloomFilterPolicy = BloomFilterPolicy::new(10);
    static LEGACY: LegacyBloomPolicy = LegacyBloomPolicy::new(10);
    static BASHO: BashoBloom2Policy = BashoBloom2Policy::new(16);
    static CASSANDRA: CassandraBloomPolicy = CassandraBloomPolicy::new(10);
    for bits in 0..3000 {
        let probes = (f64::from(bits) * 0.69) as u32;
        assert_eq!(u32::from(BloomFilterPolicy::new(bits).probes()), probes.clamp(1, 30));
        let probes = (u64::from(bits) * 69 / 100) as u8;
        assert_eq!(LegacyBloomPolicy::new(bits).probes(), probes.clamp(1, 30));
    }
    assert_eq!(BloomFilterPolicy::new(u32::MAX).probes(), 30);
    for key in (0..300).map(numbered_key) {
        assert_eq!(Some(BLOOM.hash(&key)), BLOOM.hash_key(&key));
        assert_eq!(Some(LEGACY.hash(&key)), LEGACY.hash_key(&key));
        assert_eq!(Some(BASHO.hash(&key)), BASHO.hash_key(&key));
        assert_eq!(Some(CASSANDRA.hash(&key)), CASSANDRA.hash_key(&key));
    }
}
