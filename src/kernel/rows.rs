//! Room on the stack for the positions of bits, placed so that loads of positions do not wait for
//! stores of bits.

use std::mem::MaybeUninit;

/// 4K aliasing: a load may wait for an earlier store to another address if the two addresses differ by a multiple of
/// this.
const ALIAS: usize = 4096;

/// Room for N positions at any address modulo 4 KiB.
#[repr(align(64))]
pub(super) struct Rows<const N: usize>(#[expect(dead_code, reason = "room")] [u8; ALIAS], [u32; N]);

impl<const N: usize> Rows<N> {
    /// Returns a pointer to N positions within `room`, not yet initialized. Modulo 4 KiB, their addresses differ from
    /// those of `area`, unless the two, aligned to 64 bytes, take more than 4 KiB together. If the addresses were equal
    /// modulo 4 KiB, a load of a position could wait for the store of a bit. In some processes, this would happen all
    /// the time, depending on where stack and heap lie.
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
