//! Setting the bits of filters, and packing them. [`Rows`] is room on the stack for the positions of bits,
//! placed so that loads of positions do not wait for stores of bits.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::positions::Positions;
use super::registers::{load, rotate_right_17};

/// The number of bits of a key that are set at a time: all six at ten bits per key.
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

/// 4K aliasing: a load may wait for an earlier store to another address if the two addresses differ by a multiple of
/// this.
const ALIAS: usize = 4096;

/// Room for N positions at any address modulo 4 KiB.
#[repr(align(64))]
pub(in crate::kernel) struct Rows<const N: usize>(
    #[expect(dead_code, reason = "room")] [u8; ALIAS],
    [u32; N],
);

impl<const N: usize> Rows<N> {
    /// Returns a pointer to N positions within `room`, not yet initialized. Modulo 4 KiB, their addresses differ from
    /// those of `area`, unless the two, aligned to 64 bytes, take more than 4 KiB together. If the addresses were equal
    /// modulo 4 KiB, a load of a position could wait for the store of a bit. In some processes, this would happen all
    /// the time, depending on where stack and heap are.
    #[inline]
    pub(in crate::kernel) fn beside(room: &mut MaybeUninit<Self>, area: &[u8]) -> *mut u32 {
        let end = area.as_ptr_range().end.addr().next_multiple_of(64);
        let room = room.as_mut_ptr().cast::<u8>();
        let skipped = end.wrapping_sub(room.addr()) % ALIAS;
        // `skipped` is below ALIAS, so N positions fit after it. It is a multiple of 64, as both
        // addresses are.
        room.wrapping_add(skipped).cast()
    }
}
