//! Damage to filter blocks, distributed so that every condition of a reader occurs.

use crate::random::Random;

/// Damages a sound filter block in one of many ways.
pub(super) fn damage(random: &mut Random, block: &mut Vec<u8>) {
    match random.below(12) {
        0 => flip_bits(random, block),
        1 => block.truncate(random.index(block.len())),
        2 => insert_behind_array(random, block),
        3 => *block = some_bytes(random),
        4 => *block.last_mut().expect("not empty") = random.below(64) as u8,
        5 => *block.last_mut().expect("not empty") = random.between(64, 255) as u8,
        6 => move_array(random, block),
        7 => one_probe_byte(random, block),
        8 => empty_beyond(random, block),
        _ => change_entry(random, block),
    }
}

fn array_of(block: &[u8]) -> (usize, usize) {
    let end = block.len() - 5;
    let start = u32::from_le_bytes(block[end..end + 4].try_into().expect("four bytes"));
    (start as usize, end)
}

fn put_word(block: &mut [u8], at: usize, word: u32) {
    block[at..at + 4].copy_from_slice(&word.to_le_bytes());
}

fn flip_bits(random: &mut Random, block: &mut [u8]) {
    for _ in 0..random.between(1, 4) {
        let bit = random.index(block.len() * 8);
        block[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Inserts stray bytes, so that the array's length is no multiple of four, or the array has too
/// many entries.
fn insert_behind_array(random: &mut Random, block: &mut Vec<u8>) {
    let (_, end) = array_of(block);
    let len = random.between(1, 9) as usize;
    let small = random.one_in(2);
    let stray = random.bytes(len).into_iter().map(|byte| if small { byte % 2 } else { byte });
    block.splice(end..end, stray.collect::<Vec<_>>());
}

fn some_bytes(random: &mut Random) -> Vec<u8> {
    let len = random.skewed(7) as usize;
    let mut bytes = random.bytes(len);
    if random.one_in(2) {
        // Small numbers, so that not only the first condition occurs.
        bytes.iter_mut().for_each(|byte| *byte = [0, 0, 0, 1, 4, 8, 11, 16][usize::from(*byte) % 8]);
    }
    bytes
}

fn move_array(random: &mut Random, block: &mut [u8]) {
    let (start, end) = array_of(block);
    let to = match random.below(5) {
        0 => random.next_u64() as u32,
        1 => random.index(end + 10) as u32,
        2 => (end as u32).saturating_add_signed(random.between(0, 4) as i32 - 2),
        _ => (start as u32).saturating_add_signed(random.between(0, 16) as i32 - 8),
    };
    put_word(block, end, to);
}

/// Changes a byte: byte 8, which is the first filter's number of probes if the filter has the usual
/// 9 bytes, or a random byte. Leaves the block unchanged if the byte is among the last five.
fn one_probe_byte(random: &mut Random, block: &mut [u8]) {
    let at = if random.one_in(2) { 8 } else { random.index(block.len()) };
    if at + 5 < block.len() {
        block[at] = if random.one_in(2) { random.between(28, 33) as u8 } else { random.below(256) as u8 };
    }
}

/// Gives two neighbouring offsets the same value beyond the filters.
fn empty_beyond(random: &mut Random, block: &mut [u8]) {
    let (start, end) = array_of(block);
    let count = (end - start) / 4;
    if count >= 2 {
        let at = start + 4 * random.index(count - 1);
        let offset = if random.one_in(3) { u32::MAX } else { (start + 1 + random.index(40)) as u32 };
        put_word(block, at, offset);
        put_word(block, at + 4, offset);
    }
}

fn change_entry(random: &mut Random, block: &mut [u8]) {
    let (start, end) = array_of(block);
    let count = (end - start) / 4;
    for _ in 0..random.between(1, 3) {
        if count > 0 {
            let offset = match random.below(4) {
                0 => random.next_u64() as u32,
                1 => (start + random.index(30)) as u32,
                _ => random.index(start + 1) as u32,
            };
            put_word(block, start + 4 * random.index(count), offset);
        }
    }
}
