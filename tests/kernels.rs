//! Filters and answers against a plain reference: all key lengths, all k, all sizes, whatever code the processor gets.
//!
//! With the feature `simd` and AVX2 that is the CPU-specific code, without them the portable one; the reference is the
//! same, so both are equal.

mod interpreted;

use filterblock::{BloomFilterPolicy, FilterPolicy, InternalFilterPolicy, KeyBuf, KeyHash};
use interpreted::fewer;

/// LevelDB's hash, one byte after the other.
fn reference_hash(key: &[u8]) -> u32 {
    const M: u32 = 0xc6a4_a793;
    let mut h = 0xbc9f_1d34 ^ (key.len() as u32).wrapping_mul(M);
    for part in key.chunks(4) {
        let mut word = 0;
        for (i, byte) in part.iter().enumerate() {
            word += u32::from(*byte) << (8 * i);
        }
        h = h.wrapping_add(word).wrapping_mul(M);
        h ^= h >> if part.len() == 4 { 16 } else { 24 };
    }
    h
}

fn reference_filter(keys: &[Vec<u8>], bits_per_key: usize, k: u8) -> Vec<u8> {
    let bytes = (keys.len() * bits_per_key).max(64).div_ceil(8);
    let mut filter = vec![0; bytes];
    for key in keys {
        let mut h = reference_hash(key);
        let delta = h.rotate_right(17);
        for _ in 0..k {
            let bit = h as usize % (bytes * 8);
            filter[bit / 8] |= 1 << (bit % 8);
            h = h.wrapping_add(delta);
        }
    }
    filter.push(k);
    filter
}

fn reference_match(key: &[u8], filter: &[u8]) -> bool {
    let (&k, array) = filter.split_last().unwrap();
    let mut h = reference_hash(key);
    let delta = h.rotate_right(17);
    k > 30
        || (0..k).all(|_| {
            let bit = h as usize % (array.len() * 8);
            h = h.wrapping_add(delta);
            array[bit / 8] & 1 << (bit % 8) != 0
        })
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33 ^ *state
}

fn random_keys(count: usize, seed: u64, len: impl Fn(u64) -> usize) -> Vec<Vec<u8>> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            let len = len(random(&mut state));
            (0..len).map(|_| random(&mut state) as u8).collect()
        })
        .collect()
}

/// Says which code the tests have run.
#[test]
fn the_processor() {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if std::arch::is_x86_feature_detected!("avx2") {
        return;
    }
    println!("skipped: no AVX2 here, or built without `simd`; the portable code alone is tested");
}

fn check(keys: &[Vec<u8>], bits_per_key: u32) {
    let policy = BloomFilterPolicy::new(bits_per_key);
    let expected = reference_filter(keys, bits_per_key as usize, policy.probes());
    let buf: KeyBuf = keys.iter().collect();
    let mut filter = Vec::new();
    policy.create_filter(buf.as_keys(), &mut filter).unwrap();
    let what = || format!("{} keys of {} bytes, {bits_per_key} bits", keys.len(), keys[0].len());
    assert!(filter == expected, "{}", what());

    let hashes: Vec<KeyHash> = keys.iter().map(|key| policy.hash_key(key).unwrap()).collect();
    filter.clear();
    policy.create_filter_from_hashes(&hashes, &mut filter).unwrap();
    assert!(filter == expected, "{} by hash", what());

    // The same user keys, with other sequence numbers behind them.
    let internal: KeyBuf =
        keys.iter().zip(0u64..).map(|(key, i)| [key, &i.to_le_bytes()[..]].concat()).collect();
    filter.clear();
    InternalFilterPolicy::new(policy).create_filter(internal.as_keys(), &mut filter).unwrap();
    assert!(filter == expected, "{} without suffix", what());
}

#[test]
fn filters_of_keys_of_every_length() {
    for len in (0..=130).step_by(fewer(19)) {
        for count in [1, 7, 8, 9, 31, 40].into_iter().step_by(fewer(3)) {
            check(&random_keys(count, len as u64, |_| len), 10);
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
    for bytes in (8..300).chain([1000, 1024, 4095, 4096, 4097, 5000, 65_536, 1 << 20]).step_by(fewer(100)) {
        check(&random_keys(8, bytes, |_| 16), bytes as u32);
        check(&random_keys(64, bytes, |_| 16), (bytes as u32 / 8).max(1));
    }
}

/// Any bytes as filters of every size, and every k that a byte can hold.
fn any_filters() -> Vec<Vec<u8>> {
    let mut state = 1;
    let sizes: Vec<usize> =
        (1..140).chain([251, 1000, 4096, 5000, 65_536, 1 << 20]).step_by(fewer(7)).collect();
    (0..1500 / fewer(50))
        .map(|i| {
            let k = if i % 2 == 0 { 6 } else { (i / 2) as u8 };
            // Bits are set densely enough for some keys to match.
            let size = sizes[i % sizes.len()];
            let mut filter: Vec<u8> = (0..size)
                .map(|_| (random(&mut state) | random(&mut state) | random(&mut state)) as u8)
                .collect();
            filter.push(k);
            filter
        })
        .collect()
}

/// Each filter asked for many keys, as where a table has one filter.
#[test]
fn answers_of_one_filter() {
    // Beyond 64 MiB there is other code.
    let huge = |len: usize| {
        let mut filter = vec![0b1101_1111; len];
        filter.push(6);
        filter
    };
    let policy = BloomFilterPolicy::new(10);
    let keys = random_keys(75, 9, |_| 16);
    let huge = [1 << 26, (1 << 26) + 1].map(|len| huge(len / fewer(1 << 20)));
    for filter in any_filters().into_iter().step_by(fewer(5)).chain(huge) {
        let probes: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &filter[..])).collect();
        let expected: Vec<bool> = keys.iter().map(|key| reference_match(key, &filter)).collect();
        for count in [1, 8, 31, 32, 33, 75].into_iter().step_by(fewer(4)) {
            let mut answers = vec![false; count];
            policy.keys_may_match(&probes[..count], &mut answers);
            assert_eq!(answers, expected[..count], "{} bytes, k {:?}", filter.len() - 1, filter.last());
        }
        // All but one in a group.
        let mut mixed = probes.clone();
        mixed[20].1 = &[];
        let mut answers = vec![true; 32];
        policy.keys_may_match(&mixed[..32], &mut answers);
        assert!(!answers[20] && answers[..20] == expected[..20] && answers[21..] == expected[21..32]);
    }
}

