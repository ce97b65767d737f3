//! Random tables.

use std::collections::BTreeMap;

use filterblock::table::Compression;
use filterblock_interop::random::Random;

use crate::program::Options;

/// Makes random entries. They are mostly enough for more than one filter, with each `base_lg` up to 19.
pub(crate) fn entries(random: &mut Random, base_lg: u8) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let (count, max_value) = match base_lg {
        0..12 => (random.between(1, 800), 300),
        _ => (random.between(600, 800), 4096),
    };
    (0..count).map(|_| (key(random), value(random, max_value))).collect()
}

/// Makes keys that are not among `entries`: near ones and others.
pub(crate) fn absent(random: &mut Random, entries: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<Vec<u8>> {
    let mut absent = Vec::new();
    for stored in entries.keys() {
        let mut near = stored.clone();
        near.push(random.next_u64() as u8);
        absent.extend([near, key(random)]);
    }
    absent.retain(|key| !entries.contains_key(key));
    absent
}

/// Makes random options, except for the given ones.
pub(crate) fn options(random: &mut Random, base_lg: u8, compression: Compression) -> Options {
    // goleveldb counts probes in eight bits, which shows at 372 bits a key.
    let bits_per_key = if random.one_in(4) { random.between(360, 400) } else { random.between(1, 40) };
    Options {
        bits_per_key: bits_per_key as u32,
        base_lg,
        block_size: 64 << random.below(9),
        restart_interval: random.between(1, 32) as u32,
        compression,
    }
}

/// Makes a key of up to 24 bytes. Half of the keys make separators hard to find, and often end in bytes whose sign
/// matters to the hash.
fn key(random: &mut Random) -> Vec<u8> {
    const BYTES: [u8; 6] = [0, b'a', b'b', 0x80, 0xfe, 0xff];
    let len = random.index(25);
    if random.one_in(2) {
        return random.bytes(len);
    }
    (0..len).map(|_| BYTES[random.index(BYTES.len())]).collect()
}

/// Makes a value. Half of the values can be compressed.
fn value(random: &mut Random, max: usize) -> Vec<u8> {
    let len = random.index(max);
    if random.one_in(2) { random.bytes(len) } else { vec![b'v'; len] }
}
