//! Filters and answers against a plain reference: all key lengths, all k, all sizes, whatever code the processor gets.
//!
//! With the feature `simd` and AVX2 that is the CPU-specific code, without them the portable one; the reference is the
//! same, so both are equal.

use filterblock::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalFilterPolicy, KeyBuf,
    KeyHash, Keys,
};

use crate::interpreted::fewer;

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

    // By their starts, as other crates hand them over: nothing says that they are of equal length.
    let bytes = keys.concat();
    let starts: Vec<usize> =
        keys.iter().scan(0, |end, key| Some(std::mem::replace(end, *end + key.len()))).collect();
    filter.clear();
    policy.create_filter(Keys::new(&bytes, &starts).unwrap(), &mut filter).unwrap();
    assert!(filter == expected, "{} by starts", what());

    let mut builder = FilterBlockBuilder::new(policy);
    keys.iter().for_each(|key| builder.add_key(key));
    assert!(builder.finish().unwrap()[..expected.len()] == expected, "{} through the builder", what());
}

/// Key lengths around those at which code may change its ways, and some between.
fn long_lengths() -> Vec<usize> {
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

/// Counts that make whole eights and fours, and such that leave keys over.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn filters_of_long_keys() {
    for len in long_lengths() {
        for count in [1, 8, 21] {
            check(&random_keys(count, (len + count) as u64, |_| len), 10);
        }
        // One that is not alike in the second eight.
        let mut keys = random_keys(20, len as u64, |_| len);
        keys[13].pop();
        check(&keys, 10);
    }
}

/// Each key is asked for in a filter of its own, in one of all and in one of other keys: alone, by
/// hash, and in batches.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn answers_of_long_keys() {
    let policy = BloomFilterPolicy::new(10);
    for len in (0..=66).chain([127, 128, 129, 200]).chain(long_lengths()) {
        // 41: eights in a batch, and one key behind them. The last 21 are not in the filter of all.
        let keys = random_keys(41, len as u64, |_| len);
        let own: Vec<Vec<u8>> =
            keys.iter().map(|key| reference_filter(std::slice::from_ref(key), 10, 6)).collect();
        let of_all = reference_filter(&keys[..20], 10, 6);
        let others = own.iter().skip(1).chain([&of_all]);
        for filters in [own.iter().collect(), vec![&of_all; 41], others.collect::<Vec<_>>()] {
            let expected: Vec<bool> =
                keys.iter().zip(&filters).map(|(key, filter)| reference_match(key, filter)).collect();
            let probes: Vec<(&[u8], &[u8])> =
                keys.iter().zip(filters).map(|(key, filter)| (&key[..], &filter[..])).collect();
            let what = || format!("keys of {len} bytes");
            let alone: Vec<bool> =
                probes.iter().map(|(key, filter)| policy.key_may_match(key, filter)).collect();
            assert_eq!(alone, expected, "{}", what());
            let hash = |key: &[u8]| policy.hash_key(key).unwrap();
            let by_hash: Vec<bool> =
                probes.iter().map(|(key, filter)| policy.hash_may_match(hash(key), filter)).collect();
            assert_eq!(by_hash, expected, "{} by hash", what());
            // From every place of an eight on.
            for from in 0..9 {
                let mut answers = vec![false; probes.len() - from];
                policy.keys_may_match(&probes[from..], &mut answers);
                assert_eq!(answers, expected[from..], "{} from number {from} on", what());
            }
            // One that is not alike.
            let mut unlike = probes.clone();
            unlike[11].0 = b"of another length than any";
            let mut answers = vec![false; probes.len()];
            policy.keys_may_match(&unlike, &mut answers);
            answers[11] = expected[11];
            assert_eq!(answers, expected, "{} among others", what());

            let internal: Vec<Vec<u8>> = keys.iter().map(|key| [key, &[7; 8][..]].concat()).collect();
            let probes: Vec<(&[u8], &[u8])> =
                internal.iter().zip(&probes).map(|(key, (_, filter))| (&key[..], *filter)).collect();
            let mut answers = vec![false; probes.len()];
            InternalFilterPolicy::new(policy).keys_may_match(&probes, &mut answers);
            assert_eq!(answers, expected, "{} without suffix", what());
        }
        assert!(own.iter().zip(&keys).all(|(filter, key)| policy.key_may_match(key, filter)));
    }
}

