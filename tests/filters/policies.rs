//! Rules that hold for every policy that comes with the library.

use std::sync::{Arc, LazyLock};

use filterblock::{
    BashoBloom2Policy, BashoInternalFilterPolicy, BloomFilterPolicy, CassandraBloomPolicy, Error,
    FilterBlockReader, FilterPolicy, InternalFilterPolicy, KeyBuf, KeyHash, Keys, LegacyBloomPolicy,
    LegacyHash, Murmur3BloomPolicy, OpaquePolicy, Origin, Result, SharedPolicy,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::filters::{filter, numbered_key, numbered_keys};
use crate::interpreted::fewer;

fn policies(bits_per_key: u32) -> Vec<Box<dyn FilterPolicy>> {
    let legacy = LegacyBloomPolicy::new(bits_per_key);
    vec![
        Box::new(BloomFilterPolicy::new(bits_per_key)),
        Box::new(legacy),
        Box::new(legacy.with_hash(LegacyHash::Unsigned)),
        Box::new(legacy.with_hash(LegacyHash::Signed)),
        // Interpreted, the sieve for its primes alone takes minutes.
        #[cfg(not(miri))]
        Box::new(BashoBloom2Policy::new(bits_per_key)),
        Box::new(CassandraBloomPolicy::new(bits_per_key)),
        Box::new(
            CassandraBloomPolicy::with_false_positive_rate(0.9 / f64::from(bits_per_key.max(1))).unwrap(),
        ),
        Box::new(Murmur3BloomPolicy::new(bits_per_key)),
        Box::new(Murmur3BloomPolicy::new(bits_per_key).with_probes(64).unwrap()),
        Box::new(InternalFilterPolicy::new(Murmur3BloomPolicy::new(bits_per_key))),
        Box::new(BashoInternalFilterPolicy::new(CassandraBloomPolicy::new(bits_per_key))),
    ]
}

/// LevelDB's policy in each wrapper and behind each pointer, by value and as `dyn`.
fn wrapped() -> Vec<Box<dyn FilterPolicy>> {
    static PLAIN: LazyLock<BloomFilterPolicy> = LazyLock::new(|| BloomFilterPolicy::new(10));
    let (plain, shared): (_, SharedPolicy) = (*PLAIN, Arc::new(*PLAIN));
    vec![
        Box::new(&*PLAIN),
        Box::new(&*PLAIN as &dyn FilterPolicy),
        Box::new(Box::new(plain)),
        Box::new(Box::new(plain) as Box<dyn FilterPolicy>),
        Box::new(Arc::new(plain)),
        Box::new(Arc::clone(&shared)),
        Box::new(InternalFilterPolicy::new(plain)),
        Box::new(InternalFilterPolicy::new(Arc::clone(&shared))),
        Box::new(BashoInternalFilterPolicy::new(plain)),
        Box::new(BashoInternalFilterPolicy::new(shared)),
        Box::new(InternalFilterPolicy::new(BashoInternalFilterPolicy::new(InternalFilterPolicy::new(plain)))),
    ]
}

fn hashes(policy: &dyn FilterPolicy, keys: &KeyBuf) -> Option<Vec<KeyHash>> {
    keys.as_keys().iter().map(|key| policy.hash_key(key)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64 / fewer(32) as u32))]

    /// Keys have 16 bytes or more, since the wrappers cut their suffix off.
    #[test]
    fn no_key_is_ever_denied(keys in vec(vec(any::<u8>(), 16..60), 0..100 / fewer(20)), bits_per_key in 0_u32..60) {
        let keys: KeyBuf = keys.into_iter().collect();
        for policy in policies(bits_per_key) {
            let mut filter = b"before".to_vec();
            policy.create_filter(keys.as_keys(), &mut filter).unwrap();
            let filter = filter.strip_prefix(b"before").unwrap();
            for key in keys.as_keys().iter() {
                prop_assert!(policy.key_may_match(key, filter), "{} denies {key:x?}", policy.name());
            }
            if keys.is_empty() {
                continue;
            }
            // The way by hash makes the same filter, and answers the same.
            let Some(hashes) = hashes(&policy, &keys) else {
                prop_assert_eq!(policy.name(), "filterblock.Murmur3BloomFilter1");
                continue;
            };
            let mut by_hash = b"before".to_vec();
            policy.create_filter_from_hashes(&hashes, &mut by_hash).unwrap();
            prop_assert_eq!(by_hash.strip_prefix(b"before"), Some(filter));
            for hash in hashes {
                prop_assert!(policy.hash_may_match(hash, filter));
            }
        }
    }

    /// Filters may be any bytes, and each way of asking gives the same answer.
    #[test]
    fn any_bytes_can_be_asked(filter in vec(any::<u8>(), 0..80), last in any::<u8>(), key in vec(any::<u8>(), 0..40)) {
        for last in [last, last % 32, 64] {
            let filter = [&filter[..], &[last]].concat();
            for policy in policies(10) {
                let answer = policy.key_may_match(&key, &filter);
                if let Some(hash) = policy.hash_key(&key) {
                    prop_assert_eq!(policy.hash_may_match(hash, &filter), answer, "{}", policy.name());
                }
                let mut answers = [!answer];
                policy.keys_may_match(&[(&key, &filter)], &mut answers);
                prop_assert_eq!(answers, [answer]);
                // Many hashes for one filter: more than are checked together, and one more or fewer than answers.
                let mut others: Vec<Vec<u8>> = (0..150_u8).map(|n| [&key[..], &[n]].concat()).collect();
                others.push(key.clone());
                let hashes: Vec<_> = others.iter().filter_map(|key| policy.hash_key(key)).collect();
                let expected: Vec<_> = hashes.iter().map(|hash| policy.hash_may_match(*hash, &filter)).collect();
                for len in [hashes.len(), hashes.len().saturating_sub(1), hashes.len() + 1] {
                    let mut answers: Vec<_> = expected.iter().map(|answer| !answer).chain([true]).take(len).collect();
                    policy.hashes_may_match(&hashes, &filter, &mut answers);
                    prop_assert_eq!(&answers[..len.min(expected.len())], &expected[..len.min(expected.len())]);
                    prop_assert!(answers[len.min(expected.len())..].iter().all(|answer| *answer));
                }
            }
        }
    }
}

