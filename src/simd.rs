//! Kernels for x86-64 with AVX2, chosen at run time. The portable code gives the same results and is their oracle.
//!
//! The only module with `unsafe`, for two reasons: functions compiled for AVX2 may only be called
//! where there is AVX2, of which [`Avx2`] is the proof; and its loads and stores take pointers.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::keys::{Alike, EvenKeys};
use crate::policy::MAX_PROBES;

/// Proof that the processor has AVX2: only [`detect`](Self::detect) makes one.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// `None` if the processor lacks AVX2. Costs the load of a flag.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    /// Hashes eight keys of equal length side by side. `start` is the hash of no word.
    #[inline]
    pub(crate) fn hash8(self, keys: Alike<'_, 8>, start: u32, hashes: &mut [u32; 8]) {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { hash8(keys, start, hashes) }
    }

    /// Hashes keys of equal length side by side; `hashes` has room for whole eights.
    #[inline]
    pub(crate) fn hash_even(self, keys: EvenKeys<'_>, start: u32, hashes: &mut [[u32; 8]]) {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { hash_even(keys, start, hashes) }
    }

    /// Sets the bits of keys with these hashes in an area with a byte for each bit, of 8 to 2^29 bytes and whole eights.
    #[inline]
    pub(crate) fn set_bits(self, area: &mut [u8], probes: u8, hashes: &[[u32; 8]]) {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { set_bits(area, probes, hashes) }
    }

    /// Whether `filter` may have a key with the hash `h`; `None` unless its array has 8 to 64 bytes, which fit into two registers.
    #[inline]
    pub(crate) fn matches(self, h: u32, filter: &[u8]) -> Option<bool> {
        // SAFETY: `self` proves that the processor has AVX2.
        two_registers(filter).then(|| unsafe { matches(h, filter) })
    }

    /// Asks the filter of each probe for the hash with the same number, those of other sizes by
    /// `other`. There are as many answers as probes, and no fewer hashes.
    #[inline]
    pub(crate) fn matches_each(
        self,
        probes: &[(&[u8], &[u8])],
        hashes: &[u32],
        answers: &mut [bool],
        other: impl FnMut(u32, &[u8]) -> bool,
    ) {
        debug_assert!(answers.len() == probes.len() && answers.len() <= hashes.len());
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { matches_each(probes, hashes, answers, other) }
    }

    /// Asks one filter for a hash for each answer; false, and no answer, unless its array has
    /// 8 bytes to 64 MiB. The last eight hashes may go beyond the answers.
    #[inline]
    pub(crate) fn matches_all(self, filter: &[u8], hashes: &[[u32; 8]], answers: &mut [bool]) -> bool {
        let enough = answers.len() <= hashes.as_flattened().len();
        debug_assert!(enough, "{} answers of {} eights", answers.len(), hashes.len());
        match filter.split_last() {
            Some((&probes, array)) if enough && matches!(array.len(), 8..=MAX_GATHERED) => {
                // SAFETY: `self` proves that the processor has AVX2.
                unsafe { matches_all(probes, array, hashes, answers) }
                true
            }
            _ => false,
        }
    }

    /// Packs bytes of which each is 0 or 1 into bits, 32 bytes at a time; returns how many bytes it has written.
    #[inline]
    pub(crate) fn pack(self, area: &mut [u8]) -> usize {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { pack(area) }
    }
}

/// Starts to fetch the cache line of a byte, and does not wait for it.
#[inline(always)]
pub(crate) fn prefetch(byte: &u8) {
    // SAFETY: every x86-64 processor has SSE, and a prefetch of any address has no effect but on speed.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) }
}

const M: i32 = 0xc6a4_a793_u32 as i32;

#[target_feature(enable = "avx2")]
#[inline]
fn step<const SHIFT: i32>(h: __m256i, words: __m256i) -> __m256i {
    let h = _mm256_mullo_epi32(_mm256_add_epi32(h, words), _mm256_set1_epi32(M));
    _mm256_xor_si256(h, _mm256_srli_epi32::<SHIFT>(h))
}

#[target_feature(enable = "avx2")]
fn hash8(keys: Alike<'_, 8>, start: u32, hashes: &mut [u32; 8]) {
    let (keys, len) = (keys.keys(), keys.len());
    // SAFETY: all keys have `len` bytes.
    store(hashes, unsafe { hash8_at(|index| keys[index].as_ptr(), len, start) });
}

