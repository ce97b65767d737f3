//! Setting the bits of filters, and packing them.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::positions::Positions;
use super::registers::store_unaligned;
use crate::kernel::rows::Rows;

/// Rows of positions of sixteen keys, a bit of each.
const ROWS: usize = 8;

/// The number of rows between the one being computed and the one whose bits are being set. A row
/// read back at once would wait for its store, and the arithmetic fits in beside the many stores.
const BEHIND: usize = 6;

/// Sets the bits of the keys with these hashes, of which the last eight may be left out.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn set_spread(area: &mut [u8], probes: u8, hashes: &[[u32; 16]], all_of_last: bool) {
    assert!((1..=super::positions::MAX_BITS).contains(&area.len()));
    let positions = Positions::new(area.len());
    let mut room = MaybeUninit::<Rows<{ ROWS * 16 }>>::uninit();
    let rows = Rows::beside(&mut room, area).cast::<[u32; 16]>();
    let area = area.as_mut_ptr();
    // Sets the bits of a row's first N positions.
    //
    // SAFETY: callers name rows that are written, with positions that `Positions::of` keeps below
    // the length of the area. The remainder is below ROWS.
    let set = |row: usize, count: usize| unsafe {
        for &position in &(&*rows.add(row % ROWS))[..count] {
            area.add(position as usize).write(1);
        }
    };
    let mut row = 0;
    let (last, whole) = match hashes {
        [whole @ .., last] if !all_of_last => (Some(last), whole),
        whole => (None, whole),
    };
    for hashes in whole {
        let (mut h, delta) = load(hashes);
        for _ in 0..probes {
            // SAFETY: there is room for ROWS rows.
            unsafe { store_unaligned(rows.add(row % ROWS).cast(), positions.of(h)) };
            h = _mm512_add_epi32(h, delta);
            if row >= BEHIND {
                set(row - BEHIND, 16);
            }
            row += 1;
        }
    }
    (row.saturating_sub(BEHIND)..row).for_each(|row| set(row, 16));
    if let Some(hashes) = last {
        let (mut h, delta) = load(hashes);
        for row in 0..usize::from(probes) {
            // SAFETY: there is room for ROWS rows.
            unsafe { store_unaligned(rows.add(row % ROWS).cast(), positions.of(h)) };
            h = _mm512_add_epi32(h, delta);
            set(row, 8);
        }
    }
}

/// Loads hashes. Returns them and their deltas.
#[target_feature(enable = "avx512f")]
#[inline]
fn load(hashes: &[u32; 16]) -> (__m512i, __m512i) {
    // SAFETY: the array has 64 bytes, and the load needs no alignment.
    let h = unsafe { _mm512_loadu_si512(hashes.as_ptr().cast()) };
    (h, _mm512_ror_epi32::<17>(h))
}

/// Packs 64 bytes at a time. Returns the number of bytes written.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn pack(area: &mut [u8]) -> usize {
    let whole = area.len() / 64;
    let area = area.as_mut_ptr();
    for index in 0..whole {
        // SAFETY: `index` is below `area.len() / 64`, so the area has 64 bytes from `index * 64`
        // on. The load needs no alignment.
        let bytes = unsafe { _mm512_loadu_si512(area.add(index * 64).cast()) };
        let bits = _mm512_test_epi8_mask(bytes, bytes);
        // SAFETY: the eight bytes from `index * 8` on are within the bytes already read. The store
        // needs no alignment.
        unsafe { area.add(index * 8).cast::<u64>().write_unaligned(bits) };
    }
    whole * 8
}