#[test]
fn policies_take_the_hashes_that_they_make() {
    for policy in policies(10) {
        assert_eq!(policy.takes_hashes(), policy.hash_key(&numbered_key(20)).is_some(), "{}", policy.name());
    }
}

#[test]
fn a_filter_of_no_bytes_matches_nothing() {
    for policy in policies(10) {
        assert!(!policy.key_may_match(&numbered_key(20), b""), "{}", policy.name());
    }
}

#[test]
fn a_filter_of_no_keys_matches_nothing() {
    for policy in policies(10) {
        let filter = filter(&policy, &KeyBuf::new());
        assert_eq!(filter.len(), 9, "{}", policy.name());
        assert!(!policy.key_may_match(&numbered_key(20), &filter), "{}", policy.name());
    }
}

/// Names are stored in files, so they must never change.
#[test]
fn names_are_as_tables_store_them() {
    assert_eq!(BloomFilterPolicy::new(10).name(), "leveldb.BuiltinBloomFilter2");
    assert_eq!(LegacyBloomPolicy::new(10).name(), "leveldb.BuiltinBloomFilter");
    assert_eq!(BashoBloom2Policy::new(10).name(), "leveldb.BuiltinBloomFilter2");
    assert_eq!(CassandraBloomPolicy::new(10).name(), "filterblock.CassandraBloomFilter1");
    assert_eq!(Murmur3BloomPolicy::new(10).name(), "filterblock.Murmur3BloomFilter1");
}

/// LevelDB's relatives here answer as LevelDB does: an array of no bytes matches nothing, more than 30 probes match
/// anything, and so do no probes.
#[cfg_attr(miri, ignore = "sieves Basho's primes")]
#[test]
fn odd_filters_are_answered_as_by_leveldb() {
    let absent = numbered_key(20);
    let legacy = LegacyBloomPolicy::new(10);
    let policies: [&dyn FilterPolicy; 5] = [
        &BloomFilterPolicy::new(10),
        &legacy,
        &legacy.with_hash(LegacyHash::Unsigned),
        &legacy.with_hash(LegacyHash::Signed),
        &BashoBloom2Policy::new(10),
    ];
    for policy in policies {
        for probes in (0..=255).step_by(fewer(31)) {
            assert!(!policy.key_may_match(&absent, &[probes]), "{} of no bits", policy.name());
            let empty = [0, 0, 0, 0, 0, 0, 0, 0, 0, probes];
            let expected = !(1..=30).contains(&probes);
            assert_eq!(
                policy.key_may_match(&absent, &empty),
                expected,
                "{} of {probes} probes",
                policy.name()
            );
        }
    }
}