/// A key of four bytes with this hash: the hash of one word can be undone, step by step.
fn key_of_hash(hash: u32) -> [u8; 4] {
    const M: u32 = 0xc6a4_a793;
    const M_INVERSE: u32 = 0xd819_8e9b;
    let sum = (hash ^ (hash >> 16)).wrapping_mul(M_INVERSE);
    let key = sum.wrapping_sub(0xbc9f_1d34 ^ 4_u32.wrapping_mul(M)).to_le_bytes();
    assert_eq!(reference_hash(&key), hash);
    key
}

/// Hashes whose first bit is near either end of an array, after the fewest turns and the most.
fn hashes_at_the_ends(array_len: usize) -> Vec<u32> {
    let bits = array_len as u64 * 8;
    let most = (1 << 32) / bits * bits;
    [0, bits, 2 * bits, 1 << 31, most - bits.min(most), most]
        .into_iter()
        .flat_map(|end| {
            [-33, -32, -31, -25, -24, -9, -8, -1, 0, 1, 7, 8, 31, 32].map(|by| end.wrapping_add_signed(by))
        })
        .filter_map(|hash| u32::try_from(hash).ok())
        .chain([u32::MAX, 0x9e37_79b9, 0x7f4a_7c15])
        .collect()
}

fn positions_of(hash: u32, k: u8, array_len: usize) -> Vec<usize> {
    let delta = hash.rotate_right(17);
    let at = |i: u8| hash.wrapping_add(u32::from(i).wrapping_mul(delta)) as u64 % (array_len as u64 * 8);
    (0..k).map(|i| at(i) as usize).collect()
}

/// A key matches with its own bits alone, and not without any one of them.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn every_bit_is_where_it_belongs() {
    let policy = BloomFilterPolicy::new(10);
    let around = [512, 1024, 4096, 8192, 32_768, 65_536].into_iter().flat_map(|len| len - 3..=len + 3);
    let between = [251, 775, 3001, 12_345, 33_333, 69_999, 70_000, 70_001, 1_000_003];
    // Where the gather ends, and where there are more bits than hashes. Zeros that nobody sets take
    // no memory.
    let large = [(1 << 26) - 1, 1 << 26, (1 << 26) + 1, (1 << 29) - 1, 1 << 29, (1 << 29) + 1];
    let large = large.into_iter().filter(|_| cfg!(target_pointer_width = "64"));
    for len in (1..=140).chain(around).chain(between).chain(large) {
        let mut filter = vec![0; len + 1];
        for k in [1, 2, 3, 6, 8, 9, 30] {
            filter[len] = k;
            for hash in hashes_at_the_ends(len) {
                let key = key_of_hash(hash);
                let other = key_of_hash(hash ^ 0x5555_5555);
                let positions = positions_of(hash, k, len);
                let check = |filter: &[u8], expected: bool| {
                    let what = || format!("{len} bytes, k {k}, hash {hash:#x}");
                    assert_eq!(policy.key_may_match(&key, filter), expected, "{}", what());
                    // A batch in which one filter is asked, and one with another among them.
                    let mut probes = [(&other[..], filter); 9];
                    let lane = hash as usize / 3 % 9;
                    probes[lane].0 = &key;
                    let mut answers = [!expected; 9];
                    policy.keys_may_match(&probes, &mut answers);
                    assert_eq!(answers[lane], expected, "{} in lane {lane}", what());
                    probes[(lane + 1) % 9].1 = &[];
                    answers = [!expected; 9];
                    policy.keys_may_match(&probes, &mut answers);
                    assert_eq!(answers[lane], expected, "{} among others", what());
                };
                positions.iter().for_each(|at| filter[at / 8] |= 1 << (at % 8));
                check(&filter, true);
                for at in [positions[0], positions[positions.len() - 1], positions[positions.len() / 2]] {
                    filter[at / 8] ^= 1 << (at % 8);
                    check(&filter, false);
                    filter[at / 8] ^= 1 << (at % 8);
                }
                positions.iter().for_each(|at| filter[at / 8] = 0);
            }
        }
    }
}

