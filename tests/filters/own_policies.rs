//! The policies under names of this library: their bytes, which must never change, and how they choose their size.
//! LevelDB's filters over other hashes, as mini-lsm and agatedb have them.

use filterblock::policy::OWN_POLICIES;
use filterblock::{
    BloomFilterPolicy, CassandraBloomPolicy, Error, FilterBlockBuilder, FilterBlockReader, FilterPolicy,
    KeyHash, Murmur3BloomPolicy, Result, expected_false_positive_rate,
};

use crate::filters::{filter, fnv, hex, numbered_keys};

/// Made by Cassandra 0.3's own `MurmurHash.java`, with positions `|(h1 + i * h2) % bits|` set in a `java.util.BitSet`
/// (OpenJDK 17).
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn cassandra_filters_keep_their_bytes() {
    let expected = [
        (0, 10, 9, 0xe604_7f3a_2490_24a6),
        (1, 10, 9, 0x2de7_90a7_1e37_4509),
        (5, 10, 17, 0x1942_648c_d70c_b51e),
        (4, 3, 9, 0x11ed_3bd0_4d49_be36),
        (1000, 10, 1257, 0x1d1a_4e83_fa35_9c9f),
        (1000, 15, 1881, 0xd616_982a_61ed_fe4a),
    ];
    for (keys, buckets, len, sum) in expected {
        let filter = filter(&CassandraBloomPolicy::new(buckets), &numbered_keys(keys));
        assert_eq!((filter.len(), fnv(&filter)), (len, sum), "{keys} keys of {buckets} buckets");
    }
    let five = filter(&CassandraBloomPolicy::new(10), &numbered_keys(5));
    assert_eq!(hex(&five), "89210062c0c09c9a08c801480404088107");
}

/// A name in files is permanent.
#[test]
fn own_policies_have_their_names_and_differ() {
    let [cassandra, murmur3] = OWN_POLICIES;
    for (policy, name, short) in [
        (cassandra, "filterblock.CassandraBloomFilter1", "cassandra"),
        (murmur3, "filterblock.Murmur3BloomFilter1", "murmur3"),
    ] {
        assert_eq!((policy.name(), policy.short_name()), (name, short));
        assert_eq!(policy.with_bits(10).name(), name);
        assert_eq!(format!("{policy:?}"), format!("OwnPolicy({short:?})"));
    }
    assert!(cassandra == cassandra && cassandra != murmur3);
}

/// The lengths and sums come from a script in Python with the package mmh3 5.3.1, written from the formula.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn murmur3_filters_keep_their_bytes() {
    let expected = [
        (0, 7, 9, 0xe604_7f3a_2490_24a6),
        (1, 7, 9, 0xe9b0_fadf_6242_70de),
        (5, 7, 9, 0x9d5f_b8c1_a68e_1952),
        (5, 1, 9, 0x1a15_406a_8619_adaf),
        (1000, 7, 2049, 0xf53c_4532_211c_295e),
        (1000, 64, 2049, 0x4875_b2b2_5e7a_f35e),
    ];
    for (keys, probes, len, sum) in expected {
        let policy = Murmur3BloomPolicy::new(10).with_probes(probes).unwrap();
        let filter = filter(&policy, &numbered_keys(keys));
        assert_eq!((filter.len(), fnv(&filter)), (len, sum), "{keys} keys of {probes} probes");
    }
    let five = filter(&Murmur3BloomPolicy::new(10), &numbered_keys(5));
    assert_eq!(hex(&five), "55655929c908151407");
}

/// A policy reads what any other policy of its kind wrote, since the encoding says how.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn filters_of_other_sizings_are_read() {
    let keys = numbered_keys(300);
    let cassandra = filter(&CassandraBloomPolicy::new(15), &keys);
    let murmur3 = filter(&Murmur3BloomPolicy::new(33), &keys);
    for key in keys.as_keys().iter() {
        assert!(CassandraBloomPolicy::new(2).key_may_match(key, &cassandra));
        assert!(Murmur3BloomPolicy::new(2).key_may_match(key, &murmur3));
    }
}

#[test]
fn cassandra_by_buckets() {
    let size = |buckets, keys| CassandraBloomPolicy::new(buckets).bits_and_probes(keys).unwrap();
    let best = [1, 1, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 8, 9, 10, 10];
    for (buckets, k) in (0..).zip(best) {
        let bits = (1000 * u64::from(buckets.max(1)) + 20).next_multiple_of(64);
        assert_eq!(size(buckets, 1000), (bits, k), "{buckets} buckets");
    }
    // 15 bits a key are the most.
    assert_eq!(size(16, 1000), size(15, 1000));
    assert_eq!(size(u32::MAX, 1000), size(15, 1000));
    assert_eq!(size(10, 0), (64, 7));
    assert_eq!(size(11, 4), (64, 8));
    assert_eq!(size(10, 5), (128, 7));
}

