//! Filters that no builder makes. Their answers are LevelDB's, too.

use filterblock::{BloomFilterPolicy, FilterPolicy};

use super::levels::at_each_level;
use super::reference::{random_keys, reference_match};
use crate::interpreted::fewer;

/// Filters of many sizes with a k that they cannot have, or with no bits at all.
fn damaged() -> Vec<Vec<u8>> {
    let mut filters = vec![Vec::new()];
    // A k without bits.
    filters.extend((0..=255).step_by(fewer(50)).map(|k| vec![k]));
    for len in (1..=300).chain([511, 512, 513, 4095, 4096, 4097]).step_by(fewer(40)) {
        for k in [0, 31, 32, 63, 64, 127, 128, 255] {
            for bits in [0, 0xff] {
                let mut filter = vec![bits; len];
                filter.push(k);
                filters.push(filter);
            }
        }
    }
    filters
}

#[test]
fn damaged_filters_answer_as_leveldbs_do() {
    let policy = BloomFilterPolicy::new(10);
    let keys = random_keys(41, 5, |_| 16);
    let filters = damaged();
    let expected: Vec<bool> = filters.iter().map(|filter| reference_match(&keys[0], filter)).collect();
    at_each_level(|| {
        for (filter, &expected) in filters.iter().zip(&expected) {
            let what = || format!("{} bytes, k {:?}", filter.len(), filter.last());
            assert_eq!(policy.key_may_match(&keys[0], filter), expected, "{}", what());
            let hash = policy.hash_key(&keys[0]).unwrap();
            assert_eq!(policy.hash_may_match(hash, filter), expected, "{} by hash", what());
            let probes: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &filter[..])).collect();
            let mut answers = vec![!expected; probes.len()];
            policy.keys_may_match(&probes, &mut answers);
            assert!(answers.iter().all(|answer| *answer == expected), "{} in a batch", what());
        }
        let probes: Vec<(&[u8], &[u8])> = filters.iter().map(|filter| (&keys[0][..], &filter[..])).collect();
        let mut answers = vec![false; probes.len()];
        policy.keys_may_match(&probes, &mut answers);
        assert_eq!(answers, expected, "each beside others");
    });
}
