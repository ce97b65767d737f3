//! Policies that hash neighbouring keys of one length side by side. Filters and answers are the same as key by key.

use filterblock::policy::AtomicBloomFilter;
use filterblock::{
    BashoBloom2Policy, CassandraBloomPolicy, FilterPolicy, KeyBuf, KeyHash, Keys, Murmur3BloomPolicy,
};

use crate::interpreted::fewer;

fn key(seed: usize, len: usize) -> Vec<u8> {
    let mut state = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect()
}

/// The filter, made from one key at a time.
fn alone(policy: &dyn FilterPolicy, keys: &[Vec<u8>], filter: &[u8]) -> Vec<u8> {
    let hashes: Option<Vec<KeyHash>> = keys.iter().map(|key| policy.hash_key(key)).collect();
    let mut alone = Vec::new();
    if let Some(hashes) = hashes {
        policy.create_filter_from_hashes(&hashes, &mut alone).unwrap();
    } else {
        // Of these policies, only `Murmur3BloomPolicy` has no hashes. `AtomicBloomFilter` makes the same filter key by
        // key.
        let atomic = AtomicBloomFilter::new((filter.len() as u64 - 1) * 8, filter[filter.len() - 1]).unwrap();
        keys.iter().for_each(|key| atomic.add(key));
        atomic.write_filter(&mut alone).unwrap();
    }
    alone
}

fn check(policy: &dyn FilterPolicy, keys: &[Vec<u8>]) {
    let what = || format!("{}, {} keys of {:?} bytes", policy.name(), keys.len(), keys.first().map(Vec::len));
    let buf: KeyBuf = keys.iter().collect();
    let mut filter = Vec::new();
    policy.create_filter(buf.as_keys(), &mut filter).unwrap();
    assert!(filter == alone(policy, keys, &filter), "{}", what());

    // Nothing says that these are of equal length.
    let bytes = keys.concat();
    let starts: Vec<usize> =
        keys.iter().scan(0, |end, key| Some(std::mem::replace(end, *end + key.len()))).collect();
    let mut by_starts = Vec::new();
    policy.create_filter(Keys::new(&bytes, &starts).unwrap(), &mut by_starts).unwrap();
    assert!(by_starts == filter, "{} by starts", what());

    // Filters of several sizes, among them one that matches nothing and one of another encoding.
    let mut other = Vec::new();
    policy.create_filter([b"another key"].into_iter().collect::<KeyBuf>().as_keys(), &mut other).unwrap();
    let asked: Vec<Vec<u8>> =
        keys.iter().cloned().chain((0..40).map(|at| key(1000 + at, keys[0].len()))).collect();
    for filters in
        [vec![&filter[..]], vec![&other], vec![&filter, &other], vec![&filter, &[], &other, b"????????\xff"]]
    {
        let probes: Vec<(&[u8], &[u8])> =
            asked.iter().zip(filters.iter().cycle()).map(|(key, filter)| (&key[..], *filter)).collect();
        let expected: Vec<bool> =
            probes.iter().map(|(key, filter)| policy.key_may_match(key, filter)).collect();
        let mut answers = vec![true; probes.len()];
        policy.keys_may_match(&probes, &mut answers);
        assert_eq!(answers, expected, "{}", what());
    }
}

#[test]
fn as_key_by_key() {
    let lens = || (0..=40).chain([63, 64, 65, 66, 100, 131, 255, 256, 300]).step_by(fewer(9));
    for bits_per_key in [10, 16, 3] {
        let policies: [Box<dyn FilterPolicy>; 3] = [
            Box::new(CassandraBloomPolicy::new(bits_per_key)),
            Box::new(Murmur3BloomPolicy::new(bits_per_key)),
            // Interpreted, the sieve for its primes takes minutes.
            if cfg!(miri) {
                Box::new(Murmur3BloomPolicy::new(5))
            } else {
                Box::new(BashoBloom2Policy::new(bits_per_key))
            },
        ];
        for policy in &policies {
            for len in lens() {
                for count in [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 41].into_iter().step_by(fewer(4)) {
                    let keys: Vec<Vec<u8>> = (0..count).map(|at| key(at, len)).collect();
                    check(&**policy, &keys);
                    // One key of another length.
                    let mut unlike = keys;
                    unlike[count / 2].push(0xff);
                    check(&**policy, &unlike);
                }
            }
            let mixed: Vec<Vec<u8>> = (0..60).map(|at| key(at, at * 7 % 23)).collect();
            check(&**policy, &mixed);
        }
    }
}

/// The filters are larger than those in which a byte stands for a bit while they are made, and than those whose
/// positions have another modulus.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn as_key_by_key_in_large_filters() {
    let keys: Vec<Vec<u8>> = (0..20_000).map(|at| key(at, 16)).collect();
    for bits_per_key in [10, 15] {
        check(&CassandraBloomPolicy::new(bits_per_key), &keys);
        check(&Murmur3BloomPolicy::new(bits_per_key), &keys);
        check(&BashoBloom2Policy::new(bits_per_key), &keys);
    }
}
