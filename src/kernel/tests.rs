//! Tests of the kernels that build filters at each level against the portable code, even on areas that no
//! policy gives them, and of the search for probes with the same filter.

use super::level::{ALL, LEVEL_IS_SET, best, current, set};
use super::{copy_short, hash_any_len, hash_fixed_len, pack, portable, set_spread};
use crate::{KeyBuf, Keys};

/// Sizes of areas in bytes: small ones, and those around the sizes at which other code may take over.
fn sizes() -> Vec<usize> {
    let around = [512, 1 << 12, 1 << 15, 1 << 16, 1 << 20, 1 << 21]
        .into_iter()
        .flat_map(|len| [len - 8, len, len + 8]);
    (8..=400).step_by(8).chain(around).collect()
}

/// Hashes at both ends of the range of 32 bits, and in between.
fn hashes(seed: u32) -> [u32; 64] {
    let ends = [0, 1, 7, 8, u32::MAX, u32::MAX - 1, 1 << 31, (1 << 31) - 1];
    std::array::from_fn(|at| {
        let between = (at as u32).wrapping_add(seed).wrapping_mul(0x9e37_79b9);
        ends.get(at.wrapping_sub(seed as usize)).copied().unwrap_or(between)
    })
}

#[cfg_attr(miri, ignore = "takes minutes")]
#[test]
fn bits_are_set_and_packed_as_by_the_portable_code() {
    let _alone = LEVEL_IS_SET.lock().unwrap();
    let before = current();
    for len in sizes() {
        for (probes, count) in [(1, 1), (6, 8), (6, 9), (6, 15), (6, 16), (7, 17), (9, 33), (30, 63), (6, 64)]
        {
            let mut expected = vec![0; len];
            portable::set_spread(&mut expected, probes, &hashes(probes.into())[..count]);
            let mut packed = expected.clone();
            portable::pack(&mut packed, 0);
            for level in ALL.into_iter().filter(|level| *level <= best()) {
                assert!(set(level));
                let mut area = vec![0; len];
                set_spread(&mut area, probes, &mut hashes(probes.into()), count);
                assert!(area == expected, "{len} bytes, {probes} bits of {count} keys, {level:?}");
                pack(&mut area);
                assert!(area[..len / 8] == packed[..len / 8], "{len} bytes packed, {level:?}");
            }
        }
    }
    assert!(set(before));
}

/// Filters are the same whatever the order of the hashes, but hashes are documented to be in the order
/// of their keys.
#[test]
fn hashes_are_in_the_order_of_their_keys() {
    let _alone = LEVEL_IS_SET.lock().unwrap();
    let before = current();
    for len in [0, 3, 4, 16, 17, 40] {
        let keys: KeyBuf = (0..75_u8).map(|first| vec![first; len]).collect();
        let keys = keys.as_keys();
        let expected: Vec<u32> = keys.iter().map(|key| crate::hash::leveldb(key, 7)).collect();
        for level in ALL.into_iter().filter(|level| *level <= best()) {
            assert!(set(level));
            let mut hashes = [[0; 8]; 10];
            hash_fixed_len(keys.fixed_len().unwrap(), 7, &mut hashes);
            assert_eq!(hashes.as_flattened()[..75], expected, "{len} bytes, {level:?}");
        }
    }
    assert!(set(before));
}

/// Hashes keys of each length next to keys of other lengths: in a buffer with room after the keys, in bytes that end
/// with the last key, and with a suffix after each key.
#[test]
fn keys_of_any_lengths_are_hashed_to_their_ends() {
    let _alone = LEVEL_IS_SET.lock().unwrap();
    let before = current();
    let most = if cfg!(miri) { 70 } else { 150 };
    for longest in [3, 4, 16, 17, 64, 65, most] {
        let keys: Vec<Vec<u8>> = (0..2 * most)
            .map(|at| (0..at * 29 % (longest + 1)).map(|byte| (byte * 7 + at) as u8 | 0x80).collect())
            .collect();
        let buf: KeyBuf = keys.iter().collect();
        let bytes = keys.concat();
        let starts: Vec<usize> =
            keys.iter().scan(0, |end, key| Some(std::mem::replace(end, *end + key.len()))).collect();
        let long_enough: KeyBuf = keys.iter().map(|key| [key, &b"cut"[..]].concat()).collect();
        let cut = long_enough.as_keys().strip_suffix(3).unwrap();
        for level in ALL.into_iter().filter(|level| *level <= best()) {
            assert!(set(level));
            for all in [buf.as_keys(), Keys::new(&bytes, &starts).unwrap(), cut] {
                for (from, count) in [(0, keys.len()), (1, 1), (3, 16), (5, 15), (keys.len() - 5, 5)] {
                    let mut hashes = vec![0; count];
                    hash_any_len(all, from, 7, &mut hashes);
                    for (key, hash) in keys[from..].iter().zip(hashes) {
                        let expected = crate::hash::leveldb(key, 7);
                        assert_eq!(hash, expected, "{} of up to {longest} bytes, {level:?}", key.len());
                    }
                }
            }
        }
    }
    assert!(set(before));
}

#[test]
fn short_keys_are_copied_whole() {
    let _alone = LEVEL_IS_SET.lock().unwrap();
    let before = current();
    let bytes: [u8; 64] = std::array::from_fn(|at| at as u8 + 1);
    for level in ALL.into_iter().filter(|level| *level <= best()) {
        assert!(set(level));
        for len in 0..=64 {
            let mut room = [0xff; 64];
            copy_short(&bytes[64 - len..], &mut room);
            assert_eq!(room[..len], bytes[64 - len..], "{len} bytes, {level:?}");
        }
    }
    assert!(set(before));
}

/// Neighbours usually share a filter if keys are looked up in ascending order, and seldom
/// otherwise.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
#[test]
fn runs_are_told_from_random_order() {
    let filters: Vec<[u8; 9]> = (0..40).map(|number| [number; 9]).collect();
    let probes = |number: &dyn Fn(usize) -> usize, count: usize| -> Vec<(&[u8], &[u8])> {
        (0..count).map(|at| (&[][..], &filters[number(at)][..])).collect()
    };
    for count in 0..=32 {
        let one = probes(&|_| 0, count);
        assert_eq!(super::has_runs(&one), count > 1, "{count} of one filter");
        assert!(!super::has_runs(&probes(&|at| at, count)), "{count} of different filters");
        assert!(!super::has_runs(&probes(&|at| at % 2, count)), "{count} of two filters in turns");
        // A single pair of neighbours with the same filter is not enough.
        if count > 3 {
            assert!(
                !super::has_runs(&probes(&|at| at.max(1), count)),
                "{count} of which the first two agree"
            );
        }
    }
    assert!(super::has_runs(&probes(&|at| at / 8, 32)) && super::has_runs(&probes(&|at| (at + 3) / 25, 32)));

    let mut found = Vec::new();
    let in_runs = probes(&|at| [3, 3, 3, 4, 5, 5, 3, 3][at], 8);
    super::runs(&in_runs, |run, filter| found.push((run, filter[0])));
    assert_eq!(found, [(0..3, 3), (3..4, 4), (4..6, 5), (6..8, 3)]);
    super::runs(&[], |run, _| panic!("a run {run:?} of nothing"));
}