#[test]
fn answers() {
    let policy = BloomFilterPolicy::new(10);
    let filters = any_filters();
    for equal_lengths in [true, false] {
        let keys =
            random_keys(filters.len(), 7, |random| if equal_lengths { 16 } else { random as usize % 131 });
        let probes: Vec<(&[u8], &[u8])> =
            keys.iter().zip(&filters).map(|(key, filter)| (&key[..], &filter[..])).collect();
        let expected: Vec<bool> = probes.iter().map(|(key, filter)| reference_match(key, filter)).collect();
        assert!(expected.contains(&true) && expected.contains(&false));

        let one_by_one = |(key, filter): &(&[u8], &[u8])| policy.key_may_match(key, filter);
        assert_eq!(probes.iter().map(one_by_one).collect::<Vec<_>>(), expected);
        let by_hash =
            |(key, filter): &(&[u8], &[u8])| policy.hash_may_match(policy.hash_key(key).unwrap(), filter);
        assert_eq!(probes.iter().map(by_hash).collect::<Vec<_>>(), expected);
        for count in (0..probes.len() / 5).step_by(fewer(7)).chain([probes.len()]) {
            let mut answers = vec![false; count];
            policy.keys_may_match(&probes, &mut answers);
            assert_eq!(answers, expected[..count]);
        }

        let internal: Vec<Vec<u8>> = keys.iter().map(|key| [key, &[9; 8][..]].concat()).collect();
        let probes: Vec<(&[u8], &[u8])> =
            internal.iter().zip(&filters).map(|(key, filter)| (&key[..], &filter[..])).collect();
        let mut answers = vec![false; probes.len()];
        InternalFilterPolicy::new(policy).keys_may_match(&probes, &mut answers);
        assert_eq!(answers, expected);
    }
}

#[test]
fn short_internal_keys_may_match_among_others() {
    let policy = InternalFilterPolicy::new(BloomFilterPolicy::new(10));
    let keys = random_keys(500 / fewer(5), 3, |random| random as usize % 16);
    let empty = [0, 0, 0, 0, 0, 0, 0, 0, 6];
    let probes: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &empty[..])).collect();
    let mut answers = vec![false; keys.len()];
    policy.keys_may_match(&probes, &mut answers);
    assert!(keys.iter().zip(answers).all(|(key, answer)| answer == (key.len() < 8)));
}

/// Each query has to come back in its place, whether or not a filter was asked for it.
#[test]
fn many_queries_of_a_block() {
    use filterblock::{FilterBlockBuilder, FilterBlockReader};
    let policy = BloomFilterPolicy::new(10);
    let keys = random_keys(2000 / fewer(2), 11, |random| 8 + random as usize % 3);
    let mut builder = FilterBlockBuilder::new(policy);
    for (index, keys) in keys.chunks(20).enumerate() {
        // Every third range stays empty.
        builder.start_block((index + index / 2) as u64 * 2048).unwrap();
        keys.iter().for_each(|key| builder.add_key(key));
    }
    let mut contents = builder.finish().unwrap().to_vec();
    // Some offsets are malformed.
    let len = contents.len();
    contents[len - 205..len - 165].fill(0xff);
    let reader = FilterBlockReader::new(policy, contents);
    let mut state = 5;
    let queries: Vec<(u64, &[u8])> = (0..5000 / fewer(25))
        .map(|_| {
            let random = random(&mut state);
            let offset = if random.is_multiple_of(50) { u64::MAX - random } else { random % (170 * 2048) };
            (offset, &keys[random as usize % keys.len()][..])
        })
        .collect();
    let mut answers = vec![true; 3];
    for count in [0, 1, 31, 127, 128, 129, queries.len()] {
        reader.keys_may_match(&queries[..count], &mut answers);
        let one_by_one: Vec<bool> =
            queries[..count].iter().map(|&(offset, key)| reader.key_may_match(offset, key)).collect();
        assert_eq!(answers, one_by_one);
    }
}