/// The same of filters being made, by key and by hash.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn every_bit_is_set_where_it_belongs() {
    let around = [512, 4096, 65_536].into_iter().flat_map(|len| len - 3..=len + 3);
    for len in (8..=140).chain(around).chain([251, 3001, 33_333, 69_999, 70_001]) {
        for hash in hashes_at_the_ends(len) {
            // One key, so that its bits are those of the array.
            let policy = BloomFilterPolicy::new(len as u32 * 8);
            let mut expected = vec![0; len + 1];
            positions_of(hash, policy.probes(), len).iter().for_each(|at| expected[at / 8] |= 1 << (at % 8));
            expected[len] = policy.probes();
            let mut filter = Vec::new();
            let keys: KeyBuf = [key_of_hash(hash)].into_iter().collect();
            policy.create_filter(keys.as_keys(), &mut filter).unwrap();
            assert!(filter == expected, "{len} bytes, hash {hash:#x}");
            filter.clear();
            policy.create_filter_from_hashes(&[KeyHash::new(hash.into())], &mut filter).unwrap();
            assert!(filter == expected, "{len} bytes, hash {hash:#x} by hash");
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
    let around = [512, 4096, 65_536].into_iter().flat_map(|bytes| bytes - 3..=bytes + 3);
    let sizes = (8..300).chain(around).chain([1000, 1024, 3001, 5000, 33_333, 69_999, 70_001, 1 << 20]);
    for bytes in sizes.step_by(fewer(100)) {
        check(&random_keys(8, bytes, |_| 16), bytes as u32);
        check(&random_keys(64, bytes, |_| 16), (bytes as u32 / 8).max(1));
    }
}

/// Any bytes as filters of every size, and every k that a byte can hold.
fn any_filters() -> Vec<Vec<u8>> {
    let mut state = 1;
    // 163 of them: each meets each kind of k. Some neighbours differ in their upper bits alone.
    let sizes: Vec<usize> = (1..140)
        .chain([251, 65_787, 511, 513, 1000, 1001, 2047, 4093, 4095, 4096, 4097, 4099, 69_635, 5000, 33_333])
        .chain([65_533, 65_535, 65_536, 65_537, 65_539, 69_999, 70_001, 1 << 20, (1 << 20) + 1])
        .step_by(fewer(7))
        .collect();
    (0..1500 / fewer(50))
        .map(|i| {
            let k = match i % 3 {
                0 => 6,
                1 => (i % 31) as u8,
                _ => (i / 3) as u8,
            };
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
    let one_by_one: Vec<bool> =
        queries.iter().map(|&(offset, key)| reader.key_may_match(offset, key)).collect();
    let mut answers = vec![true; 3];
    // Batches that begin anywhere, into what earlier ones left.
    for (from, count) in
        (0..300).step_by(fewer(50)).map(|count| (count % 7, count)).chain([(0, queries.len())])
    {
        reader.keys_may_match(&queries[from..from.max(count)], &mut answers);
        assert_eq!(answers, one_by_one[from..from.max(count)]);
    }
}

/// Answers are right up to the shorter slice, and as they were behind it.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn slices_of_unequal_length() {
    let policy = BloomFilterPolicy::new(10);
    let keys = random_keys(300, 17, |_| 12);
    let one = reference_filter(&keys[..150], 10, 6);
    let own: Vec<Vec<u8>> =
        keys.iter().map(|key| reference_filter(&[key[..].into(), vec![1]], 10, 6)).collect();
    for filters in [vec![&one; 300], own.iter().skip(1).step_by(2).flat_map(|filter| [filter; 2]).collect()] {
        let probes: Vec<(&[u8], &[u8])> =
            keys.iter().zip(filters).map(|(key, filter)| (&key[..], &filter[..])).collect();
        let expected: Vec<bool> = probes.iter().map(|(key, filter)| reference_match(key, filter)).collect();
        assert!(expected.contains(&true) && expected.contains(&false));
        for asked in 0..=300 {
            for wanted in 0..=300 {
                let answered = asked.min(wanted);
                let preset = asked % 2 == 0;
                let mut answers = vec![preset; wanted];
                policy.keys_may_match(&probes[..asked], &mut answers);
                assert_eq!(answers[..answered], expected[..answered], "{asked} probes, {wanted} answers");
                assert!(
                    answers[answered..].iter().all(|&answer| answer == preset),
                    "{asked} probes, {wanted} answers"
                );
            }
        }
    }
}
