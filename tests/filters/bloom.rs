//! LevelDB's Bloom filter: its hash, its bytes and its false-positive rate.

use filterblock::hash::{self, BLOOM_SEED};
use filterblock::{BloomFilterPolicy, Error, FilterPolicy, InternalFilterPolicy, KeyBuf, KeyHash};

use crate::interpreted::fewer;

fn filter_of<K: AsRef<[u8]>>(policy: &dyn FilterPolicy, keys: impl IntoIterator<Item = K>) -> Vec<u8> {
    let keys: KeyBuf = keys.into_iter().collect();
    let mut filter = Vec::new();
    policy.create_filter(keys.as_keys(), &mut filter).unwrap();
    filter
}

/// Values from LevelDB's `util/hash_test.cc`, calculated by its C++ code.
#[test]
fn hash_known_values() {
    for (bytes, expected) in [
        (&b""[..], 0xbc9f1d34),
        (&[0x62], 0xef1345c4),
        (&[0xc3, 0x97], 0x5b663814),
        (&[0xe2, 0x99, 0xa5], 0x323c078f),
        (&[0xe1, 0x80, 0xb9, 0x32], 0xed21633a),
    ] {
        assert_eq!(hash::leveldb(bytes, BLOOM_SEED), expected, "{bytes:x?}");
        assert_eq!(BloomFilterPolicy::new(10).hash_key(bytes), Some(KeyHash::new(expected.into())));
    }
}

#[test]
fn k_is_truncated_and_clamped() {
    let k = |bits| BloomFilterPolicy::new(bits).probes();
    assert_eq!([0, 1, 2, 3, 10, 15, 20, 43, 44, 50].map(k), [1, 1, 1, 2, 6, 10, 13, 29, 30, 30]);
    assert_eq!(k(u32::MAX), 30);
}

#[test]
fn empty_filter_of_the_policy_matches_nothing() {
    let policy = BloomFilterPolicy::new(10);
    let filter = filter_of(&policy, [b""; 0]);
    assert_eq!(filter, [0, 0, 0, 0, 0, 0, 0, 0, 6], "64 bits at least, and k");
    assert!(!policy.key_may_match(b"hello", &filter));
    assert!(!policy.key_may_match(b"hello", b""), "no bytes at all");
    assert!(!policy.key_may_match(b"hello", &[6]), "k alone");
}

#[test]
fn small_filter() {
    let policy = BloomFilterPolicy::new(10);
    let filter = filter_of(&policy, ["hello", "world"]);
    assert!(policy.key_may_match(b"hello", &filter) && policy.key_may_match(b"world", &filter));
    assert!(!policy.key_may_match(b"x", &filter) && !policy.key_may_match(b"foo", &filter));
}

#[test]
fn an_empty_key_is_a_key() {
    let policy = BloomFilterPolicy::new(10);
    let filter = filter_of(&policy, [b""]);
    assert_eq!(filter.len(), 9);
    assert!(policy.key_may_match(b"", &filter));
}

#[test]
fn size_counts_repetitions_and_rounds_up_to_bytes() {
    let len = |bits, keys| filter_of(&BloomFilterPolicy::new(bits), vec![b"k"; keys]).len();
    assert_eq!(len(10, 7), 9 + 1, "70 bits");
    assert_eq!(len(10, 6), 8 + 1, "60 bits, at least 64");
    assert_eq!(len(1, 1000), 125 + 1);
    assert_eq!(len(0, 1000), 8 + 1);
}

#[test]
fn reserved_and_zero_k_match() {
    let policy = BloomFilterPolicy::new(10);
    for k in 0..=255u8 {
        let mut filter = vec![0; 8];
        filter.push(k);
        assert_eq!(policy.key_may_match(b"any", &filter), k == 0 || k > 30, "k = {k}");
        filter[..8].fill(0xff);
        assert!(policy.key_may_match(b"any", &filter), "k = {k}");
    }
}

/// The k that is stored in the filter counts, not the policy's own.
#[test]
fn reads_filters_of_other_sizes() {
    let filter = filter_of(&BloomFilterPolicy::new(20), ["hello"]);
    assert!(BloomFilterPolicy::new(1).key_may_match(b"hello", &filter));
    assert!(!BloomFilterPolicy::new(1).key_may_match(b"world", &filter));
}

