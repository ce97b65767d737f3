//! LevelDB's hash, sixteen keys at a time, and copying short keys of several lengths.

use std::arch::x86_64::*;

use super::registers::store_unaligned;
use crate::lanes::{FixedLenKeys, KeyPtrs};

const M: i32 = 0xc6a4_a793_u32 as i32;

#[target_feature(enable = "avx512f")]
#[inline]
fn step<const SHIFT: u32>(h: __m512i, words: __m512i) -> __m512i {
    let h = _mm512_mullo_epi32(_mm512_add_epi32(h, words), _mm512_set1_epi32(M));
    _mm512_xor_si512(h, _mm512_srli_epi32::<SHIFT>(h))
}

/// Hashes the keys that make up whole groups of eight. Returns the number of keys hashed.
#[target_feature(enable = "avx512f")]
pub(super) fn hash_eights(keys: FixedLenKeys<'_>, start: u32, hashes: &mut [[u32; 8]]) -> usize {
    let (bytes, stride, len) = (keys.bytes(), keys.stride(), keys.key_len());
    let whole = &mut hashes[..keys.count() / 8];
    assert!(len <= stride && bytes.len() == stride * keys.count());
    let done = whole.len() * 8;
    let mut first = bytes.as_ptr();
    let mut left = whole;
    while !left.is_empty() {
        let count = match left.len() {
            count @ (1..=2 | 5..=6) => count,
            count => count.min(4),
        };
        let (group, others) = left.split_at_mut(count);
        // SAFETY: eight keys for each of the arrays, `stride` bytes apart and none longer, begin here,
        // as asserted above.
        unsafe {
            match count {
                1..=2 => hash_groups::<1>(first, stride, len, start, group),
                3..=4 => hash_groups::<2>(first, stride, len, start, group),
                _ => hash_groups::<3>(first, stride, len, start, group),
            }
        }
        first = first.wrapping_add(count * 8 * stride);
        left = others;
    }
    done
}

/// Hashes keys in G groups of sixteen, the last of which may be half as large. Each step of a hash waits for
/// the one before it. While one group waits, the CPU works on another. If the groups were hashed one after the
/// other, too many instructions would be between them for that.
///
/// # Safety
///
/// `hashes` has to have `2 * G` arrays or one less. At `first`, there have to be eight keys for each array,
/// `stride` bytes apart, each with `len` readable bytes.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn hash_groups<const G: usize>(
    first: *const u8,
    stride: usize,
    len: usize,
    start: u32,
    hashes: &mut [[u32; 8]],
) {
    debug_assert!(hashes.len() == 2 * G || hashes.len() == 2 * G - 1);
    // The number of the last group of four keys. In place of missing keys, other keys are hashed once more.
    let last = hashes.len() * 2 - 1;
    // SAFETY: as the caller promises.
    let all: [_; G] = unsafe {
        if stride == 16 && len == 16 {
            hash_words(first, last, start)
        } else {
            hash_at(first, stride, len, last, start)
        }
    };
    for (hashes, h) in hashes.chunks_mut(2).zip(all) {
        if let Some(hashes) = hashes.as_flattened_mut().first_chunk_mut::<16>() {
            // SAFETY: the array has 64 bytes.
            unsafe { store_unaligned(hashes.as_mut_ptr(), h) };
        } else {
            // SAFETY: the array has 32 bytes, and the store needs no alignment.
            unsafe { _mm256_storeu_si256(hashes.as_mut_ptr().cast(), _mm512_castsi512_si256(h)) };
        }
    }
}

/// Hashes `4 * last + 4` keys of 16 bytes end to end, in G groups of sixteen.
///
/// # Safety
///
/// The bytes of all keys have to be readable at `first`. `last` has to be `4 * G - 1` or two less.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn hash_words<const G: usize>(first: *const u8, last: usize, start: u32) -> [__m512i; G] {
    // SAFETY: the load reads the four keys of the group with number `index`, which is at most `last`, the
    // number of the last group. The load needs no alignment.
    let load = |index: usize| unsafe { _mm512_loadu_si512(first.add(index * 64).cast()) };
    let mut rows = [[_mm512_setzero_si512(); 4]; G];
    for (group, rows) in rows.iter_mut().enumerate() {
        let at = group * 4;
        let third = if group == G - 1 && last < 4 * G - 1 { at } else { at + 2 };
        *rows = [load(at), load(at + 1), load(third), load(third + 1)];
    }
    let mut h = [_mm512_set1_epi32(start as i32); G];
    hash_rows(&mut h, rows);
    // Each row has four neighbouring keys, so that the first column has keys 0, 4, 8, 12, the
    // second 1, 5, and so on.
    let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    for h in &mut h {
        *h = _mm512_permutexvar_epi32(order, *h);
    }
    h
}

