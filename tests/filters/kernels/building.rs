//! Filters, compared byte for byte.

use filterblock::{
    BloomFilterPolicy, Error, FilterBlockBuilder, FilterPolicy, InternalFilterPolicy, KeyBuf, KeyHash, Keys,
    LegacyBloomPolicy, LegacyHash,
};

use super::reference::{
    at_each_level, hashes_at_the_ends, key_of_hash, positions_of, random_keys, reference_filter,
};
use crate::interpreted::fewer;

/// Makes a filter of these keys in every way there is, at each level.
fn check(keys: &[Vec<u8>], bits_per_key: u32) {
    let policy = BloomFilterPolicy::new(bits_per_key);
    let expected = reference_filter(keys, bits_per_key as usize, policy.probes());
    let what = || format!("{} keys of {} bytes, {bits_per_key} bits", keys.len(), keys[0].len());

    let buf: KeyBuf = keys.iter().collect();
    // The same user keys, each followed by another sequence number.
    let internal: KeyBuf =
        keys.iter().zip(0u64..).map(|(key, i)| [key, &i.to_le_bytes()[..]].concat()).collect();
    // By their starts, as other crates hand them over: nothing says that they are of equal length.
    let bytes = keys.concat();
    let starts: Vec<usize> =
        keys.iter().scan(0, |end, key| Some(std::mem::replace(end, *end + key.len()))).collect();
    at_each_level(|| {
        let mut filter = Vec::new();
        policy.create_filter(buf.as_keys(), &mut filter).unwrap();
        assert!(filter == expected, "{}", what());

        let hashes: Vec<KeyHash> = keys.iter().map(|key| policy.hash_key(key).unwrap()).collect();
        filter.clear();
        policy.create_filter_from_hashes(&hashes, &mut filter).unwrap();
        assert!(filter == expected, "{} by hash", what());

        filter.clear();
        InternalFilterPolicy::new(policy).create_filter(internal.as_keys(), &mut filter).unwrap();
        assert!(filter == expected, "{} without suffix", what());

        filter.clear();
        policy.create_filter(Keys::new(&bytes, &starts).unwrap(), &mut filter).unwrap();
        assert!(filter == expected, "{} by starts", what());

        let mut builder = FilterBlockBuilder::new(policy);
        keys.iter().for_each(|key| builder.add_key(key));
        assert!(builder.finish().unwrap()[..expected.len()] == expected, "{} through the builder", what());
    });
}

/// Makes a filter of these keys, of several lengths, in every way that a builder has, at each level.
fn check_mixed(keys: &[Vec<u8>], policy: &dyn FilterPolicy, expected: &[u8]) {
    let buf: KeyBuf = keys.iter().collect();
    let bytes = keys.concat();
    let starts: Vec<usize> =
        keys.iter().scan(0, |end, key| Some(std::mem::replace(end, *end + key.len()))).collect();
    at_each_level(|| {
        let mut builder = FilterBlockBuilder::new(policy);
        let mut check = |how, add: &dyn Fn(&mut FilterBlockBuilder<&dyn FilterPolicy>)| {
            // Twice, because a builder may go by what it has seen.
            for offset in [0, 2048] {
                builder.start_block(offset).unwrap();
                add(&mut builder);
            }
            let block = builder.finish().unwrap();
            assert!(block.starts_with(&expected.repeat(2)), "{} keys {how}", keys.len());
        };
        check("key by key", &|builder| keys.iter().for_each(|key| builder.add_key(key)));
        check("in a buffer", &|builder| builder.add_keys(buf.as_keys()));
        check("by starts", &|builder| builder.add_keys(Keys::new(&bytes, &starts).unwrap()));
        check("in parts", &|builder| {
            let half = keys.len() / 2;
            builder.add_keys(keys[..half].iter().collect::<KeyBuf>().as_keys());
            keys[half..].iter().for_each(|key| builder.add_key(key));
        });
        check("a part as hashes", &|builder| {
            let half = keys.len() / 2;
            keys[..half].iter().for_each(|key| builder.add_key(key));
            for key in &keys[half..] {
                builder.add_hash(policy.hash_key(key).unwrap()).unwrap();
            }
        });
        check("one by one", &|builder| {
            keys.iter().for_each(|key| builder.add_keys(Keys::new(key, &[0]).unwrap()));
        });
    });
}

#[test]
fn filters_of_keys_of_several_lengths() {
    let policy = BloomFilterPolicy::new(10);
    for (count, longest) in
        [(2, 4), (40, 3), (40, 64), (40, 65), (40, 72), (200, 64), (300, 20), (600, 90), (40, 300)]
            .into_iter()
            .step_by(fewer(3))
    {
        let mut keys = random_keys(count, longest as u64, |n| n as usize % (longest + 1));
        let expected = reference_filter(&keys, 10, 6);
        check_mixed(&keys, &policy, &expected);
        for policy in [LegacyHash::Unsigned, LegacyHash::Either] {
            check_mixed(&keys, &LegacyBloomPolicy::new(10).with_hash(policy), &expected);
        }
        keys.iter_mut().for_each(|key| key.extend_from_slice(&[7; 8]));
        check_mixed(&keys, &InternalFilterPolicy::new(policy), &expected);
    }
}