#[test]
fn by_hash_is_the_same() {
    let policy = BloomFilterPolicy::new(13);
    let keys: Vec<Vec<u8>> = (0..300 / fewer(6) as u32).map(|i| vec![i as u8; (i % 40) as usize]).collect();
    let hashes: Vec<KeyHash> = keys.iter().map(|key| policy.hash_key(key).unwrap()).collect();
    let mut filter = b"before".to_vec();
    policy.create_filter_from_hashes(&hashes, &mut filter).unwrap();
    assert_eq!(filter.split_off(6), filter_of(&policy, &keys));
    assert_eq!(filter, b"before");
}

/// Eight keys of one length are hashed together, and others one by one.
#[test]
fn an_empty_key_among_others_is_asked_as_itself() {
    let policy = BloomFilterPolicy::new(10);
    for empty in 0..8_usize {
        let keys: Vec<Vec<u8>> = (0..8).map(|i| vec![i as u8; if i == empty { 0 } else { 3 }]).collect();
        let filter = filter_of(&policy, keys.iter().filter(|key| !key.is_empty()));
        let probes: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &filter[..])).collect();
        let mut answers = [false; 8];
        policy.keys_may_match(&probes, &mut answers);
        answers[empty] = true;
        assert_eq!(answers, [true; 8], "key {empty} is empty");
    }
}

#[test]
fn many_at_once_is_the_same() {
    let policy = BloomFilterPolicy::new(10);
    let filters: Vec<Vec<u8>> =
        (0..50 / fewer(5) as u32).map(|i| filter_of(&policy, (0..i).map(u32::to_le_bytes))).collect();
    let keys: Vec<[u8; 4]> = (0..100 / fewer(5) as u32).map(u32::to_le_bytes).collect();
    let probes: Vec<(&[u8], &[u8])> =
        filters.iter().flat_map(|filter| keys.iter().map(move |key| (&key[..], &filter[..]))).collect();
    let mut answers = vec![false; probes.len()];
    policy.keys_may_match(&probes, &mut answers);
    for (&(key, filter), answer) in probes.iter().zip(answers) {
        assert_eq!(answer, policy.key_may_match(key, filter));
    }
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn absurd_sizes_are_errors() {
    let create = |bits, keys: usize| {
        let mut dst = b"before".to_vec();
        let keys: KeyBuf = vec![b"k"; keys].into_iter().collect();
        let result = BloomFilterPolicy::new(bits).create_filter(keys.as_keys(), &mut dst);
        if result.is_err() {
            assert_eq!(dst, b"before");
        }
        result
    };
    assert!(matches!(create(u32::MAX, 1), Err(Error::FilterSize { keys: 1, bits: 4_294_967_295, .. })));
    assert!(matches!(create(u32::MAX, 3), Err(Error::FilterSize { .. })));
    assert!(matches!(create(1 << 31, 1), Err(Error::FilterSize { .. })));
    assert!(matches!(create(43_000, 100_000), Err(Error::FilterSize { bits: 4_300_000_000, .. })));
    create(1 << 20, 1).unwrap();
}

/// The measurement of LevelDB's `util/bloom_test.cc`, with the same limits on lengths and rates.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn false_positive_rate() {
    let policy = BloomFilterPolicy::new(10);
    let (mut good, mut mediocre) = (0, 0);
    let mut len = 1u32;
    while len <= 10_000 {
        let filter = filter_of(&policy, (0..len).map(u32::to_le_bytes));
        assert!(filter.len() <= len as usize * 10 / 8 + 40, "{len} keys: {} bytes", filter.len());
        for key in 0..len {
            assert!(policy.key_may_match(&key.to_le_bytes(), &filter), "{len} keys: key {key} denied");
        }
        let passed = (0..10_000u32)
            .filter(|key| policy.key_may_match(&(key + 1_000_000_000).to_le_bytes(), &filter))
            .count();
        assert!(passed <= 200, "{len} keys: {passed} of 10,000 absent ones pass");
        *(if passed > 125 { &mut mediocre } else { &mut good }) += 1;
        len += 10u32.pow(len.ilog10());
    }
    assert!(mediocre <= good / 5, "{mediocre} mediocre filters, {good} good ones");
}