#[target_feature(enable = "avx2")]
fn hash_even(keys: EvenKeys<'_>, start: u32, hashes: &mut [[u32; 8]]) {
    let (bytes, stride, len) = (keys.bytes(), keys.stride(), keys.key_len());
    let count = keys.count();
    assert!(len <= stride && bytes.len() == stride * count && hashes.len() == count.div_ceil(8));
    let (whole, rest) = hashes.split_at_mut(count / 8);
    let mut first = bytes.as_ptr();
    for hashes in whole {
        // SAFETY: eight keys, `stride` bytes apart and none longer, begin here, as asserted above.
        store(hashes, unsafe { hash8_at(|index| first.wrapping_add(index * stride), len, start) });
        first = first.wrapping_add(8 * stride);
    }
    if let [hashes] = rest {
        let last = count % 8 - 1;
        // SAFETY: as many keys as are left begin here.
        store(hashes, unsafe { hash8_at(|index| first.wrapping_add(index.min(last) * stride), len, start) });
    }
}

/// # Safety
///
/// `len` bytes can be read from what `key` returns for 0 to 7.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn hash8_at(key: impl Fn(usize) -> *const u8, len: usize, start: u32) -> __m256i {
    let mut h = _mm256_set1_epi32(start as i32);
    let mut at = 0;
    while at + 16 <= len {
        // SAFETY: 16 bytes can be read from `at` on; the loads need no alignment.
        let load = |index| unsafe { _mm_loadu_si128(key(index).add(at).cast()) };
        // Rows of four words, of a key and of the one four further on, become columns.
        let row = |index| _mm256_set_m128i(load(index + 4), load(index));
        let (a, b, c, d) = (row(0), row(1), row(2), row(3));
        let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
        h = step::<16>(h, _mm256_unpacklo_epi64(ab, cd));
        h = step::<16>(h, _mm256_unpackhi_epi64(ab, cd));
        let (ab, cd) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
        h = step::<16>(h, _mm256_unpacklo_epi64(ab, cd));
        h = step::<16>(h, _mm256_unpackhi_epi64(ab, cd));
        at += 16;
    }
    while at + 4 <= len {
        // SAFETY: 4 bytes can be read from `at` on; the loads need no alignment.
        let load = |index| unsafe { key(index).add(at).cast::<i32>().read_unaligned() };
        h = step::<16>(h, columns(load));
        at += 4;
    }
    if at < len {
        // Little-endian, as what lies above is zero.
        // SAFETY: `len` bytes can be read.
        let byte = |index: usize, at: usize| i32::from(unsafe { key(index).add(at).read() });
        let rest = |index| (at..len).rev().fold(0, |rest, at| rest << 8 | byte(index, at));
        h = step::<24>(h, columns(rest));
    }
    h
}

#[target_feature(enable = "avx2")]
#[inline]
fn columns(word: impl Fn(usize) -> i32) -> __m256i {
    _mm256_setr_epi32(word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7))
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(array: &[u32; 8]) -> __m256i {
    // SAFETY: the array has 32 bytes, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(array.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(array: &mut [u32; 8], words: __m256i) {
    // SAFETY: the array has room for 32 bytes, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(array.as_mut_ptr().cast(), words) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn rotate_right_17(h: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_srli_epi32::<17>(h), _mm256_slli_epi32::<15>(h))
}

/// `h % bits` for eight hashes at once, where `bits` is eight times a number of bytes.
///
/// `h / bits` is `(h >> 3) / bytes`, which is `(h >> 3) * multiplier >> shift`: exact for 29 bits, with the multiplier rounded up and
/// a shift of 29 more than `bytes` has.
#[derive(Clone, Copy)]
struct Positions {
    multiplier: __m256i,
    even_shift: __m128i,
    odd_shift: __m128i,
    bits: __m256i,
}

/// For arrays of `len` bytes, and all down to half as many.
const fn shift(len: usize) -> u32 {
    29 + len.next_power_of_two().trailing_zeros()
}

const fn multiplier(len: usize, shift: u32) -> u32 {
    (1u64 << shift).div_ceil(len as u64) as u32
}

