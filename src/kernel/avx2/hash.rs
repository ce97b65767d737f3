//! LevelDB's hash, eight keys at a time, and copying short keys of several lengths.

use std::arch::x86_64::*;

use super::registers::{load, store};
use crate::lanes::{EqualLenKeys, FixedLenKeys, KeyPtrs};

const M: i32 = 0xc6a4_a793_u32 as i32;

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn step<const SHIFT: i32>(h: __m256i, words: __m256i) -> __m256i {
    let h = _mm256_mullo_epi32(_mm256_add_epi32(h, words), _mm256_set1_epi32(M));
    _mm256_xor_si256(h, _mm256_srli_epi32::<SHIFT>(h))
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn hash_eight(keys: EqualLenKeys<'_, 8>, start: u32, hashes: &mut [u32; 8]) {
    let (keys, len) = (keys.keys(), keys.len());
    // SAFETY: all keys have `len` bytes.
    store(hashes, unsafe { hash_eight_at(|index| keys[index].as_ptr(), len, start) });
}

/// Hashes the keys of eight (key, filter) pairs if all keys have the same length. Returns `false` otherwise.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn hash_eight_of(
    probes: &[(&[u8], &[u8]); 8],
    start: impl FnOnce(usize) -> u32,
    hashes: &mut [u32; 8],
) -> bool {
    let len = probes[0].0.len();
    let unlike = probes.iter().fold(0, |unlike, (key, _)| unlike | (key.len() ^ len));
    if unlike == 0 {
        // SAFETY: all keys have `len` bytes.
        store(hashes, unsafe { hash_eight_at(|index| probes[index].0.as_ptr(), len, start(len)) });
    }
    unlike == 0
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn hash_fixed_len(keys: FixedLenKeys<'_>, start: u32, hashes: &mut [[u32; 8]]) {
    let (bytes, stride, len) = (keys.bytes(), keys.stride(), keys.key_len());
    let count = keys.count();
    assert!(len <= stride && bytes.len() == stride * count && hashes.len() == count.div_ceil(8));
    let (whole, rest) = hashes.split_at_mut(count / 8);
    let mut first = bytes.as_ptr();
    let key = |first: *const u8, index: usize| {
        let key = first.wrapping_add(index * stride);
        debug_assert!(key.wrapping_add(len) <= bytes.as_ptr_range().end);
        key
    };
    for hashes in whole {
        // SAFETY: eight keys, `stride` bytes apart and none longer, begin here, as asserted above.
        store(hashes, unsafe { hash_eight_at(|index| key(first, index), len, start) });
        first = first.wrapping_add(8 * stride);
    }
    if let [hashes] = rest {
        let last = count % 8 - 1;
        // SAFETY: `last + 1` keys begin here, and no index goes beyond `last`.
        store(hashes, unsafe { hash_eight_at(|index| key(first, index.min(last)), len, start) });
    }
}

/// # Safety
///
/// `len` bytes have to be readable at each pointer that `key` returns for 0 to 7.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
unsafe fn hash_eight_at(key: impl Fn(usize) -> *const u8, len: usize, start: u32) -> __m256i {
    let mut h = _mm256_set1_epi32(start as i32);
    let mut at = 0;
    while at + 16 <= len {
        // SAFETY: `at + 16` is at most `len`, so 16 bytes can be read starting at `at`.
        for column in unsafe { words(|index| key(index).add(at)) } {
            h = step::<16>(h, column);
        }
        at += 16;
    }
    while at + 4 <= len {
        // SAFETY: `at + 4` is at most `len`, so 4 bytes can be read starting at `at`. The loads
        // need no alignment.
        let load = |index| unsafe { key(index).add(at).cast::<i32>().read_unaligned() };
        h = step::<16>(h, columns(load));
        at += 4;
    }
    if at < len {
        // Little-endian, with zeros above the last bytes.
        // SAFETY: `at` is below `len`, and `len` bytes can be read.
        let byte = |index: usize, at: usize| i32::from(unsafe { key(index).add(at).read() });
        let rest = |index| (at..len).rev().fold(0, |rest, at| rest << 8 | byte(index, at));
        h = step::<24>(h, columns(rest));
    }
    h
}

/// Reads four words of each of eight keys, and returns the first words of all keys, then the second words,
/// and so on.
///
/// # Safety
///
/// 16 bytes have to be readable at each pointer that `key` returns for 0 to 7.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
unsafe fn words(key: impl Fn(usize) -> *const u8) -> [__m256i; 4] {
    // SAFETY: as the caller promises. The loads need no alignment.
    let load = |index| unsafe { _mm_loadu_si128(key(index).cast()) };
    // Each row has four words of a key, and four words of the key four places after it. The unpacking turns
    // rows into columns, each with one word of all eight keys.
    let row = |index| _mm256_set_m128i(load(index + 4), load(index));
    let (a, b, c, d) = (row(0), row(1), row(2), row(3));
    let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
    let (first, second) = (_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
    let (ab, cd) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
    [first, second, _mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd)]
}

/// Hashes sixteen keys of any lengths, as two groups of eight: while one group waits for a step,
/// the CPU works on the other.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn hash_places(keys: &KeyPtrs<'_, 16>, seed: u32) -> [u32; 16] {
    let (first, starts) = (keys.bytes().as_ptr(), keys.starts());
    let (lens, _) = keys.lens().as_chunks::<8>();
    let mut groups: [Group; 2] = std::array::from_fn(|group| Group::new(load(&lens[group]), seed));
    let mut number = _mm256_setzero_si256();
    let mut at = 0;
    while at < keys.longest() {
        // SAFETY: `at` and `longest` are multiples of 16, `at` is below `longest`, and `longest` bytes are
        // readable at each start.
        let columns =
            |group: usize| unsafe { words(|index| first.wrapping_add(starts[group * 8 + index] + at)) };
        for (a, b) in columns(0).into_iter().zip(columns(1)) {
            groups[0].step(number, a);
            groups[1].step(number, b);
            number = _mm256_add_epi32(number, _mm256_set1_epi32(1));
        }
        at += 16;
    }
    let mut hashes = [0; 16];
    for (hashes, group) in hashes.as_chunks_mut::<8>().0.iter_mut().zip(groups) {
        store(hashes, group.finish());
    }
    hashes
}