#[test]
fn cassandra_takes_fewer_buckets_where_no_more_fit() {
    const MOST: u64 = (1 << 31) - 64;
    let size = |buckets, keys| CassandraBloomPolicy::new(buckets).bits_and_probes(keys);
    let keys = ((1 << 31) - 21) / 15;
    assert_eq!(size(15, keys).unwrap(), ((keys * 15 + 20).next_multiple_of(64).min(MOST), 10));
    assert_eq!(size(15, keys + 1).unwrap(), (((keys + 1) * 14 + 20).next_multiple_of(64), 10));
    assert_eq!(size(15, 1_000_000_000).unwrap(), ((2_000_000_020_u64).next_multiple_of(64), 1));
    // The last size, where rounding up would reach 2^31.
    assert_eq!(size(15, (1 << 31) - 21).unwrap(), (MOST, 1));
    for keys in [(1 << 31) - 20, u64::MAX] {
        let error = size(1, keys).unwrap_err();
        let Error::FilterSize { keys: found, limit, .. } = error else { panic!("{error}") };
        assert_eq!((found, limit), (keys, MOST));
    }
}

#[test]
fn cassandra_by_rate() {
    let size = |p, keys| CassandraBloomPolicy::with_false_positive_rate(p).unwrap().bits_and_probes(keys);
    // The fewest buckets whose best probability will do, then the fewest probes.
    for (p, buckets, k) in [
        (0.999, 2, 1),
        (0.393, 2, 1),
        (0.392, 3, 1),
        (0.283, 3, 1),
        (0.282, 3, 2),
        (0.237, 3, 2),
        (0.236, 4, 1),
        (0.147, 4, 3),
        (0.1, 5, 3),
        (0.092, 5, 3),
        (0.01, 10, 5),
        (0.0083, 10, 7),
        (0.001, 15, 7),
        (0.000744, 15, 10),
    ] {
        let bits = (1000 * buckets + 20_u64).next_multiple_of(64);
        assert_eq!(size(p, 1000).unwrap(), (bits, k), "{p}");
    }
    // As many keys as allow 14 buckets, but not 15.
    let keys = ((1 << 31) - 21) / 14;
    assert_eq!(size(0.0012, keys).unwrap().1, 10);
    assert!(matches!(size(0.0011, keys), Err(Error::FilterSize { .. })));
    let too_many = size(0.5, 1 << 30).unwrap_err();
    assert!(matches!(too_many, Error::FilterSize { bits: 0x8000_0014, .. }), "{too_many}");
}

fn refused<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.unwrap_err() {
        Error::InvalidOption { expected, .. } => expected.into_owned(),
        error => panic!("{error}"),
    }
}

#[test]
fn rates_that_cannot_be_had_are_errors() {
    for p in [f64::NAN, f64::NEG_INFINITY, -0.1, 0.0, 1.0, f64::INFINITY] {
        assert_eq!(refused(CassandraBloomPolicy::with_false_positive_rate(p)), "above 0 and below 1");
        assert_eq!(refused(Murmur3BloomPolicy::with_false_positive_rate(p)), "above 0 and below 1");
    }
    assert_eq!(refused(CassandraBloomPolicy::with_false_positive_rate(0.000743)), "at least 0.000744");
    assert_eq!(refused(Murmur3BloomPolicy::with_false_positive_rate(1e-20)), "at least 2^-64");
}

#[test]
fn murmur3_by_rate_is_within_it() {
    for p in [0.9, 0.5, 0.1, 0.01, 0.0084, 1e-3, 1e-6, 1e-9, 1e-12, 1.0 / (1_u128 << 64) as f64] {
        let policy = Murmur3BloomPolicy::with_false_positive_rate(p).unwrap();
        let rate = |bits_per_key: u32| {
            let probes = Murmur3BloomPolicy::new(bits_per_key).probes();
            expected_false_positive_rate(1 << 40, probes.into(), (1 << 40) / u64::from(bits_per_key))
        };
        let bits_per_key = policy.bits_per_key();
        assert!(rate(bits_per_key) <= p * 1.000_001, "{p}: {policy:?}");
        assert!(bits_per_key == 1 || rate(bits_per_key - 1) > p * 0.999_999, "{p}: {policy:?}");
        // At most one bit a key more than the formula for the best k gives, rounded up.
        let ideal = -p.ln() / std::f64::consts::LN_2.powi(2);
        assert!(f64::from(bits_per_key) <= ideal.ceil() + 1.0, "{p}: {policy:?}");
    }
}

