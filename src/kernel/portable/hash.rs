//! Hashes of several keys, side by side, and copying short keys of several lengths.

use std::hint::select_unpredictable;

use byteorder::{ByteOrder, LittleEndian};

use crate::hash::{finish, last_step, leveldb, start, step};
use crate::lanes::{EqualLenKeys, FixedLenKeys, KeyPtrs, SLOT};

#[inline]
pub(in crate::kernel) fn hash_eight(keys: EqualLenKeys<'_, 8>, seed: u32, hashes: &mut [u32; 8]) {
    let [a, b, c, d, e, f, g, h] = keys.keys();
    // Two groups of four, since eight keys at once spill registers.
    let start = start(keys.len(), seed);
    hashes[..4].copy_from_slice(&hash_four([a, b, c, d], start));
    hashes[4..].copy_from_slice(&hash_four([e, f, g, h], start));
}

#[inline]
pub(in crate::kernel) fn hash_fixed_len(keys: FixedLenKeys<'_>, seed: u32, hashes: &mut [[u32; 8]]) {
    let start = start(keys.key_len(), seed);
    let (stride, len) = (keys.stride(), keys.key_len());
    let (fours, rest) = hashes.as_flattened_mut()[..keys.count()].as_chunks_mut::<4>();
    let mut left = keys.bytes();
    let mut next = || {
        let (key, behind) = left.split_at(stride);
        left = behind;
        &key[..len]
    };
    for four in fours {
        *four = hash_four([next(), next(), next(), next()], start);
    }
    rest.fill_with(|| leveldb(next(), seed));
}

/// Hashes four keys of equal length. `start` is the hash before any word.
#[inline]
fn hash_four(keys: [&[u8]; 4], start: u32) -> [u32; 4] {
    let mut h = [start; 4];
    debug_assert!(keys.iter().all(|key| key.len() == keys[0].len()), "of equal length");
    let [a, b, c, d] = keys.map(|key| key.as_chunks::<4>().0);
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        h[0] = step(h[0], LittleEndian::read_u32(a));
        h[1] = step(h[1], LittleEndian::read_u32(b));
        h[2] = step(h[2], LittleEndian::read_u32(c));
        h[3] = step(h[3], LittleEndian::read_u32(d));
    }
    for (h, key) in h.iter_mut().zip(keys) {
        *h = finish(*h, key);
    }
    h
}

/// Hashes four keys of any lengths. Steps beyond the end of a key are computed and discarded, since
/// a branch on its length would often be mispredicted.
#[inline]
pub(in crate::kernel) fn hash_places(keys: &KeyPtrs<'_, 4>, seed: u32) -> [u32; 4] {
    let (lens, count) = (keys.lens(), keys.longest() / 4);
    let key = |index: usize| &keys.bytes()[keys.starts()[index]..].as_chunks::<4>().0[..count];
    let [a, b, c, d] = [key(0), key(1), key(2), key(3)];
    let mut h = lens.map(|len| start(len as usize, seed));
    for number in 0..count {
        for (index, word) in [&a[number], &b[number], &c[number], &d[number]].into_iter().enumerate() {
            let next = step(h[index], LittleEndian::read_u32(word));
            h[index] = select_unpredictable((number as u32) < lens[index] / 4, next, h[index]);
        }
    }
    for (index, key) in [a, b, c, d].into_iter().enumerate() {
        let (words, bytes) = (lens[index] as usize / 4, lens[index] % 4);
        // A key without last bytes may have no further word.
        let rest = key.get(words).map_or(0, |word| LittleEndian::read_u32(word));
        let next = last_step(h[index], rest & ((1 << (8 * bytes)) - 1));
        h[index] = select_unpredictable(bytes > 0, next, h[index]);
    }
    h
}

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
