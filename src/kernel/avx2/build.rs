//! Setting bits, and packing them.

use std::arch::x86_64::*;

use super::positions::Positions;
use super::registers::{load, rotate_right_17, store};

/// Rows for six bits, which is all for ten bits a key.
#[repr(align(64))]
struct Rows([[u32; 8]; 6]);

#[target_feature(enable = "avx2")]
pub(super) fn set_spread(area: &mut [u8], probes: u8, hashes: &[[u32; 8]]) {
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

#[target_feature(enable = "avx2")]
pub(super) fn pack(area: &mut [u8]) -> usize {
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