#[test]
fn murmur3_sizes_are_powers_of_two() {
    let len = |bits_per_key, keys| filter(&Murmur3BloomPolicy::new(bits_per_key), &numbered_keys(keys)).len();
    assert_eq!(len(0, 100), 9);
    assert_eq!(len(10, 1), 9);
    assert_eq!(len(8, 8), 9);
    assert_eq!(len(13, 5), 17);
    assert_eq!(len(8, 128), 129);
    assert_eq!(len(8, 129), 257);
}

#[test]
fn murmur3_probes() {
    for (bits_per_key, k) in
        [(0, 1), (1, 1), (2, 1), (3, 2), (8, 6), (10, 7), (15, 10), (92, 64), (u32::MAX, 64)]
    {
        assert_eq!(Murmur3BloomPolicy::new(bits_per_key).probes(), k, "{bits_per_key} bits a key");
    }
    let policy = Murmur3BloomPolicy::new(10);
    assert_eq!(policy.with_probes(3).unwrap().probes(), 3);
    assert_eq!(refused(policy.with_probes(0)), "1 to 64");
    assert_eq!(refused(policy.with_probes(65)), "1 to 64");
}

/// `farmhash::fingerprint32` of each key i, calculated by the crate farmhash 1.1.5. Key i has 3 * i bytes, and its byte
/// j is i * 31 + j * 7.
const FARMHASHES: [u32; 24] = [
    0xdc56d17a, 0x99562b7c, 0xe7cb1d79, 0x9f2ca522, 0x855ed096, 0x1225599b, 0xc3a5d21d, 0x792c9b01,
    0x4eed5084, 0x497cdd85, 0x43c5ff76, 0xf950f8ba, 0x28514fba, 0x5c313321, 0xee49a788, 0x20328ad7,
    0x221d703b, 0xe8d84cf5, 0x3988c025, 0x3090f8ad, 0xd597d6d5, 0xa0ae935d, 0xb909e246, 0x5aae507e,
];

/// The filters that `Bloom::build_from_key_hashes` of mini-lsm (src/table/bloom.rs, 2025) makes of the first hashes:
/// the number of hashes, the bits a key, and the filter with the number of probes at its end. agatedb's (src/bloom.rs)
/// are the same.
const FILTERS: [(usize, u32, &str); 6] = [
    (1, 10, "000003006000000c06"),
    (7, 10, "24a227210cb957c8f806"),
    (24, 7, "042d5471ac0a41e22466ee460d8b173d21b4a03f9004"),
    (
        24,
        20,
        "8437fe26a8864b6e626664676f67ec10bb724581f6456702673233bc82bbfd6f0020b6762ca400d006842c67ee1ca2260e7eb5550c2f0bae76702eac0d",
    ),
    (5, 60, "9c0c6940915036544c551007461637d599db4aada5e5dd530fa4242af068759909220648111b1e"),
    (3, 0, "000000000000001601"),
];

/// The hashes with this upper half, which the policy does not use.
fn hashes(upper: u64) -> Vec<KeyHash> {
    FARMHASHES.iter().map(|&hash| KeyHash::new(upper << 32 | u64::from(hash))).collect()
}

#[test]
fn filters_over_other_hashes_have_the_same_bits() {
    for (count, bits_per_key, expected) in FILTERS {
        let policy = BloomFilterPolicy::new(bits_per_key);
        for upper in [0, 1, u64::from(u32::MAX)] {
            let hashes = &hashes(upper)[..count];
            let mut filter = Vec::new();
            policy.create_filter_from_hashes(hashes, &mut filter).unwrap();
            assert_eq!(hex(&filter), expected, "{count} keys of {bits_per_key} bits");
            assert!(hashes.iter().all(|hash| policy.hash_may_match(*hash, &filter)));

            let mut builder = FilterBlockBuilder::new(policy);
            hashes.iter().for_each(|hash| builder.add_hash(*hash).unwrap());
            let reader = FilterBlockReader::new(policy, builder.finish().unwrap());
            assert_eq!(reader.filter(0), Some(&filter[..]));
            assert!(hashes.iter().all(|hash| reader.hash_may_match(0, *hash)));
        }
    }
}

/// mini-lsm's own `may_contain` tests the same bits, so a filter denies the other hashes there, too.
#[test]
fn filters_over_other_hashes_deny_the_others() {
    let policy = BloomFilterPolicy::new(20);
    let mut filter = Vec::new();
    policy.create_filter_from_hashes(&hashes(0)[..12], &mut filter).unwrap();
    let denied = hashes(0)[12..].iter().filter(|hash| !policy.hash_may_match(**hash, &filter)).count();
    assert_eq!(denied, 12);
}