impl Positions {
    /// In an array of `len` bytes, 8 to 2^26.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn new(len: usize) -> Self {
        Self::by(len as u32 * 8, multiplier(len, shift(len)), shift(len))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn by(bits: u32, multiplier: u32, shift: u32) -> Self {
        Self {
            multiplier: _mm256_set1_epi32(multiplier as i32),
            even_shift: _mm_cvtsi32_si128(shift as i32),
            // Quotients of odd lanes belong into the upper half of each pair.
            odd_shift: _mm_cvtsi32_si128(shift as i32 - 32),
            bits: _mm256_set1_epi32(bits as i32),
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn of(self, h: __m256i) -> __m256i {
        let even = _mm256_mul_epu32(_mm256_srli_epi32::<3>(h), self.multiplier);
        let odd = _mm256_mul_epu32(_mm256_srli_epi64::<35>(h), self.multiplier);
        let quotient = _mm256_blend_epi32::<0b1010_1010>(
            _mm256_srl_epi64(even, self.even_shift),
            _mm256_srl_epi64(odd, self.odd_shift),
        );
        _mm256_sub_epi32(h, _mm256_mullo_epi32(quotient, self.bits))
    }
}

/// Rows for six bits, which is all for ten bits a key.
#[repr(align(64))]
struct Rows([[u32; 8]; 6]);

#[target_feature(enable = "avx2")]
fn set_bits(area: &mut [u8], probes: u8, hashes: &[[u32; 8]]) {
    let positions = Positions::new(area.len() / 8);
    let mut rows = Rows([[0; 8]; 6]);
    for hashes in hashes {
        let mut h = load(hashes);
        let delta = rotate_right_17(h);
        let mut left = usize::from(probes);
        while left > 0 {
            let count = left.min(rows.0.len());
            for row in &mut rows.0[..count] {
                store(row, positions.of(h));
                h = _mm256_add_epi32(h, delta);
            }
            // By way of memory: to take them out of the registers one by one is slower.
            for row in &std::hint::black_box(&rows).0[..count] {
                for &position in row {
                    area[position as usize] = 1;
                }
            }
            left -= count;
        }
    }
}

/// Whether a filter's array has 8 to 64 bytes.
#[inline]
fn two_registers(filter: &[u8]) -> bool {
    matches!(filter.len(), 9..=65)
}

#[target_feature(enable = "avx2")]
fn matches_each(
    probes: &[(&[u8], &[u8])],
    hashes: &[u32],
    answers: &mut [bool],
    mut other: impl FnMut(u32, &[u8]) -> bool,
) {
    for ((&(_, filter), &h), answer) in probes.iter().zip(hashes).zip(answers) {
        *answer = if two_registers(filter) { matches(h, filter) } else { other(h, filter) };
    }
}

/// The largest array for which positions and offsets of bytes have 32 bits.
const MAX_GATHERED: usize = 1 << 26;

#[target_feature(enable = "avx2")]
fn matches_all(probes: u8, array: &[u8], hashes: &[[u32; 8]], answers: &mut [bool]) {
    assert!(array.len() >= 4);
    // Above `MAX_PROBES`, every key matches.
    let count = if probes > MAX_PROBES { 0 } else { probes };
    let positions = Positions::new(array.len());
    let last = _mm256_set1_epi32(array.len() as i32 - 4);
    for (hashes, answers) in hashes.iter().zip(answers.chunks_mut(8)) {
        let mut h = load(hashes);
        let delta = rotate_right_17(h);
        let mut bits = _mm256_set1_epi32(-1);
        for _ in 0..count {
            let position = positions.of(h);
            // Four bytes with the wanted bit in them, the array's last four at the end.
            let at = _mm256_min_epu32(_mm256_srli_epi32::<3>(position), last);
            // SAFETY: each offset is at most four less than the array's length, as asserted above.
            let words = unsafe { _mm256_i32gather_epi32::<1>(array.as_ptr().cast(), at) };
            let shift = _mm256_sub_epi32(position, _mm256_slli_epi32::<3>(at));
            bits = _mm256_and_si256(bits, _mm256_srlv_epi32(words, shift));
            h = _mm256_add_epi32(h, delta);
        }
        let bits = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32::<31>(bits)));
        for (index, answer) in answers.iter_mut().enumerate() {
            *answer = bits >> index & 1 != 0;
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn numbers() -> __m256i {
    _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
}

#[target_feature(enable = "avx2")]
#[inline]
fn matches(h: u32, filter: &[u8]) -> bool {
    let Some((&probes, array)) = filter.split_last() else { return false };
    if probes > MAX_PROBES {
        return true;
    }
    if probes == 1 {
        // A single division is quicker than all that follows.
        let bit = h % (array.len() as u32 * 8);
        return array[(bit / 8) as usize] >> (bit % 8) & 1 != 0;
    }
    match array.len() {
        33.. => has_bits::<32>(filter, probes, h),
        17.. => has_bits::<16>(filter, probes, h),
        _ => has_bits::<8>(filter, probes, h),
    }
}

/// Precomputed constants for arrays of 8 to 64 bytes, indexed by the filter's length, which is one
/// more. Two registers cover an array: one has its first HALF bytes, the other its last, HALF being
/// 8 for arrays of up to 16 bytes, 16 up to 32, and 32 beyond.
struct Lengths {
    multiplier: [u32; 66],
    bits: [u32; 66],
    /// The first bit of the last HALF bytes.
    beyond: [u32; 66],
}

static LENGTHS: Lengths = {
    let mut lengths = Lengths { multiplier: [0; 66], bits: [0; 66], beyond: [0; 66] };
    let mut len = 8;
    while len <= 64 {
        let half = if len > 32 {
            32
        } else if len > 16 {
            16
        } else {
            8
        };
        lengths.multiplier[len + 1] = multiplier(len, shift(half * 2));
        lengths.bits[len + 1] = len as u32 * 8;
        lengths.beyond[len + 1] = (len - half) as u32 * 8;
        len += 1;
    }
    lengths
};

/// For arrays of HALF + 1 bytes to twice as many, and of 8; other lengths panic.
#[target_feature(enable = "avx2")]
#[inline]
fn has_bits<const HALF: usize>(filter: &[u8], probes: u8, h: u32) -> bool {
    let (multiplier, bits) = (LENGTHS.multiplier[filter.len()], LENGTHS.bits[filter.len()]);
    let positions = Positions::by(bits, multiplier, shift(HALF * 2));
    let delta = _mm256_set1_epi32(h.rotate_right(17) as i32);
    let mut h = _mm256_add_epi32(_mm256_set1_epi32(h as i32), _mm256_mullo_epi32(delta, numbers()));
    let mut left = u32::from(probes);
    loop {
        let bits = _mm256_movemask_ps(bits_at::<HALF>(filter, positions.of(h)));
        let set = bits.trailing_ones();
        if set >= left {
            return true;
        }
        if set < 8 {
            return false;
        }
        left -= 8;
        h = _mm256_add_epi32(h, _mm256_slli_epi32::<3>(delta));
    }
}

/// The bits of a filter at eight positions, as signs.
#[target_feature(enable = "avx2")]
#[inline]
fn bits_at<const HALF: usize>(filter: &[u8], position: __m256i) -> __m256 {
    let load = |bytes: &[u8]| {
        let bytes = bytes[..HALF].as_ptr();
        // SAFETY: HALF bytes can be read from here, and the loads need no alignment.
        unsafe {
            match HALF {
                32 => _mm256_loadu_si256(bytes.cast()),
                16 => _mm256_castsi128_si256(_mm_loadu_si128(bytes.cast())),
                _ => _mm256_castsi128_si256(_mm_loadl_epi64(bytes.cast())),
            }
        }
    };
    let beyond = LENGTHS.beyond[filter.len()];
    let array = &filter[..filter.len() - 1];
    let (low, high) = (load(array), load(&array[array.len() - HALF..]));
    // Negative where `position` precedes `high`. As unsigned it is then huge, so that the minimum keeps `position`.
    let in_high = _mm256_sub_epi32(position, _mm256_set1_epi32(beyond as i32));
    let position = _mm256_min_epu32(position, in_high);
    let word = _mm256_srli_epi32::<5>(position);
    let word_of = |half| _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(half, word));
    let words = _mm256_blendv_ps(word_of(high), word_of(low), _mm256_castsi256_ps(in_high));
    // The wanted bit of each word becomes its topmost one: shifted left by 31 less its number.
    let left_by = _mm256_andnot_si256(position, _mm256_set1_epi32(31));
    _mm256_castsi256_ps(_mm256_sllv_epi32(_mm256_castps_si256(words), left_by))
}

#[target_feature(enable = "avx2")]
fn pack(area: &mut [u8]) -> usize {
    let whole = area.len() / 32;
    let area = area.as_mut_ptr();
    for index in 0..whole {
        // SAFETY: the area has 32 bytes from `index * 32` on, and the load needs no alignment.
        let bytes = unsafe { _mm256_loadu_si256(area.add(index * 32).cast()) };
        // The mask takes the topmost bit of each byte.
        let bits = _mm256_movemask_epi8(_mm256_slli_epi16::<7>(bytes));
        // SAFETY: four bytes from `index * 4` on are within what has been read, and the store needs no alignment.
        unsafe { area.add(index * 4).cast::<i32>().write_unaligned(bits) };
    }
    whole * 4
}
