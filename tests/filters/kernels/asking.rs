//! Answers of one filter, of filters in batches, and of whole filter blocks. Of filters that no builder makes, the answers
//! are LevelDB's, too.

use filterblock::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalFilterPolicy,
};

use super::building::long_lengths;
use super::reference::{
    at_each_level, hashes_at_the_ends, key_of_hash, positions_of, random, random_keys, reference_filter,
    reference_match,
};
use crate::interpreted::fewer;

/// Each key is asked for in a filter of its own, in a filter of many keys, and in a filter of other keys: alone, by
/// hash, and in batches.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn answers_of_long_keys() {
    let policy = BloomFilterPolicy::new(10);
    let short = (0..=66).chain([127, 128, 129, 200]).step_by(fewer(9));
    for len in short.chain(long_lengths()) {
        // 41: eights and sixteens in a batch, and keys after them. The last 21 are not in the filter of all.
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
            let internal: Vec<Vec<u8>> = keys.iter().map(|key| [key, &[7; 8][..]].concat()).collect();
            let internal: Vec<(&[u8], &[u8])> =
                internal.iter().zip(&probes).map(|(key, (_, filter))| (&key[..], *filter)).collect();
            let of_first: Vec<_> = keys.iter().map(|key| reference_match(key, probes[0].1)).collect();
            // One key of another length.
            let mut unlike = probes.clone();
            unlike[11].0 = b"of another length than any";
            at_each_level(|| {
                let alone: Vec<bool> =
                    probes.iter().map(|(key, filter)| policy.key_may_match(key, filter)).collect();
                assert_eq!(alone, expected, "{}", what());
                let hash = |key: &[u8]| policy.hash_key(key).unwrap();
                let by_hash: Vec<bool> =
                    probes.iter().map(|(key, filter)| policy.hash_may_match(hash(key), filter)).collect();
                assert_eq!(by_hash, expected, "{} by hash", what());
                let hashes: Vec<_> = keys.iter().map(|key| hash(key)).collect();
                let mut answers = vec![false; hashes.len()];
                policy.hashes_may_match(&hashes, probes[0].1, &mut answers);
                assert_eq!(answers, of_first, "{} by hashes for one filter", what());
                // The probes from each place of a sixteen on, or, where keys are long, from some of the places.
                for from in (0..17).step_by(if len > 200 { 5 } else { fewer(3) }) {
                    let mut answers = vec![false; probes.len() - from];
                    policy.keys_may_match(&probes[from..], &mut answers);
                    assert_eq!(answers, expected[from..], "{} from number {from} on", what());
                }
                let mut answers = vec![false; probes.len()];
                policy.keys_may_match(&unlike, &mut answers);
                answers[11] = expected[11];
                assert_eq!(answers, expected, "{} among others", what());

                let mut answers = vec![false; probes.len()];
                InternalFilterPolicy::new(policy).keys_may_match(&internal, &mut answers);
                assert_eq!(answers, expected, "{} without suffix", what());
            });
        }
        assert!(own.iter().zip(&keys).all(|(filter, key)| policy.key_may_match(key, filter)));
    }
}

/// A key matches if only its own bits are set, and does not match if the first, the last or the middle one of them is
/// missing.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn every_bit_is_where_it_belongs() {
    let policy = BloomFilterPolicy::new(10);
    let around =
        [512, 1024, 4096, 8192, 32_768, 65_536, 1 << 17].into_iter().flat_map(|len| len - 3..=len + 3);
    let between = [775, 3001, 12_345, 33_333, 69_999, 70_000, 70_001, 1_000_003];
    // Lengths around the end of the gather, and with more bits than there are hashes. Zeros that nobody sets take no
    // memory.
    let large = [(1 << 26) - 1, 1 << 26, (1 << 26) + 1, (1 << 29) - 1, 1 << 29, (1 << 29) + 1];
    let large = large.into_iter().filter(|_| cfg!(target_pointer_width = "64") && fewer(9) == 1);
    for len in (1..=300).chain(around).chain(between).chain(large).step_by(fewer(9)) {
        let mut filter = vec![0; len + 1];
        // Each number of probes for every third of the short lengths.
        let numbers = [1, 2, 3, 6, 8, 9, 16, 17, 30].into_iter().enumerate();
        for (_, k) in numbers.filter(|(number, _)| len > 300 || (len + number) % 3 == 0) {
            filter[len] = k;
            for hash in hashes_at_the_ends(len).into_iter().step_by(fewer(11)) {
                let key = key_of_hash(hash);
                let other = key_of_hash(hash ^ 0x5555_5555);
                let positions = positions_of(hash, k, len);
                let check = |filter: &[u8], expected: bool| {
                    let what = || format!("{len} bytes, k {k}, hash {hash:#x}");
                    assert_eq!(policy.key_may_match(&key, filter), expected, "{}", what());
                    // A batch that asks one filter, and a batch with another filter among the same ones.
                    let mut probes = [(&other[..], filter); 17];
                    let lane = hash as usize / 3 % 17;
                    probes[lane].0 = &key;
                    let mut answers = [!expected; 17];
                    policy.keys_may_match(&probes, &mut answers);
                    assert_eq!(answers[lane], expected, "{} in lane {lane}", what());
                    probes[(lane + 1) % 17].1 = &[];
                    answers = [!expected; 17];
                    policy.keys_may_match(&probes, &mut answers);
                    assert_eq!(answers[lane], expected, "{} among others", what());
                };
                positions.iter().for_each(|at| filter[at / 8] |= 1 << (at % 8));
                at_each_level(|| {
                    check(&filter, true);
                    for at in [positions[0], positions[positions.len() - 1], positions[positions.len() / 2]] {
                        filter[at / 8] ^= 1 << (at % 8);
                        check(&filter, false);
                        filter[at / 8] ^= 1 << (at % 8);
                    }
                });
                positions.iter().for_each(|at| filter[at / 8] = 0);
            }
        }
    }
}

