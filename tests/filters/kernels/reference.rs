//! References for the tests: filters and answers by the plainest code, and keys to try them with. Runs a test at each
//! level, and checks which levels there are.

use std::sync::{Mutex, PoisonError};

use filterblock::kernel_level::{ALL, Level, best, current, set};

/// LevelDB's hash, one byte after the other.
pub(super) fn reference_hash(key: &[u8]) -> u32 {
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

pub(super) fn reference_filter(keys: &[Vec<u8>], bits_per_key: usize, k: u8) -> Vec<u8> {
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

pub(super) fn reference_match(key: &[u8], filter: &[u8]) -> bool {
    // LevelDB denies a filter too short for a bit and a k, before it looks at the k.
    let [array @ .., k] = filter else { return false };
    let mut h = reference_hash(key);
    let delta = h.rotate_right(17);
    if array.is_empty() {
        return false;
    }
    *k > 30
        || (0..*k).all(|_| {
            let bit = h as usize % (array.len() * 8);
            h = h.wrapping_add(delta);
            array[bit / 8] & 1 << (bit % 8) != 0
        })
}

pub(super) fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33 ^ *state
}

pub(super) fn random_keys(count: usize, seed: u64, len: impl Fn(u64) -> usize) -> Vec<Vec<u8>> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            let len = len(random(&mut state));
            (0..len).map(|_| random(&mut state) as u8).collect()
        })
        .collect()
}

/// A key of four bytes with this hash. For a single word, the hash can be undone step by step.
pub(super) fn key_of_hash(hash: u32) -> [u8; 4] {
    const M: u32 = 0xc6a4_a793;
    const M_INVERSE: u32 = 0xd819_8e9b;
    let sum = (hash ^ (hash >> 16)).wrapping_mul(M_INVERSE);
    let key = sum.wrapping_sub(0xbc9f_1d34 ^ 4_u32.wrapping_mul(M)).to_le_bytes();
    assert_eq!(reference_hash(&key), hash);
    key
}

/// Hashes whose first bit is near either end of an array, for the smallest and for the greatest quotients of hash and
/// array size.
pub(super) fn hashes_at_the_ends(array_len: usize) -> Vec<u32> {
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

pub(super) fn positions_of(hash: u32, k: u8, array_len: usize) -> Vec<usize> {
    let delta = hash.rotate_right(17);
    let at = |i: u8| hash.wrapping_add(u32::from(i).wrapping_mul(delta)) as u64 % (array_len as u64 * 8);
    (0..k).map(|i| at(i) as usize).collect()
}

/// Held while a test needs one level. The level is the same for the whole process.
static LEVEL: Mutex<()> = Mutex::new(());

/// Prints the level at which a test has failed.
struct Running(Level);

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("at level {:?}", self.0);
        }
    }
}

/// The levels of this CPU. Under Miri only the best: `tests/miri.sh` runs the tests once for each.
fn levels() -> impl Iterator<Item = Level> {
    ALL.into_iter().filter(|level| if cfg!(miri) { *level == best() } else { *level <= best() })
}

/// Runs `test` once at each level, while no other test that sets a level runs.
pub(super) fn at_each_level(mut test: impl FnMut()) {
    // A test that has failed leaves nothing behind but its level.
    let _alone = LEVEL.lock().unwrap_or_else(PoisonError::into_inner);
    for level in levels() {
        let _running = Running(level);
        assert!(set(level));
        test();
        assert_eq!(current(), level, "the level has changed meanwhile");
    }
    assert!(set(best()));
}

/// The levels are those that the CPU's features allow, which are looked up here independently. `KERNEL_LEVELS`, such as
/// `Portable Avx2`, says which levels a machine is expected to have.
#[test]
fn every_level_of_the_processor_runs() {
    let mut expected = vec![Level::Portable];
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx2") {
            expected.push(Level::Avx2);
            if has!("avx512f")
                && has!("avx512bw")
                && has!("avx512dq")
                && has!("avx512vl")
                && has!("avx512ifma")
            {
                expected.push(Level::Avx512);
            }
        }
    }
    if cfg!(miri) {
        expected.drain(..expected.len() - 1);
    }
    let mut ran = Vec::new();
    at_each_level(|| ran.push(current()));
    assert_eq!(ran, expected);
    assert_eq!(best(), expected[expected.len() - 1]);

    let names: Vec<String> = ran.iter().map(|level| format!("{level:?}")).collect();
    let names = names.join(" ");
    println!("levels: {names}");
    if let Some(wanted) = std::env::var_os("KERNEL_LEVELS") {
        assert_eq!(*wanted, *names, "KERNEL_LEVELS");
    }
}

/// A level that the CPU does not have cannot be set, and nothing changes.
#[test]
fn levels_above_the_best_are_refused() {
    at_each_level(|| {
        let before = current();
        for level in ALL.into_iter().filter(|level| *level > best()) {
            assert!(!set(level));
            assert_eq!(current(), before);
        }
    });
}
