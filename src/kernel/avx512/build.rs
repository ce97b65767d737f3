//! Setting the bits of filters, and packing them.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::positions::Positions;
use super::registers::store_unaligned;
use crate::kernel::avx2::Rows;

/// The number of rows, each with the positions of one bit of sixteen keys.
const ROWS: usize = 8;

/// The distance, in rows, from the row being computed back to the row whose bits are being set. A
/// row read back at once would wait for its store, and the arithmetic fits in between the many
/// stores.
const BEHIND: usize = 6;

/// Sets the bits of the keys with these hashes, except the last eight unless `all_of_last` is set.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn set_spread(area: &mut [u8], probes: u8, hashes: &[[u32; 16]], all_of_last: bool) {
    assert!((1..=super::positions::MAX_BITS).contains(&area.len()) && !hashes.is_empty());
    let positions = Positions::new(area.len());
    let mut room = MaybeUninit::<Rows<{ ROWS * 16 }>>::uninit();
    let rows = Rows::beside(&mut room, area).cast::<[u32; 16]>();
    let area = area.as_mut_ptr();
    // The rows starting with this one belong to the last hashes, and half of each row may be left out.
    let halved = if all_of_last { usize::MAX } else { (hashes.len() - 1) * usize::from(probes) };
    let set = |row: usize| {
        // SAFETY: the remainder is below ROWS, and callers name one of the last ROWS rows written.
        let (eights, _) = unsafe { &*rows.add(row % ROWS) }.as_chunks::<8>();
        for eight in &eights[..if row < halved { 2 } else { 1 }] {
            for &position in eight {
                // SAFETY: `Positions::of` keeps positions below the length of the area.
                unsafe { area.add(position as usize).write(1) };
            }
        }
    };
    let mut row = 0;
    for hashes in hashes {
        // SAFETY: the array has 64 bytes, and the load needs no alignment.
        let mut h = unsafe { _mm512_loadu_si512(hashes.as_ptr().cast()) };
        let delta = _mm512_ror_epi32::<17>(h);
        for _ in 0..probes {
            // SAFETY: there is room for ROWS rows.
            unsafe { store_unaligned(rows.add(row % ROWS).cast(), positions.of(h)) };
            h = _mm512_add_epi32(h, delta);
            if row >= BEHIND {
                set(row - BEHIND);
            }
            row += 1;
        }
    }
    (row.saturating_sub(BEHIND)..row).for_each(set);
}

/// Packs 64 bytes at a time. Returns the number of bytes written.
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
pub(super) fn pack(area: &mut [u8]) -> usize {
    let whole = area.len() / 64;
    let area = area.as_mut_ptr();
    for index in 0..whole {
        // SAFETY: `index` is below `area.len() / 64`, so the area has 64 bytes starting at
        // `index * 64`. The load needs no alignment.
        let bytes = unsafe { _mm512_loadu_si512(area.add(index * 64).cast()) };
        let bits = _mm512_test_epi8_mask(bytes, bytes);
        // SAFETY: the eight bytes starting at `index * 8` are within the bytes already read. The
        // store needs no alignment.
        unsafe { area.add(index * 8).cast::<u64>().write_unaligned(bits) };
    }
    whole * 8
}