#[test]
fn other_encodings_may_match_in_ours() {
    let absent = numbered_key(20);
    let answer = |policy: &dyn FilterPolicy, array_len: usize, probes: u8| {
        let mut filter = vec![0; array_len];
        filter.push(probes);
        policy.key_may_match(&absent, &filter)
    };
    let cassandra = CassandraBloomPolicy::new(10);
    let murmur3 = Murmur3BloomPolicy::new(10);
    for len in 0..=40 {
        assert_eq!(answer(&cassandra, len, 7), ![8, 16, 24, 32, 40].contains(&len), "{len} bytes");
        assert_eq!(answer(&murmur3, len, 7), ![8, 16, 32].contains(&len), "{len} bytes");
    }
    for probes in (0..=255).step_by(fewer(31)) {
        assert_eq!(answer(&cassandra, 16, probes), !(1..=15).contains(&probes), "{probes} probes");
        assert_eq!(answer(&murmur3, 16, probes), !(1..=64).contains(&probes), "{probes} probes");
    }
}

/// For each policy, the original's 32-bit integers reach to the end of the smaller array, but not to that of the larger
/// one. The arrays are zero pages, nearly all of which are never touched.
#[test]
#[cfg(all(target_pointer_width = "64", not(miri)))]
fn larger_arrays_than_the_originals_can_ask_match() {
    let absent = numbered_key(20);
    let answer = |policy: &dyn FilterPolicy, array_len: usize| {
        let mut filter = vec![0; array_len + 1];
        filter[array_len] = 7;
        policy.key_may_match(&absent, &filter)
    };
    let most = (1 << 29) - 1;
    assert!(!answer(&BashoBloom2Policy::new(10), most) && answer(&BashoBloom2Policy::new(10), most + 1));
    let most = (1 << 28) - 8;
    assert!(
        !answer(&CassandraBloomPolicy::new(10), most) && answer(&CassandraBloomPolicy::new(10), most + 8)
    );
}

#[test]
fn options_can_be_asked() {
    assert_eq!((BloomFilterPolicy::new(12).bits_per_key(), BloomFilterPolicy::new(12).probes()), (12, 8));
    let basho = BashoBloom2Policy::default();
    assert_eq!((basho.bits_per_key(), basho.probes()), (16, 11));
    let legacy = LegacyBloomPolicy::new(12);
    assert_eq!((legacy.bits_per_key(), legacy.probes()), (12, 8));
    let murmur3 = Murmur3BloomPolicy::new(12);
    assert_eq!((murmur3.bits_per_key(), murmur3.probes()), (12, 8));
    for (reads_basho, policy) in [
        (false, &BloomFilterPolicy::new(10) as &dyn FilterPolicy),
        (true, &basho),
        (false, &InternalFilterPolicy::new(legacy)),
        (true, &InternalFilterPolicy::new(basho)),
        (false, &BashoInternalFilterPolicy::new(legacy)),
        (true, &BashoInternalFilterPolicy::new(basho)),
    ] {
        assert_eq!(policy.reads_dialect(Origin::Basho), reads_basho, "{}", policy.name());
        assert!(!policy.reads_dialect(Origin::RocksDb), "{}", policy.name());
        let behind: [&dyn FilterPolicy; 3] = [&policy, &Box::new(policy), &Arc::new(policy)];
        assert!(behind.iter().all(|policy| policy.reads_dialect(Origin::Basho) == reads_basho));
    }
}

#[test]
fn a_policy_that_stands_for_a_name_lets_all_match() {
    let policy = OpaquePolicy::new("some.Filter");
    assert_eq!(policy.name(), "some.Filter");
    assert!(policy.key_may_match(b"k", b"") && policy.hash_may_match(KeyHash::new(1), b""));
    assert!(policy.create_filter(numbered_keys(1).as_keys(), &mut Vec::new()).is_err());
}