/// Hashes four words of sixteen keys in each group. Each row holds 16 bytes of each of four keys.
#[target_feature(enable = "avx512f")]
#[inline]
fn hash_rows<const G: usize>(h: &mut [__m512i; G], rows: [[__m512i; 4]; G]) {
    let mut columns = rows;
    for columns in &mut columns {
        *columns = transpose(*columns);
    }
    for word in 0..4 {
        for (h, columns) in h.iter_mut().zip(columns) {
            *h = step::<16>(*h, columns[word]);
        }
    }
}

/// Turns rows into columns, each with one word of all keys.
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
    let (first, second) = (_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    let (ab, cd) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
    [first, second, _mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd)]
}

/// Reads four rows of sixteen keys, as [`transpose`] takes them.
///
/// # Safety
///
/// 16 bytes have to be readable at each pointer that `key` returns for 0 to 15.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn rows(key: impl Fn(usize) -> *const u8) -> [__m512i; 4] {
    // SAFETY: as the caller promises. The loads need no alignment.
    let load = |index| unsafe { _mm_loadu_si128(key(index).cast()) };
    let row = |index| {
        let row = _mm512_castsi128_si512(load(index));
        let row = _mm512_inserti32x4::<1>(row, load(index + 4));
        let row = _mm512_inserti32x4::<2>(row, load(index + 8));
        _mm512_inserti32x4::<3>(row, load(index + 12))
    };
    [row(0), row(1), row(2), row(3)]
}

/// Hashes 32 keys of any lengths, as two groups of sixteen, for the reason [`hash_groups`] gives.
#[target_feature(enable = "avx512f")]
pub(super) fn hash_places(keys: &KeyPtrs<'_, 32>, seed: u32) -> [u32; 32] {
    let (first, starts) = (keys.bytes().as_ptr(), keys.starts());
    let (lens, _) = keys.lens().as_chunks::<16>();
    // SAFETY: the array has 64 bytes, and the load needs no alignment.
    let lens = |group: usize| unsafe { _mm512_loadu_si512(lens[group].as_ptr().cast()) };
    let mut groups: [Group; 2] = std::array::from_fn(|group| Group::new(lens(group), seed));
    let mut number = _mm512_setzero_si512();
    let mut at = 0;
    while at < keys.longest() {
        // SAFETY: `at` and `longest` are multiples of 16, `at` is below `longest`, and `longest` bytes are
        // readable at each start.
        let rows =
            |group: usize| unsafe { rows(|index| first.wrapping_add(starts[group * 16 + index] + at)) };
        for (a, b) in transpose(rows(0)).into_iter().zip(transpose(rows(1))) {
            groups[0].step(number, a);
            groups[1].step(number, b);
            number = _mm512_add_epi32(number, _mm512_set1_epi32(1));
        }
        at += 16;
    }
    let mut hashes = [0; 32];
    for (hashes, group) in hashes.as_chunks_mut::<16>().0.iter_mut().zip(groups) {
        // SAFETY: the array has 64 bytes.
        unsafe { store_unaligned(hashes.as_mut_ptr(), group.finish()) };
    }
    hashes
}

/// Sixteen keys of any lengths while they are hashed. Masks leave out words beyond the end of a key.
#[derive(Clone, Copy)]
struct Group {
    lens: __m512i,
    /// The number of whole words of each key.
    words: __m512i,
    h: __m512i,
    /// The word after the whole words of each key.
    rest: __m512i,
}

impl Group {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn new(lens: __m512i, seed: u32) -> Self {
        let by_len = _mm512_mullo_epi32(lens, _mm512_set1_epi32(M));
        let h = _mm512_xor_si512(_mm512_set1_epi32(seed as i32), by_len);
        Self { lens, words: _mm512_srli_epi32::<2>(lens), h, rest: _mm512_setzero_si512() }
    }

