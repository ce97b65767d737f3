//! Copying short keys of several lengths.

use crate::lanes::SLOT;

/// Copies `key`, which is at most as long as `room`, to the start of `room`. With 8 bytes or more,
/// no branch depends on the length: there are always eight copies, the last of which coincide for
/// shorter keys.
#[inline(always)]
pub(in crate::kernel) fn copy_short(key: &[u8], room: &mut [u8; SLOT]) {
    const WORD: usize = 8;
    let Some(last) = key.len().checked_sub(WORD) else {
        return copy_few(key, room);
    };
    for index in 0..SLOT / WORD {
        let at = last.min(index * WORD);
        room[at..at + WORD].copy_from_slice(&key[at..at + WORD]);
    }
}

/// Copies fewer than eight bytes.
#[inline(always)]
fn copy_few(key: &[u8], room: &mut [u8; SLOT]) {
    if let (Some(head), Some(tail)) = (key.first_chunk::<4>(), key.last_chunk::<4>()) {
        room[..4].copy_from_slice(head);
        room[key.len() - 4..key.len()].copy_from_slice(tail);
    } else if let (Some(first), Some(last)) = (key.first(), key.last()) {
        // One to three bytes, of which some may be the same.
        room[0] = *first;
        room[key.len() / 2] = key[key.len() / 2];
        room[key.len() - 1] = *last;
    }
}
