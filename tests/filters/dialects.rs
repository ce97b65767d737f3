//! Filters of LevelDB's relatives, compared with bytes that the relatives themselves have written.
//!
//! A filter that is too long to write down is given by its length and FNV-1a hash. Keys are those of `numbered_key`.

use filterblock::hash::{self, BLOOM_SEED, hash_signed_tail};
use filterblock::{
    BashoBloom2Policy, BashoInternalFilterPolicy, BloomFilterPolicy, Error, FilterPolicy,
    InternalFilterPolicy, KeyBuf, LegacyBloomPolicy, LegacyHash,
};

use crate::filters::{filter, fnv, hex, numbered_key, numbered_keys};

/// Made by goleveldb (Debian 0.0~git20200815.5c35d60, Go 1.19.8): `filter.NewBloomFilter(bits_per_key).NewGenerator()`,
/// `Add` for each key, `Generate`; `GO111MODULE=off GOPATH=/usr/share/gocode go run main.go`.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn legacy_filters_are_goleveldbs() {
    let expected = [
        (0, 10, 6, 9, 0xe604_803a_2490_2659),
        (1, 10, 6, 9, 0x9d54_8cc4_002b_ad7b),
        (5, 10, 6, 9, 0x8f4d_1b28_3e1d_bdd4),
        (5, 0, 1, 9, 0x9970_0cb2_22a0_e750),
        (3, 43, 29, 18, 0x7663_c905_f9e2_0333),
        (30, 14, 9, 54, 0x4fd8_b255_ef40_effa),
        (1000, 10, 6, 1251, 0x8bb7_07e7_d52b_db32),
        (1000, 15, 10, 1876, 0xc4d6_40d6_ed95_2b3d),
        (1000, 100, 30, 12501, 0x657e_64c0_e692_ab68),
        // k is cut to eight bits before it is limited to 30.
        (10, 371, 30, 465, 0x5d8d_ea2e_1084_cbd9),
        (10, 372, 1, 466, 0x12e9_8533_239c_f786),
        (3, 1000, 30, 376, 0x213e_4aff_1091_df28),
    ];
    for (keys, bits_per_key, probes, len, sum) in expected {
        for hash in [LegacyHash::Either, LegacyHash::Unsigned] {
            let policy = LegacyBloomPolicy::new(bits_per_key).with_hash(hash);
            assert_eq!(policy.probes(), probes, "{bits_per_key} bits a key");
            let filter = filter(&policy, &numbered_keys(keys));
            assert_eq!((filter.len(), fnv(&filter)), (len, sum), "{keys} keys of {bits_per_key} bits");
        }
    }
    let words: KeyBuf = [&b""[..], b"a", b"\xc3\x97", b"\xe2\x99\xa5", b"leveldb", b"\xff\xfe\xfd\xfc\xfb"]
        .into_iter()
        .collect();
    assert_eq!(hex(&filter(&LegacyBloomPolicy::new(10), &words)), "98983c52b3b211a406");
}

/// Made by Basho's LevelDB (revision b91d5ce, GCC 12 on x86-64), whose `util/bloom.cc` and `util/hash.cc` are those of
/// LevelDB before 1.18.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn signed_legacy_filters_are_those_of_old_leveldb() {
    let policy = |bits_per_key| LegacyBloomPolicy::new(bits_per_key).with_hash(LegacyHash::Signed);
    let expected = [
        (0, 16, 9, 0xe604_8b3a_2490_390a),
        (1, 16, 9, 0xb3aa_1c14_a7be_793c),
        (5, 10, 9, 0x9d76_7bd9_ea66_a2c4),
        (5, 0, 9, 0x773b_c8c8_1e2c_0f1c),
        (30, 16, 61, 0x0705_51ec_d03e_3539),
        (1000, 16, 2001, 0x7631_21f1_c879_08bc),
        (1000, 10, 1251, 0x0691_acea_5bb3_ab24),
        (20_000, 16, 40_001, 0x4e90_06ba_87d1_4064),
        (100, 50, 626, 0xb946_974d_bfb9_15df),
    ];
    for (keys, bits_per_key, len, sum) in expected {
        let filter = filter(&policy(bits_per_key), &numbered_keys(keys));
        assert_eq!((filter.len(), fnv(&filter)), (len, sum), "{keys} keys of {bits_per_key} bits");
    }
    assert_eq!(hex(&filter(&policy(10), &numbered_keys(5))), "ac32f4c1a9c8428306");
}