/// Filters of any bytes and of many sizes, with every k that a byte can hold.
fn any_filters() -> Vec<Vec<u8>> {
    let mut state = 1;
    // 163 sizes: each meets each kind of k. Some neighbours differ in their upper bits alone.
    let sizes: Vec<usize> = (1..140)
        .chain([251, 65_787, 511, 513, 1000, 1001, 2047, 4093, 4095, 4096, 4097, 4099, 69_635, 5000, 33_333])
        .chain([65_533, 65_535, 65_536, 65_537, 65_539, 69_999, 70_001, 1 << 20, (1 << 20) + 1])
        .filter(|&size| fewer(2) == 1 || size < 5000)
        .step_by(fewer(5))
        .collect();
    (0..1500 / fewer(30))
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

/// Each filter is asked for many keys, as in a table with one filter.
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
    for filter in any_filters().into_iter().step_by(fewer(9)).chain(huge) {
        let probes: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &filter[..])).collect();
        let expected: Vec<bool> = keys.iter().map(|key| reference_match(key, &filter)).collect();
        // One probe of a group asks another filter.
        let mut mixed = probes.clone();
        mixed[20].1 = &[];
        at_each_level(|| {
            for count in [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 75].into_iter().step_by(fewer(3)) {
                let mut answers = vec![false; count];
                policy.keys_may_match(&probes[..count], &mut answers);
                assert_eq!(answers, expected[..count], "{} bytes, k {:?}", filter.len() - 1, filter.last());
            }
            let mut answers = vec![true; 32];
            policy.keys_may_match(&mixed[..32], &mut answers);
            assert!(!answers[20] && answers[..20] == expected[..20] && answers[21..] == expected[21..32]);
        });
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

        let internal: Vec<Vec<u8>> = keys.iter().map(|key| [key, &[9; 8][..]].concat()).collect();
        let internal: Vec<(&[u8], &[u8])> =
            internal.iter().zip(&filters).map(|(key, filter)| (&key[..], &filter[..])).collect();
        at_each_level(|| {
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
            let mut answers = vec![false; internal.len()];
            InternalFilterPolicy::new(policy).keys_may_match(&internal, &mut answers);
            assert_eq!(answers, expected);
        });
    }
}

#[test]
fn short_internal_keys_may_match_among_others() {
    let policy = InternalFilterPolicy::new(BloomFilterPolicy::new(10));
    let keys = random_keys(500 / fewer(5), 3, |random| random as usize % 16);
    let empty = [0, 0, 0, 0, 0, 0, 0, 0, 6];
    let probes: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &empty[..])).collect();
    at_each_level(|| {
        let mut answers = vec![false; keys.len()];
        policy.keys_may_match(&probes, &mut answers);
        assert!(keys.iter().zip(answers).all(|(key, answer)| answer == (key.len() < 8)));
    });
}

/// Answers are right up to the end of the shorter slice. The answers after it stay as they were.
#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn slices_of_unequal_length() {
    let policy = BloomFilterPolicy::new(10);
    let keys = random_keys(300, 17, |_| 12);
    let one = reference_filter(&keys[..150], 10, 6);
    let own: Vec<Vec<u8>> =
        keys.iter().map(|key| reference_filter(&[key[..].into(), vec![1]], 10, 6)).collect();
    // All pairs of small lengths, and of large lengths those that differ little.
    let lens = || (0..=300_usize).step_by(fewer(7));
    let pairs = lens()
        .flat_map(|asked| lens().map(move |wanted| (asked, wanted)))
        .filter(|&(asked, wanted)| asked.max(wanted) < 66 || asked.abs_diff(wanted) < 18);
    for filters in [vec![&one; 300], own.iter().skip(1).step_by(2).flat_map(|filter| [filter; 2]).collect()] {
        let probes: Vec<(&[u8], &[u8])> =
            keys.iter().zip(filters).map(|(key, filter)| (&key[..], &filter[..])).collect();
        let expected: Vec<bool> = probes.iter().map(|(key, filter)| reference_match(key, filter)).collect();
        assert!(expected.contains(&true) && expected.contains(&false));
        at_each_level(|| {
            for (asked, wanted) in pairs.clone() {
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
        });
    }
}

/// Each answer has to be in the place of its query, whether or not a filter was asked for it.
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
    let alone =
        || -> Vec<bool> { queries.iter().map(|&(offset, key)| reader.key_may_match(offset, key)).collect() };
    let one_by_one = alone();
    assert!(one_by_one.contains(&true) && one_by_one.contains(&false));
    at_each_level(|| {
        assert_eq!(alone(), one_by_one);
        let mut answers = vec![true; 3];
        // Batches that begin at any query. Their answers replace those of earlier batches.
        for (from, count) in (0..queries.len().min(300))
            .step_by(fewer(70))
            .map(|count| (count % 7, count))
            .chain([(0, queries.len())])
        {
            reader.keys_may_match(&queries[from..from.max(count)], &mut answers);
            assert_eq!(answers, one_by_one[from..from.max(count)]);
        }
    });
}

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