#[test]
fn wrappers_show_what_they_wrap() {
    let shown = format!("{:?}", BashoInternalFilterPolicy::new(Murmur3BloomPolicy::new(10)));
    assert_eq!(shown, r#"BashoInternalFilterPolicy("filterblock.Murmur3BloomFilter1")"#);
}

/// What a wrapper says of internal keys is what the policy within says of the user keys.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn wrappers_ask_the_policy_within_about_user_keys() {
    let (bloom, murmur3) = (BloomFilterPolicy::new(10), Murmur3BloomPolicy::new(10));
    let wrappers: [(&dyn FilterPolicy, &dyn FilterPolicy); 4] = [
        (&InternalFilterPolicy::new(bloom), &bloom),
        (&InternalFilterPolicy::new(murmur3), &murmur3),
        (&BashoInternalFilterPolicy::new(bloom), &bloom),
        (&BashoInternalFilterPolicy::new(murmur3), &murmur3),
    ];
    let user_keys = numbered_keys(200);
    // Values have type 1, and in Riak's databases no time.
    let internal: KeyBuf = user_keys.as_keys().iter().map(|key| [key, &[1; 8]].concat()).collect();
    for (wrapper, within) in wrappers {
        assert_eq!((wrapper.name(), wrapper.takes_hashes()), (within.name(), within.takes_hashes()));
        assert!(wrapper.takes_hashes() == (within.name() == bloom.name()));
        let hashed = |policy: &dyn FilterPolicy, keys: &KeyBuf| -> Vec<KeyHash> {
            keys.as_keys().iter().filter_map(|key| policy.hash_key(key)).collect()
        };
        let hashes = hashed(wrapper, &internal);
        assert_eq!(hashes, hashed(within, &user_keys));
        assert_eq!(hashes.len(), if within.takes_hashes() { 200 } else { 0 });
        let mut together = Vec::new();
        let are_hashed = wrapper.hash_keys(internal.as_keys(), &mut together);
        assert_eq!(together, if are_hashed { &hashes[..] } else { &[] });
        let few = filter(within, &numbered_keys(20));
        let answers = |policy: &dyn FilterPolicy| -> Vec<bool> {
            hashes.iter().map(|hash| policy.hash_may_match(*hash, &few)).collect()
        };
        assert_eq!(answers(wrapper), answers(within));
        let together = |policy: &dyn FilterPolicy, before: bool| {
            let mut answers = vec![before; hashes.len()];
            policy.hashes_may_match(&hashes, &few, &mut answers);
            answers
        };
        for before in [false, true] {
            assert_eq!(together(wrapper, before), answers(within));
        }
    }
}

/// The bits a key are none, or as many as the originals' integer has room for. A filter of no keys is as small as ever.
#[cfg_attr(miri, ignore = "sieves Basho's primes")]
#[test]
fn the_most_bits_a_key() {
    for most in [0, i32::MAX as u32] {
        let none = KeyBuf::new();
        assert_eq!(filter(&BloomFilterPolicy::new(most), &none).len(), 9);
        assert_eq!(filter(&BashoBloom2Policy::new(most), &none).len(), 9);
    }
    let refused =
        |policy: &dyn FilterPolicy| policy.create_filter(KeyBuf::new().as_keys(), &mut Vec::new()).is_err();
    assert!(refused(&BloomFilterPolicy::new(1 << 31)) && refused(&BashoBloom2Policy::new(1 << 31)));
}

/// The limits are checked before anything is allocated, and `dst` stays as it was.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn absurd_sizes_are_errors() {
    let legacy = LegacyBloomPolicy::new(i32::MAX as u32);
    let cases: [(&dyn FilterPolicy, u32, u64); 5] = [
        // The number of bits fits 32 bits, but not after rounding up to bytes.
        (&legacy, 2, (1 << 32) - 8),
        (&LegacyBloomPolicy::new(1 << 30), 4, (1 << 32) - 8),
        (&BashoBloom2Policy::new(i32::MAX as u32), 2, (1 << 32) - 8),
        (&BashoBloom2Policy::new(u32::MAX), 1, (1 << 32) - 8),
        (&Murmur3BloomPolicy::new(u32::MAX), 5, 1 << 34),
    ];
    for (policy, keys, expected) in cases {
        let keys = numbered_keys(keys);
        let check = |made: &dyn Fn(&mut Vec<u8>) -> filterblock::Result<()>| {
            let mut dst = Vec::with_capacity(100);
            dst.extend(b"before");
            let capacity = dst.capacity();
            let error = made(&mut dst).unwrap_err();
            let Error::FilterSize { keys: found, limit, .. } = error else {
                panic!("{}: {error}", policy.name())
            };
            assert_eq!((found, limit), (keys.len() as u64, expected), "{}", policy.name());
            assert_eq!((&dst[..], dst.capacity()), (&b"before"[..], capacity));
        };
        check(&|dst| policy.create_filter(keys.as_keys(), dst));
        if let Some(hashes) = hashes(policy, &keys) {
            check(&|dst| policy.create_filter_from_hashes(&hashes, dst));
        }
    }
}

/// Slice lengths around the batch sizes 8, 32 and 128 and their multiples.
fn batch_lengths() -> Vec<usize> {
    let around =
        [8, 16, 32, 64, 96, 128, 160, 256, 288].into_iter().flat_map(|size| [size - 1, size, size + 1]);
    (0..4).chain(around).chain([300]).step_by(fewer(7)).collect()
}

/// The answers before the batch is asked: three times true and three times false in turn.
fn preset(len: usize, with: usize) -> Vec<bool> {
    (0..len).map(|index| (index / 3 + with).is_multiple_of(2)).collect()
}

