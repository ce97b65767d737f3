//! LevelDB's filters over other hashes, as mini-lsm and agatedb have them.

use filterblock::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, KeyHash};

use crate::filters::hex;

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
