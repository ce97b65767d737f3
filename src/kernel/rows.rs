//! Room on the stack for the positions of bits, placed so that loads of positions do not wait for
//! stores of bits.

use std::mem::MaybeUninit;

/// A processor that looks for the store that a load has to wait for may take two addresses for the
/// same if their distance in bytes is a multiple of this.
const ALIAS: usize = 4096;

/// Room for N positions at any address modulo 4 KiB.
#[repr(align(64))]
pub(super) struct Rows<const N: usize>(#[expect(dead_code, reason = "room")] [u8; ALIAS], [u32; N]);

impl<const N: usize> Rows<N> {
    /// Returns a pointer to N positions within `room`, not yet initialized. Modulo 4 KiB, their addresses differ
    /// from those of `area`, unless the two, aligned to 64 bytes, take more than 4 KiB together. A load of a
    /// position could otherwise wait for the store of a bit at the same address modulo 4 KiB: in some processes
    /// for as long as they run, depending on where stack and heap happen to lie.
    #[inline]
    pub(super) fn beside(room: &mut MaybeUninit<Self>, area: &[u8]) -> *mut u32 {
        let end = area.as_ptr_range().end.addr().next_multiple_of(64);
        let room = room.as_mut_ptr().cast::<u8>();
        let skipped = end.wrapping_sub(room.addr()) % ALIAS;
        // `skipped` is below ALIAS, so N positions fit after it. It is a multiple of 64, as both
        // addresses are.
        room.wrapping_add(skipped).cast()
    }
}