/// Calculated by the same `util/hash.cc`, from the first 0 to 20 bytes of 200, 33, 122, …, and from other keys.
#[test]
fn signed_hashes_are_those_of_old_leveldb() {
    let expected = [
        0xbc9f_1d34,
        0x7006_76cd,
        0xb2b8_299c,
        0x0c9d_87c3,
        0xa2b0_0170,
        0xa574_a567,
        0xfdaf_ca85,
        0x8423_20db,
        0x251e_153f,
        0xedf2_71de,
        0x46d9_1dd0,
        0x4da7_5606,
        0x6c69_cebc,
        0xa43a_2e09,
        0x21e4_39cf,
        0x8684_a222,
        0x9ff7_c6fc,
        0x8860_4d85,
        0x72ec_22aa,
        0xdd10_57e5,
        0xba33_2f48,
    ];
    let bytes: Vec<u8> = (0..=20_u8).map(|i| i.wrapping_mul(89).wrapping_add(200)).collect();
    for (len, expected) in expected.into_iter().enumerate() {
        assert_eq!(hash_signed_tail(&bytes[..len], BLOOM_SEED), expected, "{len} bytes");
    }
    for (key, expected) in [
        (&b"a"[..], 0x286e_9db0),
        (b"\x80", 0x91b7_55f4),
        (b"\xff", 0x1d66_774f),
        (b"\xc3\x97", 0x0f2b_a540),
        (b"\xe2\x99\xa5", 0x5301_74ee),
        (b"\xe1\x80\xb9\x32", 0xed21_633a),
        (b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7\xf6\xf5\xf4\xf3\xf2\xf1", 0xf07d_c894),
    ] {
        assert_eq!(hash_signed_tail(key, BLOOM_SEED), expected, "{key:x?}");
    }
}

/// Each hash denies keys in filters that were made by the other. The default, which reads by either hash, denies no
/// keys of either.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn either_hash_reads_both_writers() {
    let keys = numbered_keys(2000);
    let [unsigned, signed] =
        [LegacyHash::Unsigned, LegacyHash::Signed].map(|hash| LegacyBloomPolicy::new(10).with_hash(hash));
    let either = LegacyBloomPolicy::new(10);
    let denied = |policy: LegacyBloomPolicy, filter: &[u8]| {
        let mut keys = keys.as_keys().iter();
        let count = keys.clone().filter(|key| !policy.key_may_match(key, filter)).count();
        let by_hash = |key| policy.hash_may_match(policy.hash_key(key).unwrap(), filter);
        assert!(keys.all(|key| by_hash(key) == policy.key_may_match(key, filter)));
        count
    };
    for (writer, other) in [(unsigned, signed), (signed, unsigned)] {
        let filter = filter(&writer, &keys);
        assert_eq!(denied(writer, &filter), 0);
        assert_eq!(denied(either, &filter), 0);
        assert!(denied(other, &filter) > 500);
    }
}

/// If the bytes of a key after its whole words of four bytes are below 0x80, both hashes are the same. So `Either`
/// costs nothing for such keys, and lets no more of them pass.
#[test]
fn hashes_differ_only_by_high_bytes_behind_whole_words() {
    for key in [&b""[..], b"a", b"\xff\xff\xff\xff", b"\xff\xff\xff\xffabc"] {
        assert_eq!(hash_signed_tail(key, BLOOM_SEED), hash::leveldb(key, BLOOM_SEED), "{key:x?}");
    }
    for key in [&b"\x80"[..], b"a\x80", b"\x80a", b"ab\x80", b"a\x80b", b"\x80ab"] {
        assert_ne!(hash_signed_tail(key, BLOOM_SEED), hash::leveldb(key, BLOOM_SEED), "{key:x?}");
    }
}

/// Made by `util/bloom2.cc` of Basho's LevelDB (revision b91d5ce, GCC 12 on x86-64),
/// `NewBloomFilterPolicy2(bits_per_key)`. The long filters lie on both sides of the last prime.
#[cfg_attr(miri, ignore = "sieves Basho's primes")]
#[test]
fn basho_filters_are_bashos() {
    let expected = [
        (0, 16, 9, 0xe604_8b3a_2490_390a),
        (1, 16, 9, 0x983d_13a7_7ae3_1f87),
        (5, 10, 9, 0x903a_4db2_3cdf_be78),
        (5, 0, 9, 0x71c7_42c6_1be2_ea8d),
        (30, 16, 62, 0x633e_4f2a_f672_f107),
        (1000, 16, 2002, 0xd7a5_f4e0_7724_0bbb),
        (1000, 10, 1252, 0x34ba_4484_feb4_11fd),
        (6247, 16, 12_497, 0xd04b_6a5c_c58e_9eb6),
        (6248, 16, 12_498, 0x5fec_dba9_8f56_1f43),
        (6249, 16, 12_499, 0x1abf_38a1_ca32_319b),
        (6250, 16, 12_501, 0x5cc7_f354_1f6a_7f59),
        (20_000, 16, 40_001, 0x44e0_035b_57bb_b794),
        (100, 50, 627, 0x177f_2f0f_74b9_a834),
    ];
    for (keys, bits_per_key, len, sum) in expected {
        let filter = filter(&BashoBloom2Policy::new(bits_per_key), &numbered_keys(keys));
        assert_eq!((filter.len(), fnv(&filter)), (len, sum), "{keys} keys of {bits_per_key} bits");
    }
    assert_eq!(hex(&filter(&BashoBloom2Policy::new(10), &numbered_keys(5))), "c12518a568a01c0a06");
}