/// Eight keys of any lengths while they are hashed. Words beyond the end of a key are left out.
#[derive(Clone, Copy)]
struct Group {
    lens: __m256i,
    /// The number of whole words of each key.
    words: __m256i,
    h: __m256i,
    /// The word after the whole words of each key.
    rest: __m256i,
}

impl Group {
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    fn new(lens: __m256i, seed: u32) -> Self {
        let by_len = _mm256_mullo_epi32(lens, _mm256_set1_epi32(M));
        let h = _mm256_xor_si256(_mm256_set1_epi32(seed as i32), by_len);
        Self { lens, words: _mm256_srli_epi32::<2>(lens), h, rest: _mm256_setzero_si256() }
    }

    /// Mixes in the word with this number of each key. If that word directly follows the key's whole words,
    /// it is kept as the rest instead. Later words are left out.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    fn step(&mut self, number: __m256i, column: __m256i) {
        // Numbers of words are far below 2^31, so that a signed comparison will do.
        let has_it = _mm256_cmpgt_epi32(self.words, number);
        self.h = _mm256_blendv_epi8(self.h, step::<16>(self.h, column), has_it);
        self.rest = _mm256_blendv_epi8(self.rest, column, _mm256_cmpeq_epi32(self.words, number));
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    fn finish(self) -> __m256i {
        let count = _mm256_and_si256(self.lens, _mm256_set1_epi32(3));
        // For a key without last bytes, the shift by 32 leaves nothing.
        let bits = _mm256_sub_epi32(_mm256_set1_epi32(32), _mm256_slli_epi32::<3>(count));
        let rest = _mm256_and_si256(self.rest, _mm256_srlv_epi32(_mm256_set1_epi32(-1), bits));
        let has_none = _mm256_cmpeq_epi32(count, _mm256_setzero_si256());
        _mm256_blendv_epi8(step::<24>(self.h, rest), self.h, has_none)
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn columns(word: impl Fn(usize) -> i32) -> __m256i {
    _mm256_setr_epi32(word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7))
}

/// Copies `key`, 4 to 64 bytes, to the start of `room`, and may change the rest of `room`. No
/// branch depends on the length.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(super) fn copy_short(key: &[u8], room: &mut [u8; 64]) {
    assert!((4..=64).contains(&key.len()));
    let words = _mm256_set1_epi32((key.len() / 4) as i32);
    let (from, to) = (key.as_ptr(), room.as_mut_ptr());
    let first = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for half in 0..2 {
        let number = _mm256_add_epi32(first, _mm256_set1_epi32(half * 8));
        let mask = _mm256_cmpgt_epi32(words, number);
        let at = half as usize * 32;
        // SAFETY: words that the mask leaves out are not read, and all others belong to the key.
        let part = unsafe { _mm256_maskload_epi32(from.wrapping_add(at).cast(), mask) };
        // SAFETY: `at` is 0 or 32, and there is room for 64 bytes. The store needs no alignment.
        unsafe { _mm256_storeu_si256(to.add(at).cast(), part) };
    }
    let last = key.len() - 4;
    // SAFETY: the key has at least four bytes, and the room is no shorter than the key.
    unsafe { to.add(last).cast::<u32>().write_unaligned(from.add(last).cast::<u32>().read_unaligned()) };
}