    /// Mixes in the word with this number of each key. If that word directly follows the key's whole words,
    /// keeps it as the rest instead. Leaves out later words.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn step(&mut self, number: __m512i, column: __m512i) {
        let next = _mm512_mullo_epi32(_mm512_add_epi32(self.h, column), _mm512_set1_epi32(M));
        let has_it = _mm512_cmplt_epu32_mask(number, self.words);
        self.h = _mm512_mask_xor_epi32(self.h, has_it, next, _mm512_srli_epi32::<16>(next));
        self.rest = _mm512_mask_mov_epi32(self.rest, _mm512_cmpeq_epi32_mask(number, self.words), column);
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn finish(self) -> __m512i {
        let count = _mm512_and_si512(self.lens, _mm512_set1_epi32(3));
        // For a key without last bytes, the shift by 32 leaves nothing.
        let bits = _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_slli_epi32::<3>(count));
        let rest = _mm512_and_si512(self.rest, _mm512_srlv_epi32(_mm512_set1_epi32(-1), bits));
        let next = _mm512_mullo_epi32(_mm512_add_epi32(self.h, rest), _mm512_set1_epi32(M));
        let has_rest = _mm512_test_epi32_mask(count, count);
        _mm512_mask_xor_epi32(self.h, has_rest, next, _mm512_srli_epi32::<24>(next))
    }
}

/// Hashes `4 * last + 4` keys, `stride` bytes apart, in G groups of sixteen.
///
/// # Safety
///
/// `len` bytes of each key have to be readable.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn hash_at<const G: usize>(
    first: *const u8,
    stride: usize,
    len: usize,
    last: usize,
    start: u32,
) -> [__m512i; G] {
    let fourth = |index: usize| first.wrapping_add(index.min(last) * 4 * stride);
    let mut h = [_mm512_set1_epi32(start as i32); G];
    let mut at = 0;
    // Pointers to every fourth key, and distances from it to the keys in between, take fewer registers than sixteen
    // pointers.
    let mut fourths: [[_; 4]; G] =
        std::array::from_fn(|group| [0, 1, 2, 3].map(|row| fourth(group * 4 + row)));
    while at + 16 <= len {
        let mut block = [[_mm512_setzero_si512(); 4]; G];
        for (rows_of, fourths) in block.iter_mut().zip(&mut fourths) {
            // SAFETY: `at + 16` is at most `len`, so 16 bytes can be read starting at `at`.
            *rows_of = unsafe { rows(|index| fourths[index / 4].wrapping_add(index % 4 * stride)) };
            *fourths = fourths.map(|key| key.wrapping_add(16));
        }
        hash_rows(&mut h, block);
        at += 16;
    }
    for (h, fourths) in h.iter_mut().zip(fourths) {
        // The rest of a key, after its whole blocks of 16 bytes.
        let rest = |index: usize| fourths[index / 4].wrapping_add(index % 4 * stride);
        let (mut at, len) = (0, len % 16);
        while at + 4 <= len {
            // SAFETY: `at + 4` is at most `len`, so 4 bytes can be read starting at `at`. The loads need no
            // alignment.
            let word = |index| unsafe { rest(index).add(at).cast::<u32>().read_unaligned() };
            *h = step::<16>(*h, columns(word));
            at += 4;
        }
        if at < len {
            // Little-endian, with zeros above the last bytes.
            // SAFETY: `at` is below `len`, and `len` bytes can be read.
            let byte = |index: usize, at: usize| u32::from(unsafe { rest(index).add(at).read() });
            let word = |index| (at..len).rev().fold(0, |word, at| word << 8 | byte(index, at));
            *h = step::<24>(*h, columns(word));
        }
    }
    h
}

#[target_feature(enable = "avx512f")]
#[inline]
fn columns(word: impl Fn(usize) -> u32) -> __m512i {
    let words: [u32; 16] = std::array::from_fn(word);
    // SAFETY: the array has 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Copies `key`, at most 64 bytes, to the start of `room`, and fills the rest with zeros. No branch
/// depends on the length.
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
#[inline]
pub(super) fn copy_short(key: &[u8], room: &mut [u8; 64]) {
    debug_assert!(key.len() <= room.len(), "a key of {} bytes", key.len());
    // As many of the lowest bits are set as the key has bytes: all bits for a key of 64 bytes or more.
    let mask = u64::MAX.checked_shr(64_u32.saturating_sub(key.len() as u32)).unwrap_or(0);
    // SAFETY: bytes that the mask leaves out are not read, and all others belong to the key. The
    // load needs no alignment.
    let bytes = unsafe { _mm512_maskz_loadu_epi8(mask, key.as_ptr().cast()) };
    // SAFETY: there is room for 64 bytes, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), bytes) };
}