/// Answers after the end of the shorter slice stay as they were.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn batches_of_unequal_slices_answer_up_to_the_shorter_one() {
    // The keys are long enough for every wrapper to cut its suffix off.
    let keys: Vec<Vec<u8>> = (0..300).map(|i| [&numbered_key(i)[..], &[1; 24]].concat()).collect();
    let lengths = batch_lengths();
    for policy in policies(10).into_iter().chain(wrapped()) {
        let made = |range: std::ops::Range<usize>| filter(&policy, &keys[range].iter().collect::<KeyBuf>());
        let one = made(0..60);
        let eights: Vec<Vec<u8>> = (0..38).map(|part| made(part * 8..(part * 8 + 5).min(300))).collect();
        let each: Vec<Vec<u8>> = (0..300).map(|i| made(i / 2 * 2..i / 2 * 2 + 1)).collect();
        let kinds: [Vec<&[u8]>; 4] = [
            (0..300).map(|_| &one[..]).collect(),
            (0..300).map(|i| &eights[i / 8][..]).collect(),
            (0..300).map(|i| &each[i][..]).collect(),
            (0..300).map(|i| if i % 40 == 33 { &[] } else { &one[..] }).collect(),
        ];
        for (kind, filters) in kinds.iter().enumerate() {
            let probes: Vec<(&[u8], &[u8])> =
                keys.iter().zip(filters).map(|(key, filter)| (&key[..], *filter)).collect();
            let expected: Vec<bool> =
                probes.iter().map(|(key, filter)| policy.key_may_match(key, filter)).collect();
            assert!(expected[..60].contains(&true) && expected.contains(&false));
            for &asked in &lengths {
                for &wanted in &lengths {
                    let mut answers = preset(wanted, asked);
                    policy.keys_may_match(&probes[..asked], &mut answers);
                    let answered = asked.min(wanted);
                    let what =
                        || format!("{}, filters {kind}: {asked} probes, {wanted} answers", policy.name());
                    assert_eq!(answers[..answered], expected[..answered], "{}", what());
                    assert_eq!(answers[answered..], preset(wanted, asked)[answered..], "{}", what());
                }
            }
        }
    }
}

/// A policy that counts on slices of equal length, and fills in the answers of the first five probes only.
struct Careless;

impl FilterPolicy for Careless {
    fn name(&self) -> &str {
        "test.Careless"
    }
    fn create_filter(&self, _: Keys<'_>, _: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
    fn key_may_match(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
    fn keys_may_match(&self, probes: &[(&[u8], &[u8])], answers: &mut [bool]) {
        assert_eq!(probes.len(), answers.len());
        answers.iter_mut().take(5).for_each(|answer| *answer = false);
    }
}

/// Careless takes no hashes.
#[test]
fn filters_of_hashes_are_refused_by_a_policy_without() {
    let mut filter = Vec::new();
    let refused = Careless.create_filter_from_hashes(&[KeyHash::new(1)], &mut filter);
    assert!(matches!(refused, Err(Error::HashUnsupported { policy, .. }) if policy == "test.Careless"));
    assert!(filter.is_empty());
}

#[test]
fn what_a_policy_leaves_unanswered_may_match() {
    // One filter of no bytes, and a range beyond it.
    let block = [0, 0, 0, 0, 0, 0, 0, 0, 11];
    for count in batch_lengths() {
        for beyond in [false, true] {
            let offset = |i: usize| if beyond && i % 128 % 10 == 9 { 1 << 11 } else { 0 };
            let queries: Vec<(u64, &[u8])> = (0..count).map(|i| (offset(i), &b"key"[..])).collect();
            let mut answers = vec![false; 500];
            FilterBlockReader::new(Careless, block).keys_may_match(&queries, &mut answers);
            let expected: Vec<bool> = (0..count).map(|i| i % 128 >= 5).collect();
            assert_eq!(answers, expected, "{count} queries");
        }
    }
}

#[test]
fn a_wrapper_hands_on_slices_of_equal_length() {
    let probes = [(&b"12345678"[..], &b""[..]); 300];
    for (asked, wanted) in [(3, 80), (80, 3), (130, 300), (300, 130), (0, 9), (9, 0)] {
        let mut answers = vec![true; wanted];
        InternalFilterPolicy::new(Careless).keys_may_match(&probes[..asked], &mut answers);
        let answered = asked.min(wanted);
        let expected: Vec<bool> = (0..wanted).map(|i| i >= answered || i % 128 >= 5).collect();
        assert_eq!(answers, expected, "{asked} probes, {wanted} answers");
    }
}
