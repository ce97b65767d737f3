//! Setting the bits of filters, and packing them.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::positions::Positions;
use super::registers::{load, rotate_right_17};
use crate::kernel::rows::Rows;

/// The number of bits of a key that are set at a time: all six at ten bits a key.
const BITS: usize = 6;

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn set_spread(area: &mut [u8], probes: u8, hashes: &[[u32; 8]]) {
    let positions = Positions::new(area.len() / 8);
    let beyond = _mm256_set1_epi32(area.len() as i32 - 1);
    let mut room = MaybeUninit::<Rows<{ BITS * 8 }>>::uninit();
    let rows = Rows::beside(&mut room, area);
    let area = area.as_mut_ptr();
    for hashes in hashes {
        let mut h = load(hashes);
        let delta = rotate_right_17(h);
        let mut left = usize::from(probes);
        while left > 0 {
            let count = left.min(BITS);
            for row in 0..count {
                // This changes no position, but guarantees, whatever the arithmetic, that the stores below
                // are within the area.
                let positions = _mm256_min_epu32(positions.of(h), beyond);
                // SAFETY: `row` is below BITS, so the rows have room for eight words. The store
                // needs no alignment.
                unsafe { _mm256_storeu_si256(rows.add(row * 8).cast(), positions) };
                h = _mm256_add_epi32(h, delta);
            }
            // Read back from memory, since taking the positions out of the registers one by one is
            // slower.
            let rows = std::hint::black_box(rows);
            for index in 0..count * 8 {
                // SAFETY: the loop above has written `count * 8` positions, each below the length of
                // the area.
                unsafe { area.add(rows.add(index).read() as usize).write(1) };
            }
            left -= count;
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn pack(area: &mut [u8]) -> usize {
    let whole = area.len() / 32;
    let area = area.as_mut_ptr();
    for index in 0..whole {
        // SAFETY: `index` is below `area.len() / 32`, so the area has 32 bytes starting at
        // `index * 32`. The load needs no alignment.
        let bytes = unsafe { _mm256_loadu_si256(area.add(index * 32).cast()) };
        // The mask takes the topmost bit of each byte, to which the shift moves the lowest bit.
        let bits = _mm256_movemask_epi8(_mm256_slli_epi16::<7>(bytes));
        // SAFETY: the four bytes starting at `index * 4` are within the bytes already read. The
        // store needs no alignment.
        unsafe { area.add(index * 4).cast::<i32>().write_unaligned(bits) };
    }
    whole * 4
}