#[test]
fn internal_keys_are_filtered_by_user_key() {
    let plain = BloomFilterPolicy::new(10);
    let policy = InternalFilterPolicy::new(plain);
    assert_eq!(policy.name(), "leveldb.BuiltinBloomFilter2");
    let filter = filter_of(&policy, [b"appl\x01\x07\0\0\0\0\0\0", b"pear\0\x08\0\0\0\0\0\0"]);
    assert_eq!(filter, filter_of(&plain, [&b"appl"[..], b"pear"]));
    assert!(policy.key_may_match(b"appl\0\0\0\0\0\0\0\0", &filter));
    assert!(!policy.key_may_match(b"plum\0\0\0\0\0\0\0\0", &filter));
    assert!(policy.key_may_match(b"plum", &filter), "no internal key: may match");
    assert_eq!(policy.hash_key(b"plum"), None);
    assert_eq!(policy.hash_key(b"plum12345678"), plain.hash_key(b"plum"));

    let mut dst = b"before".to_vec();
    let short: KeyBuf = ["12345678", "1234567"].into_iter().collect();
    let error = policy.create_filter(short.as_keys(), &mut dst).unwrap_err();
    assert!(matches!(error, Error::ShortInternalKey { index: 1, expected: 8, found: 7, .. }), "{error}");
    assert_eq!(dst, b"before");
}

/// Some filters are nothing but k, or nothing at all.
#[test]
fn many_at_once_of_the_smallest_filters() {
    let policy = BloomFilterPolicy::new(10);
    for k in (0..=u8::MAX).step_by(fewer(31)) {
        let filters: [&[u8]; 5] = [&[], &[k], &[0, k], &[0x5a, k], &[0xff, k]];
        let keys: Vec<[u8; 4]> = (0..40_u32).map(u32::to_le_bytes).collect();
        let probes: Vec<(&[u8], &[u8])> =
            keys.iter().zip(filters.iter().cycle()).map(|(key, filter)| (&key[..], *filter)).collect();
        let mut answers = vec![false; probes.len()];
        policy.keys_may_match(&probes, &mut answers);
        for ((key, filter), answer) in probes.iter().zip(answers) {
            assert_eq!(answer, policy.key_may_match(key, filter), "{filter:?}");
            assert!(filter.len() > 1 || !answer, "{filter:?} has no bits");
        }
    }
}

/// LevelDB's `BloomFilterPolicy::CreateFilter`, step by step.
fn plain_filter(bits_per_key: usize, keys: &[Vec<u8>]) -> Vec<u8> {
    let probes = ((bits_per_key as f64 * 0.69) as u32).clamp(1, 30);
    let bytes = (keys.len() * bits_per_key).max(64).div_ceil(8);
    let mut filter = vec![0; bytes];
    for key in keys {
        let mut h = hash::leveldb(key, BLOOM_SEED);
        let delta = h.rotate_right(17);
        for _ in 0..probes {
            let position = h as usize % (bytes * 8);
            filter[position / 8] |= 1 << (position % 8);
            h = h.wrapping_add(delta);
        }
    }
    filter.push(probes as u8);
    filter
}

/// An array of up to 4096 bytes is filled in another way than a larger one.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn filters_of_4096_bytes_and_around_are_leveldbs() {
    let key = |i: usize| -> Vec<u8> { (i as u64 * 0x9e37).to_le_bytes().to_vec() };
    for count in 4095..=4098 {
        let keys: Vec<_> = (0..count).map(key).collect();
        let expected = plain_filter(8, &keys);
        assert_eq!(expected.len(), count + 1);
        assert!(filter_of(&BloomFilterPolicy::new(8), &keys) == expected, "{count} keys");
    }
}

/// Few keys are hashed, and their bits set, by other code than many keys.
#[test]
fn filters_of_few_keys_are_leveldbs() {
    for bits in [0, 1, 9, 10, 11, 12, 16, 20, 22, 44, 70] {
        let policy = BloomFilterPolicy::new(bits as u32);
        for count in 0..10_u32 {
            for len in [0, 1, 3, 4, 15, 16, 17, 64, 100].into_iter().step_by(fewer(4)) {
                // Keys of one length, keys of several lengths, and equal keys.
                for kind in 0..3 {
                    let key = |number: u32| -> Vec<u8> {
                        let number = if kind == 2 { 7 } else { number };
                        let len = if kind == 1 { len + number as usize } else { len };
                        (0..len).map(|at| (number * 31 + at as u32 * 7 + 1) as u8 ^ 0x80).collect()
                    };
                    let keys: Vec<_> = (0..count).map(key).collect();
                    let expected = plain_filter(bits, &keys);
                    assert_eq!(filter_of(&policy, &keys), expected, "{bits} bits, {count} keys of {len}");
                    let hashes: Vec<_> = keys.iter().map(|key| policy.hash(key)).collect();
                    let mut of_hashes = b"before".to_vec();
                    policy.create_filter_from_hashes(&hashes, &mut of_hashes).unwrap();
                    assert_eq!(of_hashes, [b"before", &expected[..]].concat());
                }
            }
        }
    }
}