#[test]
fn signed_filters_of_keys_of_several_lengths() {
    let policy = LegacyBloomPolicy::new(10).with_hash(LegacyHash::Signed);
    for longest in [3, 20, 64] {
        let keys = random_keys(130, longest as u64, |n| n as usize % (longest + 1));
        let mut expected = Vec::new();
        let hashes: Vec<KeyHash> = keys.iter().map(|key| policy.hash_key(key).unwrap()).collect();
        policy.create_filter_from_hashes(&hashes, &mut expected).unwrap();
        check_mixed(&keys, &policy, &expected);
        for key in &keys {
            assert!(policy.key_may_match(key, &expected), "{key:?}");
        }
    }
}

/// One key among hundreds is too short for an internal key. The error names it by its number.
#[test]
fn a_short_key_among_many_is_named() {
    let policy = InternalFilterPolicy::new(BloomFilterPolicy::new(10));
    at_each_level(|| {
        for bad in [0, 1, 100, 255, 256, 600] {
            let mut keys = random_keys(700, 1, |n| 8 + n as usize % 60);
            keys[bad].truncate(5);
            let buf: KeyBuf = keys.iter().collect();
            let mut builder = FilterBlockBuilder::new(policy);
            for together in [false, true] {
                if together {
                    builder.add_keys(buf.as_keys());
                } else {
                    keys.iter().for_each(|key| builder.add_key(key));
                }
                let error = builder.finish().unwrap_err();
                let is_right =
                    matches!(error, Error::ShortInternalKey { index, found: 5, .. } if index == bad as u64);
                assert!(is_right, "{bad}, {together}: {error}");
                builder = FilterBlockBuilder::new(policy);
            }
        }
    });
}

/// Key lengths around those at which other code may take over, and some between.
pub(super) fn long_lengths() -> Vec<usize> {
    let around = [256, 1024, 4096, 65_536]
        .into_iter()
        .flat_map(|len| [0, 2, 3, 4, 5, 6, 8, 18, 19, 20].map(|more| len - 3 + more));
    let between = [191, 509, 777, 3001, 12_345, 33_333, 69_997, 70_000];
    let random =
        random_keys(10, 21, |_| 2).into_iter().map(|two| usize::from(u16::from_le_bytes([two[0], two[1]])));
    around.chain(between).chain(random).step_by(fewer(20)).collect()
}

#[test]
fn filters_of_keys_of_every_length() {
    for len in (0..=130).step_by(fewer(19)) {
        for count in [1, 7, 8, 9, 31, 40].into_iter().step_by(fewer(3)) {
            check(&random_keys(count, len as u64, |_| len), 10);
        }
    }
}

/// Numbers of keys that fill whole groups of eight and four, and numbers that leave keys over.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn filters_of_long_keys() {
    for len in long_lengths() {
        for count in [1, 8, 21] {
            check(&random_keys(count, (len + count) as u64, |_| len), 10);
        }
        // One key of another length, in the second eight.
        let mut keys = random_keys(20, len as u64, |_| len);
        keys[13].pop();
        check(&keys, 10);
    }
}

/// Like `every_bit_is_where_it_belongs`, but for filters being made, by key and by hash.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn every_bit_is_set_where_it_belongs() {
    let around = [512, 4096, 65_536, 1 << 17].into_iter().flat_map(|len| len - 3..=len + 3);
    let lens = (8..=300).chain(around).chain([3001, 33_333, 69_999, 70_001]);
    for len in lens.step_by(fewer(30)) {
        for hash in hashes_at_the_ends(len).into_iter().step_by(fewer(5)) {
            // One key, so that the policy's bits a key are the bits of the array.
            let policy = BloomFilterPolicy::new(len as u32 * 8);
            let mut expected = vec![0; len + 1];
            positions_of(hash, policy.probes(), len).iter().for_each(|at| expected[at / 8] |= 1 << (at % 8));
            expected[len] = policy.probes();
            let keys: KeyBuf = [key_of_hash(hash)].into_iter().collect();
            at_each_level(|| {
                let mut filter = Vec::new();
                policy.create_filter(keys.as_keys(), &mut filter).unwrap();
                assert!(filter == expected, "{len} bytes, hash {hash:#x}");
                filter.clear();
                policy.create_filter_from_hashes(&[KeyHash::new(hash.into())], &mut filter).unwrap();
                assert!(filter == expected, "{len} bytes, hash {hash:#x} by hash");
            });
        }
    }
}

#[test]
fn filters_of_keys_of_mixed_lengths() {
    for seed in (0..200).step_by(fewer(200)) {
        check(&random_keys(45, seed, |random| random as usize % 131), 10);
        // Runs of equal lengths, cut at any place.
        let mut keys = random_keys(seed as usize % 17, seed, |_| 16);
        keys.extend(random_keys(20, seed, |_| 24));
        keys.extend(random_keys(1, seed, |_| 3));
        keys.extend(random_keys(8, seed, |_| 33));
        check(&keys, 10);
    }
}

#[test]
fn filters_with_every_k() {
    for bits_per_key in (1..=45).step_by(fewer(15)) {
        for count in [1, 8, 43, 200 / fewer(20)] {
            check(&random_keys(count, count as u64, |_| 16), bits_per_key);
        }
    }
}

#[test]
fn filters_from_8_bytes_to_1_mib() {
    let around =
        [512, 1024, 2048, 4096, 8192, 65_536, 1 << 17].into_iter().flat_map(|bytes| bytes - 3..=bytes + 3);
    let sizes = (8..300).chain(around).chain([1000, 1024, 3001, 5000, 33_333, 69_999, 70_001, 1 << 20]);
    for bytes in sizes.step_by(fewer(100)) {
        check(&random_keys(8, bytes, |_| 16), bytes as u32);
        check(&random_keys(64 / fewer(4), bytes, |_| 16), (bytes as u32 / 8).max(1));
    }
}