/// Basho's own code lets 85 of these absent keys pass.
#[cfg_attr(miri, ignore = "sieves Basho's primes")]
#[test]
fn basho_answers_are_bashos() {
    let policy = BashoBloom2Policy::new(10);
    let filter = filter(&policy, &numbered_keys(1000));
    let absent = 1_000_000..1_010_000;
    assert_eq!(absent.filter(|&i| policy.key_may_match(&numbered_key(i), &filter)).count(), 85);
}

/// Basho's encoding must be asked for: its name is also that of LevelDB's encoding, which denies Basho's keys.
#[cfg_attr(miri, ignore = "sieves Basho's primes")]
#[test]
fn basho_and_leveldb_deny_each_others_keys() {
    let keys = numbered_keys(1000);
    let basho = BashoBloom2Policy::new(10);
    let leveldb = BloomFilterPolicy::new(10);
    assert_eq!(basho.name(), leveldb.name());
    let filter = filter(&basho, &keys);
    let denied = keys.as_keys().iter().filter(|key| !leveldb.key_may_match(key, &filter)).count();
    assert!(denied > 900, "{denied}");
}

/// Basho's internal key of a user key and a type.
fn internal_key(user_key: &[u8], kind: u8) -> Vec<u8> {
    let mut key = user_key.to_vec();
    if kind == 2 || kind == 3 {
        key.extend(1_700_000_000_000_000_u64.to_le_bytes());
    }
    key.extend((1234_u64 << 8 | u64::from(kind)).to_le_bytes());
    key
}

#[cfg_attr(miri, ignore = "sieves Basho's primes")]
#[test]
fn basho_internal_keys_are_filtered_by_user_key() {
    let policy = BashoInternalFilterPolicy::new(BashoBloom2Policy::default());
    let user_keys = numbered_keys(100);
    let expected = filter(policy.policy(), &user_keys);
    for kinds in [&[0, 1][..], &[2, 3], &[0, 1, 2, 3]] {
        let internal: KeyBuf = (0..)
            .zip(user_keys.as_keys().iter())
            .map(|(i, key): (usize, _)| internal_key(key, kinds[i % kinds.len()]))
            .collect();
        assert_eq!(filter(&policy, &internal), expected, "types {kinds:?}");
        for key in internal.as_keys().iter() {
            assert!(policy.key_may_match(key, &expected));
            assert!(policy.hash_may_match(policy.hash_key(key).unwrap(), &expected));
        }
        if kinds == [0, 1] {
            assert_eq!(filter(&InternalFilterPolicy::new(BashoBloom2Policy::default()), &internal), expected);
        }
    }
    // A reader looks with type 1, whatever the type of the entry.
    assert!(policy.key_may_match(&internal_key(&numbered_key(7), 1), &expected));
    assert!(!policy.key_may_match(&internal_key(b"absent", 1), &expected));
}

#[cfg_attr(miri, ignore = "sieves Basho's primes")]
#[test]
fn short_basho_internal_keys_may_match_and_make_no_filter() {
    let policy = BashoInternalFilterPolicy::new(BashoBloom2Policy::default());
    let none = filter(policy.policy(), &KeyBuf::new());
    let short_expiry = [&[0; 7][..], &[2, 0, 0, 0, 0, 0, 0, 0]].concat();
    for (short, needed) in [(&b"1234567"[..], 8), (&short_expiry, 16)] {
        assert!(policy.key_may_match(short, &none));
        assert_eq!(policy.hash_key(short), None);
        let sound = internal_key(b"key", if needed == 8 { 1 } else { 2 });
        let keys: KeyBuf = [&sound[..], short].into_iter().collect();
        let mut dst = b"before".to_vec();
        let error = policy.create_filter(keys.as_keys(), &mut dst).unwrap_err();
        let Error::ShortInternalKey { index: 1, expected, found, .. } = error else { panic!("{error}") };
        assert_eq!((expected, found), (needed, short.len()));
        assert_eq!(dst, b"before");
    }
}
